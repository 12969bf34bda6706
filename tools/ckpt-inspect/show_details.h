// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "images.h"

namespace ckpt::tool {

/// What `show -v` adds: namespaces, cgroups, the changed files of the root file system, deleted files and volumes.
Json details_json(Images& images);
std::string details_text(Images& images);

}  // namespace ckpt::tool
