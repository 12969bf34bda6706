// SPDX-License-Identifier: Apache-2.0
#include "spec/typed.h"

namespace ckpt::typed {

void Reader::require_object() const {
  if (!value_->is_object()) throw Error(ErrorCode::corrupt, where_, "the document is not a JSON object");
}

const Json& Reader::member(const std::string& key) const {
  if (!value_->is_object() && !value_->is_null())
    throw Error(ErrorCode::corrupt, where_, (pointer_.empty() ? std::string("/") : pointer_) + " is not an object");
  return (*value_)[key];
}

void Reader::wrong(const std::string& key, const char* wanted) const {
  throw Error(ErrorCode::corrupt, where_, pointer_ + "/" + json_pointer_token(key) + " is not " + wanted);
}

std::string Reader::text(const std::string& key) const {
  const Json& found = member(key);
  if (!found.is_null() && !found.is_string()) wrong(key, "a string");
  return found.as_string();
}

bool Reader::flag(const std::string& key) const {
  const Json& found = member(key);
  if (!found.is_null() && !found.is_bool()) wrong(key, "true or false");
  return found.as_bool();
}

std::optional<std::int64_t> Reader::integer(const std::string& key) const {
  const Json& found = member(key);
  if (found.is_null()) return std::nullopt;
  if (!found.is_integer()) wrong(key, "an integer");
  return found.as_int();
}

std::vector<std::string> Reader::texts(const std::string& key) const {
  const Json& found = member(key);
  if (!found.is_null() && !found.is_array()) wrong(key, "an array");
  std::vector<std::string> out;
  for (const Json& item : found.items()) {
    if (!item.is_string()) child(key, item).wrong(std::to_string(out.size()), "a string");
    out.push_back(item.as_string());
  }
  return out;
}

std::map<std::string, std::string> Reader::text_map(const std::string& key) const {
  const Json& found = member(key);
  if (!found.is_null() && !found.is_object()) wrong(key, "an object");
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : found.members()) {
    if (!value.is_string()) child(key, value).wrong(name, "a string");
    out[name] = value.as_string();
  }
  return out;
}

Reader Reader::child(const std::string& key, const Json& value) const {
  Reader reader(value, where_);
  reader.pointer_ = pointer_ + "/" + json_pointer_token(key);
  return reader;
}

Reader Reader::child(const std::string& key) const {
  const Json& found = member(key);
  if (!found.is_null() && !found.is_object()) wrong(key, "an object");
  return child(key, found);
}

void Reader::each(const std::string& key, const std::function<void(const Reader&, std::size_t)>& visit) const {
  const Json& found = member(key);
  if (!found.is_null() && !found.is_array()) wrong(key, "an array");
  std::size_t index = 0;
  for (const Json& item : found.items()) {
    visit(child(key, item).child(std::to_string(index), item), index);
    ++index;
  }
}

}  // namespace ckpt::typed
