// SPDX-License-Identifier: Apache-2.0
#include "archive/inner_tar.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "ckpt/error.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TarBuilder;
using testing::TempDir;

namespace {

std::string gzip(const std::string& bytes) {
  const TempDir directory;
  REQUIRE(std::system(("gzip -nc < " + directory.write("t", bytes) + " > " + directory.file("t.gz")).c_str()) == 0);
  return testing::read_file(directory.file("t.gz"));
}

std::string gunzip(const std::string& bytes) {
  const TempDir directory;
  REQUIRE(std::system(("gzip -dc < " + directory.write("t", bytes) + " > " + directory.file("t.out")).c_str()) == 0);
  return testing::read_file(directory.file("t.out"));
}

const Where kWhere{"a.tar", "tmpfs-dev-42.tar.gz.img", {}, {}};

std::string dev() {
  return TarBuilder()
      .directory("./")
      .gnu_sparse("./sparse", 100000, 4096, "some data")
      .file("./file", "content")
      .hardlink("./hard", "./file")
      .node("./nvidia-uvm", 238, 0)
      .node("./nvidia0", 195, 0)
      .symlink("./fd", "/proc/self/fd")
      .finish();
}

void check_conflict(const NodeNumbers& node, const std::string& text) {
  try {
    renumber_inner_tar(gzip(dev()), {node}, kWhere);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::conflict);
    CHECK(error.where().member == kWhere.member);
    CHECK(error.detail().find(text) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("nodes of an inner tar are listed with their numbers") {
  const auto members = list_inner_tar(gzip(dev()), kWhere);
  REQUIRE(members.size() == 7);
  CHECK(members[1].size == 100000);
  CHECK(members[4].name == "nvidia-uvm");
  CHECK(members[4].type == MemberType::char_device);
  CHECK(members[4].dev_major == 238);
}

TEST_CASE("renumbering changes numbers and checksum, and not one other byte") {
  const std::string before = dev();
  const std::string after = gunzip(renumber_inner_tar(gzip(before), {{"nvidia-uvm", 238, 0, 511, 0}}, kWhere));
  REQUIRE(after.size() == before.size());
  const std::size_t block = before.find("./nvidia-uvm");
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    const std::size_t at = i - block;
    const bool expected = (at >= 148 && at < 156) || (at >= 329 && at < 345);
    CHECK_MESSAGE(expected, "byte " << i << " changed");
  }
  const auto members = list_inner_tar(gzip(after), kWhere);  // libarchive checks the checksum
  CHECK(members[4].dev_major == 511);
  CHECK(members[5].dev_major == 195);
  CHECK(gunzip(renumber_inner_tar(gzip(after), {{"nvidia-uvm", 511, 0, 238, 0}}, kWhere)) == before);
}

TEST_CASE("numbers that octal cannot hold become base-256") {
  const auto packed = renumber_inner_tar(gzip(dev()), {{"nvidia0", 195, 0, 195, 4000000000U}}, kWhere);
  CHECK(list_inner_tar(packed, kWhere)[5].dev_minor == 4000000000U);
}

TEST_CASE("a node that is not what the plan expects is a conflict") {
  check_conflict({"nvidia-uvm", 237, 0, 511, 0}, "is 238:0, expected 237:0");
  check_conflict({"nothing", 1, 1, 2, 2}, "there is no node nothing");
  check_conflict({"file", 0, 0, 1, 1}, "no device node");
}

TEST_CASE("what is no gzip'ed tar is refused with the image's name") {
  for (const std::string& bytes :
       {std::string("plain text"), dev(), gzip("no tar at all, but long enough? " + std::string(2000, 'x'))}) {
    try {
      list_inner_tar(bytes, kWhere);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::corrupt);
      CHECK(error.where().member == kWhere.member);
    }
  }
  const std::string packed = gzip(dev());
  for (std::size_t size = 1; size + 10 < packed.size(); size += 7)
    CHECK_THROWS_AS(list_inner_tar(packed.substr(0, size), kWhere), Error);
}

TEST_CASE("a bomb stops at max_inner_bytes") {
  Limits limits;
  limits.max_inner_bytes = 1U << 20;
  CHECK_THROWS_WITH_AS(list_inner_tar(gzip(std::string(8U << 20, '\0')), kWhere, limits),
                       doctest::Contains("max_inner_bytes"), Error);
}
