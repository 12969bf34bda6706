// SPDX-License-Identifier: Apache-2.0
#include "criu/wire.h"

#include <doctest/doctest.h>

#include <string>

#include "criu/image.h"
#include "testing/failure.h"
#include "testing/image_builder.h"

using ckpt::Error;
using ckpt::ErrorCode;
using ckpt::Where;
using ckpt::criu::set_string;
using ckpt::criu::set_varint;
using ckpt::criu::WireField;
using ckpt::criu::WireReader;
using ckpt::criu::WireType;
using ckpt::testing::bytes_field;
using ckpt::testing::failure_of;
using ckpt::testing::varint_field;

namespace {

const Where kWhere{"a.tar", "x.img", 3, 100};

std::string group(std::uint32_t number, const std::string& content) {
  const std::string begin = varint_field(number, 0);
  std::string start(begin.substr(0, begin.size() - 1));
  std::string end = start;
  start[0] = static_cast<char>(start[0] | 3);
  end[0] = static_cast<char>(end[0] | 4);
  return start + content + end;
}

std::size_t count_fields(const std::string& message) {
  std::size_t count = 0;
  WireReader reader(message, kWhere);
  for (WireField field; reader.next(field);) ++count;
  return count;
}

Error refusal(const std::string& message) {
  return failure_of([&] { count_fields(message); });
}

bool says(const Error& error, const char* text) { return error.detail().find(text) != std::string::npos; }

const std::string kFixed64 = std::string("\x31", 1) + "8 bytes!";  // field 6
const std::string kFixed32 = std::string("\x3d", 1) + "4444";      // field 7
const std::string kMessage = varint_field(1, 300) + bytes_field(2, "two") + varint_field(5, UINT64_MAX) + kFixed64 +
                             kFixed32 + group(8, varint_field(1, 1) + group(2, "")) + bytes_field(99, "unknown");

}  // namespace

TEST_CASE("a message is taken apart field by field") {
  WireReader reader(kMessage, kWhere);
  WireField field;
  REQUIRE(reader.next(field));
  CHECK(field.number == 1);
  CHECK(field.varint == 300);
  REQUIRE(reader.next(field));
  CHECK(field.type == WireType::bytes);
  CHECK(field.bytes == "two");
  CHECK(field.begin == 3);
  CHECK(field.end == 8);
  REQUIRE(reader.next(field));
  CHECK(field.varint == UINT64_MAX);
  CHECK(field.end - field.begin == 11);
  REQUIRE(reader.next(field));
  CHECK(field.bytes == "8 bytes!");
  REQUIRE(reader.next(field));
  CHECK(field.bytes == "4444");
  REQUIRE(reader.next(field));
  CHECK(field.type == WireType::group);
  REQUIRE(reader.next(field));
  CHECK(field.number == 99);
  CHECK(field.end == kMessage.size());
  CHECK_FALSE(reader.next(field));
}

TEST_CASE("a message cut inside a field is corrupt, with the offset") {
  std::size_t whole = 0;
  for (std::size_t size = 0; size < kMessage.size(); ++size) {
    CAPTURE(size);
    const Error error = refusal(kMessage.substr(0, size));
    if (error.code() == ErrorCode::internal) {
      ++whole;  // ends between two fields
      continue;
    }
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().entry == 3);
    CHECK(error.where().offset >= 100);
    CHECK(error.where().offset <= 100 + size);
  }
  CHECK(whole == 7);
}

TEST_CASE("what no encoder writes is refused with the reason") {
  CHECK(says(refusal(std::string("\0", 1)), "a field cannot have the number 0"));
  CHECK(says(refusal(std::string("\x02\x00", 2)), "number 0"));
  CHECK(says(refusal("\x0e"), "unknown wire type 6"));
  CHECK(says(refusal("\x0f"), "unknown wire type 7"));
  CHECK(says(refusal("\x0c"), "a group ends that never began"));
  CHECK(says(refusal("\x0b\x14"), "a group ends with another number"));
  CHECK(says(refusal("\x0b\x08"), "cut off"));
  CHECK(says(refusal("\x0a\x05"
                     "abc"),
             "needs 5 bytes, 3 are left"));
  CHECK(says(refusal("\x80\x80\x80\x80\x10"), "cannot have the number 536870912"));
}

TEST_CASE("numbers have at most ten bytes and 64 bits") {
  const std::string nine(9, '\xff');
  CHECK(count_fields("\x08" + nine + "\x01") == 1);
  CHECK(says(refusal("\x08" + nine + "\x02"), "more than 64 bits"));
  CHECK(refusal("\x08" + nine + "\x81\x01").code() == ErrorCode::corrupt);
  CHECK(says(refusal("\x08" + nine), "cut off"));
  CHECK(says(refusal("\x0a" + nine + "\x01" + "x"), "needs 18446744073709551615 bytes, 1 are left"));
}

TEST_CASE("groups may be nested, but not without end") {
  std::string nested;
  for (int i = 0; i < 40; ++i) nested = group(1, nested);
  CHECK(count_fields(nested) == 1);
  CHECK(says(refusal(std::string(100000, '\x0b')), "nested too deep"));
}

TEST_CASE("a field is replaced where it stands and all else stays") {
  const std::string before = varint_field(1, 1) + bytes_field(99, "unknown") + bytes_field(18, "old") + group(20, "");
  const std::string after = varint_field(1, 1) + bytes_field(99, "unknown") + bytes_field(18, "newer") + group(20, "");
  CHECK(set_string(before, 18, "newer", kWhere) == after);
  CHECK(set_string(after, 18, "old", kWhere) == before);
  CHECK(set_varint(before, 1, 70000, kWhere) == varint_field(1, 70000) + before.substr(2));
}

TEST_CASE("an absent field is put where its number belongs, and removed without a trace") {
  const std::string message = varint_field(1, 1) + bytes_field(7, "seven") + bytes_field(99, "unknown");
  const std::string with =
      varint_field(1, 1) + bytes_field(7, "seven") + bytes_field(18, "key") + bytes_field(99, "unknown");
  CHECK(set_string(message, 18, "key", kWhere) == with);
  CHECK(set_string(with, 18, std::nullopt, kWhere) == message);
  CHECK(set_string(message, 18, std::nullopt, kWhere) == message);
  CHECK(set_varint(message, 100, 5, kWhere) == message + varint_field(100, 5));
  CHECK(set_varint("", 11, 0, kWhere) == varint_field(11, 0));
  CHECK(set_string(message, 18, "", kWhere).size() == message.size() + 3);
}

TEST_CASE("of a field that occurs more than once only the last counts") {
  const std::string twice =
      bytes_field(18, "first") + varint_field(1, 1) + bytes_field(18, "last") + varint_field(2, 2);
  CHECK(set_string(twice, 18, "new", kWhere) == varint_field(1, 1) + bytes_field(18, "new") + varint_field(2, 2));
  CHECK(set_string(twice, 18, std::nullopt, kWhere) == varint_field(1, 1) + varint_field(2, 2));
  CHECK(ckpt::criu::last_varint(varint_field(3, 1) + varint_field(4, 9) + varint_field(3, 2), 3, kWhere) == 2);
  CHECK_FALSE(ckpt::criu::last_varint(bytes_field(3, "x"), 3, kWhere).has_value());
}

TEST_CASE("values of any length are written as protobuf does") {
  const std::string big(200, 'x');
  CHECK(set_string("", 18, big, kWhere) == std::string("\x92\x01\xc8\x01") + big);
  CHECK(set_varint("", 1, UINT64_MAX, kWhere) == "\x08" + std::string(9, '\xff') + "\x01");
}

TEST_CASE("broken messages are not edited") {
  const std::string message = varint_field(1, 1) + bytes_field(18, "key");
  for (std::size_t size = 1; size < message.size(); ++size) {
    if (size == 2) continue;
    CHECK(failure_of([&] { set_string(message.substr(0, size), 18, "x", kWhere); }).code() == ErrorCode::corrupt);
    CHECK(failure_of([&] { set_varint(message.substr(0, size), 1, 2, kWhere); }).code() == ErrorCode::corrupt);
  }
  const Error error = failure_of([&] { set_string(varint_field(18, 1), 18, "x", kWhere); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(says(error, "field 18 has an unexpected wire type"));
  CHECK(
      says(failure_of([&] { set_varint(bytes_field(1, ""), 1, std::nullopt, kWhere); }), "field 1 has an unexpected"));
}
