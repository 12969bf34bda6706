// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/comparer.h"
#include "diff/sources.h"

namespace ckpt {

namespace {

// Told by the program's own name: arguments can say anything.
bool is_nvidia_hook(const SpecHook& hook) {
  static constexpr std::array<std::string_view, 4> kPrograms = {
      "nvidia-container-runtime-hook", "nvidia-container-toolkit", "nvidia-ctk", "nvidia-cdi-hook"};
  return std::find(kPrograms.begin(), kPrograms.end(), base_name(hook.path)) != kPrograms.end();
}

// runc runs these two stages again at a restore, crun none (engines.md 1, fact 3; real-runs.md 2b).
bool runs_at_restore(const SpecHook& hook, Runtime runtime) {
  return runtime == Runtime::runc && (hook.stage == "prestart" || hook.stage == "createRuntime");
}

}  // namespace

void compare_hooks(Comparer& comparer) {
  const auto& spec = comparer.checkpoint.impl().spec;
  if (!spec || !archive_names_sources(comparer.result.engine)) return;  // CRI-O and containerd bring their own hooks
  for (const SpecHook& hook : spec->hooks) {
    if (!runs_at_restore(hook, comparer.result.runtime)) continue;
    const std::string what = "the " + hook.stage + " hook runs again at the restore";
    if (is_nvidia_hook(hook)) {
      comparer.fixable("hook.nvidia", hook.path, what + "; its mounts come from the checkpoint already",
                       "it is dropped");
    } else if (comparer.rules.drop_hooks == RestoreRules::Hooks::all) {
      comparer.fixable("hook.dropped", hook.path, what, "it is dropped, as asked");
    } else {
      comparer.undecided("hook.other", hook.path, what + ", and fails if the program is not on the target",
                         "--drop-hooks drops it; the container keeps what the hook made before the dump");
      continue;
    }
    comparer.result.hooks.push_back({hook.stage, hook.index, hook.path});
  }
}

}  // namespace ckpt
