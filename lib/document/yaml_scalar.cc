// SPDX-License-Identifier: Apache-2.0
#include "document/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>

namespace ckpt {

namespace {

bool is_one_of(std::string_view text, const auto& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
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
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const char sign = text.front() == '-' || text.front() == '+' ? text.front() : '\0';
  if (sign != '\0') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const Radix radix = radix_of(text);
  const std::string_view digits = text.substr(radix.prefix);
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, radix.base);
  if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  // Only a number without a sign may go past 63 bits.
  if (sign == '\0') return Json(value);
  if (value > kMax + (sign == '-' ? 1 : 0)) return std::nullopt;
  return Json(static_cast<std::int64_t>(sign == '-' ? ~value + 1 : value));
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

// from_chars does not say which way a number is out of range; a stream does: too small becomes 0, too large fails.
std::optional<double> out_of_range_value(const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double value = 0;
  return in >> value ? std::optional<double>(value) : std::nullopt;
}

std::optional<Json> float_of(const std::string& text) {
  if (!is_float(text)) return std::nullopt;
  double value = 0;
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  const auto [end, failure] = std::from_chars(begin, text.data() + text.size(), value);
  if (failure == std::errc()) return Json(value);
  const auto other = out_of_range_value(text);
  return other ? std::optional<Json>(Json(*other)) : std::nullopt;
}

// Infinities and NaN keep the reader's sign rules: ".inf" and "+.inf" are one value, "-.nan" is text.
std::optional<Json> special_float_of(std::string_view text) {
  constexpr std::array<std::string_view, 3> kInfinity = {".inf", ".Inf", ".INF"};
  constexpr std::array<std::string_view, 3> kNan = {".nan", ".NaN", ".NAN"};
  if (is_one_of(text, kNan)) return Json(std::numeric_limits<double>::quiet_NaN());
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (!is_one_of(text, kInfinity)) return std::nullopt;
  const double infinity = std::numeric_limits<double>::infinity();
  return Json(negative ? -infinity : infinity);
}

}  // namespace

Json resolve_plain_scalar(const std::string& text) {
  if (is_one_of(text, kNull)) return Json();
  if (is_one_of(text, kTrue)) return Json(true);
  if (is_one_of(text, kFalse)) return Json(false);
  const char first = text.front();
  const bool may_be_number = std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-' || first == '+';
  if (!may_be_number && first != '.') return Json(text);
  if (const auto special = special_float_of(text)) return *special;
  // Underscores may separate digits, but not in a number that begins with its point.
  if (first == '.') return float_of(text).value_or(Json(text));
  std::string plain = text;
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  if (const auto integer = integer_of(plain)) return *integer;
  return float_of(plain).value_or(Json(text));
}

std::string float_text(double value) {
  const auto narrow = static_cast<float>(value);
  if (std::isnan(narrow)) return "NaN";
  if (std::isinf(narrow)) return narrow > 0 ? "+Inf" : "-Inf";
  char digits[64];
  const auto sized = [&](std::to_chars_result result) { return std::string(digits, result.ptr); };
  std::string text = sized(std::to_chars(digits, digits + sizeof digits, narrow, std::chars_format::scientific));
  // Plain digits from 0.0001 up to below a million, an exponent outside.
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  if (exponent < -4 || exponent >= 6) return text;
  return sized(std::to_chars(digits, digits + sizeof digits, narrow, std::chars_format::fixed));
}

}  // namespace ckpt
