// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/paths.h"
#include "ckpt/error.h"

namespace ckpt {

namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw Error(ErrorCode::io, Where{path, {}, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

void write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) continue;
      fail(name, "cannot write");
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

std::string directory_of(const std::string& path) {
  const std::string_view directory = directory_name(path);
  return directory.empty() ? "." : std::string(directory);
}

std::string name_pattern(const std::string& target) {
  return directory_of(target) + "/." + std::string(base_name(target)) + ".ckpt-XXXXXX";
}

// The rename is durable only once the directory is. Some file systems cannot sync a directory; that is no failure.
void sync_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

AtomicFile::AtomicFile(std::string target) : target_(std::move(target)) {
  if (target_.empty()) throw Error(ErrorCode::invalid_argument, {}, "the output has no name");
  struct stat status {};
  if (::stat(target_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ErrorCode::invalid_argument, Where{target_, {}, {}, {}}, "the output exists and is not a regular file");
  fd_ = ::open(directory_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0) return;
  temporary_ = name_pattern(target_);
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    temporary_.clear();
    fail(target_, "cannot create a temporary file beside it");
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) { write_all(fd_, bytes, target_); }

void AtomicFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(target_, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

void AtomicFile::rename_target(const std::string& name) { target_ = directory_of(target_) + "/" + name; }

// A rename needs a name, and link(2) cannot replace: the name lives for the moment between the two.
void AtomicFile::give_name() {
  const std::string self = temporary_path();
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string name = name_pattern(target_);
    const int taken = ::mkostemp(name.data(), O_CLOEXEC);
    if (taken < 0) fail(target_, "cannot create a temporary file beside it");
    ::close(taken);
    ::unlink(name.c_str());
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) fail(target_, "cannot name the finished file");
  }
  fail(target_, "cannot find a name for the finished file");
}

void AtomicFile::commit() {
  if (::fsync(fd_) != 0) fail(target_, "cannot fsync");
  if (temporary_.empty()) give_name();
  if (::close(std::exchange(fd_, -1)) != 0) fail(target_, "cannot close");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "cannot rename the finished file to it");
  temporary_.clear();
  sync_directory(directory_of(target_));
}

void FdSink::write(std::string_view bytes) { write_all(fd_, bytes, name_); }

}  // namespace ckpt
