// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ckpt/target.h"

namespace ckpt {

/// A directory that stands for another node's "/". Paths are resolved by the kernel with RESOLVE_IN_ROOT, so no symlink
/// or ".." of the untrusted side leads out of it.
class RootDirectory {
 public:
  /// Throws Error(io) when it is not a directory.
  explicit RootDirectory(const std::string& path);
  ~RootDirectory();
  RootDirectory(const RootDirectory&) = delete;
  RootDirectory& operator=(const RootDirectory&) = delete;

  std::optional<RootedFile> look(const std::string& path) const;

 private:
  int open_in_root(const std::string& path, std::uint64_t flags) const;

  std::string path_;
  int fd_ = -1;
};

/// The GNU build-ID note of an ELF file, read within its first MiB as CRIU does; empty without one. Words hold the
/// note's bytes in host order, zero padded (criu.md 3.7).
std::vector<std::uint32_t> read_build_id(int fd);

}  // namespace ckpt
