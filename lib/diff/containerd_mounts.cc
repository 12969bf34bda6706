// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/mount_strategy.h"
#include "diff/pod_request.h"
#include "diff/sources.h"

namespace ckpt {

namespace {

// Whether the container's /lib is a symlink to /usr/lib: the image then has what the spec calls /lib/x as /usr/lib/x.
bool has_merged_usr(const Checkpoint& checkpoint) {
  const auto& spec = checkpoint.impl().spec;
  return std::any_of(checkpoint.mounts().begin(), checkpoint.mounts().end(), [&](const Mount& mount) {
    if (!spec || !mount.spec_index) return false;
    const std::string destination = clean_path(spec->mounts[*mount.spec_index].destination);
    return destination != mount.mountpoint && canonical_path(destination) == mount.mountpoint &&
           mount.mountpoint.rfind("/usr/", 0) == 0;
  });
}

class ContainerdMounts final : public MountStrategy {
 public:
  explicit ContainerdMounts(Comparer& comparer)
      : MountStrategy(comparer), merged_usr_(has_merged_usr(comparer.checkpoint)) {
    for (const Mount& mount : checkpoint_.mounts()) taken_.insert(mount.mountpoint);
  }

  bool reads_spec_mounts() const override { return false; }

  bool provided(std::size_t index) override {
    const Mount& mount = mount_at(index);
    if (mount.mount_class == MountClass::engine && mount.spec_index) {
      if (const RequestedMount* wish = requested_at(checkpoint_, mount.mountpoint)) wish_requested(comparer_, *wish);
      return true;
    }
    if (const RequestedMount* wish = requested_at(checkpoint_, mount.mountpoint)) {
      wish_requested(comparer_, *wish);
      return true;
    }
    return false;
  }

  void settle(const Mount& mount, MountChange change) override {
    const std::string place = change.offered_at.empty() ? std::string() : resolved(change.offered_at, mount);
    if (place.empty()) wish_driver_mount(comparer_, mount.mountpoint, change.new_source);
    if (place.empty() || place == mount.mountpoint) return settle_in_place(mount, std::move(change));
    if (!taken_.insert(place).second) {
      comparer_.undecided("mount.place_taken", mount.mountpoint,
                          "the target's file is mounted at " + place + ", where the image has another mount",
                          "--map OLD=" + change.new_source + " keeps its place, --drop-mount leaves it out");
      return;
    }
    change.action = MountChange::Action::rename;
    change.new_mountpoint = place;
    if (mount.key_kind != KeyKind::keyed || *mount.ext_key != place) change.new_key = place;
    comparer_.fixable("mount.renamed", mount.mountpoint, "the target's CDI devices mount that file at " + place,
                      "the image's mountpoint and key become that");
    rename_files(mount, place);
    push(std::move(change));
  }

  void unused(const UnusedSpecMount& mount) override {
    drop_unused(mount);  // containerd does not read spec.dump's mounts
  }

 private:
  // The key that runc offers is the destination as it resolves in the container.
  std::string resolved(const std::string& offered, const Mount& mount) const {
    const std::string plain = clean_path(offered);
    const std::string canonical = canonical_path(offered);
    if (mount.mountpoint == plain || mount.mountpoint == canonical) return mount.mountpoint;
    return merged_usr_ ? canonical : plain;
  }

  void settle_in_place(const Mount& mount, MountChange change) {
    if (!has_foreign_key(mount)) return;
    change.new_key = mount.mountpoint;
    comparer_.fixable("mount.key", mount.mountpoint,
                      "is in the image with " + describe_key(mount) + ", the runtime will offer its destination",
                      "the key becomes the mountpoint");
    push(std::move(change));
  }

  // Files that processes hold or map keep pointing at their mount (real-runs.md 2c, m6 and m7).
  void rename_files(const Mount& mount, const std::string& place) {
    for (const auto& [id, file] : checkpoint_.impl().files) {
      if (!file.reg || file.reg->mnt_id != static_cast<std::int64_t>(mount.mnt_id)) continue;
      const std::string name = clean_path(file.reg->name);
      if (!is_within(name, mount.mountpoint)) continue;
      comparer_.result.files.push_back({id, file.reg->name, place + name.substr(mount.mountpoint.size())});
    }
  }

  bool merged_usr_;
  std::set<std::string> taken_;
};

}  // namespace

std::unique_ptr<MountStrategy> containerd_strategy(Comparer& comparer) {
  return std::make_unique<ContainerdMounts>(comparer);
}

}  // namespace ckpt
