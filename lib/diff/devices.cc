// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/comparer.h"
#include "diff/gpu_pairs.h"

namespace ckpt {

namespace {

struct Numbers {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  friend bool operator==(const Numbers& a, const Numbers& b) { return a.major == b.major && a.minor == b.minor; }
};

std::string text_of(const Numbers& numbers) {
  return std::to_string(numbers.major) + ":" + std::to_string(numbers.minor);
}

const CdiDeviceNode* node_at(const CdiEdits& edits, const std::string& path) {
  for (auto node = edits.device_nodes.rbegin(); node != edits.device_nodes.rend(); ++node)
    if (clean_path(node->path) == clean_path(path)) return &*node;
  return nullptr;
}

/// Device nodes, then the rules about them.
class DeviceComparer {
 public:
  explicit DeviceComparer(Comparer& comparer) : comparer_(comparer), devices_(comparer.checkpoint.devices()) {}

  void run() {
    for (std::size_t i = 0; i < devices_.size(); ++i) compare_node(i);
    for (const auto& [old_path, new_path] : comparer_.node_pairs)
      if (old_path != new_path && !has_node(new_path)) add_node(old_path, new_path);
    for (std::size_t i = 0; i < devices_.size(); ++i) compare_rule(i);
  }

 private:
  bool is_node(const DeviceEntry& device) const {
    return device.place == DeviceEntry::Place::spec || device.place == DeviceEntry::Place::tmpfs;
  }

  bool has_node(const std::string& path) const {
    return std::any_of(devices_.begin(), devices_.end(), [&](const DeviceEntry& device) {
      return device.place != DeviceEntry::Place::rule && clean_path(device.path) == path;
    });
  }

  // A node takes the numbers of the GPU in its place, unless another GPU comes to have this very name: drivers open a
  // device by its own number, so a name that is a GPU's own on the target must be that GPU.
  std::string place_of(const std::string& path) const {
    for (const auto& [old_path, new_path] : comparer_.node_pairs)
      if (new_path == path) return path;
    const auto pair = comparer_.node_pairs.find(path);
    return pair == comparer_.node_pairs.end() ? path : pair->second;
  }

  std::optional<Numbers> numbers_at(const std::string& path) {
    const CdiDeviceNode* node = node_at(comparer_.target.edits(), path);
    if (node == nullptr) return std::nullopt;
    const auto numbers = comparer_.target.numbers(*node);
    if (!numbers) return std::nullopt;
    if (node->major && *node->major != numbers->major && told_.insert("stale " + path).second)
      comparer_.note("target.stale_cdi", path, "the CDI file gives it the major " + std::to_string(*node->major) +
                                                   ", the node has " + std::to_string(numbers->major),
                     "make the CDI file anew on the node");
    return Numbers{numbers->major, numbers->minor};
  }

  void compare_node(std::size_t index) {
    const DeviceEntry& device = devices_[index];
    if (!is_node(device)) return;
    const std::string path = clean_path(device.path);
    if (node_at(comparer_.target.edits(), place_of(path)) == nullptr) return report_missing(device, path);
    const auto wanted = numbers_at(place_of(path));
    if (!wanted || !device.major || !device.minor) return;
    const Numbers old{*device.major, *device.minor};
    if (old == *wanted) return;
    moved_[{device.type, old.major, old.minor}] = *wanted;
    comparer_.result.devices.push_back({index, old.major, old.minor, wanted->major, wanted->minor});
    comparer_.fixable("device.renumbered", device.path,
                      std::string(to_string(device.place)) + " has " + text_of(old) + ", the target's node is " +
                          text_of(*wanted),
                      "the numbers are rewritten");
  }

  void report_missing(const DeviceEntry& device, const std::string& path) {
    // Counted nodes were judged when they were paired.
    if (device.device_class.empty() || comparer_.target.edits().device_nodes.empty() || is_counted_node(path)) return;
    if (told_.insert(path).second)
      comparer_.note("device.missing", device.path, "the target's CDI devices have no such node; it keeps its numbers");
  }

  void add_node(const std::string& old_path, const std::string& new_path) {
    const auto numbers = numbers_at(new_path);
    if (!numbers) return;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (!is_node(devices_[i]) || clean_path(devices_[i].path) != old_path) continue;
      comparer_.result.added_devices.push_back({i, new_path, numbers->major, numbers->minor});
      if (told_.insert("added " + new_path).second)
        comparer_.fixable("device.added", new_path, "is what the driver will open for the GPU that was " + old_path,
                          "the node is added beside the old name");
    }
  }

  // A rule on every minor of a major follows when all moved nodes of that major went to one place and none stayed.
  std::optional<std::int64_t> new_major_of(const DeviceEntry& rule) const {
    std::optional<std::int64_t> major;
    for (const auto& [old, now] : moved_) {
      if (std::get<0>(old) != rule.type || std::get<1>(old) != *rule.major) continue;
      if (major && *major != now.major) return std::nullopt;
      major = now.major;
    }
    for (const DeviceEntry& device : devices_)
      if (device.place != DeviceEntry::Place::rule && device.type == rule.type && device.major == rule.major &&
          device.minor && moved_.count({device.type, *device.major, *device.minor}) == 0)
        return std::nullopt;
    return major == rule.major ? std::nullopt : major;
  }

  void compare_rule(std::size_t index) {
    const DeviceEntry& rule = devices_[index];
    if (rule.place != DeviceEntry::Place::rule || !rule.major) return;
    if (!rule.minor) {
      if (const auto major = new_major_of(rule))
        comparer_.result.devices.push_back({index, *rule.major, std::nullopt, *major, std::nullopt});
      return;
    }
    const auto found = moved_.find({rule.type, *rule.major, *rule.minor});
    if (found != moved_.end())
      comparer_.result.devices.push_back({index, *rule.major, *rule.minor, found->second.major, found->second.minor});
  }

  Comparer& comparer_;
  const std::vector<DeviceEntry>& devices_;
  /// Old numbers to new ones, all taken before anything changes, so that swaps come out right.
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Numbers> moved_;
  std::set<std::string> told_;
};

}  // namespace

void compare_devices(Comparer& comparer) { DeviceComparer(comparer).run(); }

}  // namespace ckpt
