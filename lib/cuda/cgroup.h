// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::cuda {

/// The control groups below a state root, unified, version 1 or both.
class Cgroups {
 public:
  explicit Cgroups(const std::string& state_root);

  /// Every process in a group and the groups below it, sorted. `name` is a path below the hierarchy or a full one.
  /// Nothing when no hierarchy has such a group.
  std::optional<std::vector<std::uint32_t>> processes(const std::string& name) const;
  /// Is it, or a group above it, frozen?
  bool frozen(const std::string& path) const;
  /// Bytes that may still be charged before the tightest limit of the group and those above it; nothing without limit.
  std::optional<std::uint64_t> memory_left(const std::string& path) const;

 private:
  std::string root_;
  std::vector<std::string> unified_;
};

}  // namespace ckpt::cuda
