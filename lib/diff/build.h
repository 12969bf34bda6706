// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/checkpoint.h"
#include "ckpt/target.h"

namespace ckpt {

/// Whether the target's file is the build that a process had in use.
enum class SameBuild {
  proved,   ///< size and build-ID agree under the target's root
  assumed,  ///< the names carry the same driver version
  differs,  ///< size, build-ID or version differ
  unknown,  ///< nothing tells
  missing,  ///< not under the target's root
};

struct BuildVerdict {
  SameBuild same = SameBuild::unknown;
  std::string why;  ///< "version 570.86.10, the target has 570.133.20"
};

/// Judges one use of a mount whose source on the target will be `new_source` (for a file inside a directory mount the
/// rest of the path is appended). `archive_driver` is the driver version of the archive, empty when unknown.
BuildVerdict judge_build(const Mount& mount, const MountUse& use, const std::string& new_source, const Target& target,
                         const std::string& archive_driver);

}  // namespace ckpt
