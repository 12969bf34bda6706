// SPDX-License-Identifier: Apache-2.0
#include "base/cursor.h"

namespace ckpt {

std::uint32_t Cursor::u32() {
  const std::string_view four = bytes(4);
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = (value << 8) | static_cast<unsigned char>(four[i]);
  return value;
}

std::uint64_t Cursor::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at_end()) fail("a number is cut off");
    const auto byte = static_cast<unsigned char>(bytes_[offset_++]);
    if (shift == 63 && byte > 1) fail("a number has more than 64 bits");
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail("a number has more than ten bytes");
}

std::string_view Cursor::bytes(std::uint64_t count) {
  if (count > remaining())
    fail("needs " + std::to_string(count) + " bytes, " + std::to_string(remaining()) + " are left");
  const std::string_view run = bytes_.substr(offset_, static_cast<std::size_t>(count));
  offset_ += static_cast<std::size_t>(count);
  return run;
}

void Cursor::fail(const std::string& detail) const {
  Where where = where_;
  where.offset = where.offset.value_or(0) + offset_;
  throw Error(ErrorCode::corrupt, std::move(where), detail);
}

}  // namespace ckpt
