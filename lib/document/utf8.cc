// SPDX-License-Identifier: Apache-2.0
#include "document/utf8.h"

namespace ckpt {

namespace {

std::size_t length_from_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

}  // namespace

Utf8Sequence utf8_sequence_at(std::string_view text, std::size_t at) noexcept {
  constexpr unsigned char kLeadBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = length_from_lead(lead);
  if (length == 0 || text.size() - at < length) return {};
  char32_t code = lead & kLeadBits[length];
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || surrogate || code > 0x10ffff) return {};
  return {length, code};
}

std::optional<std::size_t> first_not_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence_at(text, at).length;
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace ckpt
