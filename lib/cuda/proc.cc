// SPDX-License-Identifier: Apache-2.0
#include "cuda/proc.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "cuda/files.h"

namespace ckpt::cuda {

namespace {

constexpr std::size_t kMapsLimit = std::size_t{32} << 20;

std::optional<std::uint32_t> pid_of(const std::string& name) {
  if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos || name.size() > 9) return std::nullopt;
  return static_cast<std::uint32_t>(std::stoul(name));
}

// The path that names the container: the unified hierarchy's, else the first controller's that is not the top.
std::string cgroup_of(std::string_view text) {
  std::string found;
  for (const auto& [controllers, path] : parse_cgroups(text)) {
    if (path == "/" || path.find("/..") != std::string::npos) continue;
    if (controllers.empty()) return path;
    if (controllers == "memory" || found.empty()) found = path;
  }
  return found;
}

bool has_variable(std::string_view environment, std::string_view name) {
  for (std::size_t at = 0; at < environment.size();) {
    const std::string_view variable = environment.substr(at, environment.find('\0', at) - at);
    if (variable.size() > name.size() && variable.substr(0, name.size()) == name && variable[name.size()] == '=')
      return true;
    at += variable.size() + 1;
  }
  return false;
}

bool has_nccl_thread(const std::string& directory) {
  constexpr std::size_t kMostThreads = 4096;
  std::size_t seen = 0;
  const std::string tasks = directory + "/task/";
  for (std::string& thread : names_in(tasks)) {
    if (++seen > kMostThreads) break;
    const std::string comm = read_some(tasks + thread.append("/comm"), 64).value_or("");
    if (comm.rfind("pt_nccl", 0) == 0 || comm.rfind("nccl", 0) == 0 || comm.rfind("NCCL", 0) == 0) return true;
  }
  return false;
}

std::vector<std::uint32_t> open_minors(const std::string& directory) {
  std::set<std::uint32_t> minors;
  const std::string prefix = "/dev/nvidia";
  const std::string fds = directory + "/fd/";
  for (const std::string& fd : names_in(fds)) {
    char target[64];
    const ssize_t size = ::readlink((fds + fd).c_str(), target, sizeof target);
    if (size <= 0 || size == sizeof target) continue;
    const std::string path(target, static_cast<std::size_t>(size));
    if (path.rfind(prefix, 0) != 0) continue;
    if (const auto minor = pid_of(path.substr(prefix.size()))) minors.insert(*minor);
  }
  return {minors.begin(), minors.end()};
}

void look_closer(const Proc& proc, GpuProcess& process) {
  const std::string directory = proc.root() + "/" + std::to_string(process.pid);
  process.nccl = has_nccl_thread(directory);
  process.minors = open_minors(directory);
  process.job = has_variable(proc.read(process.pid, "environ").value_or(""), "CUDA_CHECKPOINT_JOB_FILE");
}

}  // namespace

std::optional<std::string> Proc::read(std::uint32_t pid, const char* name) const {
  return read_some(root_ + "/" + std::to_string(pid) + "/" + name);
}

std::optional<std::string> Proc::read(const std::string& name) const { return read_some(root_ + "/" + name); }

std::optional<Stat> Proc::stat(std::uint32_t pid) const {
  const auto text = read(pid, "stat");
  return text ? parse_stat(*text) : std::nullopt;
}

bool Proc::exists(std::uint32_t pid) const {
  const auto found = stat(pid);
  return found && found->state != 'Z' && found->state != 'X';
}

std::vector<std::uint32_t> Proc::pids() const {
  std::vector<std::uint32_t> pids;
  for (const std::string& name : names_in(root_))
    if (const auto pid = pid_of(name)) pids.push_back(*pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

std::vector<std::uint32_t> Proc::tree(std::uint32_t pid) const {
  std::multimap<std::uint32_t, std::uint32_t> children;
  for (const std::uint32_t other : pids())
    if (const auto found = stat(other)) children.emplace(found->parent, other);
  std::set<std::uint32_t> tree = {pid};
  std::vector<std::uint32_t> fresh = {pid};
  while (!fresh.empty()) {
    const std::uint32_t parent = fresh.back();
    fresh.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child)
      if (tree.insert(child->second).second) fresh.push_back(child->second);
  }
  return {tree.begin(), tree.end()};
}

std::optional<GpuProcess> Proc::look(std::uint32_t pid) const {
  const auto found = stat(pid);
  if (!found || found->state == 'Z' || found->state == 'X') return std::nullopt;
  GpuProcess process;
  process.pid = process.nspid = pid;
  process.start_time = found->start_time;
  process.comm = found->comm;
  process.run_state = found->state;
  const std::string status = read(pid, "status").value_or("");
  process.uid = static_cast<std::uint32_t>(leading_number(field_of(status, "Uid")).value_or(0));
  const std::string_view nspids = field_of(status, "NSpid");
  if (const auto nspid = leading_number(nspids.substr(nspids.find_last_of(" \t") + 1)))
    process.nspid = static_cast<std::uint32_t>(*nspid);
  process.cgroup = cgroup_of(read(pid, "cgroup").value_or(""));
  const auto maps = read_some(root_ + "/" + std::to_string(pid) + "/maps", kMapsLimit);
  const MapSigns signs = parse_maps(maps.value_or(""));
  process.uvm_maps = signs.uvm;
  if (signs.libcuda || !maps)
    process.kind = GpuKind::cuda;
  else if (signs.libnvml)
    process.kind = GpuKind::nvml_only;
  if (process.kind == GpuKind::cuda) look_closer(*this, process);
  return process;
}

std::vector<GpuDevice> Proc::devices() const {
  std::vector<GpuDevice> devices;
  const std::string directory = root_ + "/driver/nvidia/gpus/";
  for (const std::string& name : names_in(directory)) {
    const std::string text = read_some(directory + name + "/information").value_or("");
    GpuDevice device;
    device.uuid = field_of(text, "GPU UUID");
    device.name = field_of(text, "Model");
    if (const auto minor = leading_number(field_of(text, "Device Minor")))
      device.minor = static_cast<std::uint32_t>(*minor);
    if (device.uuid.rfind("GPU-", 0) == 0) devices.push_back(std::move(device));
  }
  std::sort(devices.begin(), devices.end(), [](const GpuDevice& a, const GpuDevice& b) { return a.minor < b.minor; });
  return devices;
}

std::string Proc::driver_version() const {
  const std::string text = read("driver/nvidia/version").value_or("");
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ..."
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    std::string word = text.substr(begin, end - begin);
    if (word.find_first_not_of("0123456789.") == std::string::npos && std::count(word.begin(), word.end(), '.') >= 1)
      return word;
    at = end;
  }
  return {};
}

}  // namespace ckpt::cuda
