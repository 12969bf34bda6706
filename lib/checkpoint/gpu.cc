// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/paths.h"
#include "checkpoint/classify.h"
#include "checkpoint/impl.h"

namespace ckpt {

namespace {

using Impl = Checkpoint::Impl;

// The CUDA driver's socket for handing over UVM descriptors; it stays when GPU memory has been moved to the host.
constexpr std::string_view kUvmSocket = "cuda-uvmfd-";

/// Gathers signs once each, in the order found.
class Signs {
 public:
  explicit Signs(GpuReport& report) : report_(report) {}
  void add(const std::string& what, const std::string& detail, const std::string& confidence) {
    if (seen_.emplace(what, detail).second) report_.signs.push_back({what, detail, confidence});
  }
  void vendor(const std::string& name) {
    if (report_.vendor.empty()) report_.vendor = name;
  }

 private:
  GpuReport& report_;
  std::set<std::pair<std::string, std::string>> seen_;
};

std::string vendor_of_class(const std::string& device_class) {
  return device_class == "nvidia" || device_class == "amd" || device_class == "intel" ? device_class : std::string();
}

void from_plugins(const Impl& checkpoint, Signs& signs, GpuReport& report) {
  for (const std::string& plugin : checkpoint.criu_plugins.value_or(std::vector<std::string>{})) {
    if (plugin.find("cuda") != std::string::npos) {
      signs.vendor("nvidia");
      report.capture = "cuda_plugin";
    } else if (plugin.find("amdgpu") != std::string::npos) {
      signs.vendor("amd");
      report.capture = "amdgpu_plugin";
    }
    signs.add("plugin", plugin, "certain");
  }
}

void from_mounts(const Impl& checkpoint, Signs& signs, std::set<std::string>& versions) {
  for (const Mount& mount : checkpoint.mounts) {
    if (mount.mount_class == MountClass::library || mount.mount_class == MountClass::firmware) {
      signs.vendor("nvidia");
      signs.add("mount", mount.mountpoint, "certain");
      versions.insert(driver_version_in(mount.mountpoint));
    } else if (mount.mount_class == MountClass::hook_scratch || mount.mount_class == MountClass::procfs) {
      signs.vendor("nvidia");
      signs.add("mount", mount.mountpoint, "likely");
    }
  }
}

void from_devices(const Impl& checkpoint, Signs& signs) {
  for (const DeviceEntry& device : checkpoint.devices) {
    if (device.device_class.empty() || device.place == DeviceEntry::Place::rule) continue;
    signs.vendor(vendor_of_class(device.device_class));
    signs.add("device", device.path, device.place == DeviceEntry::Place::tmpfs ? "certain" : "likely");
  }
}

bool is_driver_file(std::string_view path) { return classify_driver_path(path) == MountClass::library; }

void from_files(const Impl& checkpoint, Signs& signs, std::set<std::string>& versions) {
  for (const auto& [id, file] : checkpoint.files) {
    if (file.reg && is_driver_file(file.reg->name)) {
      signs.vendor("nvidia");
      signs.add("library", file.reg->name, "certain");
      versions.insert(driver_version_in(file.reg->name));
    }
    if (file.unix_name && file.unix_name->find(kUvmSocket) != std::string::npos) {
      signs.vendor("nvidia");
      signs.add("socket", std::string(kUvmSocket), "certain");
    }
  }
}

void from_spec(const Impl& checkpoint, Signs& signs) {
  for (const std::string& name : checkpoint.requested_devices) signs.add("request", name, "certain");
  if (!checkpoint.spec) return;
  for (const std::string& variable : checkpoint.spec->env) {
    const std::string name = variable.substr(0, variable.find('='));
    if (name.rfind("NVIDIA_", 0) == 0 || name.rfind("CUDA_", 0) == 0) signs.add("environment", name, "hint");
  }
  for (const SpecHook& hook : checkpoint.spec->hooks)
    if (hook.path.find("nvidia") != std::string::npos) signs.add("hook", hook.stage + " " + hook.path, "likely");
}

std::vector<std::uint32_t> users_of_driver(const Impl& checkpoint) {
  std::set<std::uint32_t> pids;
  for (const TaskImages& task : checkpoint.tasks) {
    if (!task.mm) continue;
    for (const criu::Vma& vma : task.mm->vmas) {
      if (!vma.maps_file() || vma.shmid > 0xffffffffULL) continue;
      const auto file = checkpoint.files.find(static_cast<std::uint32_t>(vma.shmid));
      if (file != checkpoint.files.end() && file->second.reg && is_driver_file(file->second.reg->name))
        pids.insert(task.process.pid);
    }
  }
  return {pids.begin(), pids.end()};
}

// CRIU cannot dump an open NVIDIA device by itself, so a mapped driver together with CUDA's own socket means that
// GPU memory had been moved to the host before the dump by something that left no mark.
std::string capture_without_plugin(const GpuReport& report) {
  if (report.signs.empty()) return {};
  if (report.pids.empty()) return "none";
  const bool cuda_was_up =
      std::any_of(report.signs.begin(), report.signs.end(), [](const GpuSign& sign) { return sign.what == "socket"; });
  return cuda_was_up ? "out_of_band" : "unknown";
}

}  // namespace

void collect_gpu_signs(Impl& checkpoint) {
  GpuReport& report = checkpoint.gpu;
  Signs signs(report);
  std::set<std::string> versions;
  from_plugins(checkpoint, signs, report);
  from_mounts(checkpoint, signs, versions);
  from_devices(checkpoint, signs);
  from_files(checkpoint, signs, versions);
  from_spec(checkpoint, signs);
  versions.erase("");
  report.driver_versions.assign(versions.begin(), versions.end());
  report.pids = users_of_driver(checkpoint);
  if (report.capture.empty()) report.capture = capture_without_plugin(report);
}

}  // namespace ckpt
