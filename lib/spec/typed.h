// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/json.h"

namespace ckpt::typed {

/// Reads members of a JSON object the way Go's decoder does: an absent or null member is the zero value, a member of
/// another type is an error that names its pointer.
class Reader {
 public:
  Reader(const Json& value, Where where) : value_(&value), where_(std::move(where)) {}

  void require_object() const;
  bool present() const noexcept { return !value_->is_null(); }
  const Json& value() const noexcept { return *value_; }

  std::string text(const std::string& key) const;
  bool flag(const std::string& key) const;
  std::optional<std::int64_t> integer(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::map<std::string, std::string> text_map(const std::string& key) const;
  Reader child(const std::string& key) const;
  void each(const std::string& key, const std::function<void(const Reader&, std::size_t)>& visit) const;

 private:
  const Json& member(const std::string& key) const;
  Reader child(const std::string& key, const Json& value) const;
  [[noreturn]] void wrong(const std::string& key, const char* wanted) const;

  const Json* value_;
  Where where_;
  std::string pointer_;
};

}  // namespace ckpt::typed
