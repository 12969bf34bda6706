// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <set>

#include "commands.h"

namespace ckpt::tool {

namespace {

// What a node must offer before this checkpoint can come back on it.
std::vector<std::string> needs_of(const Checkpoint& checkpoint) {
  const GpuReport& gpu = checkpoint.gpu();
  std::vector<std::string> needs;
  if (!gpu.pids.empty() && !gpu.driver_versions.empty())
    needs.push_back(fmt::format("driver {}, the very same build: processes have its libraries mapped",
                                fmt::join(gpu.driver_versions, " or ")));
  if (gpu.capture == "cuda_plugin") needs.emplace_back("CRIU with its CUDA plugin and cuda-checkpoint");
  if (gpu.capture == "out_of_band")
    needs.emplace_back("GPU memory put back after the restore (cuda-checkpoint), on GPUs of the same model and number");
  if (gpu.capture == "amdgpu_plugin") needs.emplace_back("CRIU with its AMD GPU plugin");
  std::set<std::string> nodes;
  for (const DeviceEntry& device : checkpoint.devices())
    if (!device.device_class.empty() && !device.path.empty()) nodes.insert(device.path);
  for (const std::string& node : nodes) needs.push_back("device " + node);
  return needs;
}

std::string gpu_text(const Checkpoint& checkpoint) {
  const GpuReport& gpu = checkpoint.gpu();
  if (gpu.signs.empty()) return "No sign of a GPU.\n";
  Sheet sheet;
  sheet.line("Archive", checkpoint.name());
  sheet.line("Vendor", gpu.vendor);
  sheet.line("Driver", fmt::format("{}", fmt::join(gpu.driver_versions, ", ")));
  sheet.line("Capture", gpu.capture);
  sheet.line("Processes", fmt::format("{}", fmt::join(gpu.pids, ", ")));
  Table signs({"SIGN", "CONFIDENCE", "DETAIL"});
  for (const GpuSign& sign : gpu.signs) signs.row({sign.what, sign.confidence, sign.detail});
  std::string text = sheet.text() + "\n" + signs.text() + "\nA target node needs:\n";
  for (const std::string& need : needs_of(checkpoint)) text += "  " + safe(need) + "\n";
  return text;
}

Json gpu_json(const Checkpoint& checkpoint) {
  const GpuReport& gpu = checkpoint.gpu();
  Json versions = Json::array();
  for (const std::string& version : gpu.driver_versions) versions.push(version);
  Json pids = Json::array();
  for (const std::uint32_t pid : gpu.pids) pids.push(pid);
  Json signs = Json::array();
  for (const GpuSign& sign : gpu.signs) {
    Json json = Json::object();
    json.set("what", sign.what).set("detail", sign.detail);
    signs.push(std::move(json.set("confidence", sign.confidence)));
  }
  Json requested = Json::array();
  for (const std::string& name : checkpoint.requested_devices()) requested.push(name);
  Json needs = Json::array();
  for (const std::string& need : needs_of(checkpoint)) needs.push(need);
  Json json = Json::object();
  json.set("archive", checkpoint.name()).set("vendor", optional_text(gpu.vendor));
  json.set("driver_versions", std::move(versions)).set("capture", optional_text(gpu.capture));
  json.set("pids", std::move(pids)).set("requested_devices", std::move(requested));
  return json.set("signs", std::move(signs)).set("target_needs", std::move(needs));
}

}  // namespace

Action add_gpu(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("gpu", "List every sign of a GPU and what a target node must have");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("ARCHIVE", *paths, "Checkpoint archives; - is standard input")->required();
  return [paths, context] { return report_archives(context, *paths, {"ckpt.gpu/1", gpu_json, gpu_text}); };
}

}  // namespace ckpt::tool
