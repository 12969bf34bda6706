// SPDX-License-Identifier: Apache-2.0
#include "ckpt/memory.h"

#include <doctest/doctest.h>

#include "testing/failure.h"
#include "testing/paths.h"

using namespace ckpt;

namespace {

Checkpoint open_with_arguments(const std::string& path) {
  CheckpointOptions options;
  options.keep = Keep::arguments;
  return Checkpoint::open(path, options);
}

std::string seed() { return testing::testdata("archives/podman-seed-auto.tar.zst"); }

}  // namespace

TEST_CASE("every image of every archive comes back from JSON as it was") {
  std::size_t images = 0;
  for (const std::string& path : testing::real_archives()) {
    CAPTURE(path);
    if (path.find("ckpt-oci") != std::string::npos || path.find(".json") != std::string::npos) continue;
    const Checkpoint checkpoint = Checkpoint::open(path);
    for (const Archive& layer : checkpoint.layers())
      for (const Member& member : layer.members()) {
        const bool stats = member.name == "stats-dump";
        if (member.type != MemberType::file || (!stats && member.name.find(".img") == std::string::npos)) continue;
        CAPTURE(member.name);
        if (!raw_image_meaning(member.name).empty()) continue;
        const std::string bytes = layer.read(member);
        REQUIRE(looks_like_image(std::string_view(bytes).substr(0, 4)));
        for (const ImageStyle style : {ImageStyle::plain, ImageStyle::pretty}) {
          const Json document = decode_image(bytes, Where{path, member.name, {}, {}}, style);
          CHECK(encode_image(Json::parse(document.dump(-1))) == bytes);
        }
        ++images;
      }
  }
  CHECK(images > 100);
}

TEST_CASE("arguments are read out of the pages, with and without a second pass") {
  for (const Checkpoint& checkpoint : {open_with_arguments(seed()), Checkpoint::open(seed())}) {
    const auto all = read_arguments(checkpoint);
    REQUIRE(all.size() == 2);
    CHECK(all[0].missing == "");
    REQUIRE_FALSE(all[0].arguments.empty());
    CHECK(all[0].arguments[0].find("sh") != std::string::npos);
    CHECK_FALSE(all[0].environment.empty());
  }
}

TEST_CASE("arguments kept while reading spare the second pass") {
  const Checkpoint kept = open_with_arguments(seed());
  const std::uint64_t before = kept.archive().bytes_read();
  read_arguments(kept);
  CHECK(kept.archive().bytes_read() == before);
  const Checkpoint plain = Checkpoint::open(seed());
  const std::uint64_t first = plain.archive().bytes_read();
  read_arguments(plain);
  CHECK(plain.archive().bytes_read() > first);
}

TEST_CASE("pages stream by with their addresses") {
  const Checkpoint checkpoint = Checkpoint::open(seed());
  const PageMap map = read_page_map(checkpoint, 1);
  CHECK(map.page_size == 4096);
  std::uint64_t bytes = 0;
  std::uint64_t first = 0;
  stream_memory(checkpoint, {1}, [&](std::uint32_t pid, std::uint64_t address, std::string_view piece) {
    CHECK(pid == 1);
    if (bytes == 0) first = address;
    bytes += piece.size();
  });
  std::uint64_t wanted = 0;
  for (const PageRun& run : map.runs) wanted += run.present ? run.pages * map.page_size : 0;
  CHECK(bytes == wanted);
  REQUIRE_FALSE(map.runs.empty());
  CHECK(first == map.runs.front().address);
}

TEST_CASE("memory of a process that is not there") {
  const auto error = testing::failure_of([] { read_page_map(Checkpoint::open(seed()), 4711); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.where().member == "checkpoint/pagemap-4711.img");
}
