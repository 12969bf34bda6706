// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "ckpt/file.h"
#include "common/table.h"
#include "options.h"
#include "report.h"

namespace ckpt::tool {

namespace {

std::string size_text(const std::optional<std::uint64_t>& bytes) { return bytes ? human_size(*bytes) : "-"; }

std::string devices_text(const std::vector<GpuDevice>& devices) {
  Table table({"GPU", "MINOR", "MODEL", "MEMORY", "FREE", "MIG"});
  for (const GpuDevice& device : devices)
    table.row({device.uuid, device.minor ? std::to_string(*device.minor) : "-", device.name,
               size_text(device.total_bytes), size_text(device.free_bytes), device.mig ? "on" : "off"});
  return table.text();
}

// GPUs named by uuid only: their models are not known, so any free GPU may take their place.
std::vector<GpuDevice> named_devices(const std::vector<std::string>& uuids) {
  std::vector<GpuDevice> devices;
  for (const std::string& uuid : uuids) {
    GpuDevice device;
    std::string identity = uuid;
    identity.append("=").append(uuid);
    device.uuid = parse_device_map(identity).front().old_uuid;
    devices.push_back(std::move(device));
  }
  return devices;
}

void check_targets(const std::vector<GpuPair>& map, const std::vector<GpuDevice>& here) {
  for (const GpuPair& pair : map) {
    const auto found =
        std::find_if(here.begin(), here.end(), [&](const GpuDevice& device) { return device.uuid == pair.new_uuid; });
    if (found == here.end())
      throw Error(ErrorCode::invalid_argument, {}, "device map: this node has no GPU " + pair.new_uuid,
                  "ckpt-gpu map lists those it has");
    if (found->mig)
      throw Error(ErrorCode::invalid_argument, {}, "device map: " + pair.new_uuid + " is split into MIG instances");
  }
}

int run_map(GpuContext context, const std::vector<std::string>& olds) {
  const GpuArguments& arguments = context.arguments;
  GpuSession session(session_options(arguments));
  const std::vector<GpuDevice> here = session.devices();
  const bool asked = !arguments.recorded.empty() || !olds.empty();
  std::vector<GpuPair> map;
  if (!arguments.device_map.empty() || !arguments.device_map_file.empty())
    map = find_device_map(arguments.device_map, arguments.device_map_file, arguments.state_root);
  else if (!arguments.recorded.empty())
    map = make_device_map(parse_gpu_record(read_text_file(arguments.recorded), arguments.recorded).devices, here);
  else if (asked)
    map = make_device_map(named_devices(olds), here);
  check_targets(map, here);
  if (context.options.json) {
    Json devices = Json::array();
    for (const GpuDevice& device : here) devices.push(device_json(device));
    Json document = gpu_document("map");
    document.set("devices", std::move(devices)).set("device_map", map.empty() ? Json() : Json(to_string(map)));
    context.console.print_json(document);
  } else {
    context.console.print(map.empty() && !asked ? devices_text(here) : to_string(map) + "\n");
  }
  return kYes;
}

}  // namespace

void add_map_command(CLI::App& app, GpuContext context, const Register& run) {
  CLI::App* map = app.add_subcommand("map", "List this node's GPUs, make a device map, or check one");
  add_map_options(*map, context.arguments);
  const auto olds = std::make_shared<std::vector<std::string>>();
  map->add_option("--old", *olds, "A GPU of the suspended processes, by UUID")->type_name("UUID");
  run(map, [context, olds] { return run_map(context, *olds); });
}

}  // namespace ckpt::tool
