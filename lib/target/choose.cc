// SPDX-License-Identifier: Apache-2.0
#include "target/choose.h"

#include <algorithm>
#include <set>

namespace ckpt {

namespace {

std::vector<std::string> devices_of_kind(const CdiRegistry& registry, const std::string& kind) {
  std::vector<std::string> names;
  for (const std::string& name : registry.device_names()) {
    const auto parts = parse_cdi_name(name);
    if (parts && parts->kind() == kind) names.push_back(name);
  }
  const std::string all = kind + "=all";
  if (std::find(names.begin(), names.end(), all) != names.end()) return {all};
  return names;
}

std::set<std::string> kinds_of(const CdiRegistry& registry) {
  std::set<std::string> kinds;
  for (const std::string& name : registry.device_names())
    if (const auto parts = parse_cdi_name(name)) kinds.insert(parts->kind());
  return kinds;
}

bool is_of_vendor(const std::string& kind, const std::string& vendor) {
  const std::string domain = vendor + ".com";
  const std::string owner = kind.substr(0, kind.find('/'));
  return owner == domain || (owner.size() > domain.size() &&
                             owner.compare(owner.size() - domain.size() - 1, std::string::npos, "." + domain) == 0);
}

// The whole-node kinds hold devices that no workload gets; they are for management containers.
bool is_management(const std::string& kind) { return kind.rfind("management.", 0) == 0; }

std::string kind_for(const CdiRegistry& registry, const TargetOptions& options) {
  const std::set<std::string> kinds = kinds_of(registry);
  for (const std::string& name : options.requested)
    if (const auto parts = parse_cdi_name(name); parts && kinds.count(parts->kind()) != 0) return parts->kind();
  if (options.vendor.empty()) return {};
  if (std::string plain = options.vendor + ".com/gpu"; kinds.count(plain) != 0) return plain;
  for (const std::string& kind : kinds)
    if (is_of_vendor(kind, options.vendor) && !is_management(kind)) return kind;
  return {};
}

}  // namespace

DeviceChoice choose_devices(const CdiRegistry& registry, const TargetOptions& options) {
  if (!options.devices.empty()) return {options.devices, {}};
  const bool all_there =
      !options.requested.empty() && std::all_of(options.requested.begin(), options.requested.end(),
                                                [&](const std::string& name) { return registry.has(name); });
  if (all_there) return {options.requested, {}};
  DeviceChoice choice;
  if (const std::string kind = kind_for(registry, options); !kind.empty()) {
    choice.names = devices_of_kind(registry, kind);
  } else if (!options.cdi_paths.empty()) {
    // Files that were named describe the node, whatever the archive says about itself.
    for (const std::string& each : kinds_of(registry))
      for (std::string& name : devices_of_kind(registry, each)) choice.names.push_back(std::move(name));
  }
  for (const std::string& name : options.requested)
    if (!registry.has(name))
      choice.notes.push_back({name, "the archive asked for this device and the target does not have it", false});
  return choice;
}

}  // namespace ckpt
