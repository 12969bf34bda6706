// SPDX-License-Identifier: Apache-2.0
#include "criu/base64.h"

#include <cstdint>

namespace ckpt::criu {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHex = "0123456789ABCDEF";

int value_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  if (letter == '+') return 62;
  return letter == '/' ? 63 : -1;
}

bool is_space(char letter) { return letter == '\n' || letter == '\r' || letter == ' ' || letter == '\t'; }

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= bytes.size() - i ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t letters = 0;
  std::size_t padding = 0;
  for (const char letter : text) {
    if (is_space(letter)) continue;
    const int value = letter == '=' ? 0 : value_of(letter);
    if (value < 0 || (padding > 0 && letter != '=')) return std::nullopt;
    if (letter == '=') ++padding;
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++letters % 4 != 0) continue;
    if (padding > 2) return std::nullopt;
    for (std::size_t k = 0; k < 3 - padding; ++k) bytes += static_cast<char>(group >> (16 - 8 * k) & 255);
    group = 0;
  }
  if (letters % 4 != 0) return std::nullopt;
  return bytes;
}

std::string to_quoted_printable(std::string_view bytes) {
  std::string text;
  for (const char letter : bytes) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7f && byte != '=') {
      text += letter;
      continue;
    }
    text += '=';
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::optional<std::string> from_quoted_printable(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') {
      bytes += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      continue;
    }
    if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0) return std::nullopt;
    bytes += static_cast<char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
    i += 2;
  }
  return bytes;
}

}  // namespace ckpt::criu
