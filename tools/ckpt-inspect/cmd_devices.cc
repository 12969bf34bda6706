// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.h"

namespace ckpt::tool {

namespace {

std::string number(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "*"; }

Json number_json(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

std::string details_of(const DeviceEntry& device) {
  if (device.place == DeviceEntry::Place::rule) return (device.allow ? "allow " : "deny ") + device.access;
  return device.place == DeviceEntry::Place::spec ? std::string() : device.member;
}

std::string devices_text(const Checkpoint& checkpoint) {
  Table table({"PATH", "TYPE", "MAJOR", "MINOR", "WHERE", "CLASS", "DETAILS"});
  for (const DeviceEntry& device : checkpoint.devices()) {
    const bool numbered = device.place != DeviceEntry::Place::mount;
    table.row({device.path, device.type, numbered ? number(device.major) : "-", numbered ? number(device.minor) : "-",
               to_string(device.place), device.device_class, details_of(device)});
  }
  return table.empty() ? "No device nodes and no rules about them.\n" : table.text();
}

Json devices_json(const Checkpoint& checkpoint) {
  Json list = Json::array();
  for (const DeviceEntry& device : checkpoint.devices()) {
    Json json = Json::object();
    json.set("path", optional_text(device.path)).set("type", optional_text(device.type));
    json.set("major", number_json(device.major)).set("minor", number_json(device.minor));
    json.set("where", to_string(device.place)).set("class", optional_text(device.device_class));
    json.set("member", device.member);
    if (device.place == DeviceEntry::Place::rule) json.set("allow", device.allow).set("access", device.access);
    list.push(std::move(json));
  }
  Json json = Json::object();
  return json.set("archive", checkpoint.name()).set("devices", std::move(list));
}

}  // namespace

Action add_devices(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("devices", "List device nodes and device rules, and where each stands");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("ARCHIVE", *paths, "Checkpoint archives; - is standard input")->required();
  return [paths, context] { return report_archives(context, *paths, {"ckpt.devices/1", devices_json, devices_text}); };
}

}  // namespace ckpt::tool
