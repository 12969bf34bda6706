// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "criu/image.h"
#include "testing/failure.h"
#include "testing/image_builder.h"

using ckpt::Error;
using ckpt::ErrorCode;
using ckpt::criu::Image;
using ckpt::testing::bytes_field;
using ckpt::testing::failure_of;
using ckpt::testing::framed;
using ckpt::testing::image_head;
using ckpt::testing::varint_field;

namespace {

const std::string kDescription = bytes_field(1, varint_field(1, 5));

Image parse(const std::string& bytes) { return Image::parse(bytes, {"a.tar", "x.img", {}, {}}); }

/// The extras of each entry of an image that holds the message and its extra twice, or once where CRIU reads one.
void check_extra(const char* kind, const std::string& message, const std::string& extra) {
  CAPTURE(kind);
  const bool twice = std::string(kind) != "TCP_STREAM" && std::string(kind) != "GHOST_FILE";
  std::string whole = image_head(kind) + framed(message) + extra;
  if (twice) whole += framed(message) + extra;
  const Image image = parse(whole);
  REQUIRE(image.entries().size() == (twice ? 2 : 1));
  for (const auto& entry : image.entries()) {
    CHECK(entry.payload == message);
    CHECK(entry.extra == extra);
  }
  CHECK(image.with_entry(0, message) == whole);
  CHECK(image.without_entries({}) == whole);
  CHECK(parse(image.with_entry(0, message + varint_field(99, 1))).entries()[0].extra == extra);
  if (twice) CHECK(image.without_entries({1}) == image_head(kind) + framed(message) + extra);
}

/// Whether the image is corrupt once it ends inside the extra, at each byte.
void check_truncation(const char* kind, const std::string& message, const std::string& extra) {
  for (std::size_t size = 0; size < extra.size(); ++size) {
    CAPTURE(kind);
    CAPTURE(size);
    const Error error = failure_of([&] { parse(image_head(kind) + framed(message) + extra.substr(0, size)); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().entry == 0);
    CHECK(error.where().offset >= 12 + message.size());
  }
}

void check(const char* kind, const std::string& message, const std::string& extra) {
  check_extra(kind, message, extra);
  check_truncation(kind, message, extra);
}

std::string refusal(const char* kind, const std::string& message, const std::string& extra) {
  const Error error = failure_of([&] { parse(image_head(kind) + framed(message) + extra); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.where().entry == 0);
  return error.detail();
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("queues are as long as their message says") {
  check("PIPES_DATA", varint_field(1, 7) + varint_field(2, 5), "12345");
  check("FIFO_DATA", varint_field(1, 7) + varint_field(2, 3), "123");
  check("SK_QUEUES", varint_field(1, 7) + varint_field(2, 4), "data");
  check("PIPES_DATA", varint_field(1, 7), "");
}

TEST_CASE("two lengths add up") {
  check("TCP_STREAM", varint_field(1, 2) + varint_field(3, 3), "inout");
  check("BPFMAP_DATA", varint_field(1, 9) + varint_field(2, 4) + varint_field(3, 2), "keysva");
}

TEST_CASE("lengths do not wrap around") {
  const std::string most = varint_field(1, 0xffffffff) + varint_field(3, 0xffffffff);
  CHECK(contains(refusal("TCP_STREAM", most, "x"), "needs 8589934590 bytes, 1 are left"));
  const std::string sems = kDescription + varint_field(2, 0xffffffff);
  CHECK(contains(refusal("IPCNS_SEM", sems, "x"), "needs 8589934592 bytes"));
  const std::string segment = kDescription + varint_field(2, UINT64_MAX);
  CHECK(contains(refusal("IPCNS_SHM", segment, "x"), "a segment of 18446744073709551615 bytes is cut off"));
  const std::string chunk = varint_field(1, UINT64_MAX) + varint_field(2, 0);
  CHECK(contains(refusal("GHOST_FILE", varint_field(9, 1), framed(chunk) + "x"), "needs 18446744073709551615 bytes"));
}

TEST_CASE("CRIU keeps the low half of a length that is too long for its field") {
  const std::string message = varint_field(1, 7) + varint_field(2, 0x100000002);
  CHECK(parse(image_head("PIPES_DATA") + framed(message) + "ab").entries()[0].extra == "ab");
}

TEST_CASE("semaphores are padded to eight bytes, and not beyond") {
  check("IPCNS_SEM", kDescription + varint_field(2, 3), "112233..");
  check("IPCNS_SEM", kDescription + varint_field(2, 4), "11223344");
  check("IPCNS_SEM", kDescription + varint_field(2, 0), "");
}

TEST_CASE("messages of a queue are padded to eight bytes, and not beyond") {
  const std::string five = framed(varint_field(1, 1) + varint_field(2, 5)) + "12345...";
  const std::string eight = framed(varint_field(1, 1) + varint_field(2, 8)) + "12345678";
  const std::string none = framed(varint_field(1, 1) + varint_field(2, 0));
  check("IPCNS_MSG", kDescription + varint_field(2, 99) + varint_field(3, 3), five + eight + none);
  check("IPCNS_MSG", kDescription + varint_field(2, 0) + varint_field(3, 0), "");
}

TEST_CASE("a count of messages that cannot be there ends at the image's end") {
  const std::string message = kDescription + varint_field(3, 0xffffffff);
  CHECK(contains(refusal("IPCNS_MSG", message, framed("") + framed("")), "needs 4 bytes, 0 are left"));
}

TEST_CASE("shared memory is in the image only when it is in no pagemap") {
  check("IPCNS_SHM", kDescription + varint_field(2, 5), "12345...");
  check("IPCNS_SHM", kDescription + varint_field(2, 5) + varint_field(3, 0), "12345...");
  check("IPCNS_SHM", kDescription + varint_field(2, 4096) + varint_field(3, 1), "");
}

TEST_CASE("a ghost file's content is the rest of the image") {
  check_extra("GHOST_FILE", varint_field(3, 0100644), "content");
  check_extra("GHOST_FILE", varint_field(3, 0100644), "");
  check_extra("GHOST_FILE", varint_field(3, 0100644) + varint_field(9, 0), "content");
}

TEST_CASE("a ghost file in chunks ends with a whole chunk") {
  const std::string message = varint_field(3, 0100644) + varint_field(9, 1);
  const std::string first = framed(varint_field(1, 3) + varint_field(2, 0)) + "abc";
  const std::string second = framed(varint_field(1, 2) + varint_field(2, 4096)) + "de";
  check_extra("GHOST_FILE", message, first + second);
  for (std::size_t size = 1; size < first.size(); ++size)
    CHECK(contains(refusal("GHOST_FILE", message, first.substr(0, size)), "are left"));
}

TEST_CASE("a broken message that extras depend on is corrupt") {
  CHECK(contains(refusal("PIPES_DATA", "\x08", "x"), "cut off"));
  CHECK(contains(refusal("IPCNS_MSG", varint_field(3, 1), framed("\x07")), "number 0"));
}

TEST_CASE("bytes behind a connection's queues are kept") {
  const std::string message = varint_field(1, 2) + varint_field(3, 0);
  const Image image = parse(image_head("TCP_STREAM") + framed(message) + "inrest");
  CHECK(image.entries()[0].extra == "in");
  CHECK(image.trailing() == "rest");
}
