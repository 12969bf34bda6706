// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "diff/comparer.h"

namespace ckpt {

/// What one engine makes of the archive's mounts. The walk over them is the same for all engines (mounts.cc); where a
/// restore finds a mount's source is not.
class MountStrategy {
 public:
  explicit MountStrategy(Comparer& comparer) : comparer_(comparer), checkpoint_(comparer.checkpoint) {}
  virtual ~MountStrategy() = default;
  MountStrategy(const MountStrategy&) = delete;
  MountStrategy& operator=(const MountStrategy&) = delete;

  /// A mount that CRIU makes by itself. Nothing to do for most.
  virtual void internal(std::size_t index);
  /// True when the engine or the new pod provides the mount, whatever the archive says; then nothing more is asked.
  virtual bool provided(std::size_t index);
  /// The source on the target is known (change.new_source): say what follows for the documents and the image.
  virtual void settle(const Mount& mount, MountChange change) = 0;
  /// A mount of spec.dump that the image does not have.
  virtual void unused(const UnusedSpecMount& mount) = 0;
  /// Whether spec.dump is where a source can be named.
  virtual bool reads_spec_mounts() const = 0;

 protected:
  const Mount& mount_at(std::size_t index) const { return checkpoint_.mounts()[index]; }
  void push(MountChange change) { comparer_.result.mounts.push_back(std::move(change)); }
  /// Drops an unused mount that the user named; false when he did not.
  bool drop_unused(const UnusedSpecMount& mount);

  Comparer& comparer_;
  const Checkpoint& checkpoint_;
};

/// Podman, runc and crun: spec.dump (or the bundle's config.json) names the sources (engines.md 4.1, 4.4, 4.5).
std::unique_ptr<MountStrategy> runtime_strategy(Comparer& comparer);
/// CRI-O: spec.dump's mounts are a gate, sources come from the pod or from CRIU's configuration (engines.md 4.2).
std::unique_ptr<MountStrategy> cri_o_strategy(Comparer& comparer);
/// containerd 2.1 to 2.3: all sources come from the pod and its CDI devices (engines.md 4.3).
std::unique_ptr<MountStrategy> containerd_strategy(Comparer& comparer);

/// "the key /usr/lib/x", "an autodetected key" ...
std::string describe_key(const Mount& mount);
/// The key is not the mountpoint, which is what a runtime offers.
bool has_foreign_key(const Mount& mount);

}  // namespace ckpt
