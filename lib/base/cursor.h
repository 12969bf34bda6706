// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ckpt/error.h"

namespace ckpt {

/// Reads little-endian integers and runs of bytes front to back and never beyond the end.
/// A read past the end throws Error(corrupt) with the offset.
class Cursor {
 public:
  Cursor(std::string_view bytes, Where where) : bytes_(bytes), where_(std::move(where)) {}

  std::size_t offset() const noexcept { return offset_; }
  std::size_t remaining() const noexcept { return bytes_.size() - offset_; }
  bool at_end() const noexcept { return remaining() == 0; }

  std::uint32_t u32();
  /// Protobuf base-128 varint, at most 10 bytes.
  std::uint64_t varint();
  std::string_view bytes(std::uint64_t count);
  [[noreturn]] void fail(const std::string& detail) const;

 private:
  std::string_view bytes_;
  Where where_;
  std::size_t offset_ = 0;
};

}  // namespace ckpt
