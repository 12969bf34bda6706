// SPDX-License-Identifier: Apache-2.0
#include "criu_log/fill.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ckpt::criu_log {

namespace {

enum class Use { text, conf, command };

struct Slot {
  std::string_view name;
  std::string value;
  std::string_view in_text;     ///< when the value is not known
  std::string_view in_command;  ///< the same, in a line to be completed by hand
};

using Slots = std::array<Slot, 8>;

Slots slots_of(const Diagnosis& diagnosis, const Surroundings& surroundings) {
  return {{{"path", diagnosis.path, "which the archive names", "PATH"},
           {"mnt_id", diagnosis.mnt_id ? std::to_string(*diagnosis.mnt_id) : std::string(), "?", "N"},
           {"key", diagnosis.key, "that the archive has", "KEY"},
           {"source", diagnosis.source, "which the archive names", "HOST-PATH"},
           {"text", diagnosis.text, "(nothing more)", "TEXT"},
           {"number", diagnosis.number, "?", "N"},
           {"archive", surroundings.archive, "", "CHECKPOINT"},
           {"conf", surroundings.conf_file, "", "FILE"}}};
}

bool has_control(std::string_view value) {
  return std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// CRIU's reader of configuration files cuts at '#', splits at blanks and knows one kind of quote (criu.md 4.2).
bool fits_conf(std::string_view value) {
  return !has_control(value) && value.find_first_of(" #\"") == std::string_view::npos &&
         value.find("]:") == std::string_view::npos;
}

std::string shell_word(const std::string& value) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.,:=@%+-";
  if (value.find_first_not_of(kPlain) == std::string::npos) return value;
  std::string word = "'";
  for (const char c : value) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::optional<std::string> value_for(const Slot& slot, Use use) {
  if (slot.value.empty()) return std::string(use == Use::text ? slot.in_text : slot.in_command);
  if (use == Use::text) return slot.value;
  if (use == Use::conf) return fits_conf(slot.value) ? std::optional(slot.value) : std::nullopt;
  return has_control(slot.value) ? std::nullopt : std::optional(shell_word(slot.value));
}

// Absent when a value does not fit where it has to go.
std::optional<std::string> filled(std::string_view text, const Slots& slots, Use use) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    out += text.substr(at, open == std::string_view::npos ? open : open - at);
    if (close == std::string_view::npos) break;
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& one) { return one.name == name; });
    if (slot == slots.end()) return std::nullopt;
    const auto value = value_for(*slot, use);
    if (!value) return std::nullopt;
    out += *value;
    at = close + 1;
  }
  return out;
}

std::vector<std::string> filled_lines(std::string_view lines, const Slots& slots, Use use) {
  std::vector<std::string> out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (auto line = filled(lines.substr(0, end), slots, use)) out.push_back(std::move(*line));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

}  // namespace

void fill_in(Diagnosis& diagnosis, const FailureKind& kind, const Surroundings& surroundings) {
  const Slots slots = slots_of(diagnosis, surroundings);
  diagnosis.cause = filled(kind.cause, slots, Use::text).value_or(std::string());
  diagnosis.remedy = filled(kind.remedy, slots, Use::text).value_or(std::string());
  diagnosis.conf_lines = filled_lines(kind.conf, slots, Use::conf);
  diagnosis.commands = filled_lines(kind.commands, slots, Use::command);
}

const FailureKind& kind_of(const std::string& code) {
  const auto& kinds = failure_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const FailureKind& k) { return k.code == code; });
  if (found == kinds.end()) throw Error(ErrorCode::internal, {}, "no kind of failure " + code);
  return *found;
}

}  // namespace ckpt::criu_log
