// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ckpt {

/// What the engines' reader refuses and yaml-cpp lets pass, found in the text itself.
struct YamlComplaint {
  std::size_t offset = 0;
  std::string message;
};

/// Bytes that are not UTF-8, control characters, directives other than %YAML 1.1 and %TAG.
/// `text` comes without a byte order mark.
std::optional<YamlComplaint> complaint_about_yaml(std::string_view text);

/// Does the quoted scalar at `offset` use an escape that JSON has and YAML 1.1 lacks ("\/")?
bool has_json_only_escape(std::string_view text, std::size_t offset);

/// Does a document that begins at `offset` do so with a marker? `previous` lies within the document before it.
bool is_document_start(std::string_view text, std::size_t offset, std::size_t previous);

}  // namespace ckpt
