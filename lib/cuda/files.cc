// SPDX-License-Identifier: Apache-2.0
#include "cuda/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace ckpt::cuda {

std::optional<std::string> read_some(const std::string& path, std::size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return std::nullopt;
  std::string text;
  char block[1 << 14];
  ssize_t size = 0;
  while (text.size() < limit && (size = ::read(fd, block, std::min(sizeof block, limit - text.size()))) != 0) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) break;
    text.append(block, static_cast<std::size_t>(size));
  }
  ::close(fd);
  if (size < 0) return std::nullopt;
  return text;
}

std::vector<std::string> names_in(const std::string& directory) {
  constexpr std::size_t kMost = 1'000'000;
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(directory.c_str()), ::closedir);
  if (!handle) return names;
  while (const dirent* entry = ::readdir(handle.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    if (names.size() >= kMost) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ckpt::cuda
