// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/gpu.h"
#include "cuda/cgroup.h"
#include "cuda/proc.h"

namespace ckpt::cuda {

/// Where processes are looked for.
struct Node {
  Proc proc;
  Cgroups cgroups;
  std::string state_root;
};

/// The running container that a full id, a name or an unambiguous beginning of an id names.
/// Throws Error(invalid_argument) when there is none, more than one, or its first process is gone.
GpuContainer choose_container(const Node& node, const std::string& wanted);

/// The processes of a selection, in order of pid, without a word from the driver. Throws
/// Error(invalid_argument) for what does not exist.
std::vector<GpuProcess> select_processes(const Node& node, const GpuSelection& selection);

}  // namespace ckpt::cuda
