// SPDX-License-Identifier: Apache-2.0
#include "document/yaml_text.h"

#include <algorithm>

#include "document/utf8.h"

namespace ckpt {

namespace {

bool is_printable(char32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0x7f && (code < 0x80 || code == 0x85 || code >= 0xa0) && code != 0xfeff && code != 0xfffe &&
         code != 0xffff;
}

std::string_view first_word(std::string_view line) { return line.substr(0, line.find_first_of(" \t\r")); }

bool is_known_directive(std::string_view line) {
  const std::string_view name = first_word(line);
  if (name == "%TAG") return true;
  if (name != "%YAML") return false;
  const std::size_t at = line.find_first_not_of(" \t", name.size());
  return at != std::string_view::npos && first_word(line.substr(at)) == "1.1";
}

// Directives stand before the document, among comments and empty lines.
std::optional<YamlComplaint> complaint_about_directives(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (!line.empty() && line.front() == '%') {
      if (!is_known_directive(line)) return YamlComplaint{at, "a directive other than %YAML 1.1 and %TAG"};
    } else if (first != std::string_view::npos && line[first] != '#') {
      break;
    }
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<YamlComplaint> complaint_about_yaml(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Sequence next = utf8_sequence_at(text, at);
    if (next.length == 0) return YamlComplaint{at, "is not UTF-8"};
    if (!is_printable(next.code)) return YamlComplaint{at, "a control character"};
    at += next.length;
  }
  return complaint_about_directives(text);
}

bool has_json_only_escape(std::string_view text, std::size_t offset) {
  if (offset >= text.size() || text[offset] != '"') return false;
  for (std::size_t at = offset + 1; at + 1 < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') continue;
    if (text[++at] == '/') return true;
  }
  return false;
}

bool is_document_start(std::string_view text, std::size_t offset, std::size_t previous) {
  if (offset >= text.size() || text.substr(offset, 3) == "---") return true;
  return text.substr(0, offset).find("\n...", previous) != std::string_view::npos;
}

}  // namespace ckpt
