// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/paths.h"
#include "ckpt/gpu.h"
#include "ckpt/json.h"
#include "cuda/files.h"
#include "cuda/proc.h"

namespace ckpt {

namespace {

using Found = std::map<std::string, GpuContainer>;

constexpr std::size_t kStateLimit = std::size_t{8} << 20;

// Paths that match a pattern in which a component may be "*".
std::vector<std::string> expand(const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return {pattern};
  std::vector<std::string> paths;
  for (const std::string& name : cuda::names_in(pattern.substr(0, star)))
    for (std::string& path : expand(pattern.substr(0, star) + name + pattern.substr(star + 1)))
      paths.push_back(std::move(path));
  return paths;
}

// The first engine that knows a container names it; later ones fill in what it left open.
void add(Found& found, GpuContainer container) {
  if (container.id.empty()) return;
  const auto [entry, fresh] = found.emplace(container.id, container);
  if (fresh) return;
  GpuContainer& known = entry->second;
  if (known.name.empty()) known.name = container.name;
  if (known.pid != 0 || container.pid == 0) return;
  known.pid = container.pid;
  known.start_time = container.start_time;
  known.file = container.file;
}

// A state file that is being written or damaged describes no container.
Json read_json(const std::string& path) {
  const auto text = cuda::read_some(path, kStateLimit);
  if (!text) return {};
  try {
    return Json::parse(*text, path);
  } catch (const Error&) {
    return {};
  }
}

struct Shape {
  const char* engine;
  const char* pattern;
  const char* pid_key;
  const char* start_key;
};
constexpr Shape kShapes[] = {
    {"crun", "/run/crun/*/status", "pid", "process-start-time"},
    {"crun", "/run/user/*/crun/*/status", "pid", "process-start-time"},
    {"runc", "/run/runc/*/state.json", "init_process_pid", "init_process_start"},
    {"runc", "/run/user/*/runc/*/state.json", "init_process_pid", "init_process_start"},
    {"runc", "/run/containerd/runc/*/*/state.json", "init_process_pid", "init_process_start"},
    {"runc", "/run/docker/runtime-runc/*/*/state.json", "init_process_pid", "init_process_start"},
};
constexpr const char* kTasks[] = {"/run/containerd/io.containerd.runtime.v2.task/*/*/init.pid",
                                  "/run/k3s/containerd/io.containerd.runtime.v2.task/*/*/init.pid"};
constexpr const char* kPodman[] = {"/var/lib/containers/storage/overlay-containers/",
                                   "/var/lib/containers/storage/vfs-containers/",
                                   "/var/lib/containers/storage/btrfs-containers/"};

void add_runtimes(const std::string& root, Found& found) {
  for (const Shape& shape : kShapes)
    for (const std::string& path : expand(root + shape.pattern)) {
      const Json state = read_json(path);
      if (!state.is_object()) continue;
      GpuContainer container;
      container.id = base_name(directory_name(path));
      container.engine = shape.engine;
      container.file = path;
      container.pid = static_cast<std::uint32_t>(state[shape.pid_key].as_uint());
      container.start_time = state[shape.start_key].as_uint();
      add(found, std::move(container));
    }
}

std::uint32_t pid_in(const std::string& path) {
  const auto pid = cuda::leading_number(cuda::read_some(path, 64).value_or(""));
  return pid && *pid < 0x80000000 ? static_cast<std::uint32_t>(*pid) : 0;
}

void add_tasks(const std::string& root, Found& found) {
  for (const char* pattern : kTasks)
    for (const std::string& path : expand(root + pattern)) {
      GpuContainer container;
      container.id = base_name(directory_name(path));
      container.engine = "containerd";
      container.file = path;
      container.pid = pid_in(path);
      if (container.pid != 0) add(found, std::move(container));
    }
}

// Podman's and CRI-O's storage has the names, and conmon's pid file where the runtime's own state is elsewhere.
void add_podman(const std::string& root, Found& found) {
  for (const char* directory : kPodman) {
    const std::string path = root + directory + "containers.json";
    const Json document = read_json(path);
    // "/var/lib/containers/storage/overlay-containers/" has its other half below /run.
    const std::string run = root + "/run" + (directory + std::string_view("/var/lib").size());
    for (const Json& item : document.items()) {
      GpuContainer container;
      container.id = item["id"].as_string();
      container.name = item["names"][0].as_string();
      container.engine = "podman";
      container.file = path;
      if (container.id.find('/') == std::string::npos) container.pid = pid_in(run + container.id + "/userdata/pidfile");
      add(found, std::move(container));
    }
  }
}

}  // namespace

std::vector<GpuContainer> find_containers(const std::string& state_root) {
  const std::string root = state_root.substr(0, state_root.find_last_not_of('/') + 1);
  Found found;
  add_runtimes(root, found);
  add_tasks(root, found);
  add_podman(root, found);
  std::vector<GpuContainer> containers;
  for (auto& [id, container] : found) containers.push_back(std::move(container));
  return containers;
}

}  // namespace ckpt
