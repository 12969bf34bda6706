// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/cdi.h"
#include "ckpt/target.h"

namespace ckpt {

/// The devices of a registry that a restore should use, and why others were not.
struct DeviceChoice {
  std::vector<std::string> names;
  std::vector<CdiProblem> notes;
};

/// See Target::load. Throws Error(invalid_argument) when a device was asked for by the user and is not there.
DeviceChoice choose_devices(const CdiRegistry& registry, const TargetOptions& options);

}  // namespace ckpt
