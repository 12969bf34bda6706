// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/target.h"

namespace ckpt {

enum class Verdict { restores, patchable, blocked };
/// "restores", "patchable", "blocked".
CKPT_API const char* to_string(Verdict verdict) noexcept;

enum class Severity { note, fixable, blocker };
/// "note", "fixable", "blocker".
CKPT_API const char* to_string(Severity severity) noexcept;

struct Finding {
  std::string code;  ///< stable, "mount.moved"
  Severity severity = Severity::note;
  std::string subject;  ///< what it is about: a path in the container, a device, a hook
  std::string message;
  std::string remedy;           ///< what to do; may be empty
  bool needs_decision = false;  ///< fixable only after the user has said how
};

/// One `--map OLD=NEW`: host paths, whole or a leading directory.
struct PathMap {
  std::string old_path;
  std::string new_path;
};

/// One external line of a CRIU configuration file that will be in force at the restore.
struct ExternalLine {
  std::string key;
  std::string value;
  std::size_t line = 0;
};

/// Which engine and runtime will restore, and what the user has decided.
struct RestoreRules {
  Engine engine = Engine::unknown;     ///< unknown: the engine that made the archive
  Runtime runtime = Runtime::unknown;  ///< unknown: as archived, or implied by the engine
  std::vector<PathMap> maps;
  std::vector<std::string> drop_mounts;  ///< destinations in the container
  enum class Hooks { nvidia_only, all } drop_hooks = Hooks::nvidia_only;
  std::vector<ExternalLine> externals_in_force;
  bool autodetect_in_force = false;  ///< `external mnt[]`
};

/// What has to happen to one mount so that it restores on the target.
struct MountChange {
  enum class Action {
    keep,     ///< nothing in spec.dump
    repoint,  ///< spec.dump's entry gets `new_source`
    add,      ///< spec.dump gets a bind for it
    drop,     ///< gone from spec.dump and from the image
    list,     ///< there is no spec to edit: an external line has to bring the source
  };
  Action action = Action::keep;
  std::optional<std::size_t> mount;       ///< index into Checkpoint::mounts()
  std::optional<std::size_t> spec_index;  ///< in spec.dump's /mounts
  std::string mountpoint;
  std::string old_source;  ///< empty when the archive does not know it
  std::string new_source;
  bool rekey = false;  ///< the image's key becomes the mountpoint
};

/// New numbers for a device node or a rule.
struct DeviceChange {
  std::size_t device = 0;  ///< index into Checkpoint::devices()
  std::int64_t old_major = 0;
  std::optional<std::int64_t> old_minor;  ///< absent: a rule on all minors
  std::int64_t new_major = 0;
  std::optional<std::int64_t> new_minor;
};

/// A hook that leaves spec.dump.
struct HookChange {
  std::string stage;
  std::size_t index = 0;
  std::string path;
};

struct Comparison {
  Engine engine = Engine::unknown;
  Runtime runtime = Runtime::unknown;
  std::vector<Finding> findings;
  std::vector<MountChange> mounts;
  std::vector<DeviceChange> devices;
  std::vector<HookChange> hooks;

  CKPT_API Verdict verdict() const noexcept;
  /// True when a fixable finding waits for --map, --drop-mount or --drop-hooks.
  CKPT_API bool needs_decision() const noexcept;
};

/// Will the checkpoint restore on the target, and what has to change? Pure: looks at nothing but its arguments (and at
/// files under the target's root, if it has one).
/// Throws Error(unsupported) for an engine whose rules are not known, Error(invalid_argument) for a map or a
/// drop that matches nothing (the text lists what there is), and the first of checkpoint.problems() if there are any.
CKPT_API Comparison compare(const Checkpoint& checkpoint, const Target& target, const RestoreRules& rules);

}  // namespace ckpt
