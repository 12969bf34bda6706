// SPDX-License-Identifier: Apache-2.0
#include "criu_log/line.h"

namespace ckpt::criu_log {

namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// "(FILE:LINE): " at the start of `text`, FILE without blanks as in "criu/mount.c" or "cuda_plugin.c".
bool is_place(std::string_view text) noexcept {
  if (text.empty() || text.front() != '(') return false;
  const std::size_t end = text.find_first_of(" )", 1);
  if (end == std::string_view::npos || text.substr(end, 3) != "): ") return false;
  std::size_t digits = end;
  while (digits > 1 && is_digit(text[digits - 1])) --digits;
  return digits < end && digits > 2 && text[digits - 1] == ':';
}

bool has_tag(std::string_view line, std::string_view tag) noexcept {
  for (std::size_t at = line.find(tag); at != std::string_view::npos; at = line.find(tag, at + 1))
    if (is_place(line.substr(at + tag.size() - 1))) return true;
  return false;
}

// "(00.044386) ": relative time, whose last digits give way to the bracket from 100 s on.
bool has_stamp(std::string_view line) noexcept {
  constexpr std::size_t kStamp = 12;
  if (line.size() < kStamp || line[0] != '(' || line[kStamp - 1] != ' ' || line[kStamp - 2] != ')') return false;
  bool dot = false;
  for (const char c : line.substr(1, kStamp - 3)) {
    if (c == '.' && !dot)
      dot = true;
    else if (!is_digit(c))
      return false;
  }
  return dot;
}

}  // namespace

Level level_of(std::string_view line) noexcept {
  if (has_tag(line, "Error (")) return Level::error;
  if (has_tag(line, "Warn  (")) return Level::warning;
  return has_stamp(line) || line.substr(0, 5) == "pie: " ? Level::quiet : Level::foreign;
}

}  // namespace ckpt::criu_log
