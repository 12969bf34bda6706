// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "diff/comparer.h"
#include "spec/engine_documents.h"

namespace ckpt {

/// The mount at this place that the pod itself asked for; nullptr when it did not.
const RequestedMount* requested_at(const Checkpoint& checkpoint, const std::string& destination);

/// Notes a mount that the new pod has to declare; those that kubelet adds to every pod are marked. A `--map` of the old
/// host path names the new one.
void wish_requested(Comparer& comparer, const RequestedMount& mount);
/// Notes a mount that the new pod has to declare because nothing else on the target brings it.
void wish_driver_mount(Comparer& comparer, const std::string& mountpoint, const std::string& host_path);
/// Notes the target's devices: what the request has to carry.
void wish_devices(Comparer& comparer);

/// Blockers and notes about what an engine refuses before CRIU runs.
void compare_engine_documents(Comparer& comparer);
/// cdi.k8s.io/* annotations leave the archive, where the user asked for it.
void compare_annotations(Comparer& comparer);

}  // namespace ckpt
