// SPDX-License-Identifier: Apache-2.0
#include "archive/inner_tar.h"

#include "archive/codec.h"
#include "archive/entry.h"
#include "archive/gunzip.h"
#include "archive/handles.h"
#include "archive/source.h"
#include "archive/tar_header.h"

namespace ckpt {

namespace {

[[noreturn]] void refuse(ErrorCode code, const Where& where, const std::string& detail) {
  throw Error(code, where, detail);
}

std::string unpack(std::string_view gzip_bytes, const Where& where, const Limits& limits) {
  if (compression_of(gzip_bytes) != Compression::gzip)
    refuse(ErrorCode::corrupt, where, "not gzip, which CRIU's restore asks tar for");
  const auto next_piece = [&] {
    const std::string_view piece = gzip_bytes.substr(0, 1U << 20);
    gzip_bytes.remove_prefix(piece.size());
    return piece;
  };
  Gunzip gunzip(next_piece, where);
  std::string bytes;
  std::vector<char> block(1U << 16);
  while (const std::size_t got = gunzip.read(block.data(), block.size())) {
    bytes.append(block.data(), got);
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

[[noreturn]] void fail(struct archive* reader, const Where& where) {
  const char* why = archive_error_string(reader);
  refuse(ErrorCode::corrupt, where, std::string("not a readable tar inside: ") + (why != nullptr ? why : "damaged"));
}

std::vector<Member> walk(std::string_view tar, const Where& where, const Limits& limits) {
  const ReaderHandle reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_memory(reader.get(), tar.data(), tar.size()) != ARCHIVE_OK) fail(reader.get(), where);
  std::vector<Member> members;
  struct archive_entry* entry = nullptr;
  for (;;) {
    const int result = archive_read_next_header(reader.get(), &entry);
    if (result == ARCHIVE_EOF) return members;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail(reader.get(), where);
    if (members.size() >= limits.max_members)
      refuse(ErrorCode::limit_exceeded, where, "more than max_members, " + std::to_string(limits.max_members));
    Member member = member_of(entry);
    member.header_offset = static_cast<std::uint64_t>(archive_read_header_position(reader.get()));
    member.data_offset = static_cast<std::uint64_t>(archive_filter_bytes(reader.get(), 0));
    members.push_back(std::move(member));
  }
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

// An extension header may say other numbers and would win over the block that was edited.
void require_renumbered(const std::vector<Member>& members, const std::vector<NodeNumbers>& nodes, const Where& where) {
  for (const NodeNumbers& node : nodes)
    for (const Member& member : members)
      if (member.name == node.name && (member.dev_major != node.new_major || member.dev_minor != node.new_minor))
        refuse(ErrorCode::unsupported, where, node.name + ": its numbers stand in an extension header");
}

const Member* find_node(const std::vector<Member>& members, const std::string& name) {
  for (auto member = members.rbegin(); member != members.rend(); ++member)
    if (member->name == name) return &*member;
  return nullptr;
}

void add_node(std::string& tar, const std::vector<Member>& members, const NodeAddition& node, const Where& where) {
  const Member* like = find_node(members, node.like);
  if (like == nullptr || (like->type != MemberType::char_device && like->type != MemberType::block_device))
    refuse(ErrorCode::conflict, where, "stale plan: there is no node " + node.like);
  if (find_node(members, node.name) != nullptr)
    refuse(ErrorCode::conflict, where, "stale plan: " + node.name + " is there already");
  std::string block = tar.substr(like->header_offset, kTarBlock);
  const bool plain = like->data_offset - like->header_offset == kTarBlock && find_header_block(block) == 0U &&
                     block.compare(0, like->raw_name.size(), like->raw_name) == 0;
  const std::string raw_name =
      like->raw_name.substr(0, like->raw_name.size() - std::min(like->raw_name.size(), like->name.size())) + node.name;
  if (!plain || raw_name.size() >= kTarNameWidth || raw_name.find('\0') != std::string::npos)
    refuse(ErrorCode::unsupported, where, "no node can be made after " + node.like + ", whose header is extended");
  block.replace(0, kTarNameWidth, raw_name + std::string(kTarNameWidth - raw_name.size(), '\0'));
  set_tar_number(block, 0, kTarDevMajor, node.major);
  set_tar_number(block, 0, kTarDevMinor, node.minor);
  set_tar_checksum(block, 0);
  tar.insert(like->data_offset, block);
}

}  // namespace

std::vector<Member> list_inner_tar(std::string_view gzip_bytes, const Where& where, const Limits& limits) {
  return walk(unpack(gzip_bytes, where, limits), where, limits);
}

std::string edit_inner_tar(std::string_view gzip_bytes, const InnerTarEdits& edits, const Where& where,
                           const Limits& limits) {
  std::string tar = unpack(gzip_bytes, where, limits);
  const std::vector<Member> members = walk(tar, where, limits);
  for (const NodeNumbers& node : edits.renumbered) renumber(tar, members, node, where);
  require_renumbered(walk(tar, where, limits), edits.renumbered, where);
  for (const NodeAddition& node : edits.added) add_node(tar, walk(tar, where, limits), node, where);
  return pack(tar);
}

}  // namespace ckpt
