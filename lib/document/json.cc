// SPDX-License-Identifier: Apache-2.0
#include "ckpt/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "ckpt/error.h"
#include "document/json_sax.h"

namespace ckpt {

namespace {

using Raw = nlohmann::ordered_json;

const Json& null_value() {
  static const Json kNull;
  return kNull;
}

// nlohmann knows the escapes; strings from an archive may hold bytes that are not UTF-8.
void append_string(std::string& out, const std::string& text) {
  out += Raw(text).dump(-1, ' ', false, Raw::error_handler_t::replace);
}

void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value);
  const std::string_view digits(text, failure == std::errc() ? static_cast<std::size_t>(end - text) : 0);
  out += digits;
  // Without a point or an exponent it would be read back as an integer.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& value, int depth) {
    if (value.is_array()) return write_array(value, depth);
    if (value.is_object()) return write_object(value, depth);
    if (value.is_string()) return append_string(out_, value.as_string());
    if (value.is_bool())
      out_ += value.as_bool() ? "true" : "false";
    else if (value.is_integer())
      write_integer(value);
    else if (value.is_number())
      append_double(out_, value.as_double());
    else
      out_ += "null";
  }

  std::string take() { return std::move(out_); }

 private:
  void write_integer(const Json& value) {
    // Only what is too large for a signed number differs in its unsigned reading.
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    out_ += value.as_uint() > kMax ? std::to_string(value.as_uint())
                                   : std::to_string(value.as_int(std::numeric_limits<std::int64_t>::min()));
  }

  void line(int depth) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(depth), ' ');
  }

  void write_array(const Json& value, int depth) {
    out_ += '[';
    bool first = true;
    for (const Json& item : value.items()) {
      if (!first) out_ += ',';
      first = false;
      line(depth + 1);
      write(item, depth + 1);
    }
    if (!first) line(depth);
    out_ += ']';
  }

  void write_object(const Json& value, int depth) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, member] : value.members()) {
      if (!first) out_ += ',';
      first = false;
      line(depth + 1);
      append_string(out_, key);
      out_ += indent_ < 0 ? ":" : ": ";
      write(member, depth + 1);
    }
    if (!first) line(depth);
    out_ += '}';
  }

  int indent_;
  std::string out_;
};

}  // namespace

bool Json::is_integer() const noexcept {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}

bool Json::as_bool(bool fallback) const noexcept {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr ? *value : fallback;
}

std::int64_t Json::as_int(std::int64_t fallback) const noexcept {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  const auto* value = std::get_if<std::uint64_t>(&value_);
  const bool fits = value != nullptr && *value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return fits ? static_cast<std::int64_t>(*value) : fallback;
}

std::uint64_t Json::as_uint(std::uint64_t fallback) const noexcept {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  const auto* value = std::get_if<std::int64_t>(&value_);
  return value != nullptr && *value >= 0 ? static_cast<std::uint64_t>(*value) : fallback;
}

double Json::as_double(double fallback) const noexcept {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return fallback;
}

const std::string& Json::as_string() const noexcept {
  static const std::string kEmpty;
  const auto* value = std::get_if<std::string>(&value_);
  return value != nullptr ? *value : kEmpty;
}

const Json::Array& Json::items() const noexcept {
  static const Array kEmpty;
  const auto* value = std::get_if<Array>(&value_);
  return value != nullptr ? *value : kEmpty;
}

const Json::Object& Json::members() const noexcept {
  static const Object kEmpty;
  const auto* value = std::get_if<Object>(&value_);
  return value != nullptr ? *value : kEmpty;
}

std::size_t Json::size() const noexcept { return is_object() ? members().size() : items().size(); }

const Json* Json::find(std::string_view key) const noexcept {
  const Object& all = members();
  for (auto member = all.rbegin(); member != all.rend(); ++member)
    if (member->first == key) return &member->second;
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const noexcept {
  const Json* found = find(key);
  return found != nullptr ? *found : null_value();
}

const Json& Json::operator[](std::size_t index) const noexcept {
  return index < items().size() ? items()[index] : null_value();
}

const Json* Json::at_pointer(std::string_view pointer) const noexcept {
  const Json* at = this;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    at = json_step(*at, token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Json& Json::set(std::string key, Json value) {
  if (!is_object()) value_ = Object{};
  Object& all = std::get<Object>(value_);
  // Of duplicates the one that find() sees.
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Member& member) { return member.first == key; });
  if (found != all.rend())
    found->second = std::move(value);
  else
    all.emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::append_member(std::string key, Json value) {
  if (!is_object()) value_ = Object{};
  std::get<Object>(value_).emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (!is_array()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
  return *this;
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*this, 0);
  return writer.take();
}

bool operator==(const Json& a, const Json& b) noexcept {
  if (a.is_integer() && b.is_integer()) {
    const bool negative = a.as_int(-1) < 0 && a.as_uint(0) == 0;
    const bool other_negative = b.as_int(-1) < 0 && b.as_uint(0) == 0;
    return negative == other_negative && (negative ? a.as_int() == b.as_int() : a.as_uint() == b.as_uint());
  }
  return a.value_ == b.value_;
}

std::string json_pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

}  // namespace ckpt
