// SPDX-License-Identifier: Apache-2.0
#include "cdi/decode.h"

#include <cmath>
#include <limits>

#include "document/yaml_scalar.h"

namespace ckpt::cdi {

namespace {

// ASCII only, whatever the program's locale is.
std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

Object::Object(const Json& value, std::string path, const std::string& file, std::vector<std::string>& unknown)
    : value_(&value), path_(std::move(path)), file_(file), unknown_(&unknown) {
  if (!value.is_object() && !value.is_null()) fail(path_.empty() ? "the document" : path_, "is not an object");
}

void Object::fail(const std::string& where, const std::string& detail) const {
  throw Error(ErrorCode::corrupt, Where{file_, {}, {}, {}}, where + " " + detail);
}

// Of keys that differ only in case the last in sorted order wins: the engines decode from sorted JSON.
const Json& Object::take(const std::string& key) {
  static const Json kNull;
  const std::string wanted = lower(key);
  asked_.insert(wanted);
  const Json::Member* best = nullptr;
  for (const Json::Member& member : value_->members())
    if (lower(member.first) == wanted && (best == nullptr || member.first >= best->first)) best = &member;
  return best == nullptr ? kNull : best->second;
}

std::string Object::as_text(const Json& value, const std::string& where) const {
  if (value.is_null()) return {};
  if (value.is_string()) return value.as_string();
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_integer()) return value.dump(-1);
  if (value.is_number()) return float_text(value.as_double());
  fail(where, "is not text");
}

std::int64_t Object::as_integer(const Json& value, const std::string& where) const {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  if (value.is_integer()) {
    if (value.as_int(0) == value.as_int(1)) return value.as_int();
    fail(where, "is out of range");
  }
  if (!value.is_number()) fail(where, "is not a number");
  const double number = value.as_double();
  if (std::floor(number) != number) fail(where, "is not a whole number");
  if (number < static_cast<double>(kMin) || number >= -static_cast<double>(kMin)) fail(where, "is out of range");
  return static_cast<std::int64_t>(number);
}

std::uint32_t Object::as_unsigned(const Json& value, const std::string& where) const {
  const std::int64_t number = as_integer(value, where);
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) fail(where, "is out of range");
  return static_cast<std::uint32_t>(number);
}

std::string Object::text(const std::string& key) { return as_text(take(key), path_to(key)); }

std::vector<std::string> Object::texts(const std::string& key) {
  const Json& list = take(key);
  if (!list.is_null() && !list.is_array()) fail(path_to(key), "is not a list");
  std::vector<std::string> out;
  for (const Json& item : list.items())
    out.push_back(as_text(item, path_to(key) + "[" + std::to_string(out.size()) + "]"));
  return out;
}

std::map<std::string, std::string> Object::text_map(const std::string& key) {
  const Json& map = take(key);
  if (!map.is_null() && !map.is_object()) fail(path_to(key), "is not an object");
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : map.members()) out[name] = as_text(value, path_to(key) + "." + name);
  return out;
}

std::optional<std::int64_t> Object::integer(const std::string& key) {
  const Json& value = take(key);
  if (value.is_null()) return std::nullopt;
  return as_integer(value, path_to(key));
}

std::optional<std::uint32_t> Object::unsigned_integer(const std::string& key) {
  const Json& value = take(key);
  if (value.is_null()) return std::nullopt;
  return as_unsigned(value, path_to(key));
}

std::vector<std::uint32_t> Object::unsigned_integers(const std::string& key) {
  const Json& list = take(key);
  if (!list.is_null() && !list.is_array()) fail(path_to(key), "is not a list");
  std::vector<std::uint32_t> out;
  for (const Json& item : list.items()) {
    const std::string where = path_to(key) + "[" + std::to_string(out.size()) + "]";
    out.push_back(item.is_null() ? 0 : as_unsigned(item, where));
  }
  return out;
}

bool Object::flag(const std::string& key) {
  const Json& value = take(key);
  if (!value.is_null() && !value.is_bool()) fail(path_to(key), "is not true or false");
  return value.as_bool();
}

std::optional<Object> Object::child(const std::string& key) {
  const Json& value = take(key);
  if (value.is_null()) return std::nullopt;
  return Object(value, path_to(key), file_, *unknown_);
}

void Object::each(const std::string& key, const std::function<void(Object)>& visit) {
  const Json& list = take(key);
  if (!list.is_null() && !list.is_array()) fail(path_to(key), "is not a list");
  std::size_t index = 0;
  for (const Json& item : list.items())
    visit(Object(item, path_to(key) + "[" + std::to_string(index++) + "]", file_, *unknown_));
}

void Object::finish() const {
  for (const auto& [key, value] : value_->members())
    if (asked_.count(lower(key)) == 0) unknown_->push_back(path_to(key));
}

}  // namespace ckpt::cdi
