// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_map.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace ckpt {

namespace {

constexpr std::size_t kMostPairs = 1024;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, {}, "device map: " + what, "OLD=NEW[,OLD=NEW...] with GPU UUIDs");
}

// 8-4-4-4-12 hexadecimal digits, as nvidia-smi -L prints them after "GPU-".
std::string normal_uuid(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.rfind("mig-", 0) == 0) refuse(text + " is a MIG instance, which the driver cannot move");
  if (text.rfind("gpu-", 0) == 0) text.erase(0, 4);
  bool good = text.size() == 36;
  for (std::size_t at = 0; good && at < text.size(); ++at)
    good = at == 8 || at == 13 || at == 18 || at == 23 ? text[at] == '-'
                                                       : std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  if (!good) refuse("\"" + text + "\" is no GPU UUID");
  return "GPU-" + text;
}

cuda::Uuid bytes_of(const std::string& uuid) {
  cuda::Uuid bytes;
  std::size_t nibble = 0;
  for (const char c : uuid.substr(4)) {
    if (c == '-') continue;
    const int value = c <= '9' ? c - '0' : c - 'a' + 10;
    std::uint8_t& byte = bytes.bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++nibble;
  }
  return bytes;
}

const GpuDevice* find(const std::vector<GpuDevice>& devices, const std::string& uuid) {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const GpuDevice& device) { return device.uuid == uuid; });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace

std::vector<GpuPair> parse_device_map(const std::string& text) {
  std::vector<GpuPair> map;
  std::set<std::string> olds;
  std::set<std::string> news;
  if (text.size() > kMostPairs * 82) refuse("more than " + std::to_string(kMostPairs) + " pairs");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) refuse("\"" + item + "\" has no \"=\"");
    GpuPair pair{normal_uuid(item.substr(0, equals)), normal_uuid(item.substr(equals + 1))};
    if (!olds.insert(pair.old_uuid).second) refuse(pair.old_uuid + " is mapped twice");
    if (!news.insert(pair.new_uuid).second) refuse(pair.new_uuid + " is the target of two GPUs");
    map.push_back(std::move(pair));
    at = end + 1;
  }
  return map;
}

std::string to_string(const std::vector<GpuPair>& map) {
  std::string text;
  for (const GpuPair& pair : map) text += (text.empty() ? "" : ",") + pair.old_uuid + "=" + pair.new_uuid;
  return text;
}

std::vector<GpuPair> make_device_map(const std::vector<GpuDevice>& old_devices, const std::vector<GpuDevice>& here) {
  std::vector<GpuPair> map;
  std::set<std::string> taken;
  for (const GpuDevice& old : old_devices)
    if (find(here, old.uuid) != nullptr) taken.insert(old.uuid);
  for (const GpuDevice& old : old_devices) {
    GpuPair pair{old.uuid, old.uuid};
    if (find(here, old.uuid) == nullptr) {
      const auto fit = std::find_if(here.begin(), here.end(), [&](const GpuDevice& device) {
        return taken.count(device.uuid) == 0 && !device.mig && (old.name.empty() || device.name == old.name);
      });
      if (fit == here.end())
        throw Error(ErrorCode::conflict, {},
                    "no GPU is left for " + old.uuid + (old.name.empty() ? "" : ", " + old.name),
                    "the node needs as many GPUs of each model as the processes saw");
      pair.new_uuid = fit->uuid;
      taken.insert(fit->uuid);
    }
    map.push_back(std::move(pair));
  }
  return map;
}

namespace cuda {

std::vector<Pair> driver_pairs(const std::vector<GpuPair>& map) {
  std::vector<Pair> pairs;
  const bool moves =
      std::any_of(map.begin(), map.end(), [](const GpuPair& pair) { return pair.old_uuid != pair.new_uuid; });
  if (!moves) return pairs;
  for (const GpuPair& pair : map) pairs.push_back({bytes_of(pair.old_uuid), bytes_of(pair.new_uuid)});
  return pairs;
}

namespace {

GpuFinding blocker(std::string code, std::string subject, std::string message, std::string remedy) {
  return {std::move(code), true, std::move(subject), std::move(message), std::move(remedy)};
}

void check_pair(const GpuPair& pair, const GpuDevice* old, const std::vector<GpuDevice>& here,
                std::vector<GpuFinding>& findings) {
  const GpuDevice* device = find(here, pair.new_uuid);
  if (device == nullptr) {
    findings.push_back(
        blocker("no_such_gpu", pair.new_uuid, "this node has no such GPU", "ckpt-gpu map lists the GPUs of this node"));
    return;
  }
  if (device->mig)
    findings.push_back(blocker("mig", pair.new_uuid, "the GPU is split into MIG instances", "turn MIG mode off"));
  if (old != nullptr && !old->name.empty() && !device->name.empty() && old->name != device->name)
    findings.push_back(blocker("other_model", pair.new_uuid,
                               "it is a " + device->name + ", the memory came from a " + old->name,
                               "map it to a GPU of the same model"));
}

}  // namespace

std::vector<GpuFinding> check_device_map(const std::vector<GpuPair>& map, const std::optional<GpuRecord>& recorded,
                                         const std::vector<GpuDevice>& here) {
  std::vector<GpuFinding> findings;
  // Without a list of this node's GPUs nothing can be said; the driver judges.
  if (here.empty()) return findings;
  for (const GpuPair& pair : map)
    check_pair(pair, recorded ? find(recorded->devices, pair.old_uuid) : nullptr, here, findings);
  if (!recorded) return findings;
  for (const GpuDevice& old : recorded->devices) {
    const bool listed =
        std::any_of(map.begin(), map.end(), [&](const GpuPair& pair) { return pair.old_uuid == old.uuid; });
    if (!map.empty() && !listed)
      findings.push_back(blocker("map_incomplete", old.uuid,
                                 "the device map does not name this GPU of the suspended set",
                                 "name every GPU that the processes saw, used or not"));
    else if (map.empty())
      check_pair({old.uuid, old.uuid}, &old, here, findings);
  }
  return findings;
}

}  // namespace cuda

}  // namespace ckpt
