// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <tuple>

#include "base/paths.h"
#include "checkpoint/impl.h"

namespace ckpt {

namespace {

using Impl = Checkpoint::Impl;

/// Finds the mount that holds a file: by the mnt_id that CRIU noted, else by the longest mountpoint above the path.
class Owner {
 public:
  explicit Owner(std::vector<Mount>& mounts) : mounts_(mounts) {
    for (Mount& mount : mounts_) by_id_.emplace(mount.mnt_id, &mount);
  }

  Mount* of(const criu::RegFile& file) {
    if (const auto noted = by_id_.find(static_cast<std::uint32_t>(file.mnt_id));
        file.mnt_id >= 0 && noted != by_id_.end() && is_within(file.name, noted->second->mountpoint))
      return noted->second;
    return above(file.name);
  }

  Mount* above(std::string_view path) {
    Mount* best = nullptr;
    for (Mount& mount : mounts_)
      if (is_within(path, mount.mountpoint) && (best == nullptr || mount.mountpoint.size() > best->mountpoint.size()))
        best = &mount;
    return best;
  }

 private:
  std::vector<Mount>& mounts_;
  std::map<std::uint32_t, Mount*> by_id_;
};

/// Notes each use once: a library is mapped in several pieces.
class Uses {
 public:
  explicit Uses(Impl& checkpoint) : checkpoint_(checkpoint), owner_(checkpoint.mounts) {}

  void note(std::uint32_t pid, const std::string& how, std::uint64_t file_id) {
    if (file_id > 0xffffffffULL) return;
    const auto found = checkpoint_.files.find(static_cast<std::uint32_t>(file_id));
    if (found == checkpoint_.files.end()) return;
    if (found->second.reg)
      note_file(pid, how, *found->second.reg);
    else if (found->second.unix_name)
      note_socket(pid, *found->second.unix_name);
  }

 private:
  void note_file(std::uint32_t pid, const std::string& how, const criu::RegFile& file) {
    Mount* mount = owner_.of(file);
    if (mount == nullptr || mount->mountpoint == "/" || !seen_.emplace(pid, how, file.name).second) return;
    const bool checked = how == "maps" || how == "exe" || (how == "fd" && file.size.has_value());
    mount->uses.push_back({pid, how, file.name, file.size, file.build_id, checked});
  }

  void note_socket(std::uint32_t pid, const std::string& name) {
    if (name.empty() || name.front() != '/') return;
    const std::string path = name.substr(0, name.find('\0'));
    Mount* mount = owner_.above(path);
    if (mount == nullptr || mount->mountpoint == "/" || !seen_.emplace(pid, "socket", path).second) return;
    mount->uses.push_back({pid, "socket", path, {}, {}, false});
  }

  Impl& checkpoint_;
  Owner owner_;
  std::set<std::tuple<std::uint32_t, std::string, std::string>> seen_;
};

}  // namespace

void attach_uses(Impl& checkpoint) {
  Uses uses(checkpoint);
  for (const TaskImages& task : checkpoint.tasks) {
    const std::uint32_t pid = task.process.pid;
    if (task.mm) {
      uses.note(pid, "exe", task.mm->exe_file_id);
      for (const criu::Vma& vma : task.mm->vmas)
        if (vma.maps_file()) uses.note(pid, "maps", vma.shmid);
    }
    for (const criu::FdinfoEntry& fd : task.fds) uses.note(pid, "fd", fd.id);
    if (task.fs) {
      uses.note(pid, "cwd", task.fs->cwd_id);
      uses.note(pid, "root", task.fs->root_id);
    }
  }
}

}  // namespace ckpt
