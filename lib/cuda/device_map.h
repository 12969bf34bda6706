// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ckpt/gpu.h"
#include "cuda/abi.h"

namespace ckpt::cuda {

/// The pairs as the driver takes them; empty for a map that moves nothing.
std::vector<Pair> driver_pairs(const std::vector<GpuPair>& map);

/// What speaks against restoring with `map` on `here`; `recorded` says what was there at the suspend.
std::vector<GpuFinding> check_device_map(const std::vector<GpuPair>& map, const std::optional<GpuRecord>& recorded,
                                         const std::vector<GpuDevice>& here);

}  // namespace ckpt::cuda
