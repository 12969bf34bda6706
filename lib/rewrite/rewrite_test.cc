// SPDX-License-Identifier: Apache-2.0
#include "ckpt/rewrite.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

namespace {

Checkpoint archive(const std::string& name) { return Checkpoint::open(testing::testdata("archives/" + name)); }

Comparison against(const Checkpoint& checkpoint, const std::string& cdi, const RestoreRules& rules = {}) {
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/" + cdi)};
  options.requested = checkpoint.requested_devices();
  options.vendor = checkpoint.gpu().vendor;
  return compare(checkpoint, Target::load(options), rules);
}

RestoreRules seed_rules() {
  RestoreRules rules;
  rules.maps = {
      {"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20"}};
  rules.drop_hooks = RestoreRules::Hooks::all;
  return rules;
}

std::map<std::string, std::string> small_members(const Checkpoint& checkpoint) {
  std::map<std::string, std::string> members;
  for (const Member& member : checkpoint.archive().members())
    if (member.type == MemberType::file && member.size < 2000000)
      members[member.name] = checkpoint.archive().read(member);
  return members;
}

void check_conflict(const Checkpoint& checkpoint, const Plan& plan, const std::string& text) {
  const TempDir directory;
  const std::string out = directory.write("out", "older");
  try {
    rewrite_to_file(checkpoint, plan, out);
    FAIL("accepted, wanted: " << text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::conflict);
    CHECK_MESSAGE(std::string(error.what()).find(text) != std::string::npos, error.what());
  }
  CHECK(testing::read_file(out) == "older");
  CHECK(directory.list() == std::vector<std::string>{"out"});
}

}  // namespace

TEST_CASE("a moved driver: only sources in spec.dump differ, and it restores then") {
  const Checkpoint before = archive("podman-h200-runc.tar.zst");
  const Plan plan = make_plan(before, against(before, "h200-moved-root.yaml"), Provenance::none);
  const TempDir directory;
  const RewriteReport report = rewrite_to_file(before, plan, directory.file("out"));
  CHECK(report.compression == Compression::zstd);
  CHECK(report.members_changed == 1);
  const Checkpoint after = Checkpoint::open(directory.file("out"));
  CHECK(against(after, "h200-moved-root.yaml").verdict() == Verdict::restores);
  CHECK(make_plan(after, against(after, "h200-moved-root.yaml"), Provenance::none).changes_nothing());
  auto old_members = small_members(before);
  auto new_members = small_members(after);
  CHECK(old_members.size() == new_members.size());
  std::string restored = new_members["spec.dump"];
  for (std::size_t at = 0; (at = restored.find("\"source\": \"/opt/nv/", at)) != std::string::npos;)
    restored.replace(at, 19, "\"source\": \"/usr/local/nvidia/");
  CHECK(restored == old_members["spec.dump"]);
  new_members["spec.dump"] = old_members["spec.dump"];
  CHECK(new_members == old_members);
}

TEST_CASE("hidden mounts: in effect what an engine was seen to restore") {
  const Checkpoint before = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  rewrite_to_file(before, make_plan(before, against(before, "seed-node-b.json", seed_rules()), Provenance::none),
                  directory.file("out"));
  const Checkpoint ours = Checkpoint::open(directory.file("out"));
  const Checkpoint known = archive("known-good-seed-auto.tar.zst");
  const auto effect = [](const Checkpoint& checkpoint) {
    std::map<std::string, std::string> mounts;
    for (const Mount& mount : checkpoint.mounts())
      mounts[mount.mountpoint] =
          mount.ext_key.value_or("-") + " " + mount.known_from + " " + (mount.spec_index ? mount.source : "");
    return mounts;
  };
  CHECK(effect(ours) == effect(known));
  CHECK(Json::parse(*ours.spec_text()).find("hooks") == nullptr);
  CHECK(Json::parse(*known.spec_text()).find("hooks") == nullptr);
}

TEST_CASE("dynamic majors move in all three places, everything else in /dev's image stays") {
  const Checkpoint before = archive("podman-h200-runc.tar.zst");
  const TempDir directory;
  rewrite_to_file(before, make_plan(before, against(before, "h200-uvm-major.yaml"), Provenance::none),
                  directory.file("out"));
  std::size_t moved = 0;
  const Checkpoint after = Checkpoint::open(directory.file("out"));
  for (const DeviceEntry& device : after.devices()) {
    CHECK(device.major != 238);
    if (device.major == 511) ++moved;
  }
  CHECK(moved == 6);
}

TEST_CASE("a plan for another archive is a conflict and writes nothing") {
  const Checkpoint h200 = archive("podman-h200-runc.tar.zst");
  const Checkpoint seed = archive("podman-seed-auto.tar.zst");
  const Checkpoint keys = archive("podman-seed-keys.tar.zst");
  check_conflict(seed, make_plan(h200, against(h200, "h200-moved-root.yaml"), Provenance::none), "stale plan");
  check_conflict(keys, make_plan(seed, against(seed, "seed-node-b.json", seed_rules()), Provenance::none),
                 "stale plan: ext_key of mount 125");
  Plan twice = make_plan(seed, against(seed, "seed-node-b.json", seed_rules()), Provenance::none);
  twice.edits.push_back(twice.edits.front());
  check_conflict(seed, twice, "stale plan: nothing at /hooks");
}

TEST_CASE("plans cannot reach beyond what a plan is for") {
  const Checkpoint seed = archive("podman-seed-auto.tar.zst");
  Plan plan;
  plan.engine = Engine::podman;
  plan.edits.emplace_back();
  Edit& edit = plan.edits.back();
  edit.member = "checkpoint/mountpoints-13.img";
  edit.op = Edit::Op::set_field;
  edit.mnt_id = 125;
  edit.field = "root";
  const TempDir directory;
  CHECK_THROWS_WITH_AS(rewrite_to_file(seed, plan, directory.file("o")), doctest::Contains("cannot be set: root"),
                       Error);
  edit.op = Edit::Op::copy_member;
  edit.member = "spec.dump";
  edit.after = "checkpoint/inventory.img";
  CHECK_THROWS_WITH_AS(rewrite_to_file(seed, plan, directory.file("o")), doctest::Contains("spec.dump.orig only"),
                       Error);
  edit.op = Edit::Op::replace;
  edit.member = "nowhere";
  CHECK_THROWS_WITH_AS(rewrite_to_file(seed, plan, directory.file("o")), doctest::Contains("nowhere"), Error);
  CHECK(directory.list().empty());
}

TEST_CASE("the record keeps the spec as it was") {
  const Checkpoint before = archive("podman-h200-runc.tar.zst");
  const TempDir directory;
  rewrite_to_file(before, make_plan(before, against(before, "h200-moved-root.yaml"), Provenance::record),
                  directory.file("out"));
  const Checkpoint after = Checkpoint::open(directory.file("out"));
  CHECK(after.has_record());
  CHECK(after.archive().read(*after.archive().find("spec.dump.orig")) == *before.spec_text());
}

TEST_CASE("mounts can be dropped from the spec and from the image") {
  const Checkpoint before = archive("podman-h200-runc.tar.zst");
  RestoreRules rules;
  rules.drop_mounts = {"/usr/local/nvidia/bin/nvidia-smi", "/usr/share/glvnd/egl_vendor.d/10_nvidia.json"};
  const TempDir directory;
  rewrite_to_file(before, make_plan(before, against(before, "h200-source.yaml", rules), Provenance::none),
                  directory.file("out"));
  const Checkpoint after = Checkpoint::open(directory.file("out"));
  CHECK(after.mounts().size() == before.mounts().size() - 2);
  CHECK(after.spec_text()->find("10_nvidia.json") == std::string::npos);
  CHECK(against(after, "h200-source.yaml").verdict() == Verdict::restores);
}

TEST_CASE("compression follows the input or the wish, and the same input gives the same bytes") {
  const Checkpoint before = archive("podman-seed-mm.tar.zst");
  const TempDir directory;
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    RewriteOptions options;
    options.compression = compression;
    options.verify = VerifyLevel::full;
    rewrite_to_file(before, {}, directory.file("a"), options);
    rewrite_to_file(before, {}, directory.file("b"), options);
    CHECK(testing::read_file(directory.file("a")) == testing::read_file(directory.file("b")));
    CHECK(small_members(Checkpoint::open(directory.file("a"))) == small_members(before));
  }
  RewriteOptions options;
  options.compression = Compression::lz4;
  CHECK_THROWS_WITH_AS(rewrite_to_file(before, {}, directory.file("c"), options),
                       doctest::Contains("lz4 is read but not written"), Error);
}

TEST_CASE("a stream carries the same bytes as a file, and a full one says so") {
  const Checkpoint before = archive("podman-seed-mm.tar.zst");
  const TempDir directory;
  rewrite_to_file(before, {}, directory.file("a"));
  const int fd = ::open(directory.file("s").c_str(), O_WRONLY | O_CREAT, 0600);
  rewrite_to_stream(before, {}, fd);
  ::close(fd);
  CHECK(testing::read_file(directory.file("a")) == testing::read_file(directory.file("s")));
  const int full = ::open("/dev/full", O_WRONLY);
  CHECK_THROWS_WITH_AS(rewrite_to_stream(before, {}, full), doctest::Contains("No space left"), Error);
  ::close(full);
}

TEST_CASE("forms that are only read are refused") {
  const std::string path = testing::collection_file("containerd/ctr-checkpoint.tar.gz");
  if (path.empty()) return;
  const TempDir directory;
  CHECK_THROWS_WITH_AS(rewrite_to_stream(Checkpoint::open(path), {}, 1), doctest::Contains("not to a stream"), Error);
  ImageOptions options;
  options.path = directory.file("o");
  CHECK_THROWS_WITH_AS(rewrite_to_image(Checkpoint::open(path), {}, options), doctest::Contains("stays one"), Error);
}

TEST_CASE("a plan's sources have to be paths, and conflicts show no documents") {
  const Checkpoint seed = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  Plan plan;
  plan.engine = Engine::podman;
  plan.edits.emplace_back();
  Edit& edit = plan.edits.back();
  edit.member = "spec.dump";
  edit.op = Edit::Op::replace;
  edit.pointer = "/mounts/5/source";
  edit.before = Json::parse(*seed.spec_text())["mounts"][5]["source"];
  for (const Json& bad : {Json(5), Json(""), Json("../../etc"), Json("/x/../etc"), Json("/x\n\x1b[31m")}) {
    edit.after = bad;
    CHECK_THROWS_AS(rewrite_to_file(seed, plan, directory.file("o")), Error);
  }
  edit.pointer = "/mounts";
  edit.before = Json(1);
  try {
    rewrite_to_file(seed, plan, directory.file("o"));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::conflict);
    CHECK(error.detail().find("/mounts is an array, expected 1") != std::string::npos);
  }
  CHECK(directory.list().empty());
}
