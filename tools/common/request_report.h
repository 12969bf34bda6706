// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/check.h"
#include "ckpt/json.h"

namespace ckpt::tool {

/// What the new pod and its node must provide, since the engine does not take it from the archive: as lines for a
/// person, with a stub for the pod's manifest. Empty when there is nothing.
std::string request_text(const Comparison& comparison);
/// {mounts, devices, switches, volume_mounts, volumes}: the last two as a pod manifest has them. Null for engines that
/// take all of it from the archive.
Json request_json(const Comparison& comparison);
/// "OLD=NEW,...", as `ckpt-gpu resume --device-map` takes it; empty without a map.
std::string device_map_text(const Comparison& comparison);

}  // namespace ckpt::tool
