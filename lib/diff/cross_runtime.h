// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/comparer.h"

namespace ckpt {

/// runc and crun register the same things with CRIU under other keys (engines.md 6.2): a masked file is "/dev/null"
/// for runc and its own path for crun, a masked directory a tmpfs of CRIU's own for runc and crun's shared empty
/// directory for crun, a controller of cgroup v1 its destination for runc and its source for crun.
/// When the restoring runtime is another one than the dumping one, says what becomes of such a mount and returns true;
/// false for all other mounts.
bool compare_runtime_key(Comparer& comparer, std::size_t mount);

/// The rest of a change of runtime: what config.dump says.
void compare_runtime(Comparer& comparer);

}  // namespace ckpt
