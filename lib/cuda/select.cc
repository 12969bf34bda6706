// SPDX-License-Identifier: Apache-2.0
#include "cuda/select.h"

#include <algorithm>
#include <set>

namespace ckpt::cuda {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) {
  throw Error(ErrorCode::invalid_argument, {}, what, hint);
}

// A stopped container's state may name a pid that somebody else has by now.
void check_alive(const Node& node, const GpuContainer& container) {
  if (container.pid == 0) refuse("container " + container.id + " does not run");
  const auto stat = node.proc.stat(container.pid);
  const std::string process = "process " + std::to_string(container.pid) + " of container " + container.id;
  if (!stat) refuse(process + " is gone", container.file + " is out of date");
  if (container.start_time != 0 && stat->start_time != container.start_time)
    refuse(process + " is another one by now", container.file + " is out of date");
}

void add_group(const Node& node, const std::string& name, std::set<std::uint32_t>& pids) {
  const auto members = node.cgroups.processes(name);
  if (!members) refuse("no control group " + name);
  pids.insert(members->begin(), members->end());
}

// The first process's tree and, so that nothing that left the tree is missed, its control group.
void add_container(const Node& node, const std::string& wanted, std::set<std::uint32_t>& pids) {
  const GpuContainer container = choose_container(node, wanted);
  const std::vector<std::uint32_t> tree = node.proc.tree(container.pid);
  pids.insert(tree.begin(), tree.end());
  const auto first = node.proc.look(container.pid);
  if (!first || first->cgroup.empty()) return;
  if (const auto members = node.cgroups.processes(first->cgroup)) pids.insert(members->begin(), members->end());
}

}  // namespace

GpuContainer choose_container(const Node& node, const std::string& wanted) {
  if (wanted.empty()) refuse("a container without a name");
  const std::vector<GpuContainer> containers = find_containers(node.state_root);
  std::vector<GpuContainer> exact;
  std::vector<GpuContainer> begins;
  for (const GpuContainer& container : containers) {
    if (container.id == wanted || container.name == wanted) exact.push_back(container);
    if (container.id.rfind(wanted, 0) == 0) begins.push_back(container);
  }
  const std::vector<GpuContainer>& found = exact.empty() ? begins : exact;
  if (found.empty())
    refuse("no container " + wanted + " in the state files of runc, crun, containerd and podman",
           std::to_string(containers.size()) + " containers are known below " + node.state_root + "/run");
  if (found.size() > 1) {
    std::string ids;
    for (const GpuContainer& container : found) ids += (ids.empty() ? "" : ", ") + container.id;
    refuse("more than one container is called " + wanted + ": " + ids);
  }
  check_alive(node, found.front());
  return found.front();
}

std::vector<GpuProcess> select_processes(const Node& node, const GpuSelection& selection) {
  std::set<std::uint32_t> pids;
  for (const std::uint32_t root : selection.trees) {
    if (!node.proc.exists(root)) refuse("no process " + std::to_string(root));
    const std::vector<std::uint32_t> tree = node.proc.tree(root);
    pids.insert(tree.begin(), tree.end());
  }
  for (const std::string& group : selection.cgroups) add_group(node, group, pids);
  for (const std::string& container : selection.containers) add_container(node, container, pids);
  for (const std::uint32_t pid : selection.pids) {
    if (!node.proc.exists(pid)) refuse("no process " + std::to_string(pid));
    pids.insert(pid);
  }
  std::vector<GpuProcess> processes;
  for (const std::uint32_t pid : pids)
    if (auto process = node.proc.look(pid)) processes.push_back(std::move(*process));
  return processes;
}

}  // namespace ckpt::cuda
