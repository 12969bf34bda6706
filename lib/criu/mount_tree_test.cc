// SPDX-License-Identifier: Apache-2.0
#include "criu/mount_tree.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "testing/image_builder.h"

using ckpt::criu::check_mount_tree;
using ckpt::criu::MountEntry;
using ckpt::testing::mount;

namespace {

/// "code:mnt_id code:mnt_id", in the order found.
std::string problems(const std::vector<MountEntry>& mounts) {
  std::string text;
  for (const auto& problem : check_mount_tree(mounts))
    text += (text.empty() ? "" : " ") + problem.code + ":" + std::to_string(problem.mnt_id);
  return text;
}

std::string message(const std::vector<MountEntry>& mounts) {
  const auto found = check_mount_tree(mounts);
  return found.empty() ? "" : found.front().message;
}

const MountEntry kRoot = mount(10, 1, "/");
const MountEntry kProc = mount(11, 10, "/proc");
const MountEntry kDev = mount(12, 10, "/dev");

}  // namespace

TEST_CASE("a tree in any order is sound") {
  CHECK(problems({kRoot, kProc, kDev, mount(13, 12, "/dev/shm")}).empty());
  CHECK(problems({mount(13, 12, "/dev/shm"), kDev, kProc, kRoot}).empty());
  CHECK(problems({kRoot}).empty());
  CHECK(problems({mount(1, 1, "/"), mount(2, 1, "/proc")}).empty());  // the kernel's first mount is its own parent
}

TEST_CASE("mounts over mounts are sound") {
  CHECK(problems({kRoot, mount(11, 10, "/"), mount(12, 11, "/proc")}).empty());
  CHECK(problems({kRoot, kProc, mount(13, 11, "/proc")}).empty());
}

TEST_CASE("a tree has one root") {
  CHECK(problems({}) == "no_root:0");
  CHECK(problems({mount(10, 1, "/a")}) == "missing_parent:10 no_root:0");
  CHECK(problems({kRoot, mount(20, 2, "/")}) == "two_roots:20");
  CHECK(problems({kRoot, mount(20, 1, "/")}) == "two_roots:20");
  CHECK(message({kRoot, mount(20, 2, "/")}) == "mounts 10 (/) and 20 (/) are both roots");
}

TEST_CASE("all others have a parent in the tree") {
  CHECK(problems({kRoot, mount(11, 77, "/proc")}) == "missing_parent:11");
  CHECK(message({kRoot, mount(11, 77, "/proc")}) ==
        "mount 11 (/proc) has the parent 77, which the image does not have");
  CHECK(problems({kRoot, mount(11, 11, "/proc")}) == "self_parent:11");
}

TEST_CASE("cycles that the root does not reach are found, each mount once") {
  CHECK(problems({kRoot, mount(21, 22, "/a"), mount(22, 21, "/b")}) == "cycle:21 cycle:22");
  CHECK(problems({mount(30, 21, "/below"), mount(21, 22, "/a"), mount(22, 23, "/b"), mount(23, 21, "/c"), kRoot}) ==
        "cycle:21 cycle:22 cycle:23");
  CHECK(message({kRoot, mount(21, 22, "/a"), mount(22, 21, "/b")}) == "mount 21 (/a) is its own ancestor");
  CHECK(problems({mount(10, 11, "/"), mount(11, 10, "/proc")}) == "no_root:0 cycle:10 cycle:11");
}

TEST_CASE("ids are unique") {
  CHECK(problems({kRoot, kProc, mount(11, 10, "/sys")}) == "duplicate_id:11");
  CHECK(message({kRoot, kProc, mount(11, 10, "/sys")}) == "two mounts have the id of 11 (/sys)");
}

TEST_CASE("mountpoints of one parent are unique") {
  CHECK(problems({kRoot, kProc, mount(13, 10, "/proc")}) == "same_mountpoint:13");
  CHECK(message({kRoot, kProc, mount(13, 10, "/proc")}) ==
        "mounts 11 and 13 of one parent have the same mountpoint, /proc");
  CHECK(problems({kRoot, kDev, kProc, mount(13, 12, "/proc")}).empty());
}

TEST_CASE("a mount has one kind of key") {
  MountEntry both = mount(13, 10, "/x");
  both.ext_mount = true;
  CHECK(problems({kRoot, both}).empty());
  both.ext_key = "/x";
  CHECK(problems({kRoot, both}) == "two_keys:13");
  CHECK(message({kRoot, both}) == "mount 13 (/x) has both ext_mount and ext_key");
}

TEST_CASE("a long chain is walked once") {
  std::vector<MountEntry> chain = {kRoot};
  for (std::uint32_t id = 11; id < 20000; ++id) chain.push_back(mount(id, id - 1, "/deep"));
  CHECK(problems(chain).empty());
  chain[1].parent_mnt_id = 19999;
  CHECK(check_mount_tree(chain).size() == 19989);
}
