// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ckpt/export.h"
#include "ckpt/limits.h"

namespace ckpt {

/// A JSON value that keeps the order of object members. Copies are deep; there is no sharing.
/// Integers keep their full 64 bits, signed or unsigned.
class CKPT_API Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<std::int64_t>(value)) {}
  Json(unsigned value) : value_(static_cast<std::uint64_t>(value)) {}
  Json(std::int64_t value) : value_(value) {}
  Json(std::uint64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const noexcept { return std::holds_alternative<bool>(value_); }
  bool is_integer() const noexcept;
  bool is_number() const noexcept { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const noexcept { return std::holds_alternative<std::string>(value_); }
  bool is_array() const noexcept { return std::holds_alternative<Array>(value_); }
  bool is_object() const noexcept { return std::holds_alternative<Object>(value_); }

  /// The value, or `fallback` when this is of another type (or does not fit).
  bool as_bool(bool fallback = false) const noexcept;
  std::int64_t as_int(std::int64_t fallback = 0) const noexcept;
  std::uint64_t as_uint(std::uint64_t fallback = 0) const noexcept;
  double as_double(double fallback = 0) const noexcept;
  /// The text, or an empty string when this is no string.
  const std::string& as_string() const noexcept;
  /// The items, or an empty array when this is no array.
  const Array& items() const noexcept;
  /// The members, or an empty object when this is no object.
  const Object& members() const noexcept;

  /// Elements of an array or members of an object; 0 for everything else.
  std::size_t size() const noexcept;
  /// The last member of that name (as Go and Python decode duplicates), or nullptr.
  const Json* find(std::string_view key) const noexcept;
  /// The member or item, or a null value when absent: `spec["linux"]["devices"][0]`.
  const Json& operator[](std::string_view key) const noexcept;
  const Json& operator[](const char* key) const noexcept { return (*this)[std::string_view(key)]; }
  const Json& operator[](std::size_t index) const noexcept;
  const Json& operator[](int index) const noexcept { return (*this)[static_cast<std::size_t>(index)]; }
  /// The value at an RFC 6901 pointer, or nullptr.
  const Json* at_pointer(std::string_view pointer) const noexcept;

  /// Appends a member (replacing one of the same name); turns null into an object. Returns *this.
  Json& set(std::string key, Json value);
  /// Appends a member without looking for one of the same name: what a document with duplicate keys holds.
  Json& append_member(std::string key, Json value);
  /// Appends an item; turns null into an array. Returns *this.
  Json& push(Json value);

  /// RFC 8259 text. indent < 0 is compact; else that many spaces a level. Invalid UTF-8 becomes U+FFFD.
  std::string dump(int indent = 2) const;
  /// Throws Error(corrupt) with the offset, or Error(limit_exceeded).
  /// `file` and `member` only name the place in errors.
  static Json parse(std::string_view text, const std::string& file = {}, const std::string& member = {},
                    const Limits& limits = {});

  friend CKPT_API bool operator==(const Json& a, const Json& b) noexcept;
  friend bool operator!=(const Json& a, const Json& b) noexcept { return !(a == b); }

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

/// RFC 6901 escaping of one reference token ("a/b" -> "a~1b").
CKPT_API std::string json_pointer_token(std::string_view key);

}  // namespace ckpt
