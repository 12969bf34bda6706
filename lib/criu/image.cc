// SPDX-License-Identifier: Apache-2.0
#include "criu/image.h"

#include <algorithm>
#include <set>

#include "base/cursor.h"
#include "criu/extra.h"

namespace ckpt::criu {

namespace {

constexpr std::uint32_t kCommonHead = 0x54564319;
constexpr std::uint32_t kServiceHead = 0x55105940;
constexpr std::uint32_t kInventory = 0x58313116;
constexpr std::uint32_t kStats = 0x57093306;
constexpr std::uint32_t kIrmapCache = 0x57004059;

std::uint32_t swapped(std::uint32_t value) {
  return value >> 24 | (value >> 8 & 0xff00U) | (value << 8 & 0xff0000U) | value << 24;
}

std::string hex(std::uint32_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[value >> shift & 15];
  return text;
}

[[noreturn]] void refuse(Where where, std::uint64_t offset, const std::string& detail) {
  where.offset = offset;
  throw Error(ErrorCode::unsupported, std::move(where), detail);
}

const ImageKind& known_kind(const Where& where, std::uint64_t offset, std::uint32_t magic) {
  if (const ImageKind* kind = find_kind(magic)) return *kind;
  if (magic == swapped(kCommonHead) || magic == swapped(kServiceHead) || find_kind(swapped(magic)) != nullptr)
    refuse(where, offset, "big-endian image (s390x)");
  refuse(where, offset, "not a CRIU image with entries: magic " + hex(magic));
}

bool is_service(std::uint32_t magic) { return magic == kStats || magic == kIrmapCache; }

// CRIU before image version 2 wrote no common head. A raw image can begin like that by chance, so look at what follows.
void check_headless(Cursor after, const Where& where, std::uint32_t magic) {
  if (magic == kInventory || after.at_end()) return;
  const bool plausible = after.remaining() >= 4 && after.u32() <= after.remaining();
  if (!plausible) refuse(where, 0, "not a CRIU image with entries: magic " + hex(magic) + " without a common head");
}

const ImageKind& read_head(Cursor& cursor, const Where& where) {
  const std::uint32_t head = cursor.u32();
  if (head != kCommonHead && head != kServiceHead) {
    const ImageKind& kind = known_kind(where, 0, head);
    check_headless(cursor, where, head);
    return kind;
  }
  const ImageKind& kind = known_kind(where, 4, cursor.u32());
  if (kind.magic == kInventory) cursor.fail("an inventory has no common head");
  if (is_service(kind.magic) != (head == kServiceHead))
    cursor.fail(std::string(kind.name) + " does not belong to the head magic " + hex(head));
  return kind;
}

/// Reads entries off one image; bounds come from the caller.
class EntryReader {
 public:
  EntryReader(std::string_view image, Cursor& cursor, const ImageKind& kind, const Where& where)
      : image_(image), cursor_(cursor), kind_(kind), where_(where) {}

  Entry read(std::uint64_t max_bytes) {
    Entry entry;
    entry.offset = cursor_.offset();
    const std::uint32_t size = cursor_.u32();
    entry.payload = cursor_.bytes(size);
    if (size > max_bytes)
      throw Error(ErrorCode::limit_exceeded, at(entry.offset),
                  "larger than max_entry_bytes, " + std::to_string(max_bytes));
    if (kind_.extra == Extra::none) return entry;
    const std::size_t behind = cursor_.offset();
    skip_extra(cursor_, kind_.extra, entry.payload, at(entry.offset + 4));
    entry.extra = image_.substr(behind, cursor_.offset() - behind);
    return entry;
  }

 private:
  Where at(std::size_t offset) const {
    Where where = where_;
    where.offset = offset;
    return where;
  }

  std::string_view image_;
  Cursor& cursor_;
  const ImageKind& kind_;
  const Where& where_;
};

// The same failure, with the entry it happened in.
Error in_entry(const Error& error, std::size_t index) {
  Where where = error.where();
  where.entry = index;
  return Error(error.code(), std::move(where), error.detail(), error.hint());
}

void append_u32(std::string& out, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

}  // namespace

Image::~Image() = default;
Image::Image(Image&&) noexcept = default;
Image& Image::operator=(Image&&) noexcept = default;

Image Image::parse(std::string bytes, Where where, const Limits& limits) {
  Image image;
  image.bytes_ = std::make_unique<std::string>(std::move(bytes));
  image.where_ = std::move(where);
  Cursor cursor(*image.bytes_, image.where_);
  image.kind_ = &read_head(cursor, image.where_);
  image.first_ = cursor.offset();
  EntryReader reader(*image.bytes_, cursor, *image.kind_, image.where_);
  auto& entries = image.entries_;
  try {
    while (!cursor.at_end() && (image.kind_->entries == Entries::many || entries.empty())) {
      if (entries.size() >= limits.max_entries)
        throw Error(ErrorCode::limit_exceeded, image.where_,
                    "more than max_entries, " + std::to_string(limits.max_entries));
      entries.push_back(reader.read(limits.max_entry_bytes));
    }
  } catch (const Error& error) {
    throw in_entry(error, entries.size());
  }
  return image;
}

Where Image::where(std::size_t index) const {
  Where where = where_;
  where.entry = index;
  where.offset = entries_.at(index).offset;
  return where;
}

std::size_t Image::end_of_entries() const noexcept {
  if (entries_.empty()) return first_;
  const Entry& last = entries_.back();
  return last.offset + 4 + last.payload.size() + last.extra.size();
}

std::string_view Image::trailing() const noexcept { return std::string_view(*bytes_).substr(end_of_entries()); }

std::string Image::with_entry(std::size_t index, std::string_view payload) const {
  if (index >= entries_.size()) throw Error(ErrorCode::invalid_argument, where_, "no entry " + std::to_string(index));
  if (payload.size() > 0xffffffffU) throw Error(ErrorCode::invalid_argument, where_, "the new entry is too large");
  const Entry& entry = entries_[index];
  std::string out = bytes_->substr(0, entry.offset);
  append_u32(out, payload.size());
  out += payload;
  return out.append(*bytes_, entry.offset + 4 + entry.payload.size(), std::string::npos);
}

std::string Image::without_entries(const std::vector<std::size_t>& indexes) const {
  const std::set<std::size_t> removed(indexes.begin(), indexes.end());
  if (!removed.empty() && *removed.rbegin() >= entries_.size())
    throw Error(ErrorCode::invalid_argument, where_, "no entry " + std::to_string(*removed.rbegin()));
  std::string out = bytes_->substr(0, first_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!removed.contains(i)) out.append(*bytes_, entry.offset, 4 + entry.payload.size() + entry.extra.size());
  }
  return out.append(trailing());
}

}  // namespace ckpt::criu
