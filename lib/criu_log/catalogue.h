// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ckpt/explain.h"

namespace ckpt::criu_log {

// The parts of the catalogue, one file each (facts: criu.md 5.2 and engines.md, by area).
std::vector<FailureKind> mount_kinds();
std::vector<FailureKind> file_kinds();
std::vector<FailureKind> network_kinds();
std::vector<FailureKind> process_kinds();
std::vector<FailureKind> device_kinds();
std::vector<FailureKind> engine_kinds();
std::vector<FailureKind> fallout_kinds();

}  // namespace ckpt::criu_log
