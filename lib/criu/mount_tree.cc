// SPDX-License-Identifier: Apache-2.0
#include "criu/mount_tree.h"

#include <map>
#include <set>
#include <utility>

namespace ckpt::criu {

namespace {

std::string named(const MountEntry& mount) { return std::to_string(mount.mnt_id) + " (" + mount.mountpoint + ")"; }

/// The mounts of a namespace by id. Of a duplicate id the first mount counts.
class Tree {
 public:
  explicit Tree(const std::vector<MountEntry>& mounts) : mounts_(mounts) {
    for (const MountEntry& mount : mounts) by_id_.emplace(mount.mnt_id, &mount);
  }

  std::vector<MountProblem> check() {
    for (const MountEntry& mount : mounts_) {
      check_keys(mount);
      if (by_id_.at(mount.mnt_id) != &mount) note("duplicate_id", mount, "two mounts have the id of " + named(mount));
      check_parent(mount);
      check_siblings(mount);
    }
    if (root_ == nullptr) problems_.push_back({"no_root", 0, "no mount is the root of the tree"});
    for (const MountEntry& mount : mounts_)
      if (is_in_cycle(mount)) note("cycle", mount, "mount " + named(mount) + " is its own ancestor");
    return std::move(problems_);
  }

 private:
  void note(const char* code, const MountEntry& mount, std::string message) {
    problems_.push_back({code, mount.mnt_id, std::move(message)});
  }

  void check_keys(const MountEntry& mount) {
    if (mount.ext_mount && mount.ext_key)
      note("two_keys", mount, "mount " + named(mount) + " has both ext_mount and ext_key");
  }

  bool has_parent(const MountEntry& mount) const {
    return mount.parent_mnt_id != mount.mnt_id && by_id_.contains(mount.parent_mnt_id);
  }

  // Only the root has its parent outside the namespace, or, at the very bottom of a kernel's mounts, in itself.
  void check_parent(const MountEntry& mount) {
    if (has_parent(mount)) return;
    if (mount.mountpoint == "/") {
      if (root_ != nullptr)
        note("two_roots", mount, "mounts " + named(*root_) + " and " + named(mount) + " are both roots");
      else
        root_ = &mount;
      return;
    }
    if (mount.parent_mnt_id == mount.mnt_id)
      note("self_parent", mount, "mount " + named(mount) + " is its own parent");
    else
      note("missing_parent", mount,
           "mount " + named(mount) + " has the parent " + std::to_string(mount.parent_mnt_id) +
               ", which the image does not have");
  }

  void check_siblings(const MountEntry& mount) {
    if (!has_parent(mount)) return;
    const auto [place, is_new] =
        siblings_.emplace(std::pair(mount.parent_mnt_id, std::string_view(mount.mountpoint)), &mount);
    if (!is_new)
      note("same_mountpoint", mount,
           "mounts " + std::to_string(place->second->mnt_id) + " and " + std::to_string(mount.mnt_id) +
               " of one parent have the same mountpoint, " + mount.mountpoint);
  }

  const MountEntry* parent_of(const MountEntry& mount) const {
    return has_parent(mount) ? by_id_.at(mount.parent_mnt_id) : nullptr;
  }

  // Walks up until something known comes: linear over all mounts together.
  bool is_in_cycle(const MountEntry& start) {
    std::set<std::uint32_t> path;
    const MountEntry* mount = &start;
    while (mount != nullptr && !settled_.contains(mount->mnt_id) && path.insert(mount->mnt_id).second)
      mount = parent_of(*mount);
    const bool looped = mount != nullptr && path.contains(mount->mnt_id);
    if (looped)
      for (const MountEntry* member = mount; cycle_.insert(member->mnt_id).second;) member = parent_of(*member);
    settled_.insert(path.begin(), path.end());
    return cycle_.contains(start.mnt_id);
  }

  const std::vector<MountEntry>& mounts_;
  std::map<std::uint32_t, const MountEntry*> by_id_;
  std::map<std::pair<std::uint32_t, std::string_view>, const MountEntry*> siblings_;
  std::set<std::uint32_t> settled_;
  std::set<std::uint32_t> cycle_;
  const MountEntry* root_ = nullptr;
  std::vector<MountProblem> problems_;
};

}  // namespace

std::vector<MountProblem> check_mount_tree(const std::vector<MountEntry>& mounts) { return Tree(mounts).check(); }

}  // namespace ckpt::criu
