// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "ckpt/check.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;

namespace {

Checkpoint archive(const std::string& name) { return Checkpoint::open(testing::testdata("archives/" + name)); }

Target node(const Checkpoint& checkpoint, const std::string& cdi) {
  TargetOptions options;
  options.cdi_paths = {cdi.front() == '/' ? cdi : testing::testdata("cdi/" + cdi)};
  options.requested = checkpoint.requested_devices();
  options.vendor = checkpoint.gpu().vendor;
  return Target::load(options);
}

std::size_t count(const Comparison& comparison, const std::string& code) {
  return static_cast<std::size_t>(std::count_if(comparison.findings.begin(), comparison.findings.end(),
                                                [&](const Finding& finding) { return finding.code == code; }));
}

const MountChange* change_at(const Comparison& comparison, const std::string& mountpoint) {
  const auto found = std::find_if(comparison.mounts.begin(), comparison.mounts.end(),
                                  [&](const MountChange& change) { return change.mountpoint == mountpoint; });
  return found == comparison.mounts.end() ? nullptr : &*found;
}

constexpr const char* kCuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10";
constexpr const char* kNewCuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20";

// A CDI file with these NVIDIA device nodes and the H200 archive's libraries where they were.
std::string gpus(const testing::TempDir& directory, const std::vector<int>& minors) {
  std::string nodes;
  for (const int minor : minors)
    nodes += std::string(nodes.empty() ? "" : ",") + R"({"path":"/dev/nvidia)" + std::to_string(minor) +
             R"(","type":"c","major":195,"minor":)" + std::to_string(minor) + "}";
  return directory.write("gpus.json", R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":"all",)"
                                      R"("containerEdits":{"deviceNodes":[)" +
                                          nodes + "]}}]}");
}

}  // namespace

TEST_CASE("CRI-O: the driver's mounts leave spec.dump and come by external lines") {
  const Checkpoint checkpoint = archive("crio-cdi.tar.zst");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), {});
  CHECK(comparison.engine == Engine::cri_o);
  CHECK(comparison.verdict() == Verdict::patchable);
  CHECK_FALSE(comparison.needs_decision());
  REQUIRE(comparison.mounts.size() == 3);
  for (const MountChange& change : comparison.mounts) {
    CHECK(change.action == MountChange::Action::list);
    CHECK(change.spec_index.has_value());
    CHECK_FALSE(change.new_key.has_value());
    CHECK(change.placeholder == MountChange::Placeholder::file);
  }
  REQUIRE(change_at(comparison, kCuda) != nullptr);
  CHECK(change_at(comparison, kCuda)->new_source == kNewCuda);
}

TEST_CASE("CRI-O: what the pod asked for comes from the new pod, and kubelet's own need no word") {
  const Checkpoint checkpoint = archive("crio-cdi.tar.zst");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), {});
  REQUIRE(comparison.request.mounts.size() == 2);
  for (const auto& wish : comparison.request.mounts) {
    if (wish.container_path == "/data") {
      CHECK(wish.host_path == "/srv/data");
      CHECK_FALSE(wish.by_kubelet);
    } else {
      CHECK(wish.container_path == "/etc/hosts");
      CHECK(wish.by_kubelet);
    }
  }
  REQUIRE(comparison.request.devices.size() == 2);
  CHECK(comparison.request.devices[1].path == "/dev/nvidia0");
  CHECK(comparison.request.devices[1].host_path == "/nodes/nvidia0");
  CHECK(comparison.request.devices[1].permissions == "rwm");
  REQUIRE(comparison.request.switches.size() == 1);
  CHECK(comparison.request.switches[0].file == "/etc/criu/runc.conf");
}

TEST_CASE("CRI-O: a map moves what the pod will mount") {
  const Checkpoint checkpoint = archive("crio-cdi.tar.zst");
  RestoreRules rules;
  rules.maps = {{"/srv/data", "/mnt/data"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK(std::any_of(comparison.request.mounts.begin(), comparison.request.mounts.end(),
                    [](const auto& wish) { return wish.host_path == "/mnt/data"; }));
}

TEST_CASE("CRI-O: hidden mounts get a key of their own, or stay autodetected with a new source in the image") {
  const Checkpoint checkpoint = archive("crio-seed-auto.tar.zst");
  RestoreRules rules;
  rules.drop_mounts = {"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10"};
  const Comparison listed = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK_FALSE(listed.needs_decision());
  REQUIRE(change_at(listed, kCuda) != nullptr);
  CHECK(change_at(listed, kCuda)->action == MountChange::Action::list);
  CHECK(change_at(listed, kCuda)->new_key == kCuda);
  rules.bring = RestoreRules::Bring::in_image;
  const Comparison inside = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  REQUIRE(change_at(inside, kCuda) != nullptr);
  CHECK(change_at(inside, kCuda)->action == MountChange::Action::in_image);
  CHECK(inside.request.switches[0].setting == "external=mnt[]");
}

TEST_CASE("CRI-O and containerd refuse what another engine made, with the document that is missing") {
  const Checkpoint checkpoint = archive("podman-seed-keys.tar.zst");
  for (const Engine engine : {Engine::cri_o, Engine::containerd}) {
    RestoreRules rules;
    rules.engine = engine;
    const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
    CHECK(comparison.verdict() == Verdict::blocked);
    CHECK(count(comparison, "engine.documents") == 1);
  }
}

TEST_CASE("containerd: mountpoints and keys follow the target's CDI devices, spec.dump stays") {
  const Checkpoint checkpoint = archive("containerd-cdi.tar.zst");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), {});
  CHECK(comparison.engine == Engine::containerd);
  CHECK(comparison.verdict() == Verdict::patchable);
  REQUIRE(comparison.mounts.size() == 2);
  const MountChange* cuda = change_at(comparison, kCuda);
  REQUIRE(cuda != nullptr);
  CHECK(cuda->action == MountChange::Action::rename);
  CHECK(cuda->new_mountpoint == kNewCuda);
  CHECK(cuda->new_key == kNewCuda);
  CHECK(comparison.files.empty());
  CHECK(count(comparison, "request.mount") == 1);
}

TEST_CASE("containerd: a map keeps a mount's place, and the pod declares it") {
  const Checkpoint checkpoint = archive("containerd-cdi.tar.zst");
  RestoreRules rules;
  rules.maps = {{kCuda, "/opt/nv/libcuda.so.570.86.10"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK(change_at(comparison, kCuda) == nullptr);
  const auto& mounts = comparison.request.mounts;
  CHECK(std::any_of(mounts.begin(), mounts.end(), [](const auto& wish) {
    return wish.container_path == kCuda && wish.host_path == "/opt/nv/libcuda.so.570.86.10" && wish.read_only;
  }));
}

TEST_CASE("a GPU of another number: the old name gets its numbers, its own name is added") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  const testing::TempDir directory;
  RestoreRules rules;
  rules.maps = {{"/usr/local/nvidia", "/usr/local/nvidia"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, gpus(directory, {3})), rules);
  CHECK(count(comparison, "device.paired") == 1);
  std::size_t renumbered = 0;
  for (const DeviceChange& change : comparison.devices) {
    if (change.old_major != 195) continue;
    CHECK(change.old_minor == 0);
    CHECK(change.new_minor == 3);
    ++renumbered;
  }
  CHECK(renumbered >= 3);  // linux.devices, its rule, /dev
  CHECK(comparison.added_devices.size() == 2);
  for (const DeviceAddition& addition : comparison.added_devices) {
    CHECK(addition.path == "/dev/nvidia3");
    CHECK(addition.minor == 3);
  }
}

TEST_CASE("more GPUs than one: the user's pairs first, and a pair that cannot be is refused") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  const testing::TempDir directory;
  const Target target = node(checkpoint, gpus(directory, {1, 2}));
  RestoreRules rules;
  rules.maps = {{"/usr/local/nvidia", "/usr/local/nvidia"}};
  CHECK(count(compare(checkpoint, target, rules), "device.unpaired") == 1);
  rules.gpu_maps = {{"0", "/dev/nvidia2"}};
  const Comparison mapped = compare(checkpoint, target, rules);
  CHECK(count(mapped, "device.unpaired") == 0);
  CHECK(std::all_of(mapped.added_devices.begin(), mapped.added_devices.end(),
                    [](const DeviceAddition& addition) { return addition.path == "/dev/nvidia2"; }));
  const auto refused = [&](std::vector<GpuMap> maps, const char* reason) {
    rules.gpu_maps = std::move(maps);
    CHECK_THROWS_WITH_AS(compare(checkpoint, target, rules), doctest::Contains(reason), Error);
  };
  refused({{"5", "1"}}, "the archive has no such GPU; there are: /dev/nvidia0");
  refused({{"0", "7"}}, "the target's devices have no such GPU");
  refused({{"0", "1"}, {"0", "2"}}, "a GPU is mapped twice");
  refused({{"x", "1"}}, "OLD is neither a UUID nor a minor number");
}

TEST_CASE("UUIDs go into the device map, one to one") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  RestoreRules rules;
  rules.gpu_maps = {{"GPU-a", "GPU-b"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "h200-source.yaml"), rules);
  REQUIRE(comparison.device_map.size() == 1);
  CHECK(comparison.device_map[0].new_gpu == "GPU-b");
  CHECK(comparison.verdict() == Verdict::restores);
}

TEST_CASE("another runtime: masked files change their key, config.dump its runtime") {
  const Checkpoint checkpoint = archive("podman-seed-keys.tar.zst");
  RestoreRules rules;
  rules.runtime = Runtime::crun;
  rules.maps = {{"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10",
                 "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  std::size_t masked = 0;
  for (const MountChange& change : comparison.mounts) {
    if (!change.mount || checkpoint.mounts()[*change.mount].ext_key != "/dev/null") continue;
    CHECK(change.new_key == change.mountpoint);
    ++masked;
  }
  CHECK(masked > 0);
  REQUIRE(comparison.documents.size() == 1);
  CHECK(comparison.documents[0].member == "config.dump");
  CHECK(comparison.documents[0].after == Json("crun"));
  CHECK(count(comparison, "runtime.cgroup_v1") > 0);  // dumped on a hybrid host
}

TEST_CASE("another runtime, the other way: masked files to /dev/null, masked directories by a line") {
  const std::string path = testing::collection_file("podman/crun-seed-auto.tar.zst");
  if (path.empty()) return;
  const Checkpoint checkpoint = Checkpoint::open(path);
  RestoreRules rules;
  rules.runtime = Runtime::runc;
  rules.drop_hooks = RestoreRules::Hooks::all;
  rules.maps = {{"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10",
                 "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK_FALSE(comparison.needs_decision());
  CHECK(comparison.verdict() == Verdict::patchable);
  CHECK(count(comparison, "runtime.key") > 0);
  for (const MountChange& change : comparison.mounts) {
    const Mount& mount = checkpoint.mounts()[*change.mount];
    if (mount.known_from == "maskedPaths" && change.new_key) CHECK(change.new_key == "/dev/null");
  }
}
