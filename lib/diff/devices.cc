// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/comparer.h"

namespace ckpt {

namespace {

struct Numbers {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  friend bool operator==(const Numbers& a, const Numbers& b) { return a.major == b.major && a.minor == b.minor; }
};

using NumberMap = std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Numbers>;

const CdiDeviceNode* node_at(const CdiEdits& edits, const std::string& path) {
  for (auto node = edits.device_nodes.rbegin(); node != edits.device_nodes.rend(); ++node)
    if (clean_path(node->path) == clean_path(path)) return &*node;
  return nullptr;
}

// The CDI file's numbers, as the engines take them; without them the node itself tells, if it can be looked at.
std::optional<Numbers> numbers_of(const Target& target, const CdiDeviceNode& node) {
  if (node.major) return Numbers{*node.major, node.minor.value_or(0)};
  const auto file = target.look(node.host_path.empty() ? node.path : node.host_path);
  if (!file || (file->kind != RootedFile::Kind::char_device && file->kind != RootedFile::Kind::block_device))
    return std::nullopt;
  return Numbers{file->dev_major, file->dev_minor};
}

void compare_node(Comparer& comparer, std::size_t index, NumberMap& moved, std::set<std::string>& told) {
  const DeviceEntry& device = comparer.checkpoint.devices()[index];
  if (device.place == DeviceEntry::Place::rule || device.place == DeviceEntry::Place::mount) return;
  const CdiDeviceNode* node = node_at(comparer.target.edits(), device.path);
  if (node == nullptr) {
    if (!device.device_class.empty() && !comparer.target.edits().device_nodes.empty() &&
        told.insert(device.path).second)
      comparer.note("device.missing", device.path, "the target's CDI devices have no such node; it keeps its numbers");
    return;
  }
  const auto wanted = numbers_of(comparer.target, *node);
  if (!wanted || !device.major || !device.minor) return;
  const Numbers old{*device.major, *device.minor};
  if (old == *wanted) return;
  moved[{device.type, old.major, old.minor}] = *wanted;
  comparer.result.devices.push_back({index, old.major, old.minor, wanted->major, wanted->minor});
  comparer.fixable("device.renumbered", device.path,
                   std::string(to_string(device.place)) + " has " + std::to_string(old.major) + ":" +
                       std::to_string(old.minor) + ", the target's node is " + std::to_string(wanted->major) + ":" +
                       std::to_string(wanted->minor),
                   "the numbers are rewritten");
}

// A rule on every minor of a major follows when all moved nodes of that major went to one place and none stayed.
std::optional<std::int64_t> new_major_of(const Comparer& comparer, const NumberMap& moved, const DeviceEntry& rule) {
  std::optional<std::int64_t> major;
  for (const auto& [old, now] : moved) {
    if (std::get<0>(old) != rule.type || std::get<1>(old) != *rule.major) continue;
    if (major && *major != now.major) return std::nullopt;
    major = now.major;
  }
  for (const DeviceEntry& device : comparer.checkpoint.devices())
    if (device.place != DeviceEntry::Place::rule && device.type == rule.type && device.major == rule.major &&
        device.minor && moved.count({device.type, *device.major, *device.minor}) == 0)
      return std::nullopt;
  return major == rule.major ? std::nullopt : major;
}

void compare_rule(Comparer& comparer, std::size_t index, const NumberMap& moved) {
  const DeviceEntry& rule = comparer.checkpoint.devices()[index];
  if (rule.place != DeviceEntry::Place::rule || !rule.major) return;
  if (!rule.minor) {
    if (const auto major = new_major_of(comparer, moved, rule))
      comparer.result.devices.push_back({index, *rule.major, std::nullopt, *major, std::nullopt});
    return;
  }
  const auto found = moved.find({rule.type, *rule.major, *rule.minor});
  if (found != moved.end())
    comparer.result.devices.push_back({index, *rule.major, *rule.minor, found->second.major, found->second.minor});
}

}  // namespace

void compare_devices(Comparer& comparer) {
  NumberMap moved;  // old numbers to new ones, all taken before anything changes, so that swaps come out right
  std::set<std::string> told;
  const std::size_t count = comparer.checkpoint.devices().size();
  for (std::size_t i = 0; i < count; ++i) compare_node(comparer, i, moved, told);
  for (std::size_t i = 0; i < count; ++i) compare_rule(comparer, i, moved);
}

}  // namespace ckpt
