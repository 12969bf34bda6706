// SPDX-License-Identifier: Apache-2.0
#include "common/request_report.h"

#include <fmt/format.h>

#include "common/console.h"
#include "common/report.h"

namespace ckpt::tool {

namespace {

using Request = RestoreRequest;

std::string volume_name(std::size_t index) { return fmt::format("restore-{}", index); }

// JSON strings are YAML strings, whatever an archive put into a path.
std::string quoted(const std::string& text) { return safe(Json(text).dump(-1)); }

std::string manifest_stub(const Request& request) {
  std::string mounts;
  std::string volumes;
  std::size_t index = 0;
  for (const Request::MountWish& wish : request.mounts) {
    if (wish.by_kubelet) continue;
    const std::string name = volume_name(index++);
    mounts += fmt::format("    - {{name: {}, mountPath: {}{}}}\n", name, quoted(wish.container_path),
                          wish.read_only ? ", readOnly: true" : "");
    volumes += fmt::format("    - {{name: {}, hostPath: {{path: {}}}}}\n", name, quoted(wish.host_path));
  }
  return mounts.empty() ? std::string() : "    volumeMounts:\n" + mounts + "    volumes:\n" + volumes;
}

std::string device_line(const Request::DeviceWish& wish) {
  const std::string numbers = wish.major ? fmt::format(", {} {}:{}", wish.type.empty() ? "c" : wish.type, *wish.major,
                                                 wish.minor.value_or(0))
                                   : std::string();
  return fmt::format("    {} from {}, {}{}\n", safe(wish.path), safe(wish.host_path), safe(wish.permissions), numbers);
}

Json wish_json(const Request::DeviceWish& wish) {
  Json json = Json::object();
  json.set("path", wish.path).set("host_path", wish.host_path).set("permissions", wish.permissions);
  json.set("type", optional_text(wish.type)).set("major", wish.major ? Json(*wish.major) : Json());
  return json.set("minor", wish.minor ? Json(*wish.minor) : Json());
}

}  // namespace

std::string request_text(const Comparison& comparison) {
  const Request& request = comparison.request;
  std::string text;
  if (const std::string stub = manifest_stub(request); !stub.empty())
    text += "  the pod must declare:\n" + stub;
  if (!request.devices.empty()) {
    text += comparison.engine == Engine::cri_o
                ? "  devices the container needs, which CRI-O takes from its additional_devices, an NRI plugin or the "
                  "sandbox's devices, not from the request:\n"
                : "  devices the request must carry (a CDI device brings them):\n";
    for (const Request::DeviceWish& wish : request.devices) text += device_line(wish);
  }
  if (!request.switches.empty()) text += "  on the node:\n";
  for (const Request::NodeSwitch& setting : request.switches)
    text += fmt::format("    {}: {}\n      {}\n", setting.file, setting.setting, setting.why);
  return text;
}

Json request_json(const Comparison& comparison) {
  const Request& request = comparison.request;
  if (comparison.engine != Engine::cri_o && comparison.engine != Engine::containerd) return {};
  Json mounts = Json::array();
  Json volume_mounts = Json::array();
  Json volumes = Json::array();
  std::size_t index = 0;
  for (const Request::MountWish& wish : request.mounts) {
    Json json = Json::object();
    json.set("container_path", wish.container_path).set("host_path", wish.host_path);
    mounts.push(std::move(json.set("readonly", wish.read_only).set("by_kubelet", wish.by_kubelet)));
    if (wish.by_kubelet) continue;
    const std::string name = volume_name(index++);
    Json mount = Json::object();
    mount.set("name", name).set("mountPath", wish.container_path);
    if (wish.read_only) mount.set("readOnly", true);
    volume_mounts.push(std::move(mount));
    Json path = Json::object();
    path.set("path", wish.host_path);
    Json volume = Json::object();
    volumes.push(std::move(volume.set("name", name).set("hostPath", std::move(path))));
  }
  Json devices = Json::array();
  for (const Request::DeviceWish& wish : request.devices) devices.push(wish_json(wish));
  Json switches = Json::array();
  for (const Request::NodeSwitch& setting : request.switches) {
    Json json = Json::object();
    json.set("file", setting.file).set("setting", setting.setting);
    switches.push(std::move(json.set("why", setting.why)));
  }
  Json json = Json::object();
  json.set("mounts", std::move(mounts)).set("devices", std::move(devices)).set("switches", std::move(switches));
  return json.set("volume_mounts", std::move(volume_mounts)).set("volumes", std::move(volumes));
}

std::string device_map_text(const Comparison& comparison) {
  std::string text;
  for (const GpuMap& map : comparison.device_map)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", map.old_gpu, map.new_gpu);
  return text;
}

}  // namespace ckpt::tool
