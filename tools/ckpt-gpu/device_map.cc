// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "ckpt/file.h"
#include "options.h"

namespace ckpt::tool {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// One pair a line, or all in one, commas or not.
std::string read_map(const std::string& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0 &&
      ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (found.st_uid != 0 && found.st_uid != ::geteuid())))
    throw Error(ErrorCode::invalid_argument, Where{file, {}, {}, {}}, "others may write this device map",
                "it must belong to root or to you, and be writable by its owner only");
  std::string text = trimmed(read_text_file(file));
  std::replace(text.begin(), text.end(), '\n', ',');
  return text;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? trimmed(value) : std::string();
}

}  // namespace

std::vector<GpuPair> find_device_map(const std::string& text, const std::string& file, const std::string& state_root) {
  std::string map = trimmed(text);
  if (map.empty() && !file.empty()) map = read_map(file);
  if (map.empty() && file.empty()) map = variable("CKPT_GPU_DEVICE_MAP");
  if (map.empty() && file.empty()) {
    const std::string named = variable("CKPT_GPU_DEVICE_MAP_FILE");
    const std::string usual = state_root + "/run/ckpt-gpu/device-map";
    if (!named.empty())
      map = read_map(named);
    else if (::access(usual.c_str(), F_OK) == 0)
      map = read_map(usual);
  }
  return map.empty() ? std::vector<GpuPair>{} : parse_device_map(map);
}

}  // namespace ckpt::tool
