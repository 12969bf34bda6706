// SPDX-License-Identifier: Apache-2.0
#include "cuda/hugepages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ckpt/error.h"
#include "ckpt/file.h"
#include "cuda/files.h"

namespace ckpt::cuda {

namespace {

std::string setting_file(const std::string& root) { return root + "/sys/kernel/mm/transparent_hugepage/enabled"; }
std::string directory(const std::string& root) { return root + "/run/ckpt-gpu"; }
std::string saved_file(const std::string& root) { return directory(root) + "/transparent_hugepage"; }

[[noreturn]] void fail(const std::string& file, const char* what) {
  throw Error(ErrorCode::io, Where{file, {}, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

bool is_setting(const std::string& text) { return text == "always" || text == "madvise" || text == "never"; }

// "always [madvise] never" -> "madvise"; a plain word is itself.
std::string chosen(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string::npos ? 0 : open);
  std::string word = open == std::string::npos || close == std::string::npos
                         ? text.substr(0, text.find_last_not_of(" \n") + 1)
                         : text.substr(open + 1, close - open - 1);
  return is_setting(word) ? word : std::string();
}

void write_setting(const std::string& root, const std::string& word) {
  const std::string file = setting_file(root);
  const int fd = ::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) fail(file, "cannot open");
  const bool good = ::write(fd, word.data(), word.size()) == static_cast<ssize_t>(word.size());
  const int error = errno;
  ::close(fd);
  errno = error;
  if (!good) fail(file, "cannot write");
}

// A lock ends with its process, so a killed run holds none. -1 while another run has it.
int take_lock(const std::string& root) {
  const std::string file = directory(root) + "/lock";
  if (::mkdir(directory(root).c_str(), 0700) != 0 && errno != EEXIST) fail(directory(root), "cannot make");
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) fail(file, "cannot open");
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

std::string put_back(const std::string& root) {
  std::string word = chosen(read_some(saved_file(root), 64).value_or(""));
  if (!word.empty()) write_setting(root, word);
  ::unlink(saved_file(root).c_str());
  return word;
}

}  // namespace

HugePages::HugePages(std::string state_root) : state_root_(std::move(state_root)), lock_(take_lock(state_root_)) {
  if (lock_ < 0)
    throw Error(ErrorCode::conflict, Where{directory(state_root_), {}, {}, {}},
                "another run has changed transparent_hugepage");
  try {
    put_back(state_root_);
    const std::string before = chosen(read_some(setting_file(state_root_), 256).value_or(""));
    if (before.empty())
      throw Error(ErrorCode::io, Where{setting_file(state_root_), {}, {}, {}}, "the setting cannot be read");
    write_file(saved_file(state_root_), before + "\n");
    write_setting(state_root_, "always");
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

HugePages::~HugePages() {
  try {
    put_back(state_root_);
  } catch (const Error&) {
    // The saved setting stays, for the next run to put back.
  }
  ::close(lock_);
}

std::string recover_hugepages(const std::string& state_root) {
  struct stat found {};
  if (::stat(saved_file(state_root).c_str(), &found) != 0) return {};
  const int lock = take_lock(state_root);
  if (lock < 0) return {};
  std::string word;
  try {
    word = put_back(state_root);
  } catch (...) {
    ::close(lock);
    throw;
  }
  ::close(lock);
  return word;
}

}  // namespace ckpt::cuda
