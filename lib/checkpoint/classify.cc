// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/classify.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "base/paths.h"

namespace ckpt {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool starts(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool ends(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool is_version(std::string_view text) {
  bool digit_before = false;
  for (const char c : text) {
    if (c == '.') {
      if (!digit_before) return false;
      digit_before = false;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digit_before = true;
    } else {
      return false;
    }
  }
  return digit_before;
}

bool is_driver_stem(std::string_view stem) {
  static constexpr std::array<std::string_view, 6> kStems = {"cuda",    "cudadebugger", "nvcuvid",
                                                             "nvoptix", "dxcore",       "glxserver_nvidia"};
  return contains(stem, "nvidia") || std::find(kStems.begin(), kStems.end(), stem) != kStems.end();
}

bool is_driver_library(std::string_view path) {
  const auto library = parse_library_name(base_name(path));
  if (!library) return base_name(path) == "nvidia_drv.so";
  if (is_driver_stem(library->stem)) return true;
  const std::string_view directory = base_name(directory_name(path));
  return library->has_driver_version() && (directory == "tegra" || directory == "nvidia" || directory == "vdpau");
}

bool is_driver_binary(std::string_view path) {
  const std::string_view directory = base_name(directory_name(path));
  return (directory == "bin" || directory == "sbin") && starts(base_name(path), "nvidia-");
}

bool is_driver_config(std::string_view path) {
  static constexpr std::array<std::string_view, 4> kSuffixes = {".json", ".conf", ".icd", ".csv"};
  const std::string_view base = base_name(path);
  if (base == "nvoptix.bin") return true;
  if (contains(path, "/nvidia-application-profiles")) return true;
  return contains(base, "nvidia") &&
         std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view suffix) { return ends(base, suffix); });
}

bool is_driver_socket(std::string_view path) {
  return ends(path, "/nvidia-persistenced/socket") || ends(path, "/nvidia-fabricmanager/socket") ||
         path == "/tmp/nvidia-mps";
}

struct DevicePattern {
  std::string_view prefix;
  std::string_view name;
};

constexpr std::array<DevicePattern, 14> kDevices = {{
    {"/dev/nvidia", "nvidia"},
    {"/dev/nvhost", "nvidia"},
    {"/dev/nvmap", "nvidia"},
    {"/dev/nvgpu/", "nvidia"},
    {"/dev/nvsciipc", "nvidia"},
    {"/dev/gdrdrv", "nvidia"},
    {"/dev/kfd", "amd"},
    {"/dev/dri/", "drm"},
    {"/dev/dri", "drm"},
    {"/dev/dxg", "wsl"},
    {"/dev/vfio/", "vfio"},
    {"/dev/infiniband/", "infiniband"},
    {"/dev/accel/", "accel"},
    {"/dev/mei", "intel"},
}};

}  // namespace

bool LibraryName::has_driver_version() const {
  const std::size_t dot = version.find('.');
  return dot != std::string::npos && dot >= 2;
}

std::optional<LibraryName> parse_library_name(std::string_view base) {
  if (!starts(base, "lib")) return std::nullopt;
  const std::size_t so = base.find(".so");
  if (so == std::string_view::npos || so == 3) return std::nullopt;
  const std::string_view rest = base.substr(so + 3);
  if (rest.empty()) return LibraryName{std::string(base.substr(3, so - 3)), {}};
  if (rest.front() != '.' || !is_version(rest.substr(1))) return std::nullopt;
  return LibraryName{std::string(base.substr(3, so - 3)), std::string(rest.substr(1))};
}

std::string driver_version_in(std::string_view path) {
  if (const auto library = parse_library_name(base_name(path)))
    return library->has_driver_version() ? library->version : std::string();
  const std::size_t firmware = path.find("/firmware/nvidia/");
  if (firmware == std::string_view::npos) return {};
  const std::string_view rest = path.substr(firmware + std::string_view("/firmware/nvidia/").size());
  const std::string_view version = rest.substr(0, rest.find('/'));
  return is_version(version) ? std::string(version) : std::string();
}

std::string device_class_of(std::string_view path) {
  for (const DevicePattern& pattern : kDevices)
    if (starts(path, pattern.prefix)) return std::string(pattern.name);
  return {};
}

std::optional<MountClass> classify_driver_path(std::string_view path) {
  if (starts(path, "/run/nvidia-ctk-hook") || starts(path, "/var/run/nvidia-ctk-hook")) return MountClass::hook_scratch;
  if (is_within(canonical_path(path), "/run/nvidia-container-devices")) return MountClass::request;
  if (is_within(path, "/proc/driver")) return MountClass::procfs;
  if (!device_class_of(path).empty()) return MountClass::device;
  if (is_driver_socket(canonical_path(path))) return MountClass::socket;
  if (contains(path, "/firmware/nvidia/")) return MountClass::firmware;
  if (is_driver_library(path)) return MountClass::library;
  if (is_driver_binary(path)) return MountClass::binary;
  if (is_driver_config(path)) return MountClass::config;
  return std::nullopt;
}

}  // namespace ckpt
