// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>

#include "archive/sha256.h"
#include "ckpt/error.h"
#include "ckpt/rewrite.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

namespace {

Checkpoint archive(const std::string& name) { return Checkpoint::open(testing::testdata("archives/" + name)); }

Plan plan_for(const Checkpoint& checkpoint) {
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/seed-node-b.json")};
  options.requested = checkpoint.requested_devices();
  options.vendor = checkpoint.gpu().vendor;
  RestoreRules rules;
  rules.drop_hooks = RestoreRules::Hooks::all;
  if (checkpoint.archive().name().find("seed") != std::string::npos || checkpoint.form() != "tar")
    rules.maps = {{"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10",
                   "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20"}};
  return make_plan(checkpoint, compare(checkpoint, Target::load(options), rules), Provenance::none);
}

std::string digest_of(const std::string& bytes) {
  Sha256 digest;
  digest.add(bytes);
  return "sha256:" + hex_of(digest.finish());
}

/// Reads an image archive's documents by their digests.
struct Image {
  explicit Image(const std::string& path) : outer(Archive::open(path)) {
    index = Json::parse(read_member("index.json"));
    manifest = Json::parse(blob(index["manifests"][0]));
    config = Json::parse(blob(manifest["config"]));
  }
  std::string read_member(const std::string& name) const { return outer.read(*outer.find(name)); }
  std::string blob(const Json& descriptor) const {
    const std::string& digest = descriptor["digest"].as_string();
    std::string bytes = read_member("blobs/sha256/" + digest.substr(7));
    CHECK(digest_of(bytes) == digest);
    CHECK(descriptor["size"] == Json(static_cast<std::uint64_t>(bytes.size())));
    return bytes;
  }
  Archive outer;
  Json index;
  Json manifest;
  Json config;
};

}  // namespace

TEST_CASE("an image has one layer, true digests and the annotations of the three engines") {
  const Checkpoint before = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    ImageOptions options;
    options.form = ImageOptions::Form::archive;
    options.path = directory.file("image.tar");
    options.rewrite.compression = compression;
    options.rewrite.verify = VerifyLevel::full;
    const ImageReport report = rewrite_to_image(before, plan_for(before), options);
    const Image image(options.path);
    CHECK(report.digest == image.index["manifests"][0]["digest"].as_string());
    REQUIRE(image.manifest["layers"].size() == 1);
    const std::string layer = image.blob(image.manifest["layers"][0]);
    const Json& annotations = image.manifest["annotations"];
    CHECK(annotations["io.podman.annotations.checkpoint.runtime.name"] == Json("runc"));
    CHECK(annotations.find("io.kubernetes.cri-o.annotations.checkpoint.name") != nullptr);
    CHECK(annotations.find("org.criu.checkpoint.container.name") != nullptr);
    CHECK(image.config["architecture"] == Json("amd64"));
    if (compression == Compression::none) CHECK(image.config["rootfs"]["diff_ids"][0] == Json(digest_of(layer)));
    const Checkpoint after = Checkpoint::open(options.path);
    CHECK(after.form() == "oci-archive");
    CHECK(plan_for(after).changes_nothing());
  }
}

TEST_CASE("the same image comes out twice, byte for byte") {
  const Checkpoint before = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  ImageOptions options;
  options.form = ImageOptions::Form::archive;
  for (const char* name : {"a", "b"}) {
    options.path = directory.file(name);
    rewrite_to_image(before, plan_for(before), options);
  }
  CHECK(testing::read_file(directory.file("a")) == testing::read_file(directory.file("b")));
}

TEST_CASE("a delta adds one small layer over the image's own and keeps its annotations") {
  const Checkpoint seed = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  ImageOptions whole;
  whole.path = directory.file("layout");
  whole.name = "localhost/before:1";
  rewrite_to_image(seed, {}, whole);
  const Checkpoint before = Checkpoint::open(whole.path);
  CHECK(before.form() == "oci-layout");
  ImageOptions delta;
  delta.layers = ImageOptions::Layers::delta;
  delta.form = ImageOptions::Form::archive;
  delta.path = directory.file("delta.tar");
  Plan plan = plan_for(before);
  plan.runtime = Runtime::runc;
  const ImageReport report = rewrite_to_image(before, plan, delta);
  const Image image(delta.path);
  REQUIRE(image.manifest["layers"].size() == 2);
  CHECK(image.config["rootfs"]["diff_ids"].size() == 2);
  CHECK(image.config["rootfs"]["diff_ids"][1] == image.manifest["layers"][1]["digest"]);
  CHECK(report.layer_bytes < 100'000);
  const std::string blob = "blobs/sha256/" + image.manifest["layers"][1]["digest"].as_string().substr(7);
  const Archive layer = image.outer.open_member(*image.outer.find(blob));
  CHECK(layer.find("spec.dump") != nullptr);
  CHECK(layer.find("config.dump") == nullptr);
  const Checkpoint after = Checkpoint::open(delta.path);
  CHECK(plan_for(after).changes_nothing());
}

TEST_CASE("a delta into the layout it came from copies nothing, into another names what is elsewhere") {
  const Checkpoint seed = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  ImageOptions whole;
  whole.path = directory.file("layout");
  whole.name = "localhost/before:1";
  rewrite_to_image(seed, {}, whole);
  const Checkpoint before = Checkpoint::open(whole.path);
  ImageOptions delta;
  delta.layers = ImageOptions::Layers::delta;
  delta.path = whole.path;
  delta.name = "localhost/after:1";
  CHECK(rewrite_to_image(before, plan_for(before), delta).layers_elsewhere == 0);
  CHECK(Json::parse(testing::read_file(whole.path + "/index.json"))["manifests"].size() == 2);
  delta.path = directory.file("other");
  CHECK(rewrite_to_image(before, plan_for(before), delta).layers_elsewhere == 1);
}

TEST_CASE("a delta over what is no image is refused, and nothing is left") {
  const Checkpoint before = archive("podman-seed-auto.tar.zst");
  const TempDir directory;
  ImageOptions options;
  options.path = directory.file("layout");
  options.layers = ImageOptions::Layers::delta;
  CHECK_THROWS_WITH_AS(rewrite_to_image(before, {}, options), doctest::Contains("a delta needs a checkpoint image"),
                       Error);
  CHECK(directory.list().empty());
}

TEST_CASE("a ctr index: the spec blob follows the plan, the indexes follow the blobs, the rest is the same") {
  const std::string path = testing::collection_file("containerd/ctr-checkpoint.tar.gz");
  if (path.empty()) return;
  const Checkpoint before = Checkpoint::open(path);
  const Json spec = Json::parse(*before.spec_text());
  Plan plan;
  plan.engine = Engine::runc;
  plan.runtime = Runtime::runc;
  plan.edits.emplace_back();
  plan.edits[0].op = Edit::Op::append;
  plan.edits[0].member = "spec.dump";
  plan.edits[0].pointer = "/mounts";
  plan.edits[0].before = static_cast<std::uint64_t>(spec["mounts"].size());
  plan.edits[0].after = Json::parse(R"({"destination":"/opt/x","type":"bind","source":"/opt/x","options":["ro"]})");
  const TempDir directory;
  rewrite_to_file(before, plan, directory.file("out.tar"));
  const Checkpoint after = Checkpoint::open(directory.file("out.tar"));
  CHECK(after.form() == "ctr-index");
  CHECK(Json::parse(*after.spec_text())["mounts"].size() == spec["mounts"].size() + 1);
  CHECK(after.mounts().size() == before.mounts().size());
  const Archive in = Archive::open(path);
  const Archive out = Archive::open(directory.file("out.tar"));
  std::size_t same = 0;
  for (const Member& member : in.members())
    if (member.type == MemberType::file && out.find(member.name) != nullptr && out.read(*out.find(member.name)) == in.read(member))
      ++same;
  CHECK(same == 7);  // all blobs but the spec and the nested index, and oci-layout
}
