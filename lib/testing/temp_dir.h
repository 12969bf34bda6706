// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ckpt::testing {

/// A directory of its own that disappears with its owner.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// An absolute path below it.
  std::string file(std::string_view name) const;
  /// Writes a file (and its parent directories); returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;
  /// Names directly in it, sorted, dot files included.
  std::vector<std::string> list() const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);

}  // namespace ckpt::testing
