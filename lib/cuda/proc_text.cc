// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "base/paths.h"
#include "cuda/proc.h"

namespace ckpt::cuda {

namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::size_t end = text.find_first_of(" \t\n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  return word;
}

// "libcuda.so.1" and "libcuda.so.580.95.05", not "libcudart.so.13".
bool is_library(std::string_view path, std::string_view library) {
  const std::string_view name = base_name(path);
  return name.substr(0, library.size()) == library &&
         (name.size() == library.size() || name[library.size()] == '.' || name[library.size()] == ' ');
}

}  // namespace

std::optional<std::uint64_t> leading_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (failure != std::errc() || end == text.data() + begin) return std::nullopt;
  return number;
}

std::optional<Stat> parse_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  Stat stat;
  stat.comm = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_word(rest);
  if (state.size() != 1) return std::nullopt;
  stat.state = state.front();
  // Field 3 was the state; 4 is the parent, 22 the start time.
  for (int field = 4; field <= 22; ++field) {
    const std::string_view word = next_word(rest);
    const auto number = leading_number(word);
    if (field == 4 && number) stat.parent = static_cast<std::uint32_t>(*number);
    if (field == 22) {
      if (!number) return std::nullopt;
      stat.start_time = *number;
    }
  }
  return stat;
}

MapSigns parse_maps(std::string_view text) {
  MapSigns signs;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view path = line.substr(slash);
    if (is_library(path, "libcuda.so")) signs.libcuda = true;
    if (is_library(path, "libnvidia-ml.so")) signs.libnvml = true;
    if (path == "/dev/nvidia-uvm") ++signs.uvm;
  }
  return signs;
}

std::string_view field_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.substr(0, name.size()) != name) continue;
    line.remove_prefix(name.size());
    const std::size_t colon = line.find_first_not_of(" \t");
    if (colon == std::string_view::npos || line[colon] != ':') continue;
    line.remove_prefix(colon + 1);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin);
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> parse_cgroups(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> cgroups;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    cgroups.emplace_back(line.substr(first + 1, second - first - 1), line.substr(second + 1));
  }
  return cgroups;
}

}  // namespace ckpt::cuda
