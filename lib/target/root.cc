// SPDX-License-Identifier: Apache-2.0
#include "target/root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/paths.h"

namespace ckpt {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

RootedFile::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return RootedFile::Kind::file;
  if (S_ISDIR(mode)) return RootedFile::Kind::directory;
  if (S_ISLNK(mode)) return RootedFile::Kind::symlink;
  if (S_ISSOCK(mode)) return RootedFile::Kind::socket;
  if (S_ISCHR(mode)) return RootedFile::Kind::char_device;
  return S_ISBLK(mode) ? RootedFile::Kind::block_device : RootedFile::Kind::other;
}

std::string link_of(int fd) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  std::string target(4096, '\0');
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length <= 0) return {};
  target.resize(static_cast<std::size_t>(length));
  return target;
}

}  // namespace

RootDirectory::RootDirectory(const std::string& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0)
    throw Error(ErrorCode::io, Where{path, {}, {}, {}}, std::string("cannot open as a root: ") + std::strerror(errno));
}

RootDirectory::~RootDirectory() { ::close(fd_); }

int RootDirectory::open_in_root(const std::string& path, std::uint64_t flags) const {
  struct open_how how {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, fd_, path.c_str(), &how, sizeof how));
}

std::optional<RootedFile> RootDirectory::look(const std::string& path) const {
  const Descriptor last(open_in_root(path, O_PATH | O_NOFOLLOW));
  if (last.get() < 0) return std::nullopt;
  struct stat status {};
  if (::fstat(last.get(), &status) != 0) return std::nullopt;
  RootedFile file;
  file.kind = kind_of(status.st_mode);
  file.size = static_cast<std::uint64_t>(status.st_size);
  file.dev_major = major(status.st_rdev);
  file.dev_minor = minor(status.st_rdev);
  const Descriptor followed(open_in_root(path, O_PATH));
  const std::string root = link_of(fd_);
  const std::string real = followed.get() < 0 ? std::string() : link_of(followed.get());
  if (!real.empty() && is_within(real, root)) file.resolved = root == "/" ? real : real.substr(root.size());
  if (file.kind == RootedFile::Kind::file) {
    const Descriptor content(open_in_root(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (content.get() >= 0) file.build_id = read_build_id(content.get());
  }
  return file;
}

}  // namespace ckpt
