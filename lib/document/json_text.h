// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ckpt/error.h"
#include "ckpt/json.h"
#include "document/json_sax.h"

namespace ckpt {

/// A JSON document that keeps its text: an edit changes the bytes of the value it names and nothing else, so
/// number spellings, escapes, key order, indentation and unknown keys survive. Immutable; each edit is a new value.
class JsonText {
 public:
  /// Throws Error(corrupt | limit_exceeded). A UTF-8 byte order mark is refused: the engines' JSON readers do so too.
  static JsonText parse(std::string text, const std::string& file, const std::string& member,
                        const Limits& limits = {});

  const std::string& text() const noexcept { return text_; }
  const Json& value() const noexcept { return parsed_.value; }

  /// The value at an RFC 6901 pointer gets new text. Throws Error(conflict) when nothing is there, and
  /// Error(invalid_argument) when the new value holds text that is not UTF-8, which JSON cannot hold.
  JsonText replace(std::string_view pointer, const Json& value) const;
  /// A new last item for the array at `pointer`, laid out like its siblings. Throws as replace() does.
  JsonText append(std::string_view pointer, const Json& value) const;
  /// Removes an array item or an object member together with its comma. Throws Error(conflict) when nothing is there.
  JsonText remove(std::string_view pointer) const;

 private:
  JsonText() = default;
  JsonText splice(std::size_t begin, std::size_t end, std::string_view bytes) const;
  [[noreturn]] void nothing_at(std::string_view pointer, const char* wanted) const;
  void check_text_of(const Json& value) const;

  std::string text_;
  std::string file_;
  std::string member_;
  Limits limits_;
  ParsedJson parsed_;
};

}  // namespace ckpt
