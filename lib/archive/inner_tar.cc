// SPDX-License-Identifier: Apache-2.0
#include "archive/inner_tar.h"

#include "archive/codec.h"
#include "archive/entry.h"
#include "archive/handles.h"
#include "archive/source.h"
#include "archive/tar_header.h"

namespace ckpt {

namespace {

[[noreturn]] void refuse(ErrorCode code, const Where& where, const std::string& detail) {
  throw Error(code, where, detail);
}

/// libarchive over bytes in memory.
class MemoryReader {
 public:
  enum class Form { tar, gzip };
  MemoryReader(std::string_view bytes, Form form, const Where& where) : handle_(archive_read_new()), where_(where) {
    if (form == Form::gzip) {
      archive_read_support_filter_gzip(handle_.get());
      archive_read_support_format_raw(handle_.get());
    } else {
      archive_read_support_format_tar(handle_.get());
    }
    if (archive_read_open_memory(handle_.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) fail();
  }

  struct archive_entry* next() {
    struct archive_entry* entry = nullptr;
    const int result = archive_read_next_header(handle_.get(), &entry);
    if (result == ARCHIVE_EOF) return nullptr;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail();
    return entry;
  }

  std::size_t read(char* into, std::size_t size) {
    const la_ssize_t got = archive_read_data(handle_.get(), into, size);
    if (got < 0) fail();
    return static_cast<std::size_t>(got);
  }

  std::uint64_t position() const { return static_cast<std::uint64_t>(archive_filter_bytes(handle_.get(), 0)); }
  std::uint64_t header_position() const {
    return static_cast<std::uint64_t>(archive_read_header_position(handle_.get()));
  }

 private:
  [[noreturn]] void fail() const {
    const char* why = archive_error_string(handle_.get());
    refuse(ErrorCode::corrupt, where_,
           std::string("not a readable gzip'ed tar: ") + (why != nullptr ? why : "damaged"));
  }

  ReaderHandle handle_;
  const Where& where_;
};

std::string unpack(std::string_view gzip_bytes, const Where& where, const Limits& limits) {
  if (compression_of(gzip_bytes) != Compression::gzip)
    refuse(ErrorCode::corrupt, where, "not gzip, which CRIU's restore asks tar for");
  MemoryReader reader(gzip_bytes, MemoryReader::Form::gzip, where);
  if (reader.next() == nullptr) refuse(ErrorCode::corrupt, where, "empty gzip data");
  std::string bytes;
  char block[1 << 14];
  while (const std::size_t got = reader.read(block, sizeof block)) {
    bytes.append(block, got);
    if (bytes.size() > limits.max_inner_bytes)
      refuse(ErrorCode::limit_exceeded, where,
             "unpacks to more than max_inner_bytes, " + std::to_string(limits.max_inner_bytes));
  }
  return bytes;
}

class StringSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  std::string text;
};

std::string pack(std::string_view tar) {
  StringSink out;
  CompressingSink gzip(out, Compression::gzip, std::nullopt);
  gzip.write(tar);
  gzip.finish();
  return std::move(out.text);
}

std::vector<Member> walk(std::string_view tar, const Where& where, const Limits& limits) {
  MemoryReader reader(tar, MemoryReader::Form::tar, where);
  std::vector<Member> members;
  while (struct archive_entry* entry = reader.next()) {
    if (members.size() >= limits.max_members)
      refuse(ErrorCode::limit_exceeded, where, "more than max_members, " + std::to_string(limits.max_members));
    Member member = member_of(entry);
    member.header_offset = reader.header_position();
    member.data_offset = reader.position();
    members.push_back(std::move(member));
  }
  return members;
}

std::string numbers(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + ":" + std::to_string(minor);
}

void renumber(std::string& tar, const std::vector<Member>& members, const NodeNumbers& node, const Where& where) {
  bool found = false;
  for (const Member& member : members) {
    if (member.name != node.name) continue;
    const bool is_node = member.type == MemberType::char_device || member.type == MemberType::block_device;
    if (!is_node) refuse(ErrorCode::conflict, where, "stale plan: " + node.name + " is no device node");
    if (member.dev_major != node.old_major || member.dev_minor != node.old_minor)
      refuse(ErrorCode::conflict, where,
             "stale plan: " + node.name + " is " + numbers(member.dev_major, member.dev_minor) + ", expected " +
                 numbers(node.old_major, node.old_minor));
    const auto block = find_header_block(
        std::string_view(tar).substr(member.header_offset, member.data_offset - member.header_offset));
    if (!block) refuse(ErrorCode::corrupt, where, node.name + ": its header is not shaped like one of a tar");
    const std::size_t at = member.header_offset + *block;
    set_tar_number(tar, at, kTarDevMajor, node.new_major);
    set_tar_number(tar, at, kTarDevMinor, node.new_minor);
    set_tar_checksum(tar, at);
    found = true;
  }
  if (!found) refuse(ErrorCode::conflict, where, "stale plan: there is no node " + node.name);
}

}  // namespace

std::vector<Member> list_inner_tar(std::string_view gzip_bytes, const Where& where, const Limits& limits) {
  return walk(unpack(gzip_bytes, where, limits), where, limits);
}

std::string renumber_inner_tar(std::string_view gzip_bytes, const std::vector<NodeNumbers>& nodes, const Where& where,
                               const Limits& limits) {
  std::string tar = unpack(gzip_bytes, where, limits);
  const std::vector<Member> members = walk(tar, where, limits);
  for (const NodeNumbers& node : nodes) renumber(tar, members, node, where);
  return pack(tar);
}

}  // namespace ckpt
