// SPDX-License-Identifier: Apache-2.0
#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/mount_strategy.h"
#include "diff/sources.h"

namespace ckpt {

namespace {

class RuntimeMounts final : public MountStrategy {
 public:
  using MountStrategy::MountStrategy;

  bool reads_spec_mounts() const override { return checkpoint_.impl().spec.has_value(); }

  void settle(const Mount& mount, MountChange change) override {
    if (!reads_spec_mounts()) {
      settle_listed(mount, change);
    } else if (mount.spec_index) {
      if (has_foreign_key(mount)) change.new_key = mount.mountpoint;
      settle_known(mount, change);
    } else {
      if (has_foreign_key(mount)) change.new_key = mount.mountpoint;
      change.action = MountChange::Action::add;
      comparer_.fixable("mount.hidden", mount.mountpoint,
                        "is in the image with " + describe_key(mount) + " and spec.dump does not know it",
                        "it becomes a bind of " + change.new_source + " in spec.dump");
    }
    if (change.action != MountChange::Action::keep || change.new_key) push(std::move(change));
  }

  void unused(const UnusedSpecMount& mount) override {
    if (mount.mount_class == MountClass::engine || drop_unused(mount)) return;
    MountChange change;
    change.spec_index = mount.spec_index;
    change.mountpoint = mount.destination;
    change.old_source = mount.source;
    Mount stand_in;  // the same questions, asked of a mount that no process can use
    stand_in.mountpoint = mount.destination;
    stand_in.source = mount.source;
    stand_in.mount_class = mount.mount_class;
    stand_in.spec_index = mount.spec_index;
    if (!find_source(comparer_, stand_in, change) || !check_source(comparer_, stand_in, change)) return;
    if (clean_path(change.old_source) == clean_path(change.new_source)) return;
    change.action = MountChange::Action::repoint;
    comparer_.fixable("mount.moved", change.mountpoint,
                      "only spec.dump has it, with the source " + change.old_source + ", which the runtime checks",
                      "the source becomes " + change.new_source);
    push(std::move(change));
  }

 private:
  void settle_listed(const Mount& mount, MountChange& change) {
    change.action = MountChange::Action::list;
    if (mount.key_kind != KeyKind::keyed) change.new_key = mount.mountpoint;
    comparer_.fixable("mount.unlisted", mount.mountpoint,
                      "comes from outside with " + describe_key(mount) + "; there is no spec.dump to name its source",
                      "an external line brings " + change.new_source);
  }

  void settle_known(const Mount& mount, MountChange& change) {
    if (clean_path(change.old_source) != clean_path(change.new_source)) {
      change.action = MountChange::Action::repoint;
      comparer_.fixable("mount.moved", mount.mountpoint, "its source is " + change.old_source,
                        "the source becomes " + change.new_source);
    }
    if (change.new_key)
      comparer_.fixable("mount.key", mount.mountpoint,
                        "is in the image with " + describe_key(mount) + ", the runtime will offer its destination",
                        "the key becomes the mountpoint");
  }
};

}  // namespace

std::unique_ptr<MountStrategy> runtime_strategy(Comparer& comparer) {
  return std::make_unique<RuntimeMounts>(comparer);
}

}  // namespace ckpt
