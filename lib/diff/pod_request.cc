// SPDX-License-Identifier: Apache-2.0
#include "diff/pod_request.h"

#include <algorithm>
#include <array>

#include "base/paths.h"
#include "checkpoint/impl.h"

namespace ckpt {

namespace {

constexpr const char* kCrioAnnotations = "io.kubernetes.cri-o.Annotations";
constexpr std::string_view kCdiPrefix = "cdi.k8s.io/";

// kubelet mounts these into every container it starts.
bool is_by_kubelet(const std::string& path) {
  static constexpr std::array<std::string_view, 3> kPlaces = {"/etc/hosts", "/dev/termination-log",
                                                              "/run/secrets/kubernetes.io/serviceaccount"};
  const std::string place = canonical_path(path);
  return std::find(kPlaces.begin(), kPlaces.end(), place) != kPlaces.end();
}

std::string mapped(Comparer& comparer, const std::string& host_path) {
  for (std::size_t i = 0; i < comparer.rules.maps.size(); ++i) {
    const std::string old_path = clean_path(comparer.rules.maps[i].old_path);
    if (host_path.empty() || host_path.front() != '/' || !is_within(clean_path(host_path), old_path)) continue;
    comparer.used_maps.insert(i);
    return clean_path(comparer.rules.maps[i].new_path +
                      clean_path(host_path).substr(old_path == "/" ? 0 : old_path.size()));
  }
  return host_path;
}

// "null" is what CRI-O writes for a container without annotations, and reads back.
bool is_json_map(const std::string& text) {
  try {
    const Json map = Json::parse(text);
    return map.is_object() || map.is_null();
  } catch (const Error&) {
    return false;
  }
}

void require_cri_o(Comparer& comparer) {
  const auto& spec = comparer.checkpoint.impl().spec;
  const auto found = spec ? spec->annotations.find(kCrioAnnotations) : std::map<std::string, std::string>::iterator{};
  if (!spec || found == spec->annotations.end() || !is_json_map(found->second))
    comparer.blocker("engine.documents", "spec.dump",
                     std::string("CRI-O restores only archives whose spec.dump has the annotation ") +
                         kCrioAnnotations + " with a JSON object",
                     "restore under the engine that made the archive");
  if (!comparer.checkpoint.config_text())
    comparer.blocker("engine.documents", "config.dump", "missing: CRI-O cannot restore without it");
}

// A pod-wide pid namespace is joined, and CRIU then finds its pids taken (real-runs.md 3).
void require_own_pids(Comparer& comparer) {
  for (const SpecNamespace& space : comparer.checkpoint.impl().spec->namespaces)
    if (space.type == "pid" && !space.path.empty())
      comparer.blocker("engine.pod_pids", "spec.dump",
                       "the container shared the pod's pid namespace, in which CRIU cannot make its pids again",
                       "only containers with a pid namespace of their own restore under containerd");
}

void require_containerd(Comparer& comparer) {
  const Checkpoint::Impl& impl = comparer.checkpoint.impl();
  for (const char* member : {"spec.dump", "config.dump", "status.dump"})
    if (!impl.find(member))
      comparer.blocker("engine.documents", member, "missing: containerd cannot restore without it",
                       "restore under the engine that made the archive");
  if (impl.spec) require_own_pids(comparer);
  comparer.note("engine.containerd", "containerd",
                "2.1 to 2.3 restore through CreateContainer (from 2.2.7 and 2.3.4 on only with "
                "enable_experimental_restore_via_create = true), 2.4 and later not at all",
                "there the images restore with runc alone, until the engine has RestorePod (KEP-5823)");
  comparer.result.request.switches.push_back(
      {"/etc/containerd/config.toml",
       "[plugins.\"io.containerd.cri.v1.runtime\"] enable_experimental_restore_via_create = true",
       "containerd 2.2.7, 2.3.4 and later 2.2 and 2.3 versions restore only with it"});
}

void strip_spec_annotations(Comparer& comparer, const RuntimeSpec& spec) {
  for (const auto& [key, value] : spec.annotations)
    if (key.rfind(kCdiPrefix, 0) == 0)
      comparer.result.documents.push_back({"spec.dump", "/annotations/" + json_pointer_token(key), std::nullopt});
  const auto nested = spec.annotations.find(kCrioAnnotations);
  if (nested == spec.annotations.end() || !is_json_map(nested->second)) return;
  const Json before = Json::parse(nested->second);
  Json after = Json::object();
  for (const auto& [key, value] : before.members())
    if (key.rfind(kCdiPrefix, 0) != 0) after.set(key, value);
  if (after.size() != before.size())
    comparer.result.documents.push_back(
        {"spec.dump", std::string("/annotations/") + kCrioAnnotations, Json(after.dump(-1))});
}

}  // namespace

const RequestedMount* requested_at(const Checkpoint& checkpoint, const std::string& destination) {
  for (const RequestedMount& mount : checkpoint.impl().requested_mounts)
    if (canonical_path(mount.container_path) == canonical_path(destination)) return &mount;
  return nullptr;
}

void wish_requested(Comparer& comparer, const RequestedMount& mount) {
  const bool by_kubelet = is_by_kubelet(mount.container_path);
  const std::string host_path = mapped(comparer, mount.host_path);
  comparer.result.request.mounts.push_back({mount.container_path, host_path, mount.read_only, by_kubelet});
  if (by_kubelet) return;
  comparer.note("request.mount", mount.container_path,
                "its source comes from the new pod, which has to mount something there",
                "a volumeMount at " + mount.container_path + ", in the old pod from " + mount.host_path);
}

void wish_driver_mount(Comparer& comparer, const std::string& mountpoint, const std::string& host_path) {
  comparer.result.request.mounts.push_back({mountpoint, host_path, true, false});
  comparer.note("request.mount", mountpoint, "no CDI device of the target brings it",
                "the pod declares it: a hostPath volume of " + host_path + " at " + mountpoint);
}

void wish_devices(Comparer& comparer) {
  auto& devices = comparer.result.request.devices;
  for (const CdiDeviceNode& node : comparer.target.edits().device_nodes) {
    const bool known =
        std::any_of(devices.begin(), devices.end(), [&](const auto& wish) { return wish.path == node.path; });
    if (known) continue;
    RestoreRequest::DeviceWish wish;
    wish.path = node.path;
    wish.host_path = node.host_path.empty() ? node.path : node.host_path;
    wish.permissions = node.permissions.empty() ? "rwm" : node.permissions;
    wish.type = node.type;
    if (const auto numbers = comparer.target.numbers(node)) {
      wish.type = numbers->type.empty() ? wish.type : numbers->type;
      wish.major = numbers->major;
      wish.minor = numbers->minor;
    }
    devices.push_back(std::move(wish));
  }
}

void compare_engine_documents(Comparer& comparer) {
  if (comparer.result.engine == Engine::cri_o) require_cri_o(comparer);
  if (comparer.result.engine == Engine::containerd) require_containerd(comparer);
}

void compare_annotations(Comparer& comparer) {
  if (comparer.rules.cdi_annotations != RestoreRules::CdiAnnotations::strip) return;
  const std::size_t before = comparer.result.documents.size();
  const Checkpoint::Impl& impl = comparer.checkpoint.impl();
  if (impl.spec) strip_spec_annotations(comparer, *impl.spec);
  if (impl.status_text) {
    const Json status = Json::parse(*impl.status_text, impl.name, "status.dump", impl.limits);
    for (const auto& [key, value] : status["annotations"].members())
      if (key.rfind(kCdiPrefix, 0) == 0)
        comparer.result.documents.push_back({"status.dump", "/annotations/" + json_pointer_token(key), std::nullopt});
  }
  for (std::size_t i = before; i < comparer.result.documents.size(); ++i)
    comparer.fixable("annotation.cdi", comparer.result.documents[i].member + comparer.result.documents[i].pointer,
                     "asks the engine for CDI devices", "it is stripped, as asked");
}

}  // namespace ckpt
