// SPDX-License-Identifier: Apache-2.0
#include "oci/image_writer.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "ckpt/error.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

namespace {

Json named(const Blob& blob, const std::string& name) {
  Json descriptor = descriptor_of("application/vnd.oci.image.manifest.v1+json", blob);
  Json annotations = Json::object();
  annotations.set("org.opencontainers.image.ref.name", name);
  return descriptor.set("annotations", std::move(annotations));
}

// sha256 of "hello"
constexpr const char* kHello = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

}  // namespace

TEST_CASE("a layout directory: blobs named after their content, the index last") {
  const TempDir directory;
  const std::string path = directory.file("layout");
  const auto writer = write_layout(path);
  const Blob blob = writer->add_text("hello");
  CHECK(blob.digest == kHello);
  CHECK(blob.size == 5);
  writer->seal(named(blob, "one"));
  CHECK_FALSE(std::filesystem::exists(path + "/index.json"));
  writer->commit();
  CHECK(testing::read_file(path + "/blobs/sha256/" + blob.digest.substr(7)) == "hello");
  const Json index = Json::parse(testing::read_file(path + "/index.json"));
  CHECK(index["manifests"].size() == 1);
  CHECK(index["manifests"][0]["digest"] == Json(kHello));
}

TEST_CASE("a layout grows, and an image of the same name is replaced") {
  const TempDir directory;
  const std::string path = directory.file("layout");
  for (const char* step : {"one", "two", "one"}) {
    const auto writer = write_layout(path);
    writer->seal(named(writer->add_text(std::string("content ") + step), step));
    writer->commit();
  }
  CHECK(Json::parse(testing::read_file(path + "/index.json"))["manifests"].size() == 2);
}

TEST_CASE("a layout that is not finished leaves nothing, and one that was there stays as it was") {
  const TempDir directory;
  write_layout(directory.file("new"))->add_text("hello");
  CHECK_FALSE(std::filesystem::exists(directory.file("new")));
  {
    const auto writer = write_layout(directory.file("old"));
    writer->seal(named(writer->add_text("hello"), "one"));
    writer->commit();
  }
  const std::string before = testing::read_file(directory.file("old/index.json"));
  write_layout(directory.file("old"))->add_text("more");
  CHECK(testing::read_file(directory.file("old/index.json")) == before);
  std::size_t blobs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.file("old/blobs/sha256")))
    blobs += entry.is_regular_file() ? 1 : 0;
  CHECK(blobs == 1);
}

TEST_CASE("a directory of something else is refused") {
  const TempDir directory;
  directory.write("other/file", "x");
  CHECK_THROWS_WITH_AS(write_layout(directory.file("other")), doctest::Contains("is no OCI layout"), Error);
}

TEST_CASE("an image archive is a tar whose blobs have the right names and sizes") {
  const TempDir directory;
  const auto writer = write_image_archive(directory.file("image.tar"));
  const Blob blob = writer->add([](ByteSink& sink) {
    sink.write("hel");
    sink.write("lo");
  });
  const Blob empty = writer->add_text("");
  writer->seal(named(blob, "one"));
  CHECK_FALSE(std::filesystem::exists(directory.file("image.tar")));
  writer->commit();
  const Archive archive = Archive::open(directory.file("image.tar"));
  CHECK(archive.members().size() == 4);
  CHECK(archive.read(*archive.find("blobs/sha256/" + blob.digest.substr(7))) == "hello");
  CHECK(archive.find("blobs/sha256/" + empty.digest.substr(7))->size == 0);
  CHECK(archive.read(*archive.find("oci-layout")) == "{\"imageLayoutVersion\":\"1.0.0\"}");
  CHECK(Json::parse(archive.read(*archive.find("index.json")))["manifests"][0]["size"] == Json(5));
}
