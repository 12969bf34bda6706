// SPDX-License-Identifier: Apache-2.0
#include "diff/gpu_pairs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/paths.h"
#include "checkpoint/impl.h"

namespace ckpt {

namespace {

/// A family of nodes that are counted: a path without its number.
constexpr std::array<std::string_view, 5> kFamilies = {"/dev/nvidia", "/dev/dri/card", "/dev/dri/renderD",
                                                       "/dev/nvidia-caps/nvidia-cap",
                                                       "/dev/nvidia-caps-imex-channels/channel"};
constexpr std::string_view kGpus = kFamilies[0];
constexpr std::string_view kMigCaps = kFamilies[3];

std::optional<std::uint32_t> number_of(const std::string& path, std::string_view family) {
  if (path.size() <= family.size() || path.compare(0, family.size(), family) != 0) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = path.data() + path.size();
  const auto [last, failure] = std::from_chars(path.data() + family.size(), end, number);
  return failure == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

using Numbers = std::map<std::uint32_t, std::string>;  ///< number to path, in order

Numbers in_archive(const Checkpoint& checkpoint, std::string_view family) {
  Numbers found;
  for (const DeviceEntry& device : checkpoint.devices()) {
    if (device.place == DeviceEntry::Place::rule) continue;
    const std::string path = clean_path(device.path);
    if (const auto number = number_of(path, family)) found.emplace(*number, path);
  }
  return found;
}

Numbers on_target(const Target& target, std::string_view family) {
  Numbers found;
  for (const CdiDeviceNode& node : target.edits().device_nodes) {
    const std::string path = clean_path(node.path);
    if (const auto number = number_of(path, family)) found.emplace(*number, path);
  }
  return found;
}

bool is_uuid(const std::string& gpu) { return gpu.rfind("GPU-", 0) == 0 || gpu.rfind("MIG-", 0) == 0; }

/// One family of nodes, paired.
class Pairing {
 public:
  Pairing(Comparer& comparer, std::string_view family)
      : comparer_(comparer),
        family_(family),
        old_(in_archive(comparer.checkpoint, family)),
        new_(on_target(comparer.target, family)) {}

  void run() {
    if (family_ == kGpus)
      for (const GpuMap& map : comparer_.rules.gpu_maps) pair_mapped(map);
    if (old_.empty() || comparer_.target.edits().device_nodes.empty()) return;
    pair_same();
    if (old_.size() == new_.size() && family_ != kMigCaps) pair_by_position();
    for (const auto& [number, path] : old_) report_left(path);
  }

 private:
  [[noreturn]] void refuse(const GpuMap& map, const std::string& why) const {
    throw Error(ErrorCode::invalid_argument, Where{comparer_.checkpoint.name(), {}, {}, {}},
                "--gpu-map " + map.old_gpu + "=" + map.new_gpu + ": " + why);
  }

  std::string listed(const Numbers& numbers) const {
    std::string text;
    for (const auto& [number, path] : numbers) text += (text.empty() ? "" : ", ") + path;
    return text.empty() ? "none" : text;
  }

  std::optional<std::uint32_t> minor_of(const std::string& gpu) const {
    return number_of(gpu.rfind("/dev/", 0) == 0 ? gpu : std::string(kGpus) + gpu, kGpus);
  }

  // A UUID of the target is a minor once the node's facts say so; one of the old node only if it had a single GPU.
  std::optional<std::uint32_t> old_minor(const GpuMap& map) const {
    if (!is_uuid(map.old_gpu)) return minor_of(map.old_gpu);
    return old_.size() == 1 ? std::optional(old_.begin()->first) : std::nullopt;
  }
  std::optional<std::uint32_t> new_minor(const GpuMap& map) const {
    return is_uuid(map.new_gpu) ? comparer_.target.gpu_minor(map.new_gpu) : minor_of(map.new_gpu);
  }

  void pair_mapped(const GpuMap& map) {
    if (is_uuid(map.old_gpu) && is_uuid(map.new_gpu)) comparer_.result.device_map.push_back(map);
    const auto from = old_minor(map);
    const auto to = new_minor(map);
    if (!from && !is_uuid(map.old_gpu)) refuse(map, "OLD is neither a UUID nor a minor number");
    if (!to && !is_uuid(map.new_gpu)) refuse(map, "NEW is neither a UUID nor a minor number");
    if (!from || !to) return;  // the nodes then pair as they do without a map
    const auto old_node = old_.find(*from);
    const auto new_node = new_.find(*to);
    if (old_node == old_.end()) refuse(map, "the archive has no such GPU; there are: " + listed(old_));
    if (new_node == new_.end()) refuse(map, "the target's devices have no such GPU; there are: " + listed(new_));
    pair(old_node, new_node);
  }

  void pair_same() {
    for (auto node = old_.begin(); node != old_.end();) {
      const auto same = new_.find(node->first);
      const auto current = node++;
      if (same != new_.end()) pair(current, same);
    }
  }

  void pair_by_position() {
    while (!old_.empty()) {
      comparer_.note("device.paired", old_.begin()->second, "takes the place of " + new_.begin()->second +
                                                                " by position; the target has no node of that name",
                     "--gpu-map OLD=NEW says otherwise");
      pair(old_.begin(), new_.begin());
    }
  }

  void pair(Numbers::iterator from, Numbers::iterator to) {
    comparer_.node_pairs[from->second] = to->second;
    old_.erase(from);
    new_.erase(to);
  }

  void report_left(const std::string& path) {
    const bool in_use = !comparer_.checkpoint.gpu().pids.empty();
    if (family_ == kMigCaps && in_use)
      comparer_.blocker("device.mig", path, "the target's devices have no such MIG capability, and a MIG instance "
                                            "cannot take the place of another",
                        "restore on a node with the same MIG layout");
    else if (in_use && family_ == kGpus)
      comparer_.undecided("device.unpaired", path, "the target's devices leave no GPU for it: " + listed(new_),
                          "--device names as many GPUs of the target as the archive has, --gpu-map pairs them");
    else
      comparer_.note("device.missing", path, "the target's CDI devices have no such node; it keeps its numbers");
  }

  Comparer& comparer_;
  std::string_view family_;
  Numbers old_;
  Numbers new_;
};

void require_one_to_one(const Comparer& comparer) {
  const auto& maps = comparer.rules.gpu_maps;
  for (std::size_t i = 0; i < maps.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (maps[i].old_gpu == maps[k].old_gpu || maps[i].new_gpu == maps[k].new_gpu)
        throw Error(ErrorCode::invalid_argument, Where{comparer.checkpoint.name(), {}, {}, {}},
                    "--gpu-map " + maps[i].old_gpu + "=" + maps[i].new_gpu + ": a GPU is mapped twice");
}

}  // namespace

bool is_counted_node(const std::string& path) {
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return number_of(path, family).has_value(); });
}

void pair_gpus(Comparer& comparer) {
  require_one_to_one(comparer);
  for (const std::string_view family : kFamilies) Pairing(comparer, family).run();
}

}  // namespace ckpt
