// SPDX-License-Identifier: Apache-2.0
#include "criu/wire.h"

#include <utility>

#include "criu/image.h"

namespace ckpt::criu {

namespace {

constexpr std::uint32_t kMaxGroupDepth = 64;

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void read_tag(Cursor& cursor, WireField& field) {
  const std::uint64_t tag = cursor.varint();
  if (tag > 0xffffffffU || tag >> 3 == 0) cursor.fail("a field cannot have the number " + std::to_string(tag >> 3));
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
}

void read_value(Cursor& cursor, WireField& field, std::uint32_t depth);

void skip_group(Cursor& cursor, std::uint32_t number, std::uint32_t depth) {
  if (depth > kMaxGroupDepth) cursor.fail("groups are nested too deep");
  for (WireField inner;;) {
    read_tag(cursor, inner);
    if (inner.type != WireType::group_end) {
      read_value(cursor, inner, depth + 1);
      continue;
    }
    if (inner.number != number) cursor.fail("a group ends with another number");
    return;
  }
}

void read_value(Cursor& cursor, WireField& field, std::uint32_t depth) {
  switch (field.type) {
    case WireType::varint:
      field.varint = cursor.varint();
      return;
    case WireType::fixed64:
      field.bytes = cursor.bytes(8);
      return;
    case WireType::bytes:
      field.bytes = cursor.bytes(cursor.varint());
      return;
    case WireType::group:
      skip_group(cursor, field.number, depth);
      return;
    case WireType::fixed32:
      field.bytes = cursor.bytes(4);
      return;
    case WireType::group_end:
      cursor.fail("a group ends that never began");
  }
  cursor.fail("a field has the unknown wire type " + std::to_string(static_cast<unsigned>(field.type)));
}

/// The field that an edit is about, and where it stands in a message.
struct Spot {
  std::size_t last = 0;  ///< where the last occurrence begins
  bool found = false;
  std::size_t absent = 0;  ///< where an absent field belongs: behind the last field with a smaller number
};

Spot find_spot(std::string_view message, const WireField& wanted, const Where& where) {
  Spot spot;
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    if (field.number < wanted.number) spot.absent = field.end;
    if (field.number != wanted.number) continue;
    if (field.type != wanted.type)
      reader.fail("field " + std::to_string(field.number) + " has an unexpected wire type");
    spot.found = true;
    spot.last = field.begin;
  }
  return spot;
}

std::string set_field(std::string_view message, const WireField& wanted, const std::string& encoded,
                      const Where& where) {
  const Spot spot = find_spot(message, wanted, where);
  if (!spot.found) {
    std::string out(message.substr(0, spot.absent));
    return out.append(encoded).append(message.substr(spot.absent));
  }
  std::string out;
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    if (field.number != wanted.number)
      out += message.substr(field.begin, field.end - field.begin);
    else if (field.begin == spot.last)
      out += encoded;
  }
  return out;
}

WireField field_of(std::uint32_t number, WireType type) {
  WireField field;
  field.number = number;
  field.type = type;
  return field;
}

std::string tag_of(const WireField& field) {
  std::string tag;
  append_varint(tag, static_cast<std::uint64_t>(field.number) << 3 | static_cast<std::uint32_t>(field.type));
  return tag;
}

}  // namespace

bool WireReader::next(WireField& field) {
  if (cursor_.at_end()) return false;
  field = WireField();
  field.begin = cursor_.offset();
  read_tag(cursor_, field);
  read_value(cursor_, field, 0);
  field.end = cursor_.offset();
  return true;
}

std::optional<std::uint64_t> last_varint(std::string_view message, std::uint32_t number, const Where& where) {
  std::optional<std::uint64_t> value;
  WireReader reader(message, where);
  for (WireField field; reader.next(field);)
    if (field.number == number && field.type == WireType::varint) value = field.varint;
  return value;
}

std::string set_string(std::string_view message, std::uint32_t field, std::optional<std::string_view> value,
                       const Where& where) {
  const WireField wanted = field_of(field, WireType::bytes);
  std::string encoded;
  if (value) {
    encoded = tag_of(wanted);
    append_varint(encoded, value->size());
    encoded += *value;
  }
  return set_field(message, wanted, encoded, where);
}

std::string set_varint(std::string_view message, std::uint32_t field, std::optional<std::uint64_t> value,
                       const Where& where) {
  const WireField wanted = field_of(field, WireType::varint);
  std::string encoded;
  if (value) {
    encoded = tag_of(wanted);
    append_varint(encoded, *value);
  }
  return set_field(message, wanted, encoded, where);
}

}  // namespace ckpt::criu
