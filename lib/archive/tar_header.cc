// SPDX-License-Identifier: Apache-2.0
#include "archive/tar_header.h"

#include <algorithm>

namespace ckpt {

namespace {

constexpr TarField kChecksum{148, 8};
constexpr std::size_t kTypeflag = 156;

std::uint64_t tar_number(std::string_view blocks, std::size_t block, TarField field) {
  const std::string_view text = blocks.substr(block + field.offset, field.width);
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(text.front()) & 0x80U) != 0) {
    value = static_cast<unsigned char>(text.front()) & 0x7fU;
    for (const char c : text.substr(1)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  for (const char c : text) {
    if (c >= '0' && c <= '7')
      value = value * 8 + static_cast<std::uint64_t>(c - '0');
    else if (c != ' ')
      break;
  }
  return value;
}

bool is_extension(char type) { return type == 'x' || type == 'g' || type == 'X' || type == 'L' || type == 'K'; }

/// Takes what a writer puts out until the header is complete; the content that libarchive would make up is refused.
struct HeaderCollector {
  std::string blocks;
  bool complete = false;

  static la_ssize_t write(struct archive*, void* self, const void* bytes, std::size_t size) {
    auto& collector = *static_cast<HeaderCollector*>(self);
    if (collector.complete) return -1;
    collector.blocks.append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }
};

mode_t file_type(MemberType type) {
  switch (type) {
    case MemberType::directory:
      return AE_IFDIR;
    case MemberType::symlink:
      return AE_IFLNK;
    case MemberType::char_device:
      return AE_IFCHR;
    case MemberType::block_device:
      return AE_IFBLK;
    case MemberType::fifo:
      return AE_IFIFO;
    default:
      return AE_IFREG;
  }
}

}  // namespace

void set_tar_number(std::string& blocks, std::size_t block, TarField field, std::uint64_t value) {
  char* const at = blocks.data() + block + field.offset;
  const std::size_t digits = field.width - 1;
  if (digits * 3 >= 64 || value < (1ULL << digits * 3)) {
    const char last = at[digits];
    for (std::size_t i = digits; i-- > 0; value >>= 3) at[i] = static_cast<char>('0' + (value & 7));
    at[digits] = last == ' ' ? ' ' : '\0';
    return;
  }
  for (std::size_t i = field.width; i-- > 1; value >>= 8) at[i] = static_cast<char>(value & 0xff);
  at[0] = static_cast<char>(0x80);
}

void set_tar_checksum(std::string& blocks, std::size_t block) {
  char* const at = blocks.data() + block;
  std::fill_n(at + kChecksum.offset, kChecksum.width, ' ');
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) sum += static_cast<unsigned char>(at[i]);
  for (std::size_t i = 6; i-- > 0; sum >>= 3) at[kChecksum.offset + i] = static_cast<char>('0' + (sum & 7));
  at[kChecksum.offset + 6] = '\0';
}

std::optional<std::size_t> find_header_block(std::string_view blocks) {
  std::size_t at = 0;
  while (at + kTarBlock <= blocks.size()) {
    if (!is_extension(blocks[at + kTypeflag])) return at;
    const std::uint64_t size = tar_number(blocks, at, kTarSize);
    if (size > blocks.size()) return std::nullopt;
    at += kTarBlock + (static_cast<std::size_t>(size) + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return std::nullopt;
}

char tar_type(std::string_view blocks, std::size_t block) { return blocks[block + kTypeflag]; }

bool has_pax_size(std::string_view blocks) {
  // A record is "LENGTH key=value\n"; an approximate search is enough, since a false yes only costs a new header.
  const auto header = find_header_block(blocks);
  const std::string_view extensions = blocks.substr(0, header.value_or(blocks.size()));
  const auto has = [&](std::string_view key) { return extensions.find(key) != std::string_view::npos; };
  return has(" size=") || has(" GNU.sparse.") || has(" SCHILY.realsize=");
}

std::string make_header(struct archive_entry* entry) {
  // ustar first: a plain block is what every reader knows, and PAX is for what it cannot say.
  std::string why = "libarchive gives no reason";
  for (const auto set_format : {archive_write_set_format_ustar, archive_write_set_format_pax_restricted}) {
    const bool is_pax = set_format == archive_write_set_format_pax_restricted;
    if (!is_pax && archive_entry_xattr_count(entry) > 0) continue;  // ustar would drop them without a word
    HeaderCollector collector;
    const WriterHandle writer(archive_write_new());
    set_format(writer.get());
    if (is_pax) archive_write_set_format_option(writer.get(), nullptr, "xattrheader", "SCHILY");
    archive_write_set_bytes_per_block(writer.get(), 0);
    // A warning of ustar is about something lost, one of PAX about a name that is no UTF-8 and was kept as it is.
    const bool done =
        archive_write_open(writer.get(), &collector, nullptr, HeaderCollector::write, nullptr) == ARCHIVE_OK &&
        archive_write_header(writer.get(), entry) >= (is_pax ? ARCHIVE_WARN : ARCHIVE_OK);
    collector.complete = true;
    if (done) return std::move(collector.blocks);
    if (const char* text = archive_error_string(writer.get())) why = text;
  }
  throw Error(ErrorCode::unsupported, {}, "cannot make a tar header: " + why);
}

EntryHandle entry_of_header(std::string_view blocks, std::uint64_t size, const Where& where) {
  const ReaderHandle reader(archive_read_new());
  struct archive_entry* entry = nullptr;
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_memory(reader.get(), blocks.data(), blocks.size()) != ARCHIVE_OK ||
      archive_read_next_header(reader.get(), &entry) < ARCHIVE_WARN || entry == nullptr)
    throw Error(ErrorCode::corrupt, where, "its header cannot be read by itself");
  EntryHandle copy(archive_entry_clone(entry));
  archive_entry_sparse_clear(copy.get());
  archive_entry_set_size(copy.get(), static_cast<la_int64_t>(size));
  return copy;
}

EntryHandle entry_for(const Member& member, std::uint64_t size) {
  EntryHandle entry(archive_entry_new());
  const std::string name = member.type == MemberType::directory ? member.name + "/" : member.name;
  archive_entry_copy_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), file_type(member.type));
  archive_entry_set_perm(entry.get(), static_cast<mode_t>(member.mode));
  archive_entry_set_uid(entry.get(), member.uid);
  archive_entry_set_gid(entry.get(), member.gid);
  archive_entry_set_mtime(entry.get(), member.mtime, 0);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  if (member.type == MemberType::symlink) archive_entry_copy_symlink(entry.get(), member.link_target.c_str());
  if (member.type == MemberType::hardlink) archive_entry_copy_hardlink(entry.get(), member.link_target.c_str());
  if (member.type == MemberType::char_device || member.type == MemberType::block_device) {
    archive_entry_set_rdevmajor(entry.get(), member.dev_major);
    archive_entry_set_rdevminor(entry.get(), member.dev_minor);
  }
  return entry;
}

}  // namespace ckpt
