// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "archive/rewrite_archive.h"
#include "ckpt/checkpoint.h"
#include "ckpt/plan.h"

namespace ckpt {

/// Turns a plan into new member contents, checking every `before`. The indexes are into checkpoint.archive().members();
/// of duplicate members the last one, which is the one that counts, is edited and the earlier ones stay.
/// Throws Error(conflict) with member and pointer when the archive is not the one the plan was made for.
ArchiveEdits apply_plan(const Checkpoint& checkpoint, const Plan& plan);

/// The same as whole new members, from whichever layer of an image has them: what a layer over it has to hold.
std::vector<ChangedMember> changed_members(const Checkpoint& checkpoint, const Plan& plan);

/// A `ctr` index has its spec in a blob of its own, not in spec.dump: the new text, absent when nothing edits it.
std::optional<std::string> edited_spec_blob(const Checkpoint& checkpoint, const Plan& plan);

}  // namespace ckpt
