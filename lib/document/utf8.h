// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ckpt {

/// A well-formed UTF-8 sequence; length 0 where there is none (overlong, surrogate, cut off ...).
struct Utf8Sequence {
  std::size_t length = 0;
  char32_t code = 0;
};
Utf8Sequence utf8_sequence_at(std::string_view text, std::size_t at) noexcept;

/// Offset of the first byte that is not part of well-formed UTF-8; absent when all of it is.
std::optional<std::size_t> first_not_utf8(std::string_view text) noexcept;

}  // namespace ckpt
