// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cuda/fleet.h"

namespace ckpt::cuda {

/// Does the request copy GPU memory out (suspend) or back in (resume)?
bool copies_out(GpuVerb verb) noexcept;
bool copies_in(GpuVerb verb) noexcept;

/// What speaks against a request for these processes.
std::vector<GpuFinding> find_obstacles(Fleet& fleet, const std::vector<GpuProcess>& processes,
                                       const GpuRequest& request);

}  // namespace ckpt::cuda
