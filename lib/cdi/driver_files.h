// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/cdi.h"

namespace ckpt {

/// The paths that `nvidia-container-cli list` prints, one a line, relative to the driver root (cdi.md 4.1).
/// Throws Error(corrupt) with the line for anything else, and for an empty list.
std::vector<std::string> parse_container_cli_list(const std::string& text, const std::string& file);

/// The same as edits: paths below /dev are device nodes, the rest are mounts that lie at one place on both sides.
CdiEdits edits_from_list(const std::vector<std::string>& paths);

}  // namespace ckpt
