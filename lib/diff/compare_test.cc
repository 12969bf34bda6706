// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "ckpt/check.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;

namespace {

Checkpoint archive(const std::string& name) { return Checkpoint::open(testing::testdata("archives/" + name)); }

Target node(const Checkpoint& checkpoint, const std::string& cdi, const std::string& root = {}) {
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/" + cdi)};
  options.requested = checkpoint.requested_devices();
  options.vendor = checkpoint.gpu().vendor;
  options.root = root;
  return Target::load(options);
}

const Finding* find(const Comparison& comparison, const std::string& code, const std::string& subject = {}) {
  const auto found = std::find_if(comparison.findings.begin(), comparison.findings.end(), [&](const Finding& finding) {
    return finding.code == code && (subject.empty() || finding.subject == subject);
  });
  return found == comparison.findings.end() ? nullptr : &*found;
}

std::size_t count(const Comparison& comparison, const std::string& code) {
  return static_cast<std::size_t>(std::count_if(comparison.findings.begin(), comparison.findings.end(),
                                                [&](const Finding& finding) { return finding.code == code; }));
}

const PathMap kNvidiaMl = {"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10",
                           "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20"};

}  // namespace

TEST_CASE("the node it came from restores it as it is") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "h200-source.yaml"), {});
  CHECK(comparison.verdict() == Verdict::restores);
  CHECK(comparison.mounts.empty());
  CHECK(comparison.devices.empty());
  CHECK(comparison.hooks.empty());
}

TEST_CASE("a driver in another place: every source moves, nothing else") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  for (const char* cdi : {"h200-moved-root.yaml", "h200-debian-layout.yaml"}) {
    CAPTURE(cdi);
    const Comparison comparison = compare(checkpoint, node(checkpoint, cdi), {});
    CHECK(comparison.verdict() == Verdict::patchable);
    CHECK_FALSE(comparison.needs_decision());
    CHECK_FALSE(comparison.mounts.empty());
    for (const MountChange& change : comparison.mounts) {
      CHECK(change.action == MountChange::Action::repoint);
      CHECK_FALSE(change.new_key.has_value());
    }
    CHECK(comparison.devices.empty());
  }
}

TEST_CASE("another driver version with libcuda mapped is blocked, naming pid and file") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "h200-other-driver.yaml"), {});
  CHECK(comparison.verdict() == Verdict::blocked);
  const Finding* cuda = find(comparison, "mount.in_use_other_build", "/usr/local/nvidia/lib64/libcuda.so.580.159.04");
  REQUIRE(cuda != nullptr);
  CHECK(cuda->message.find("pid 1") != std::string::npos);
  CHECK(cuda->message.find("libcuda.so.580.159.04") != std::string::npos);
  CHECK(cuda->message.find("570.133.20") != std::string::npos);
}

TEST_CASE("a dynamic major moves in the spec, in the rules and in /dev's image") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "h200-uvm-major.yaml"), {});
  CHECK(comparison.devices.size() == 6);
  for (const DeviceChange& change : comparison.devices) {
    CHECK(change.old_major == 238);
    CHECK(change.new_major == 511);
    CHECK(change.old_minor == change.new_minor);
  }
}

TEST_CASE("hidden mounts: what the target has not and what would run again need a decision") {
  const Checkpoint checkpoint = archive("podman-seed-auto.tar.zst");
  const Comparison undecided = compare(checkpoint, node(checkpoint, "seed-node-b.json"), {});
  CHECK(undecided.verdict() == Verdict::patchable);
  CHECK(undecided.needs_decision());
  const Finding* ml = find(undecided, "mount.unmatched");
  REQUIRE(ml != nullptr);
  CHECK(ml->subject == kNvidiaMl.old_path);
  CHECK(ml->needs_decision);
  REQUIRE(find(undecided, "hook.other", "/hooks/nvhook.sh") != nullptr);

  RestoreRules rules;
  rules.maps = {kNvidiaMl};
  rules.drop_hooks = RestoreRules::Hooks::all;
  const Comparison decided = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK_FALSE(decided.needs_decision());
  CHECK(decided.verdict() == Verdict::patchable);
  CHECK(decided.mounts.size() == 5);
  for (const MountChange& change : decided.mounts) {
    CHECK(change.action == MountChange::Action::add);
    CHECK(change.new_key.has_value());
  }
  CHECK(decided.hooks.size() == 1);
}

TEST_CASE("crun runs no hook again, so none is in the way") {
  const std::string path = testing::collection_file("podman/crun-seed-auto.tar.zst");
  if (path.empty()) return;
  const Checkpoint checkpoint = Checkpoint::open(path);
  CHECK(checkpoint.runtime() == Runtime::crun);
  RestoreRules rules;
  rules.maps = {kNvidiaMl};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK(find(comparison, "hook.other") == nullptr);
  CHECK_FALSE(comparison.needs_decision());
}

TEST_CASE("a source of the old node is never taken over for a driver mount") {
  const Checkpoint checkpoint = archive("podman-seed-auto.tar.zst");
  RestoreRules rules;
  rules.maps = {kNvidiaMl};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  for (const MountChange& change : comparison.mounts) {
    CAPTURE(change.mountpoint);
    CHECK(change.new_source.find("570.86.10") == std::string::npos);
  }
}

TEST_CASE("maps and drops that match nothing are errors that list what there is") {
  const Checkpoint checkpoint = archive("podman-seed-auto.tar.zst");
  const Target target = node(checkpoint, "seed-node-b.json");
  RestoreRules rules;
  rules.maps = {{"/no/such/file", "/x"}};
  try {
    compare(checkpoint, target, rules);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(error.detail().find("/no/such/file=/x matches no source") != std::string::npos);
    CHECK(error.detail().find("/usr/bin/nvidia-smi") != std::string::npos);
  }
  rules.maps.clear();
  rules.drop_mounts = {"/no/such/place"};
  try {
    compare(checkpoint, target, rules);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(error.detail().find("/no/such/place matches no mount") != std::string::npos);
  }
}

TEST_CASE("a leading directory maps everything below it, the longest one first") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  RestoreRules rules;
  rules.maps = {{"/usr/local/nvidia", "/mnt/nv"}, {"/usr/local/nvidia/bin", "/mnt/bin"}};
  const Comparison comparison = compare(checkpoint, node(checkpoint, "h200-source.yaml"), rules);
  bool saw_library = false;
  for (const MountChange& change : comparison.mounts) {
    if (change.mountpoint == "/usr/local/nvidia/bin/nvidia-smi") CHECK(change.new_source == "/mnt/bin/nvidia-smi");
    if (change.mountpoint == "/usr/local/nvidia/lib64/libcuda.so.580.159.04") {
      saw_library = true;
      CHECK(change.new_source == "/mnt/nv/lib64/libcuda.so.580.159.04");
    }
  }
  CHECK(saw_library);
}

TEST_CASE("a mount in use cannot be dropped, an idle one can") {
  const Checkpoint checkpoint = archive("podman-h200-runc.tar.zst");
  const Target target = node(checkpoint, "h200-source.yaml");
  RestoreRules rules;
  rules.drop_mounts = {"/usr/local/nvidia/lib64/libcuda.so.580.159.04"};
  const Comparison in_use = compare(checkpoint, target, rules);
  CHECK(in_use.verdict() == Verdict::blocked);
  REQUIRE(find(in_use, "mount.in_use") != nullptr);
  rules.drop_mounts = {"/usr/local/nvidia/bin/nvidia-smi"};
  const Comparison idle = compare(checkpoint, target, rules);
  CHECK(idle.verdict() == Verdict::patchable);
  REQUIRE(idle.mounts.size() == 1);
  CHECK(idle.mounts[0].action == MountChange::Action::drop);
  rules.drop_mounts = {"/dev"};
  CHECK(count(compare(checkpoint, target, rules), "mount.has_children") >= 3);
}

TEST_CASE("files under the target's root prove or refute the build") {
  const Checkpoint checkpoint = archive("podman-seed-mm.tar.zst");
  const testing::TempDir root;
  const std::string library = "usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10";
  root.write(library, "not the same file at all");
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-a.json", root.path()), {});
  const Finding* build = find(comparison, "mount.in_use_other_build");
  REQUIRE(build != nullptr);
  CHECK(build->message.find("size") != std::string::npos);
}

TEST_CASE("a CRIU configuration in force counts for keyed mounts") {
  const Checkpoint checkpoint = archive("podman-seed-keys.tar.zst");
  RestoreRules rules;
  rules.drop_hooks = RestoreRules::Hooks::all;
  for (const Mount& mount : checkpoint.mounts())
    if (mount.hidden && mount.key_kind == KeyKind::keyed)
      rules.externals_in_force.push_back({*mount.ext_key, "/target" + mount.mountpoint, 1});
  const Comparison comparison = compare(checkpoint, node(checkpoint, "seed-node-b.json"), rules);
  CHECK(count(comparison, "mount.listed") == 5);
  CHECK(comparison.mounts.empty());
}

TEST_CASE("a CRIU image directory: driver files are listed, the bundle's own mounts are its own business") {
  const testing::TempDir directory;
  const std::string path = testing::testdata("archives/podman-seed-keys.tar.zst");
  REQUIRE(std::system(("tar -C " + directory.path() + " -xf " + path).c_str()) == 0);
  const Checkpoint images = Checkpoint::open(directory.file("checkpoint"));
  RestoreRules rules;
  rules.maps = {kNvidiaMl};
  const Comparison comparison = compare(images, node(images, "seed-node-b.json"), rules);
  CHECK(comparison.engine == Engine::runc);
  CHECK_FALSE(comparison.needs_decision());
  CHECK(comparison.verdict() == Verdict::patchable);
  CHECK(count(comparison, "mount.bundle") > 0);
  CHECK(comparison.mounts.size() == 5);
  for (const MountChange& change : comparison.mounts) CHECK(change.action == MountChange::Action::list);
}

TEST_CASE("Podman without spec.dump is an error, never nothing to do") {
  const testing::TempDir directory;
  const std::string path = testing::testdata("archives/podman-seed-auto.tar.zst");
  REQUIRE(std::system(
              ("tar -C " + directory.path() + " -xf " + path + " && rm " + directory.file("spec.dump")).c_str()) == 0);
  const Checkpoint checkpoint = Checkpoint::open(directory.path());
  CHECK_THROWS_WITH_AS(compare(checkpoint, node(checkpoint, "seed-node-b.json"), {}),
                       doctest::Contains("missing: Podman cannot restore without it"), Error);
}

TEST_CASE("members that should be files and are links are not read past") {
  const testing::TempDir directory;
  const std::string path = testing::testdata("archives/podman-seed-auto.tar.zst");
  REQUIRE(std::system(("tar -C " + directory.path() + " -xf " + path + " && mv " + directory.file("spec.dump") + " " +
                       directory.file("x") + " && ln -s x " + directory.file("spec.dump"))
                          .c_str()) == 0);
  const Checkpoint checkpoint = Checkpoint::open(directory.path());
  CHECK_THROWS_WITH_AS(compare(checkpoint, node(checkpoint, "seed-node-b.json"), {}),
                       doctest::Contains("is a symlink, not a regular file"), Error);
}
