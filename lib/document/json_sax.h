// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/json.h"

namespace ckpt {

/// Where a value stands in its text; children in document order, of arrays and objects alike.
struct JsonSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t key_begin = 0;  ///< members of objects: the key's opening quote
  std::vector<JsonSpan> children;
};

struct ParsedJson {
  Json value;
  JsonSpan span;
};

/// Parses and places every value. Throws as Json::parse does.
ParsedJson parse_json_spans(std::string_view text, const std::string& file, const std::string& member,
                            const Limits& limits);

/// The child that one reference token of a pointer leads to: its position, absent when there is none.
std::optional<std::size_t> json_child(const Json& value, std::string_view token);
/// The same as a value.
const Json* json_step(const Json& value, std::string_view token) noexcept;

}  // namespace ckpt
