// SPDX-License-Identifier: Apache-2.0
#include "archive/gunzip.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

namespace {

const Where kWhere{"a.tar.gz", {}, {}, {}};

std::string gzip(const std::string& bytes) {
  const TempDir directory;
  REQUIRE(std::system(("gzip -1nc < " + directory.write("t", bytes) + " > " + directory.file("t.gz")).c_str()) == 0);
  return testing::read_file(directory.file("t.gz"));
}

/// Unpacks with pieces of `step` bytes on both sides.
std::string gunzip(std::string_view packed, std::size_t step) {
  const auto next = [&] {
    const std::string_view piece = packed.substr(0, step);
    packed.remove_prefix(piece.size());
    return piece;
  };
  Gunzip gunzip(next, kWhere);
  std::string bytes;
  std::string block(step, '\0');
  while (const std::size_t got = gunzip.read(block.data(), block.size())) bytes.append(block, 0, got);
  return bytes;
}

void check_damaged(const std::string& packed, const std::string& text) {
  try {
    gunzip(packed, 1000);
    FAIL("accepted, wanted: " << text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().file == "a.tar.gz");
    CHECK_MESSAGE(error.detail().find(text) != std::string::npos, error.detail());
  }
}

}  // namespace

TEST_CASE("gzip members follow each other, in pieces of any size") {
  const std::string two = gzip("first ") + gzip("") + gzip("second");
  for (const std::size_t step : {1U, 2U, 7U, 4096U}) CHECK(gunzip(two, step) == "first second");
  CHECK(gunzip(two + std::string(512, '\0'), 64) == "first second");
  CHECK(gunzip(two + "left over", 64) == "first second");
}

TEST_CASE("gzip data is held to its CRC and its length") {
  const std::string good = gzip("content");
  std::string crc = good;
  crc[crc.size() - 8] ^= 1;
  check_damaged(crc, "incorrect data check");
  std::string length = good;
  length[length.size() - 4] ^= 1;
  check_damaged(length, "incorrect length check");
}

TEST_CASE("gzip data that stops anywhere is damaged") {
  const std::string good = gzip(std::string(300, 'a') + "b");
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    check_damaged(good.substr(0, size), "it ends too early");
  }
  check_damaged("plain text, not gzip", "incorrect header check");
}
