// SPDX-License-Identifier: Apache-2.0
#include "cuda/preflight.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "cuda/device_map.h"

namespace ckpt::cuda {

namespace {

using Processes = std::vector<GpuProcess>;
using Findings = std::vector<GpuFinding>;

// Copied memory arrives with page tables and the driver's own state; a GPU keeps some for the context.
constexpr std::uint64_t kContextBytes = std::uint64_t{256} << 20;

std::string subject_of(const GpuProcess& process) {
  return "process " + std::to_string(process.pid) + " (" + process.comm + ")";
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

GpuFinding unreachable_finding(const GpuProcess& process) {
  GpuFinding finding{"unreachable", true, subject_of(process), "the driver cannot be asked: " + process.trouble, ""};
  if (process.trouble == "stopped") {
    finding = {"stopped", true, subject_of(process), "it is stopped, and the driver waits for it for ever",
               "kill -CONT " + std::to_string(process.pid)};
  } else if (process.trouble == "frozen") {
    finding = {"frozen", true, subject_of(process), "its control group is frozen, and the driver waits for it for ever",
               "thaw " + process.cgroup};
  } else if (process.trouble == kNoAnswer) {
    finding.code = "no_answer";
    finding.remedy = "another call may be under way, or the process hangs; ckpt-gpu recover waits for it";
  } else {
    finding.remedy = "root, or the process's own user with leave to trace it, may ask";
  }
  return finding;
}

void check_process(const GpuProcess& process, const GpuRequest& request, Findings& findings) {
  if (process.kind == GpuKind::unreachable) findings.push_back(unreachable_finding(process));
  if (process.kind != GpuKind::cuda) return;
  // A recovery brings back the others all the same.
  if (process.state == GpuState::failed)
    findings.push_back(
        {"failed", request.verb != GpuVerb::recover, subject_of(process), "CUDA in it has failed for good", "kill it"});
  if (process.state == GpuState::unknown)
    findings.push_back({"no_answer", true, subject_of(process), "its state cannot be read: " + process.trouble,
                        "another call may be under way; ckpt-gpu recover waits for it"});
  if (!copies_out(request.verb)) return;
  if (process.uvm_maps > 1)
    findings.push_back({"managed_memory", false, subject_of(process),
                        "it seems to use managed memory (" + std::to_string(process.uvm_maps) +
                            " mappings of /dev/nvidia-uvm), which the driver cannot checkpoint",
                        ""});
  if (process.nccl)
    findings.push_back({"nccl", false, subject_of(process), "NCCL is active in it",
                        "tear communicators down first, and disable NVLS (NCCL_NVLS_ENABLE=0)"});
}

std::uint64_t bytes_to_copy(const Processes& processes) {
  std::uint64_t sum = 0;
  for (const GpuProcess& process : processes)
    if (process.kind == GpuKind::cuda && process.state != GpuState::checkpointed) sum += total_bytes(process);
  return sum;
}

void check_host_memory(const Fleet& fleet, const Processes& processes, Findings& findings) {
  const std::uint64_t bytes = bytes_to_copy(processes);
  if (bytes == 0) {
    const bool any = std::any_of(processes.begin(), processes.end(), [](const GpuProcess& process) {
      return process.kind == GpuKind::cuda && process.state != GpuState::checkpointed;
    });
    if (any)
      findings.push_back({"size_unknown", false, "GPU memory",
                          "how much is in use cannot be read, so host memory was not checked", ""});
    return;
  }
  const std::uint64_t needed = bytes + bytes / 10;
  const std::string text = fleet.node().proc.read("meminfo").value_or("");
  const auto available = leading_number(field_of(text, "MemAvailable"));
  if (available && *available << 10 < needed)
    findings.push_back(
        {"host_memory", true, "host memory",
         mebibytes(needed) + " are needed for the GPU memory, " + mebibytes(*available << 10) + " are available",
         "free host memory, or let the program free GPU memory first"});
}

// The copy is charged to the process's own control group.
void check_cgroup_memory(const Fleet& fleet, const Processes& processes, Findings& findings) {
  std::map<std::string, std::uint64_t> needed;
  for (const GpuProcess& process : processes)
    if (process.kind == GpuKind::cuda && process.state != GpuState::checkpointed && !process.cgroup.empty())
      needed[process.cgroup] += total_bytes(process);
  for (const auto& [cgroup, bytes] : needed) {
    const auto left = fleet.node().cgroups.memory_left(cgroup);
    if (left && *left < bytes + bytes / 10)
      findings.push_back({"cgroup_memory", true, cgroup,
                          mebibytes(bytes + bytes / 10) + " are needed for the GPU memory, " + mebibytes(*left) +
                              " are left below the memory limit",
                          "raise the limit: past it the kernel kills the process"});
  }
}

bool uses(const GpuProcess& process, const GpuDevice& device) {
  if (device.minor && std::count(process.minors.begin(), process.minors.end(), *device.minor) > 0) return true;
  return std::any_of(process.gpu_bytes.begin(), process.gpu_bytes.end(),
                     [&](const auto& use) { return use.first == device.uuid; });
}

void check_mig(const Processes& processes, const std::vector<GpuDevice>& devices, Findings& findings) {
  for (const GpuDevice& device : devices) {
    if (!device.mig) continue;
    const bool used = std::any_of(processes.begin(), processes.end(),
                                  [&](const GpuProcess& process) { return uses(process, device); });
    findings.push_back({"mig", used, device.uuid,
                        "the GPU is split into MIG instances, which the driver cannot checkpoint",
                        used ? "use a whole GPU" : ""});
  }
}

// What was recorded for each GPU must fit where the map puts it.
void check_gpu_memory(const Processes& processes, const GpuRequest& request, const std::vector<GpuDevice>& devices,
                      Findings& findings) {
  std::map<std::string, std::uint64_t> needed;
  for (const auto& [nspid, gpus] : request.recorded->bytes) {
    const bool wanted = std::any_of(processes.begin(), processes.end(), [&, id = nspid](const GpuProcess& process) {
      return process.nspid == id && process.state == GpuState::checkpointed;
    });
    if (!wanted) continue;
    for (const auto& [uuid, bytes] : gpus) {
      const auto pair = std::find_if(request.device_map.begin(), request.device_map.end(),
                                     [&, old = uuid](const GpuPair& candidate) { return candidate.old_uuid == old; });
      needed[pair == request.device_map.end() ? uuid : pair->new_uuid] += bytes;
    }
  }
  for (const GpuDevice& device : devices) {
    const auto found = needed.find(device.uuid);
    if (found == needed.end() || !device.free_bytes || *device.free_bytes >= found->second + kContextBytes) continue;
    findings.push_back({"gpu_memory", true, device.uuid,
                        mebibytes(found->second + kContextBytes) + " are needed, " + mebibytes(*device.free_bytes) +
                            " are free; a restore that runs out of memory ends the process",
                        "free the GPU, or map to another one"});
  }
}

}  // namespace

bool copies_out(GpuVerb verb) noexcept { return verb == GpuVerb::suspend || verb == GpuVerb::checkpoint; }
bool copies_in(GpuVerb verb) noexcept {
  return verb == GpuVerb::resume || verb == GpuVerb::restore || verb == GpuVerb::recover;
}

Findings find_obstacles(Fleet& fleet, const Processes& processes, const GpuRequest& request) {
  Findings findings;
  for (const GpuProcess& process : processes) check_process(process, request, findings);
  const bool any = std::any_of(processes.begin(), processes.end(),
                               [](const GpuProcess& process) { return process.kind == GpuKind::cuda; });
  if (!any) return findings;
  if (copies_out(request.verb)) {
    check_host_memory(fleet, processes, findings);
    check_cgroup_memory(fleet, processes, findings);
    check_mig(processes, fleet.devices(), findings);
  }
  if (!copies_in(request.verb)) return findings;
  if (!request.device_map.empty() && fleet.worker().api_version() < kFirstWithPairs)
    findings.push_back(
        {"no_device_map", true, "driver", "it takes no device map", "driver 580 (CUDA 13.0) is the first that does"});
  const std::vector<GpuDevice> devices = fleet.devices();
  for (GpuFinding& finding : check_device_map(request.device_map, request.recorded, devices))
    findings.push_back(std::move(finding));
  if (request.recorded) {
    check_gpu_memory(processes, request, devices, findings);
    const std::string version = fleet.driver().version;
    if (!version.empty() && !request.recorded->driver.empty() && version != request.recorded->driver)
      findings.push_back({"other_driver", true, "driver",
                          "it is " + version + ", the memory came from " + request.recorded->driver,
                          "the very same driver is needed"});
  }
  return findings;
}

}  // namespace ckpt::cuda
