// SPDX-License-Identifier: Apache-2.0
#include "archive/inner_tar.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TarBuilder;
using testing::TempDir;

namespace {

std::string renumber_inner_tar(std::string_view packed, const std::vector<NodeNumbers>& nodes, const Where& where) {
  return edit_inner_tar(packed, {nodes, {}}, where);
}

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

TEST_CASE("an inner tar that is damaged or stops early is refused") {
  std::string packed = gzip(dev());
  packed[packed.size() - 8] ^= 1;
  CHECK_THROWS_WITH_AS(list_inner_tar(packed, kWhere), doctest::Contains("incorrect data check"), Error);
  const std::string tar = TarBuilder().file("a", std::string(5000, 'a')).finish();
  CHECK_THROWS_WITH_AS(list_inner_tar(gzip(tar.substr(0, 3000)), kWhere),
                       doctest::Contains("not a readable tar inside"), Error);
}

TEST_CASE("numbers that an extension header overrides are not renumbered in vain") {
  const std::string tar = TarBuilder().pax("SCHILY.devmajor", "7").node("node", 8, 1).finish();
  const std::string packed = gzip(tar);
  REQUIRE(list_inner_tar(packed, kWhere)[0].dev_major == 7);
  CHECK_THROWS_WITH_AS(renumber_inner_tar(packed, {{"node", 7, 1, 9, 1}}, kWhere),
                       doctest::Contains("stand in an extension header"), Error);
}

TEST_CASE("what GNU tar makes of /dev with CRIU's options is renumbered in place") {
  const TempDir directory;
  const std::string dev = directory.file("dev");
  const std::string tar =
      "tar --create --gzip --no-unquote --no-wildcards --one-file-system --check-links "
      "--preserve-permissions --sparse --numeric-owner --directory " +
      dev + " . > " + directory.file("t.gz");
  REQUIRE(std::system(("mkdir " + dev + " && truncate -s 1M " + dev + "/sparse && printf x >> " + dev +
                       "/sparse && ln " + dev + "/sparse " + dev + "/hard")
                          .c_str()) == 0);
  if (std::system(("mknod " + dev + "/nvidia-uvm c 238 0 2>/dev/null").c_str()) != 0) return;  // needs CAP_MKNOD
  REQUIRE(std::system((tar + " 2>/dev/null").c_str()) == 0);
  const std::string before = gunzip(testing::read_file(directory.file("t.gz")));
  const std::string packed = renumber_inner_tar(gzip(before), {{"nvidia-uvm", 238, 0, 511, 3}}, kWhere);
  const std::string after = gunzip(packed);
  CHECK(packed == renumber_inner_tar(gzip(before), {{"nvidia-uvm", 238, 0, 511, 3}}, kWhere));
  REQUIRE(after.size() == before.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i] ? 1 : 0;
  CHECK(changed > 0);
  CHECK(changed < 24);
  const std::string listing =
      "gzip -dc < " + directory.write("after.gz", packed) + " | tar -tvf - | grep -q '511,3 .*nvidia-uvm'";
  CHECK(std::system(listing.c_str()) == 0);
}

TEST_CASE("the device tmpfs of a real GPU checkpoint") {
  for (const std::string& path : testing::real_archives()) {
    if (path.find("h200-runc.tar.zst") == std::string::npos) continue;
    const Archive archive = Archive::open(path);
    const Member* image = archive.find("checkpoint/tmpfs-dev-42.tar.gz.img");
    REQUIRE(image != nullptr);
    const std::string packed = archive.read(*image);
    const auto before = list_inner_tar(packed, kWhere);
    const auto is_uvm = [](const Member& member) { return member.name == "nvidia-uvm"; };
    const auto uvm = std::find_if(before.begin(), before.end(), is_uvm);
    REQUIRE(uvm != before.end());
    const NodeNumbers numbers{"nvidia-uvm", uvm->dev_major, uvm->dev_minor, 511, uvm->dev_minor};
    const std::string tar = gunzip(packed);
    const std::string after = gunzip(renumber_inner_tar(packed, {numbers}, kWhere));
    REQUIRE(after.size() == tar.size());
    for (std::size_t i = 0; i < tar.size(); ++i) {
      if (tar[i] == after[i]) continue;
      const std::size_t at = i - uvm->header_offset;
      CHECK_MESSAGE(((at >= 148 && at < 156) || (at >= 329 && at < 337)), "byte " << i << " changed");
    }
    CHECK(gunzip(renumber_inner_tar(
              gzip(after), {{"nvidia-uvm", 511, numbers.old_minor, numbers.old_major, numbers.old_minor}}, kWhere)) ==
          tar);
  }
}

TEST_CASE("a node is added after its model, with the model's kind, mode and owner") {
  const std::string before = dev();
  const std::string packed = edit_inner_tar(gzip(before), {{}, {{"nvidia3", "nvidia0", 195, 3}}}, kWhere);
  const auto members = list_inner_tar(packed, kWhere);
  const auto at = [&](const std::string& name) {
    return std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.name == name; });
  };
  const auto added = at("nvidia3");
  const auto model = at("nvidia0");
  REQUIRE(added != members.end());
  CHECK(added == model + 1);
  CHECK(added->type == model->type);
  CHECK(added->mode == model->mode);
  CHECK(added->dev_major == 195);
  CHECK(added->dev_minor == 3);
  std::string after = gunzip(packed);
  after.erase(model->data_offset, 512);
  CHECK(after == before);
}

TEST_CASE("a node is neither added twice nor after what is none") {
  const std::string packed = gzip(dev());
  CHECK_THROWS_WITH_AS(edit_inner_tar(packed, {{}, {{"nvidia-uvm", "nvidia0", 195, 3}}}, kWhere),
                       doctest::Contains("is there already"), Error);
  CHECK_THROWS_WITH_AS(edit_inner_tar(packed, {{}, {{"nvidia3", "nothing", 195, 3}}}, kWhere),
                       doctest::Contains("there is no node nothing"), Error);
  CHECK_THROWS_WITH_AS(edit_inner_tar(packed, {{}, {{std::string(120, 'x'), "nvidia0", 195, 3}}}, kWhere),
                       doctest::Contains("no node can be made"), Error);
}
