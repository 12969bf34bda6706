// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/rewrite.h"

namespace ckpt {

/// Writes a `ctr` checkpoint index again, as a tar that `ctr images import` takes: the spec blob and the CRIU tar are
/// new where the plan edits them, the indexes follow, all other blobs are copied.
RewriteReport rewrite_ctr_index(const Checkpoint& checkpoint, const Plan& plan, const std::string& output);

}  // namespace ckpt
