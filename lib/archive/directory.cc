// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "archive/impl.h"
#include "base/paths.h"

namespace ckpt {

namespace {

[[noreturn]] void io_error(const std::string& archive, const std::string& member, const char* what) {
  throw Error(ErrorCode::io, Where{archive, member, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

// Resolution never leaves the directory and never follows a symlink, whatever somebody puts there meanwhile.
int open_below(int directory, const std::string& name, int flags) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how));
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

std::vector<std::string> names_in(int fd, const std::string& archive, const std::string& member) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd));
  if (!directory) io_error(archive, member, "cannot list");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
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

  void list(const std::string& directory, std::uint32_t depth) {
    if (depth > options_.limits.max_nesting)
      throw Error(ErrorCode::limit_exceeded, Where{archive_.name, directory, {}, {}},
                  "nested deeper than max_nesting, " + std::to_string(options_.limits.max_nesting));
    const int fd =
        open_below(archive_.directory_fd->get(), directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY);
    if (fd < 0) io_error(archive_.name, directory, "cannot open");
    for (const std::string& name : names_in(fd, archive_.name, directory))
      add(directory.empty() ? name : std::string(directory).append("/").append(name), depth);
  }

 private:
  void add(const std::string& path, std::uint32_t depth) {
    struct stat status {};
    if (::fstatat(archive_.directory_fd->get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      io_error(archive_.name, path, "cannot stat");
    if (archive_.members.size() >= options_.limits.max_members)
      throw Error(ErrorCode::limit_exceeded, Where{archive_.name, path, {}, {}},
                  "more than max_members, " + std::to_string(options_.limits.max_members));
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
    if (member.type == MemberType::symlink) member.link_target = read_link(archive_.directory_fd->get(), path);
    const bool is_directory = member.type == MemberType::directory;
    archive_.require_name(member);
    archive_.members.push_back(std::move(member));
    if (is_directory) list(path, depth + 1);
  }

  Archive::Impl& archive_;
  const ArchiveOptions& options_;
};

}  // namespace

void scan_directory(Archive::Impl& archive, const ArchiveOptions& options) {
  Walk(archive, options).list({}, 0);
  archive.index();
}

int open_directory_file(const Archive::Impl& archive, const Member& member) {
  const int fd = open_below(archive.directory_fd->get(), member.name, O_RDONLY | O_NONBLOCK);
  if (fd < 0) io_error(archive.name, member.name, "cannot open");
  return fd;
}

void stream_directory_file(const Archive::Impl& archive, const Member& member,
                           const std::function<void(std::string_view)>& sink) {
  const Descriptor file(open_directory_file(archive, member));
  std::vector<char> block(1U << 20);
  std::uint64_t done = 0;
  while (done < member.size) {
    const ssize_t got = ::read(file.get(), block.data(), std::min<std::uint64_t>(block.size(), member.size - done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io_error(archive.name, member.name, "cannot read");
    if (got == 0) break;
    done += static_cast<std::uint64_t>(got);
    sink({block.data(), static_cast<std::size_t>(got)});
  }
  char more = 0;
  if (done < member.size || ::read(file.get(), &more, 1) == 1)
    throw Error(ErrorCode::io, archive.where(member), "the file changed while it was read");
}

}  // namespace ckpt
