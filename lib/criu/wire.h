// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/cursor.h"
#include "ckpt/error.h"

namespace ckpt::criu {

/// How a field's value is encoded (protobuf's wire types).
enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, group_end = 4, fixed32 = 5 };

/// One field of an encoded message, as bytes.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::size_t begin = 0;     ///< of the tag, in the message
  std::size_t end = 0;       ///< behind the value
  std::uint64_t varint = 0;  ///< the value of a varint
  std::string_view bytes;    ///< the content of other types but groups
};

/// Walks the top level of a message, field by field, and keeps nothing. `where` is the place of the message.
class WireReader {
 public:
  WireReader(std::string_view message, Where where) : cursor_(message, std::move(where)) {}

  /// False at the end of the message. Throws Error(corrupt) with the offset of what is broken.
  bool next(WireField& field);
  [[noreturn]] void fail(const std::string& detail) const { cursor_.fail(detail); }

 private:
  Cursor cursor_;
};

/// The last value of a varint field: proto2 decodes a repeated occurrence of a single field that way.
std::optional<std::uint64_t> last_varint(std::string_view message, std::uint32_t number, const Where& where);

}  // namespace ckpt::criu
