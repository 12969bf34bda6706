// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ckpt/target.h"

namespace ckpt {

/// The target's counterpart of a driver file, and by what it was recognised.
struct FileMatch {
  const TargetFile* file = nullptr;
  enum class By { container_path, library_stem, name } by = By::container_path;
  /// Other files that fit equally well; not empty means that a choice would be a guess.
  std::vector<const TargetFile*> rivals;
};

/// Finds the counterpart of the mount at `mountpoint`: by container path, then for a library by stem (same version
/// preferred, then the same word size, then the most similar directory), then by name within its class.
/// Absent when the target has none.
std::optional<FileMatch> match_file(const std::string& mountpoint, MountClass mount_class,
                                    const std::vector<TargetFile>& files);

}  // namespace ckpt
