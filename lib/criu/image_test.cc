// SPDX-License-Identifier: Apache-2.0
#include "criu/image.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "testing/failure.h"
#include "testing/image_builder.h"

using ckpt::Error;
using ckpt::ErrorCode;
using ckpt::Limits;
using ckpt::Where;
using ckpt::criu::Image;
using ckpt::testing::failure_of;
using ckpt::testing::framed;
using ckpt::testing::image_head;
using ckpt::testing::image_of;
using ckpt::testing::u32_bytes;

namespace {

const Where kWhere{"a.tar", "checkpoint/x.img", {}, {}};

Image parse(const std::string& bytes) { return Image::parse(bytes, kWhere); }

Error refusal(const std::string& bytes, const Limits& limits = {}) {
  return failure_of([&] { Image::parse(bytes, kWhere, limits); });
}

bool says(const Error& error, const char* text) { return error.detail().find(text) != std::string::npos; }

// The first words of an image as a big-endian machine writes them.
std::string reversed(std::string bytes, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) std::reverse(bytes.data() + 4 * i, bytes.data() + 4 * i + 4);
  return bytes;
}

}  // namespace

TEST_CASE("magics are known once, by value and by crit's names") {
  std::set<std::uint32_t> magics;
  std::set<std::string> names;
  for (const auto& kind : ckpt::criu::all_kinds()) {
    CHECK(magics.insert(kind.magic).second);
    CHECK(names.insert(kind.name).second);
    CHECK(ckpt::criu::find_kind(kind.magic) == &kind);
    CHECK(std::string(kind.message).empty() == false);
  }
  CHECK(magics.size() == 68);
  CHECK(std::string(ckpt::criu::find_kind(0x55563928)->message) == "mnt_entry");
  CHECK(std::string(ckpt::criu::find_kind(0x56084025)->head_message) == "pagemap_head");
  CHECK(ckpt::criu::find_kind(0x57023458) == nullptr);  // a cache of CRIU, not an image
}

TEST_CASE("entries of every kind are found again") {
  for (const auto& kind : ckpt::criu::all_kinds()) {
    if (kind.extra != ckpt::criu::Extra::none) continue;
    CAPTURE(kind.name);
    const bool many = kind.entries == ckpt::criu::Entries::many;
    const Image image =
        parse(image_of(kind.name, many ? std::vector<std::string>{"abc", "", "d"} : std::vector<std::string>{"abc"}));
    CHECK(&image.kind() == &kind);
    REQUIRE(image.entries().size() == (many ? 3 : 1));
    CHECK(image.entries()[0].payload == "abc");
    CHECK(image.entries()[0].extra.empty());
    CHECK(image.trailing().empty());
    if (many) CHECK(image.entries()[2].payload == "d");
  }
}

TEST_CASE("an image without entries is empty, not damaged") {
  CHECK(parse(image_head("FILES")).entries().empty());
  CHECK(parse(image_head("INVENTORY")).entries().empty());
}

TEST_CASE("offsets are those of the size words, and moves keep entries valid") {
  Image first = parse(image_of("PSTREE", {"one", "two"}));
  CHECK(first.entries()[0].offset == 8);
  CHECK(first.entries()[1].offset == 15);
  CHECK(parse(image_of("INVENTORY", {"x"})).entries()[0].offset == 4);
  const Image second = std::move(first);
  CHECK(second.entries()[1].payload == "two");
  CHECK(second.entries()[1].payload.data() == second.bytes().data() + 19);
  CHECK(second.where(1).offset == 15);
  CHECK(second.where(1).entry == 1);
  CHECK(second.where(1).member == "checkpoint/x.img");
}

TEST_CASE("images of CRIU before image version 2 have no common head") {
  const std::string headless = image_of("MNTS", {"abc"}).substr(4);
  const Image image = parse(headless);
  CHECK(std::string(image.kind().name) == "MNTS");
  CHECK(image.entries().at(0).payload == "abc");
  CHECK(image.with_entry(0, "abcd") == headless.substr(0, 4) + framed("abcd"));
  CHECK(parse(headless.substr(0, 4)).entries().empty());
}

TEST_CASE("a type magic alone makes no image when its first entry cannot be there") {
  const Error error = refusal(image_head("PAGEMAP").substr(4) + u32_bytes(1000) + "raw");
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(says(error, "0x56084025 without a common head"));
}

TEST_CASE("heads that CRIU refuses are refused") {
  const Error inventory = refusal(u32_bytes(0x54564319) + image_of("INVENTORY", {"x"}));
  CHECK(inventory.code() == ErrorCode::corrupt);
  CHECK(says(inventory, "an inventory has no common head"));
  const Error stats = refusal(u32_bytes(0x54564319) + image_of("STATS", {"x"}).substr(4));
  CHECK(stats.code() == ErrorCode::corrupt);
  CHECK(says(stats, "STATS does not belong to the head magic 0x54564319"));
  const Error files = refusal(u32_bytes(0x55105940) + image_of("FILES", {"x"}).substr(4));
  CHECK(says(files, "FILES does not belong to the head magic 0x55105940"));
}

TEST_CASE("big-endian images are named as such") {
  for (const char* kind : {"MNTS", "STATS"}) {
    const Error error = refusal(reversed(image_of(kind, {"abc"}), 3));
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(says(error, "big-endian image (s390x)"));
    CHECK(error.where().member == "checkpoint/x.img");
  }
  CHECK(says(refusal(reversed(image_of("INVENTORY", {"abc"}), 2)), "big-endian image (s390x)"));
}

TEST_CASE("raw images are unsupported and their first word is shown") {
  const Error gzip = refusal(std::string("\x1f\x8b\x08\x00rest", 8));
  CHECK(gzip.code() == ErrorCode::unsupported);
  CHECK(says(gzip, "magic 0x00088b1f"));
  CHECK(gzip.where().offset == 0);
  const Error unknown = refusal(u32_bytes(0x54564319) + u32_bytes(0x12345678));
  CHECK(unknown.code() == ErrorCode::unsupported);
  CHECK(says(unknown, "magic 0x12345678"));
  CHECK(unknown.where().offset == 4);
}

TEST_CASE("an image cut anywhere but between entries is corrupt") {
  const std::string whole = image_of("MNTS", {"abc", "defg"});
  const std::set<std::size_t> borders = {8, 15, whole.size()};
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    if (borders.contains(size)) {
      CHECK_NOTHROW(parse(whole.substr(0, size)));
      continue;
    }
    const Error error = refusal(whole.substr(0, size));
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(says(error, "are left"));
    CHECK(error.where().member == "checkpoint/x.img");
    CHECK(error.where().offset.has_value());
    if (size > 8) CHECK(error.where().entry == (size < 15 ? 0 : 1));
  }
}

TEST_CASE("sizes beyond the image are refused before anything is allocated") {
  for (const std::uint32_t size : {0xffffffffU, 0x80000000U, 0x7fffffffU, 5U}) {
    CAPTURE(size);
    const Error error = refusal(image_head("MNTS") + framed("ok") + u32_bytes(size) + "four");
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(says(error, ("needs " + std::to_string(size) + " bytes, 4 are left").c_str()));
    CHECK(error.where().entry == 1);
    CHECK(error.where().offset == 18);
  }
}

TEST_CASE("limits are met with their names") {
  Limits limits;
  limits.max_entry_bytes = 3;
  const Error bytes = refusal(image_of("MNTS", {"abc", "abcd"}), limits);
  CHECK(bytes.code() == ErrorCode::limit_exceeded);
  CHECK(says(bytes, "max_entry_bytes"));
  CHECK(bytes.where().entry == 1);
  limits.max_entries = 2;
  CHECK_NOTHROW(Image::parse(image_of("MNTS", {"", ""}), kWhere, limits));
  const Error count = refusal(image_of("MNTS", {"", "", ""}), limits);
  CHECK(count.code() == ErrorCode::limit_exceeded);
  CHECK(says(count, "max_entries"));
}

TEST_CASE("bytes behind the only entry of an image are kept and reported") {
  const std::string whole = image_of("FS", {"abc"}) + "trailing";
  const Image image = parse(whole);
  CHECK(image.entries().size() == 1);
  CHECK(image.trailing() == "trailing");
  CHECK(image.with_entry(0, "xy") == image_of("FS", {"xy"}) + "trailing");
  CHECK(image.without_entries({0}) == image_head("FS") + "trailing");
  CHECK(image.without_entries({}) == whole);
  CHECK(parse(image_of("FS", {"abc"})).trailing().empty());
}

TEST_CASE("replacing and removing entries leaves all other bytes") {
  const std::string whole = image_of("MNTS", {"abc", "", "defg"});
  const Image image = parse(whole);
  for (std::size_t i = 0; i < 3; ++i) CHECK(image.with_entry(i, image.entries()[i].payload) == whole);
  CHECK(image.with_entry(1, "new") == image_of("MNTS", {"abc", "new", "defg"}));
  CHECK(parse(image.with_entry(1, "new")).with_entry(1, "") == whole);
  CHECK(image.without_entries({1}) == image_of("MNTS", {"abc", "defg"}));
  CHECK(image.without_entries({2, 0}) == image_of("MNTS", {""}));
  CHECK(image.without_entries({0, 1, 2}) == image_head("MNTS"));
}

TEST_CASE("edits of entries that are not there are refused") {
  const Image image = parse(image_of("MNTS", {"abc"}));
  const Error replaced = failure_of([&] { image.with_entry(1, "x"); });
  CHECK(replaced.code() == ErrorCode::invalid_argument);
  CHECK(says(replaced, "no entry 1"));
  const Error removed = failure_of([&] { image.without_entries({0, 7}); });
  CHECK(removed.code() == ErrorCode::invalid_argument);
  CHECK(says(removed, "no entry 7"));
}
