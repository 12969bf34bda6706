// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive/rewrite_archive.h"
#include "ckpt/checkpoint.h"
#include "ckpt/plan.h"

namespace ckpt {

/// Turns a plan into new member contents, checking every `before`. The indexes are into checkpoint.archive().members();
/// of duplicate members the last one, which is the one that counts, is edited and the earlier ones stay.
/// Throws Error(conflict) with member and pointer when the archive is not the one the plan was made for.
ArchiveEdits apply_plan(const Checkpoint& checkpoint, const Plan& plan);

}  // namespace ckpt
