// SPDX-License-Identifier: Apache-2.0
#include "document/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

namespace ckpt {

namespace {

bool is_one_of(std::string_view text, const auto& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};

struct Radix {
  int base;
  std::size_t prefix;
};

// Go's ParseInt with base 0: 0x, 0o and 0b, and a leading zero means octal.
Radix radix_of(std::string_view digits) {
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = static_cast<char>(std::tolower(static_cast<unsigned char>(digits[1])));
    if (mark == 'x') return {16, 2};
    if (mark == 'o') return {8, 2};
    if (mark == 'b') return {2, 2};
    return {8, 1};
  }
  return {10, 0};
}

std::optional<Json> integer_of(std::string_view text) {
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const Radix radix = radix_of(text);
  const std::string_view digits = text.substr(radix.prefix);
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, radix.base);
  if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!negative) return Json(value);
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return Json(-static_cast<std::int64_t>(value));
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// [-+]? ( .digits | digits [. digits?] ) ( [eE] [-+]? digits )?
bool is_float(std::string_view text) {
  std::size_t at = text.front() == '-' || text.front() == '+' ? 1 : 0;
  const std::size_t whole = skip_digits(text, at);
  bool digits = whole > at;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t part = skip_digits(text, at + 1);
    digits = digits || part > at + 1;
    at = part;
  }
  if (!digits) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t exponent = skip_digits(text, at);
    if (exponent == at) return false;
    at = exponent;
  }
  return at == text.size();
}

}  // namespace

Json resolve_plain_scalar(const std::string& text) {
  if (is_one_of(text, kNull)) return Json();
  if (is_one_of(text, kTrue)) return Json(true);
  if (is_one_of(text, kFalse)) return Json(false);
  const char first = text.front();
  const bool may_be_number = std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-' || first == '+' || first == '.';
  if (!may_be_number) return Json(text);
  std::string plain = text;
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  if (plain.empty()) return Json(text);
  if (const auto integer = integer_of(plain)) return *integer;
  if (!is_float(plain)) return Json(text);
  double value = 0;
  const char* const begin = plain.data() + (plain.front() == '+' ? 1 : 0);
  const auto [end, failure] = std::from_chars(begin, plain.data() + plain.size(), value);
  return failure == std::errc() ? Json(value) : Json(text);
}

}  // namespace ckpt
