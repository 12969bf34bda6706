// SPDX-License-Identifier: Apache-2.0
#include "oci/layout.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TarBuilder;
using testing::TempDir;

namespace {

const std::string kLayout = R"({"imageLayoutVersion":"1.0.0"})";

std::string digest(char c) { return std::string(64, c); }

std::string descriptor(const std::string& type, char digest_char, const std::string& more = {}) {
  return R"({"mediaType":")" + type + R"(","digest":"sha256:)" + digest(digest_char) + "\"" + more + "}";
}

constexpr const char* kManifest = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* kLayer = "application/vnd.oci.image.layer.v1.tar";

TarBuilder image(const std::string& layer) {
  TarBuilder builder;
  builder.file("oci-layout", kLayout);
  builder.file("index.json",
               R"({"manifests":[)" +
                   descriptor(kManifest, 'a', R"(,"annotations":{"org.opencontainers.image.ref.name":"x:1"})") + "]}");
  builder.file("blobs/sha256/" + digest('a'),
               R"({"layers":[)" + descriptor(kLayer, 'b') + R"(],"annotations":{"k":"v"}})");
  builder.file("blobs/sha256/" + digest('b'), layer);
  return builder;
}

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
  const std::string layer = TarBuilder().file("spec.dump", "{}").finish();
  const std::string path = directory.write("i.tar", image(layer).finish());
  REQUIRE(std::system(
              ("mkdir " + directory.file("d") + " && tar -C " + directory.file("d") + " -xf " + path).c_str()) == 0);
  for (const std::string& one : {path, directory.file("d")}) {
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
  TarBuilder builder;
  builder.file("oci-layout", kLayout);
  builder.file("index.json", R"({"manifests":[)" + descriptor(kManifest, 'a') + "]}");
  builder.file("blobs/sha256/" + digest('a'),
               R"({"layers":[)" + descriptor(kLayer, 'b') + "," + descriptor(kLayer, 'c') + "]}");
  builder.file("blobs/sha256/" + digest('b'), TarBuilder().file("spec.dump", "old").finish());
  builder.file("blobs/sha256/" + digest('c'), TarBuilder().file("spec.dump", "new").finish());
  const TempDir directory;
  const ImageCheckpoint found = open_image(Archive::open(directory.write("i.tar", builder.finish())));
  REQUIRE(found.layers.size() == 2);
  CHECK(found.layers[0].read(*found.layers[0].find("spec.dump")) == "new");
}

TEST_CASE("images that hold no checkpoint, or are damaged, are refused with the reason") {
  check_refused(image(TarBuilder().file("etc/passwd", "x").finish()).finish(), ErrorCode::unsupported,
                "no manifest of the image is a container checkpoint");
  TarBuilder missing;
  missing.file("oci-layout", kLayout).file("index.json", R"({"manifests":[)" + descriptor(kManifest, 'a') + "]}");
  check_refused(missing.finish(), ErrorCode::corrupt, "missing in the image layout");
  TarBuilder bad;
  bad.file("oci-layout", kLayout)
      .file("index.json", R"({"manifests":[{"mediaType":"x+json","digest":"sha256:../../etc"}]})");
  check_refused(bad.finish(), ErrorCode::corrupt, "not a digest");
  TarBuilder size;
  size.file("oci-layout", kLayout);
  size.file("index.json", R"({"manifests":[)" + descriptor(kManifest, 'a', R"(,"size":7)") + "]}");
  size.file("blobs/sha256/" + digest('a'), "{}");
  check_refused(size.finish(), ErrorCode::corrupt, "its descriptor says 7");
  TarBuilder json;
  json.file("oci-layout", kLayout).file("index.json", "not json");
  check_refused(json.finish(), ErrorCode::corrupt, "index.json");
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
