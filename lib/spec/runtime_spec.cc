// SPDX-License-Identifier: Apache-2.0
#include "spec/runtime_spec.h"

#include <algorithm>
#include <array>

#include "spec/typed.h"

namespace ckpt {

namespace {

using typed::Reader;

std::vector<SpecMount> read_mounts(const Reader& spec) {
  std::vector<SpecMount> mounts;
  spec.each("mounts", [&](const Reader& item, std::size_t index) {
    mounts.push_back({index, item.text("destination"), item.text("type"), item.text("source"), item.texts("options")});
  });
  return mounts;
}

std::vector<SpecDevice> read_devices(const Reader& linux_part) {
  std::vector<SpecDevice> devices;
  linux_part.each("devices", [&](const Reader& item, std::size_t index) {
    devices.push_back({index, item.text("path"), item.text("type"), item.integer("major").value_or(0),
                       item.integer("minor").value_or(0)});
  });
  return devices;
}

std::optional<std::int64_t> one_number(std::optional<std::int64_t> number) {
  return number && *number >= 0 ? number : std::nullopt;
}

std::vector<SpecDeviceRule> read_rules(const Reader& resources) {
  std::vector<SpecDeviceRule> rules;
  resources.each("devices", [&](const Reader& item, std::size_t index) {
    rules.push_back({index, item.flag("allow"), item.text("type"), one_number(item.integer("major")),
                     one_number(item.integer("minor")), item.text("access")});
  });
  return rules;
}

std::vector<SpecHook> read_hooks(const Reader& hooks) {
  static constexpr std::array<const char*, 6> kStages = {"prestart",       "createRuntime", "createContainer",
                                                         "startContainer", "poststart",     "poststop"};
  std::vector<SpecHook> found;
  for (const char* stage : kStages)
    hooks.each(stage, [&](const Reader& item, std::size_t index) {
      found.push_back({stage, index, item.text("path"), item.texts("args")});
    });
  return found;
}

std::vector<SpecNamespace> read_namespaces(const Reader& linux_part) {
  std::vector<SpecNamespace> namespaces;
  linux_part.each("namespaces", [&](const Reader& item, std::size_t) {
    namespaces.push_back({item.text("type"), item.text("path")});
  });
  return namespaces;
}

}  // namespace

bool SpecMount::is_bind() const noexcept {
  return type == "bind" || std::any_of(options.begin(), options.end(),
                                       [](const std::string& option) { return option == "bind" || option == "rbind"; });
}

RuntimeSpec read_runtime_spec(const Json& document, const Where& where) {
  const Reader top(document, where);
  top.require_object();
  const Reader process = top.child("process");
  const Reader linux_part = top.child("linux");
  RuntimeSpec spec;
  spec.oci_version = top.text("ociVersion");
  spec.hostname = top.text("hostname");
  spec.annotations = top.text_map("annotations");
  spec.args = process.texts("args");
  spec.env = process.texts("env");
  spec.mounts = read_mounts(top);
  spec.devices = read_devices(linux_part);
  spec.device_rules = read_rules(linux_part.child("resources"));
  spec.hooks = read_hooks(top.child("hooks"));
  spec.masked_paths = linux_part.texts("maskedPaths");
  spec.readonly_paths = linux_part.texts("readonlyPaths");
  spec.namespaces = read_namespaces(linux_part);
  return spec;
}

}  // namespace ckpt
