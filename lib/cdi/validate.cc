// SPDX-License-Identifier: Apache-2.0
#include "cdi/validate.h"

#include <algorithm>
#include <array>
#include <set>

#include "ckpt/error.h"

namespace ckpt::cdi {

namespace {

// In order of age. 0.1.0 and 0.2.0 are known, but no file can need less than 0.3.0.
constexpr std::array<std::string_view, 10> kVersions = {"0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0",
                                                        "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
enum Version : std::size_t { k030 = 2, k040 = 3, k050 = 4, k060 = 5, k070 = 6, k110 = 9 };

[[noreturn]] void fail(const std::string& file, const std::string& where, const std::string& detail) {
  throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, where + " " + detail);
}

// ASCII only, whatever the program's locale is.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

bool consists_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alphanumeric(c) || more.find(c) != std::string_view::npos; });
}

bool is_empty(const CdiEdits& edits) {
  return edits.env.empty() && edits.device_nodes.empty() && edits.net_devices.empty() && edits.hooks.empty() &&
         edits.mounts.empty() && !edits.intel_rdt && edits.additional_gids.empty();
}

void check_env(const std::vector<std::string>& env, const std::string& file, const std::string& where) {
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::size_t sign = env[i].find('=');
    if (sign == std::string::npos || sign == 0) fail(file, where + "[" + std::to_string(i) + "]", "is not NAME=VALUE");
  }
}

void check_node(const CdiDeviceNode& node, const std::string& file, const std::string& where) {
  static constexpr std::array<std::string_view, 5> kTypes = {"", "b", "c", "u", "p"};
  if (node.path.empty()) fail(file, where + ".path", "is empty");
  if (std::find(kTypes.begin(), kTypes.end(), node.type) == kTypes.end())
    fail(file, where + ".type", "is \"" + node.type + "\", not one of b, c, u, p");
  if (node.permissions.find_first_not_of("rwm") != std::string::npos && node.permissions != "none")
    fail(file, where + ".permissions", "is \"" + node.permissions + "\", not made of r, w and m");
}

void check_hook(const CdiHook& hook, const std::string& file, const std::string& where) {
  static constexpr std::array<std::string_view, 6> kStages = {"prestart",       "createRuntime", "createContainer",
                                                              "startContainer", "poststart",     "poststop"};
  if (std::find(kStages.begin(), kStages.end(), hook.hook_name) == kStages.end())
    fail(file, where + ".hookName", "is \"" + hook.hook_name + "\", which is no stage of a hook");
  if (hook.path.empty()) fail(file, where + ".path", "is empty");
  check_env(hook.env, file, where + ".env");
}

void check_mount(const CdiMount& mount, const std::string& file, const std::string& where) {
  if (mount.host_path.empty()) fail(file, where + ".hostPath", "is empty");
  if (mount.container_path.empty()) fail(file, where + ".containerPath", "is empty");
}

void check_net_devices(const std::vector<CdiNetDevice>& devices, const std::string& file, const std::string& where) {
  std::set<std::string> hosts;
  std::set<std::string> names;
  for (const CdiNetDevice& device : devices) {
    if (device.host_interface_name.empty() || device.name.empty()) fail(file, where, "has a device without a name");
    if (!hosts.insert(device.host_interface_name).second || !names.insert(device.name).second)
      fail(file, where, "names a device twice");
  }
}

void check_rdt(const CdiIntelRdt& rdt, const std::string& file, const std::string& where) {
  const std::string& id = rdt.clos_id;
  if (id.size() >= 4096 || id == "." || id == ".." || id.find('\n') != std::string::npos ||
      (id != "/" && id.find('/') != std::string::npos))
    fail(file, where + ".closID", "cannot be a directory's name");
}

void check_edits(const CdiEdits& edits, const std::string& file, const std::string& where) {
  const auto at = [&](const char* list, std::size_t index) {
    return where + "." + list + "[" + std::to_string(index) + "]";
  };
  check_env(edits.env, file, where + ".env");
  for (std::size_t i = 0; i < edits.device_nodes.size(); ++i)
    check_node(edits.device_nodes[i], file, at("deviceNodes", i));
  for (std::size_t i = 0; i < edits.hooks.size(); ++i) check_hook(edits.hooks[i], file, at("hooks", i));
  for (std::size_t i = 0; i < edits.mounts.size(); ++i) check_mount(edits.mounts[i], file, at("mounts", i));
  check_net_devices(edits.net_devices, file, where + ".netDevices");
  if (edits.intel_rdt) check_rdt(*edits.intel_rdt, file, where + ".intelRdt");
}

std::size_t needed_by(const CdiEdits& edits) {
  std::size_t needed = k030;
  for (const CdiMount& mount : edits.mounts)
    if (!mount.type.empty()) needed = std::max<std::size_t>(needed, k040);
  for (const CdiDeviceNode& node : edits.device_nodes)
    if (!node.host_path.empty()) needed = std::max<std::size_t>(needed, k050);
  if (edits.intel_rdt || !edits.additional_gids.empty()) needed = std::max<std::size_t>(needed, k070);
  const bool new_rdt = edits.intel_rdt && (!edits.intel_rdt->schemata.empty() || edits.intel_rdt->enable_monitoring);
  if (!edits.net_devices.empty() || new_rdt) needed = k110;
  return needed;
}

std::size_t needed_by(const CdiSpec& spec) {
  std::size_t needed = needed_by(spec.edits);
  if (!spec.annotations.empty() || spec.klass.find('.') != std::string::npos)
    needed = std::max<std::size_t>(needed, k060);
  for (const CdiDevice& device : spec.devices) {
    needed = std::max(needed, needed_by(device.edits));
    if (!device.annotations.empty()) needed = std::max<std::size_t>(needed, k060);
    if (!device.name.empty() && is_digit(device.name.front())) needed = std::max<std::size_t>(needed, k050);
  }
  return needed;
}

bool has_removed_rdt(const CdiEdits& edits) {
  return edits.intel_rdt && (edits.intel_rdt->enable_cmt || edits.intel_rdt->enable_mbm);
}

void check_version(const CdiSpec& spec, const std::string& file) {
  const auto found = std::find(kVersions.begin(), kVersions.end(), spec.version);
  if (found == kVersions.end())
    throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}}, "cdiVersion \"" + spec.version + "\" is unknown");
  const auto declared = static_cast<std::size_t>(found - kVersions.begin());
  const std::size_t needed = needed_by(spec);
  if (declared < needed)
    fail(file, "cdiVersion", "is " + spec.version + ", but the file's fields need " + std::string(kVersions[needed]));
  bool removed = has_removed_rdt(spec.edits);
  for (const CdiDevice& device : spec.devices) removed = removed || has_removed_rdt(device.edits);
  if (declared >= k110 && removed) fail(file, "intelRdt", "has enableCMT or enableMBM, which 1.1.0 no longer knows");
}

}  // namespace

bool is_vendor_or_class(const std::string& text) {
  return !text.empty() && is_letter(text.front()) && is_alphanumeric(text.back()) && consists_of(text, "_-.");
}

bool is_device_name(const std::string& text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) && consists_of(text, "_-.:");
}

void validate(const CdiSpec& spec, const std::string& file) {
  check_version(spec, file);
  if (!is_vendor_or_class(spec.vendor) || !is_vendor_or_class(spec.klass))
    fail(file, "kind", "\"" + spec.kind() + "\" is not vendor/class");
  if (spec.devices.empty()) fail(file, "devices", "is empty");
  check_edits(spec.edits, file, "containerEdits");
  std::set<std::string> names;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const CdiDevice& device = spec.devices[i];
    const std::string where = "devices[" + std::to_string(i) + "]";
    if (!is_device_name(device.name)) fail(file, where + ".name", "\"" + device.name + "\" is not a device name");
    if (!names.insert(device.name).second) fail(file, where + ".name", "\"" + device.name + "\" occurs twice");
    if (is_empty(device.edits)) fail(file, where + ".containerEdits", "is empty");
    check_edits(device.edits, file, where + ".containerEdits");
  }
}

}  // namespace ckpt::cdi
