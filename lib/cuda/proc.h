// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ckpt/gpu.h"

namespace ckpt::cuda {

/// The fields of /proc/PID/stat that are needed.
struct Stat {
  std::string comm;
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t start_time = 0;
};
/// Nothing for text that is no stat line. The name may hold blanks and parentheses.
std::optional<Stat> parse_stat(std::string_view text);

/// What /proc/PID/maps says about the GPU.
struct MapSigns {
  bool libcuda = false;
  bool libnvml = false;
  std::uint32_t uvm = 0;
};
MapSigns parse_maps(std::string_view text);

/// The value of "Name:\tvalue" lines (/proc/PID/status, meminfo, a GPU's information); empty when absent.
std::string_view field_of(std::string_view text, std::string_view name);
/// A whole decimal number at the front of the text, blanks before it allowed.
std::optional<std::uint64_t> leading_number(std::string_view text);
/// (controllers, path) of each line of /proc/PID/cgroup; controllers are empty for the unified hierarchy.
std::vector<std::pair<std::string, std::string>> parse_cgroups(std::string_view text);

/// A proc file system.
class Proc {
 public:
  explicit Proc(std::string root) : root_(std::move(root)) {}

  /// A bounded read of `pid`'s file; nothing when it cannot be read.
  std::optional<std::string> read(std::uint32_t pid, const char* name) const;
  /// A file that belongs to no process ("meminfo").
  std::optional<std::string> read(const std::string& name) const;
  std::optional<Stat> stat(std::uint32_t pid) const;
  bool exists(std::uint32_t pid) const;
  /// Every process id, sorted.
  std::vector<std::uint32_t> pids() const;
  /// `pid` and all its descendants, sorted.
  std::vector<std::uint32_t> tree(std::uint32_t pid) const;
  /// Everything about one process that needs no driver: kind is cuda where libcuda is mapped or the maps are not for
  /// our eyes. Nothing when it is gone.
  std::optional<GpuProcess> look(std::uint32_t pid) const;
  /// The GPUs of /proc/driver/nvidia/gpus, in order of minor.
  std::vector<GpuDevice> devices() const;
  /// "580.159.04" of /proc/driver/nvidia/version.
  std::string driver_version() const;
  const std::string& root() const noexcept { return root_; }

 private:
  std::string root_;
};

}  // namespace ckpt::cuda
