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

/// One `--gpu-map OLD=NEW`: UUIDs ("GPU-..."), or minors of /dev/nvidiaN ("0", "/dev/nvidia0").
struct GpuMap {
  std::string old_gpu;
  std::string new_gpu;
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
  std::vector<GpuMap> gpu_maps;
  enum class Hooks { nvidia_only, all } drop_hooks = Hooks::nvidia_only;
  std::vector<ExternalLine> externals_in_force;
  bool autodetect_in_force = false;  ///< `external mnt[]`
  /// How CRIU learns the source of a mount that the engine does not take from the archive (CRI-O).
  enum class Bring {
    list,      ///< a line `external=mnt[KEY]:SOURCE` of its configuration
    in_image,  ///< an autodetected key with the source in the image, for nodes with `external mnt[]`
  } bring = Bring::list;
  enum class CdiAnnotations { keep, strip } cdi_annotations = CdiAnnotations::keep;
};

/// What has to happen to one mount so that it restores on the target.
struct MountChange {
  enum class Action {
    keep,      ///< nothing in spec.dump
    repoint,   ///< spec.dump's entry gets `new_source`
    add,       ///< spec.dump gets a bind for it
    drop,      ///< gone from spec.dump and from the image
    list,      ///< leaves spec.dump, if it is there: an external line brings the source
    in_image,  ///< leaves spec.dump: the image names `new_source` under an autodetected key
    unspec,    ///< leaves spec.dump only: the engine adds its own
    rename,    ///< the image's mountpoint becomes `new_mountpoint`
  };
  Action action = Action::keep;
  std::optional<std::size_t> mount;       ///< index into Checkpoint::mounts()
  std::optional<std::size_t> spec_index;  ///< in spec.dump's /mounts
  std::string mountpoint;
  std::string old_source;             ///< empty when the archive does not know it
  std::string new_source;             ///< on the target
  std::string offered_at;             ///< where the target's CDI devices put that file in a container; may be empty
  std::optional<std::string> new_key;  ///< the image's key becomes this
  std::string new_mountpoint;         ///< Action::rename
  /// What has to stand at the mountpoint in the root file system when no runtime makes it.
  enum class Placeholder { none, file, directory } placeholder = Placeholder::none;
};
/// "keep", "repoint", ..., "rename".
CKPT_API const char* to_string(MountChange::Action action) noexcept;

/// A file of files.img that follows its mount.
struct FileChange {
  std::uint32_t id = 0;
  std::string old_name;
  std::string new_name;
};

/// New numbers for a device node or a rule.
struct DeviceChange {
  std::size_t device = 0;  ///< index into Checkpoint::devices()
  std::int64_t old_major = 0;
  std::optional<std::int64_t> old_minor;  ///< absent: a rule on all minors
  std::int64_t new_major = 0;
  std::optional<std::int64_t> new_minor;
};

/// A node that the restored container needs beside those it had: in the image of /dev, in the spec, and a rule.
struct DeviceAddition {
  std::size_t like = 0;  ///< index into Checkpoint::devices(): whose kind, mode and owner it takes
  std::string path;      ///< in the container
  std::int64_t major = 0;
  std::int64_t minor = 0;
};

/// A hook that leaves spec.dump.
struct HookChange {
  std::string stage;
  std::size_t index = 0;
  std::string path;
};

/// Another value in one of the engine's JSON documents (config.dump, status.dump, annotations).
struct DocumentChange {
  std::string member;
  std::string pointer;        ///< RFC 6901
  std::optional<Json> after;  ///< absent: the value goes
};

/// What the engine takes from the new pod and not from the archive.
struct RestoreRequest {
  struct MountWish {
    std::string container_path;
    std::string host_path;  ///< empty: of the requester's choice
    bool read_only = false;
    bool by_kubelet = false;  ///< every pod has it, nobody needs to declare it
  };
  struct DeviceWish {
    std::string path;
    std::string host_path;
    std::string permissions;  ///< "rwm"
    std::string type;         ///< "c", "b" or empty when nobody knows
    std::optional<std::int64_t> major;
    std::optional<std::int64_t> minor;
  };
  struct NodeSwitch {
    std::string file;     ///< of the node's configuration
    std::string setting;  ///< line or key
    std::string why;
  };
  std::vector<MountWish> mounts;
  std::vector<DeviceWish> devices;
  std::vector<NodeSwitch> switches;
  bool empty() const noexcept { return mounts.empty() && devices.empty() && switches.empty(); }
};

struct Comparison {
  Engine engine = Engine::unknown;
  Runtime runtime = Runtime::unknown;
  std::vector<Finding> findings;
  std::vector<MountChange> mounts;
  std::vector<FileChange> files;
  std::vector<DeviceChange> devices;
  std::vector<DeviceAddition> added_devices;
  std::vector<HookChange> hooks;
  std::vector<DocumentChange> documents;
  RestoreRequest request;
  /// GPUs of the archive and those that take their place, for `ckpt-gpu resume --device-map`.
  std::vector<GpuMap> device_map;

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
