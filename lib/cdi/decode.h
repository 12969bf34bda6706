// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/json.h"

namespace ckpt::cdi {

/// One object of a CDI document, decoded as the engines do (cdi.md 1.6): keys without regard to case, unknown keys
/// noted, scalars turned to text where text is wanted, quoted numbers refused where numbers are.
class Object {
 public:
  /// `path` names the object in errors ("devices[0].containerEdits"); empty for the top. Paths of keys that nothing
  /// asked for are appended to `unknown`, which must outlive this.
  Object(const Json& value, std::string path, const std::string& file, std::vector<std::string>& unknown);

  std::string text(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::map<std::string, std::string> text_map(const std::string& key);
  std::optional<std::int64_t> integer(const std::string& key);
  std::optional<std::uint32_t> unsigned_integer(const std::string& key);
  bool flag(const std::string& key);
  /// The object at `key`, absent when it is null or missing.
  std::optional<Object> child(const std::string& key);
  void each(const std::string& key, const std::function<void(Object)>& visit);
  std::vector<std::uint32_t> unsigned_integers(const std::string& key);
  /// Notes the keys that nothing asked for. Call last.
  void finish() const;

  const std::string& path() const noexcept { return path_; }
  std::string path_to(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  [[noreturn]] void fail(const std::string& where, const std::string& detail) const;

 private:
  const Json& take(const std::string& key);
  std::string as_text(const Json& value, const std::string& where) const;
  std::int64_t as_integer(const Json& value, const std::string& where) const;
  std::uint32_t as_unsigned(const Json& value, const std::string& where) const;

  const Json* value_;
  std::string path_;
  std::string file_;
  std::vector<std::string>* unknown_;
  std::set<std::string> asked_;  ///< lower case
};

}  // namespace ckpt::cdi
