// SPDX-License-Identifier: Apache-2.0
#include "diff/cross_runtime.h"

#include <array>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/sources.h"

namespace ckpt {

namespace {

constexpr const char* kNullDevice = "/dev/null";
constexpr std::string_view kEmptyDirectory = ".empty-directory";
constexpr std::uint32_t kCgroup = 12;

bool changes_runtime(const Comparer& comparer) {
  const Runtime old_runtime = comparer.checkpoint.runtime();
  return old_runtime != Runtime::unknown && old_runtime != comparer.result.runtime;
}

bool is_empty_directory_key(const Mount& mount) {
  return mount.key_kind == KeyKind::keyed && base_name(*mount.ext_key) == kEmptyDirectory;
}

MountChange rekeyed(std::size_t index, const Mount& mount, std::string key) {
  MountChange change;
  change.mount = index;
  change.mountpoint = mount.mountpoint;
  change.new_key = std::move(key);
  return change;
}

void rekey(Comparer& comparer, std::size_t index, std::string key) {
  const Mount& mount = comparer.checkpoint.mounts()[index];
  comparer.fixable("runtime.key", mount.mountpoint,
                   std::string("is masked under the key ") + *mount.ext_key + ", which " +
                       to_string(comparer.result.runtime) + " does not offer",
                   "the key becomes " + key);
  comparer.result.mounts.push_back(rekeyed(index, mount, std::move(key)));
}

// runc masks a directory with a tmpfs and offers CRIU nothing to put in the place of crun's empty directory.
void list_empty_directory(Comparer& comparer, std::size_t index) {
  const Mount& mount = comparer.checkpoint.mounts()[index];
  MountChange change;
  change.mount = index;
  change.mountpoint = mount.mountpoint;
  change.new_source = *mount.ext_key;
  for (std::size_t i = 0; i < comparer.rules.maps.size(); ++i)
    if (clean_path(comparer.rules.maps[i].old_path) == clean_path(*mount.ext_key)) {
      comparer.used_maps.insert(i);
      change.new_source = clean_path(comparer.rules.maps[i].new_path);
    }
  for (const ExternalLine& line : comparer.rules.externals_in_force)
    if (line.key == *mount.ext_key) return;
  change.action = MountChange::Action::list;
  comparer.fixable("runtime.empty_directory", mount.mountpoint,
                   "is masked by crun's empty directory " + *mount.ext_key + ", for which runc offers no source",
                   "an external line brings " + change.new_source +
                       ", which has to be an empty directory there (--map " + *mount.ext_key + "=DIR names another)");
  comparer.result.mounts.push_back(std::move(change));
}

bool is_masked_file(const Mount& mount) {
  return mount.known_from == "maskedPaths" && mount.key_kind == KeyKind::keyed && !is_empty_directory_key(mount);
}

}  // namespace

bool compare_runtime_key(Comparer& comparer, std::size_t index) {
  if (!changes_runtime(comparer)) return false;
  const Mount& mount = comparer.checkpoint.mounts()[index];
  if (mount.key_kind != KeyKind::keyed) return false;
  const bool to_crun = comparer.result.runtime == Runtime::crun;
  if (mount.fstype == kCgroup || mount.known_from == "cgroup") {
    comparer.blocker("runtime.cgroup_v1", mount.mountpoint,
                     "a controller of cgroup v1: runc and crun name it to CRIU in different ways",
                     "dump and restore on nodes with cgroup v2, where it is no external mount");
    return true;
  }
  if (to_crun && *mount.ext_key == kNullDevice) {
    rekey(comparer, index, mount.mountpoint);
    return true;
  }
  if (!to_crun && is_empty_directory_key(mount)) {
    list_empty_directory(comparer, index);
    return true;
  }
  if (!to_crun && is_masked_file(mount)) {
    if (*mount.ext_key != kNullDevice) rekey(comparer, index, kNullDevice);
    return true;
  }
  return false;
}

void compare_runtime(Comparer& comparer) {
  if (!changes_runtime(comparer)) return;
  const std::string from = to_string(comparer.checkpoint.runtime());
  const std::string to = to_string(comparer.result.runtime);
  if (comparer.result.engine == Engine::podman && comparer.checkpoint.config_text()) {
    comparer.fixable("runtime.config", "config.dump", "names the runtime " + comparer.checkpoint.impl().config.runtime +
                         ", and Podman refuses to restore under " + to,
                     "it becomes " + to);
    comparer.result.documents.push_back({"config.dump", "/runtime", Json(to)});
  } else {
    comparer.note("runtime.changed", comparer.checkpoint.name(), "dumped under " + from + ", restored under " + to);
  }
}

}  // namespace ckpt
