// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "diff/comparer.h"

namespace ckpt {

/// The source of a mount on the node it was dumped on; empty when the archive does not have it.
std::string known_source(const Mount& mount);

/// "pid 7 (gpuapp) maps /usr/lib/libcuda.so.570.86.10"
std::string describe_use(const MountUse& use, const Checkpoint& checkpoint);

/// Whether the engine takes a mount's source from spec.dump at all.
bool archive_names_sources(Engine engine);

bool asked_to_drop(Comparer& comparer, const std::string& mountpoint);

/// Sets change.new_source from a map, the target's files or, for what no driver provides, the old source.
/// False when there is none; then a finding says so.
bool find_source(Comparer& comparer, const Mount& mount, MountChange& change);

/// Under the target's root: the source exists, is of the right kind, and its last part is no symlink (the symlink's
/// own target is taken instead). False with a finding when it cannot be used.
bool check_source(Comparer& comparer, const Mount& mount, MountChange& change);

/// Findings about files of this mount that processes have in use, were they to find `new_source` there.
void check_builds(Comparer& comparer, const Mount& mount, const std::string& new_source);

/// Throws Error(invalid_argument) for a map or a drop that matched nothing.
void refuse_idle_decisions(const Comparer& comparer);

}  // namespace ckpt
