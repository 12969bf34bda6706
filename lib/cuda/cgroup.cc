// SPDX-License-Identifier: Apache-2.0
#include "cuda/cgroup.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/paths.h"
#include "cuda/files.h"
#include "cuda/proc.h"

namespace ckpt::cuda {

namespace {

constexpr std::size_t kMostGroups = 10'000;

void gather(const std::string& directory, std::set<std::uint32_t>& pids, std::size_t& groups) {
  if (++groups > kMostGroups) return;
  std::string text = read_some(directory + "/cgroup.procs", std::size_t{16} << 20).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const auto pid = leading_number(std::string_view(text).substr(at, end - at));
    // 0 is a process of a pid namespace that cannot be seen from here.
    if (pid && *pid > 0) pids.insert(static_cast<std::uint32_t>(*pid));
    at = end + 1;
  }
  const std::string prefix = directory + "/";
  for (const std::string& name : names_in(directory)) {
    struct stat found {};
    const std::string below = prefix + name;
    if (::lstat(below.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) gather(below, pids, groups);
  }
}

// Calls visit(directory) for the group and each group above it.
void climb(const std::string& hierarchy, const std::string& path,
           const std::function<void(const std::string&)>& visit) {
  for (std::string group = clean_path(path); group.size() > 1; group = std::string(directory_name(group)))
    visit(hierarchy + group);
}

std::optional<std::uint64_t> number_in(const std::string& file) {
  return leading_number(read_some(file, 64).value_or(""));
}

// Version 1 says "no limit" with a number close to 2^63.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

void tighten(std::optional<std::uint64_t>& left, const std::string& limit_file, const std::string& usage_file) {
  const auto limit = number_in(limit_file);
  if (!limit || *limit >= kNoLimit) return;
  const std::uint64_t used = number_in(usage_file).value_or(0);
  const std::uint64_t here = *limit > used ? *limit - used : 0;
  left = left ? std::min(*left, here) : here;
}

}  // namespace

Cgroups::Cgroups(const std::string& state_root)
    : root_(state_root + "/sys/fs/cgroup"), unified_{root_, root_ + "/unified"} {}

std::optional<std::vector<std::uint32_t>> Cgroups::processes(const std::string& name) const {
  std::string path = clean_path(name);
  if (is_within(path, clean_path(root_))) path = path.substr(clean_path(root_).size());
  if (path.empty() || path.front() != '/') path = "/" + path;
  std::vector<std::string> directories = {root_ + path};
  for (const char* hierarchy : {"/unified", "/memory", "/pids", "/freezer", "/systemd"})
    directories.push_back(root_ + hierarchy + path);
  for (const std::string& directory : directories) {
    if (!read_some(directory + "/cgroup.procs", 1)) continue;
    std::set<std::uint32_t> pids;
    std::size_t groups = 0;
    gather(directory, pids, groups);
    return std::vector<std::uint32_t>(pids.begin(), pids.end());
  }
  return std::nullopt;
}

bool Cgroups::frozen(const std::string& path) const {
  bool frozen = false;
  for (const std::string& hierarchy : unified_)
    climb(hierarchy, path, [&](const std::string& group) {
      if (number_in(group + "/cgroup.freeze").value_or(0) != 0) frozen = true;
    });
  climb(root_ + "/freezer", path, [&](const std::string& group) {
    if (read_some(group + "/freezer.state", 64).value_or("").rfind("FR", 0) == 0) frozen = true;
  });
  return frozen;
}

std::optional<std::uint64_t> Cgroups::memory_left(const std::string& path) const {
  std::optional<std::uint64_t> left;
  for (const std::string& hierarchy : unified_)
    climb(hierarchy, path,
          [&](const std::string& group) { tighten(left, group + "/memory.max", group + "/memory.current"); });
  climb(root_ + "/memory", path, [&](const std::string& group) {
    tighten(left, group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes");
  });
  return left;
}

}  // namespace ckpt::cuda
