// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "archive/impl.h"
#include "base/paths.h"

namespace ckpt {

namespace {

[[noreturn]] void io_error(const std::string& archive, const std::string& member, const char* what) {
  throw Error(ErrorCode::io, Where{archive, member, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

// Part by part and never through a symlink, so that nothing outside is reached, whatever somebody puts there meanwhile.
// openat2 would do it in one call, but not before Linux 5.6.
int open_below(int directory, std::string_view name, int flags) {
  Descriptor parent;
  for (int at = directory;;) {
    const std::size_t slash = name.find('/');
    const bool is_last = slash == std::string_view::npos;
    const int how = is_last ? flags : O_RDONLY | O_DIRECTORY;
    const int fd = ::openat(at, std::string(name.substr(0, slash)).c_str(), how | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || is_last) return fd;
    parent = Descriptor(fd);
    at = fd;
    name.remove_prefix(slash + 1);
  }
}

MemberType type_of(mode_t mode) {
  if (S_ISREG(mode)) return MemberType::file;
  if (S_ISDIR(mode)) return MemberType::directory;
  if (S_ISLNK(mode)) return MemberType::symlink;
  if (S_ISCHR(mode)) return MemberType::char_device;
  if (S_ISBLK(mode)) return MemberType::block_device;
  return S_ISFIFO(mode) ? MemberType::fifo : MemberType::other;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::vector<std::string> names_in(DIR* directory, std::uint64_t limit, const Where& where) {
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    if (names.size() > limit)
      throw Error(ErrorCode::limit_exceeded, where, "more than max_members, " + std::to_string(limit));
    errno = 0;
  }
  if (errno != 0) io_error(where.file, where.member, "cannot list");
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_link(int directory, const std::string& name) {
  std::string target(4096, '\0');
  const ssize_t length = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return target;
}

/// Lists a tree, parents before children.
class Walk {
 public:
  Walk(Archive::Impl& archive, const ArchiveOptions& options) : archive_(archive), options_(options) {}

  /// Lists what is in the directory behind `fd`, which this takes over. `path` is its name in the archive.
  void list(int fd, const std::string& path, std::uint32_t depth) {
    const Where where{archive_.name, path, {}, {}};
    Descriptor owner(fd);
    if (depth > options_.limits.max_nesting)
      throw Error(ErrorCode::limit_exceeded, where,
                  "nested deeper than max_nesting, " + std::to_string(options_.limits.max_nesting));
    const Directory directory(::fdopendir(fd));
    if (!directory) io_error(archive_.name, path, "cannot list");
    owner.release();
    for (const std::string& name : names_in(directory.get(), options_.limits.max_members, where))
      add(fd, name, path.empty() ? name : std::string(path).append("/").append(name), depth);
  }

 private:
  void add(int directory, const std::string& name, const std::string& path, std::uint32_t depth) {
    if (archive_.members.size() >= options_.limits.max_members)
      throw Error(ErrorCode::limit_exceeded, Where{archive_.name, path, {}, {}},
                  "more than max_members, " + std::to_string(options_.limits.max_members));
    Member member = look_at(directory, name, path);
    archive_.require_name(member);
    const bool is_directory = member.type == MemberType::directory;
    archive_.members.push_back(std::move(member));
    if (!is_directory) return;
    const int below = open_below(directory, name, O_RDONLY | O_DIRECTORY);
    if (below < 0) io_error(archive_.name, path, "cannot open");
    list(below, path, depth + 1);
  }

  Member look_at(int directory, const std::string& name, const std::string& path) const {
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      io_error(archive_.name, path, "cannot stat");
    Member member;
    member.name = member.raw_name = path;
    member.type = type_of(status.st_mode);
    member.size = member.type == MemberType::file ? static_cast<std::uint64_t>(status.st_size) : 0;
    member.mode = status.st_mode & 07777U;
    member.uid = status.st_uid;
    member.gid = status.st_gid;
    member.mtime = status.st_mtim.tv_sec;
    member.dev_major = major(status.st_rdev);
    member.dev_minor = minor(status.st_rdev);
    if (member.type == MemberType::symlink) member.link_target = read_link(directory, name);
    return member;
  }

  Archive::Impl& archive_;
  const ArchiveOptions& options_;
};

}  // namespace

void scan_directory(Archive::Impl& archive, const ArchiveOptions& options) {
  // The directory itself stays open for reading; a second description of it is used up by listing.
  const int fd = open_below(archive.directory_fd->get(), ".", O_RDONLY | O_DIRECTORY);
  if (fd < 0) io_error(archive.name, {}, "cannot open");
  Walk(archive, options).list(fd, {}, 0);
  archive.index();
}

int open_directory_file(const Archive::Impl& archive, const Member& member) {
  if (!is_safe_name(member.name))
    throw Error(ErrorCode::invalid_argument, archive.where(member), "not a name inside the directory");
  Descriptor file(open_below(archive.directory_fd->get(), member.name, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) io_error(archive.name, member.name, "cannot open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) io_error(archive.name, member.name, "cannot stat");
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::io, archive.where(member), "not a regular file any more");
  return file.release();
}

void stream_directory_file(const Archive::Impl& archive, const Member& member,
                           const std::function<void(std::string_view)>& sink) {
  if (member.type != MemberType::file) return;  // opening a device node may already do something
  const Descriptor file(open_directory_file(archive, member));
  std::vector<char> block(1U << 20);
  std::uint64_t done = 0;
  while (done < member.size) {
    const ssize_t got = ::read(file.get(), block.data(), std::min<std::uint64_t>(block.size(), member.size - done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io_error(archive.name, member.name, "cannot read");
    if (got == 0) break;
    done += static_cast<std::uint64_t>(got);
    archive.directory_bytes += static_cast<std::uint64_t>(got);
    sink({block.data(), static_cast<std::size_t>(got)});
  }
  char more = 0;
  if (done < member.size || ::read(file.get(), &more, 1) == 1)
    throw Error(ErrorCode::io, archive.where(member), "the file changed while it was read");
}

}  // namespace ckpt
