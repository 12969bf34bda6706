// SPDX-License-Identifier: Apache-2.0
#include "oci/layout.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "archive/sha256.h"
#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TarBuilder;
using testing::TempDir;

namespace {

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return hex_of(sum.finish());
}

constexpr const char* kManifest = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* kIndex = "application/vnd.oci.image.index.v1+json";
constexpr const char* kLayer = "application/vnd.oci.image.layer.v1.tar";

/// An image layout whose blobs are named by what they hold.
class Layout {
 public:
  Layout() { tar_.file("oci-layout", R"({"imageLayoutVersion":"1.0.0"})"); }

  /// Puts a blob and returns its descriptor; `more` are further members of that.
  std::string blob(const std::string& type, const std::string& bytes, const std::string& more = {}) {
    const std::string digest = sha256_of(bytes);
    tar_.file("blobs/sha256/" + digest, bytes);
    return R"({"mediaType":")" + type + R"(","digest":"sha256:)" + digest + "\"" + more + "}";
  }

  std::string finish(const std::string& descriptors) {
    tar_.file("index.json", R"({"manifests":[)" + descriptors + "]}");
    return tar_.finish();
  }

 private:
  TarBuilder tar_;
};

constexpr const char* kReference = R"(,"annotations":{"org.opencontainers.image.ref.name":"x:1"})";

std::string image(const std::string& layer, const std::string& more_of_layer = {}) {
  Layout layout;
  const std::string manifest =
      R"({"layers":[)" + layout.blob(kLayer, layer, more_of_layer) + R"(],"annotations":{"k":"v"}})";
  return layout.finish(layout.blob(kManifest, manifest, kReference));
}

std::string checkpoint() { return TarBuilder().file("spec.dump", "{}").finish(); }

void check_refused(const std::string& tar, ErrorCode code, const std::string& text) {
  const TempDir directory;
  const Archive outer = Archive::open(directory.write("i.tar", tar));
  try {
    open_image(outer);
    FAIL("accepted, wanted: " << text);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK_MESSAGE(std::string(error.what()).find(text) != std::string::npos, error.what());
  }
}

}  // namespace

TEST_CASE("the checkpoint is found in an oci-archive and in an unpacked layout") {
  const TempDir directory;
  const std::string path = directory.write("i.tar", image(checkpoint()));
  REQUIRE(std::system(("zstd -qkf " + path).c_str()) == 0);
  REQUIRE(std::system(
              ("mkdir " + directory.file("d") + " && tar -C " + directory.file("d") + " -xf " + path).c_str()) == 0);
  for (const std::string& one : {path, path + ".zst", directory.file("d")}) {
    const Archive outer = Archive::open(one);
    CHECK(is_image_layout(outer));
    const ImageCheckpoint found = open_image(outer);
    CHECK(found.form == (outer.is_directory() ? ImageForm::oci_layout : ImageForm::oci_archive));
    CHECK(found.reference == "x:1");
    CHECK(found.annotations.at("k") == "v");
    REQUIRE(found.layers.size() == 1);
    CHECK(found.layers[0].read(*found.layers[0].find("spec.dump")) == "{}");
  }
}

TEST_CASE("the topmost layer comes first") {
  Layout layout;
  const std::string layers = layout.blob(kLayer, TarBuilder().file("spec.dump", "old").finish()) + "," +
                             layout.blob(kLayer, TarBuilder().file("spec.dump", "new").finish());
  const TempDir directory;
  const std::string path =
      directory.write("i.tar", layout.finish(layout.blob(kManifest, R"({"layers":[)" + layers + "]}")));
  const ImageCheckpoint found = open_image(Archive::open(path));
  REQUIRE(found.layers.size() == 2);
  CHECK(found.layers[0].read(*found.layers[0].find("spec.dump")) == "new");
}

TEST_CASE("a checkpoint is found behind indexes and other images, but not behind any number of them") {
  Layout layout;
  const std::string other = layout.blob(
      kManifest, R"({"layers":[)" + layout.blob(kLayer, TarBuilder().file("etc/passwd", "x").finish()) + "]}");
  std::string inner =
      other + "," + layout.blob(kManifest, R"({"layers":[)" + layout.blob(kLayer, checkpoint()) + "]}", kReference);
  const TempDir directory;
  for (int depth = 0; depth < 4; ++depth) inner = layout.blob(kIndex, R"({"manifests":[)" + inner + "]}");
  const ImageCheckpoint found = open_image(Archive::open(directory.write("i.tar", Layout(layout).finish(inner))));
  CHECK(found.reference == "x:1");
  inner = layout.blob(kIndex, R"({"manifests":[)" + inner + "]}");
  check_refused(layout.finish(inner), ErrorCode::limit_exceeded, "nested too deep");
}

TEST_CASE("images that hold no checkpoint, or are damaged, are refused with the reason") {
  check_refused(image(TarBuilder().file("etc/passwd", "x").finish()), ErrorCode::unsupported,
                "no manifest of the image is a container checkpoint");
  const std::string absent = std::string(64, 'a');
  check_refused(Layout().finish(R"({"mediaType":"x+json","digest":"sha256:)" + absent + "\"}"), ErrorCode::corrupt,
                absent + ": missing in the image layout");
  check_refused(Layout().finish(R"({"mediaType":"x+json","digest":"sha256:../../etc"})"), ErrorCode::corrupt,
                "not a digest");
  check_refused(image(checkpoint(), R"(,"size":7)"), ErrorCode::corrupt, "its descriptor says 7");
  check_refused(Layout().finish("not json"), ErrorCode::corrupt, "index.json");
  Layout other;
  const std::string manifest = other.blob(kManifest, R"({"layers":[]})");
  std::string damaged = other.finish(manifest);
  damaged[damaged.find(R"({"layers")") + 2] = 'L';
  check_refused(damaged, ErrorCode::corrupt, "its content does not have its digest");
}

TEST_CASE("a docker-archive opens by its manifest.json") {
  const TempDir directory;
  const std::string path = directory.write(
      "d.tar", TarBuilder()
                   .file("manifest.json", R"([{"Config":"c.json","RepoTags":["a:1"],"Layers":["l/layer.tar"]}])")
                   .file("l/layer.tar", TarBuilder().file("config.dump", "{}").finish())
                   .finish());
  const ImageCheckpoint found = open_image(Archive::open(path));
  CHECK(found.form == ImageForm::docker_archive);
  CHECK(found.reference == "a:1");
  CHECK(found.layers.size() == 1);
}

TEST_CASE("an ordinary archive is no image") {
  const TempDir directory;
  CHECK_FALSE(is_image_layout(Archive::open(directory.write("a.tar", TarBuilder().file("spec.dump", "{}").finish()))));
}

TEST_CASE("a real ctr checkpoint index gives its spec and its images") {
  const std::string path = testing::collection_file("containerd/ctr-checkpoint.tar.gz");
  if (path.empty()) return;
  const ImageCheckpoint found = open_image(Archive::open(path));
  CHECK(found.form == ImageForm::ctr_index);
  CHECK(found.annotations.at("io.containerd.checkpoint.runtime") == "io.containerd.runc.v2");
  REQUIRE(found.spec_json);
  CHECK(found.spec_json->find("ociVersion") != std::string::npos);
  REQUIRE(found.layers.size() == 1);
  CHECK(found.layers[0].find("inventory.img") != nullptr);
}

TEST_CASE("real checkpoint images open") {
  const std::map<std::string, std::string> annotation = {
      {"podman/podman-create-image.oci.tar", "io.podman.annotations.checkpoint.runtime.name"},
      {"containerd/containerd-ckpt-oci.tar", "org.criu.checkpoint.container.name"}};
  for (const auto& one : annotation) {
    CAPTURE(one.first);
    const std::string path = testing::collection_file(one.first);
    if (path.empty()) continue;
    const ImageCheckpoint found = open_image(Archive::open(path));
    CHECK(found.form == ImageForm::oci_archive);
    CHECK(found.annotations.count(one.second) == 1);
    REQUIRE_FALSE(found.layers.empty());
    CHECK(found.layers[0].find("checkpoint/inventory.img") != nullptr);
  }
}

TEST_CASE("a ctr index gives the value of its protobuf Any, or says that it has none") {
  constexpr const char* kTar = "application/vnd.containerd.container.criu.checkpoint.criu.tar";
  constexpr const char* kConfig = "application/vnd.containerd.container.checkpoint.config.v1+proto";
  const auto index = [&](const std::string& any) {
    Layout layout;
    return layout.finish(layout.blob(kTar, TarBuilder().file("inventory.img", "i").finish()) + "," +
                         layout.blob(kConfig, any));
  };
  const std::string url = "\x0a\x03url";
  const TempDir directory;
  const ImageCheckpoint found = open_image(Archive::open(directory.write("i.tar", index(url + "\x12\x02{}"))));
  CHECK(found.form == ImageForm::ctr_index);
  CHECK(found.spec_json == "{}");
  CHECK(found.layers.size() == 1);
  check_refused(index(url), ErrorCode::corrupt, "not a protobuf Any with a value");
  check_refused(index(url + "\x12\x7f{}"), ErrorCode::corrupt, "not a protobuf Any with a value");
  check_refused(index(std::string(12, '\xff')), ErrorCode::corrupt, "not a protobuf Any");
}
