// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "criu/views.h"

namespace ckpt::criu {

/// Why CRIU would refuse the mounts of a namespace, crash on them or lose some.
struct MountProblem {
  /// no_root, two_roots, missing_parent, self_parent, cycle, duplicate_id, same_mountpoint, two_keys
  std::string code;
  std::uint32_t mnt_id = 0;  ///< the mount at fault; 0 for no_root
  std::string message;       ///< one sentence without the member's name; text from the image is not escaped
};

/// Checks the mounts of one namespace as CRIU's mnt_build_ids_tree and validate_mounts do, and finds what those miss:
/// mounts in a cycle that the root does not reach, which a restore drops silently. In the order of the entries; one
/// problem an entry and code.
std::vector<MountProblem> check_mount_tree(const std::vector<MountEntry>& mounts);

}  // namespace ckpt::criu
