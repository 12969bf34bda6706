// SPDX-License-Identifier: Apache-2.0
#include "archive/entry.h"

#include <algorithm>

#include "base/paths.h"

namespace ckpt {

namespace {

// What a PAX header says comes in UTF-8, and in the C locale libarchive has no other form of it.
std::string either(const char* text, const char* utf8) {
  if (text == nullptr) text = utf8;
  return text == nullptr ? std::string() : std::string(text);
}

bool is_hardlink(struct archive_entry* entry) {
  return archive_entry_hardlink(entry) != nullptr || archive_entry_hardlink_utf8(entry) != nullptr;
}

MemberType type_of(struct archive_entry* entry) {
  if (is_hardlink(entry)) return MemberType::hardlink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return MemberType::file;
    case AE_IFDIR:
      return MemberType::directory;
    case AE_IFLNK:
      return MemberType::symlink;
    case AE_IFCHR:
      return MemberType::char_device;
    case AE_IFBLK:
      return MemberType::block_device;
    case AE_IFIFO:
      return MemberType::fifo;
    default:
      return MemberType::other;
  }
}

}  // namespace

Member member_of(struct archive_entry* entry) {
  Member member;
  member.raw_name = either(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry));
  member.name = clean_member_name(member.raw_name);
  member.type = type_of(entry);
  member.size = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
  member.mode = static_cast<std::uint32_t>(archive_entry_perm(entry));
  member.uid = archive_entry_uid(entry);
  member.gid = archive_entry_gid(entry);
  member.mtime = archive_entry_mtime(entry);
  member.link_target = member.type == MemberType::hardlink
                           ? either(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry))
                           : either(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
  member.dev_major = static_cast<std::uint32_t>(archive_entry_rdevmajor(entry));
  member.dev_minor = static_cast<std::uint32_t>(archive_entry_rdevminor(entry));
  member.sparse = archive_entry_sparse_count(entry) > 0;
  return member;
}

}  // namespace ckpt
