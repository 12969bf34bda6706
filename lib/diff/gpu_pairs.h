// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/comparer.h"

namespace ckpt {

/// Finds out which device node of the target takes the place of which of the archive's, where a node's name counts
/// devices: /dev/nvidiaN, /dev/dri/cardN and renderDN, /dev/nvidia-caps/nvidia-capN. As the user says with --gpu-map;
/// else the same name; else by position, when both have equally many left (cdi.md 6). What finds no place is a finding.
/// Fills comparer.node_pairs (paths in the container, old to new) and the result's device_map.
/// Throws Error(invalid_argument) for a map that is not one to one or names a GPU that is not there.
void pair_gpus(Comparer& comparer);

/// Whether a path is one of those nodes.
bool is_counted_node(const std::string& path);

}  // namespace ckpt
