// SPDX-License-Identifier: Apache-2.0
#include "base/paths.h"

#include <array>
#include <utility>
#include <vector>

namespace ckpt {

namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

std::string join(const std::vector<std::string_view>& parts) {
  std::string path;
  for (const std::string_view part : parts) {
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

}  // namespace

std::string clean_member_name(std::string_view raw) {
  std::string name = join(parts_of(raw));
  return name.empty() ? "." : name;
}

bool is_safe_name(std::string_view raw) {
  if (raw.empty() || raw.front() == '/' || raw.find('\0') != std::string_view::npos) return false;
  for (const std::string_view part : parts_of(raw))
    if (part == "..") return false;
  return true;
}

std::string clean_path(std::string_view path) { return "/" + join(parts_of(path)); }

std::string canonical_path(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kAliases = {{
      {"/lib", "/usr/lib"},
      {"/lib32", "/usr/lib32"},
      {"/lib64", "/usr/lib64"},
      {"/libx32", "/usr/libx32"},
      {"/bin", "/usr/bin"},
      {"/sbin", "/usr/sbin"},
      {"/var/run", "/run"},
      {"/var/lock", "/run/lock"},
  }};
  std::string clean = clean_path(path);
  for (const auto& [from, to] : kAliases)
    if (is_within(clean, from)) return std::string(to) + clean.substr(from.size());
  return clean;
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view directory_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

bool is_within(std::string_view path, std::string_view directory) {
  if (directory == "/") return !path.empty() && path.front() == '/';
  return path.substr(0, directory.size()) == directory &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace ckpt
