// SPDX-License-Identifier: Apache-2.0
#include "diff/match.h"

#include <algorithm>
#include <tuple>

#include "base/paths.h"
#include "checkpoint/classify.h"

namespace ckpt {

namespace {

// Directories of 32-bit libraries on the distributions that have both kinds.
bool is_32_bit_place(const std::string& path) {
  const std::string place = canonical_path(path);
  return place.find("/i386-linux-gnu/") != std::string::npos || place.find("/lib32/") != std::string::npos;
}

std::size_t common_tail(std::string_view a, std::string_view b) {
  std::size_t parts = 0;
  while (!a.empty() && !b.empty() && base_name(a) == base_name(b)) {
    ++parts;
    const std::size_t slash_a = a.rfind('/');
    const std::size_t slash_b = b.rfind('/');
    a = a.substr(0, slash_a == std::string_view::npos ? 0 : slash_a);
    b = b.substr(0, slash_b == std::string_view::npos ? 0 : slash_b);
  }
  return parts;
}

struct Ranked {
  const TargetFile* file = nullptr;
  std::tuple<bool, bool, std::size_t, std::size_t> rank;  ///< larger fits better
};

std::tuple<bool, bool, std::size_t, std::size_t> rank_of(const std::string& mountpoint, const TargetFile& file) {
  const std::string old_version = driver_version_in(mountpoint);
  const bool same_version = !old_version.empty() && old_version == driver_version_in(file.container_path);
  const bool same_size = is_32_bit_place(mountpoint) == is_32_bit_place(file.container_path);
  const std::string old_directory(directory_name(canonical_path(mountpoint)));
  const std::string new_directory(directory_name(canonical_path(file.container_path)));
  return {same_size, same_version, common_tail(mountpoint, file.container_path),
          common_tail(old_directory, new_directory)};
}

std::optional<FileMatch> best_of(const std::string& mountpoint, const std::vector<const TargetFile*>& candidates,
                                 FileMatch::By by) {
  if (candidates.empty()) return std::nullopt;
  std::vector<Ranked> ranked;
  ranked.reserve(candidates.size());
  for (const TargetFile* file : candidates) ranked.push_back({file, rank_of(mountpoint, *file)});
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.rank > b.rank; });
  FileMatch match{ranked.front().file, by, {}};
  for (std::size_t i = 1; i < ranked.size(); ++i)
    if (ranked[i].rank == ranked.front().rank && ranked[i].file->host_path != match.file->host_path)
      match.rivals.push_back(ranked[i].file);
  return match;
}

// What makes two driver files counterparts when their directories differ.
std::string identity_of(const std::string& path, MountClass mount_class) {
  std::string clean = clean_path(path);
  if (mount_class == MountClass::library) {
    const auto library = parse_library_name(base_name(clean));
    return library ? library->stem : std::string(base_name(clean));
  }
  if (mount_class == MountClass::device) return clean;
  if (mount_class == MountClass::socket)  // ".../nvidia-persistenced/socket": the directory is the name
    return std::string(base_name(directory_name(clean))) + "/" + std::string(base_name(clean));
  return std::string(base_name(clean));
}

}  // namespace

std::optional<FileMatch> match_file(const std::string& mountpoint, MountClass mount_class,
                                    const std::vector<TargetFile>& files) {
  // CDI lets a later mount of the same container path replace an earlier one, so the last one counts.
  for (auto file = files.rbegin(); file != files.rend(); ++file)
    if (canonical_path(file->container_path) == canonical_path(mountpoint))
      return FileMatch{&*file, FileMatch::By::container_path, {}};
  if (!is_driver_class(mount_class)) return std::nullopt;
  std::vector<const TargetFile*> candidates;
  for (const TargetFile& file : files)
    if (file.mount_class == mount_class &&
        identity_of(file.container_path, mount_class) == identity_of(mountpoint, mount_class))
      candidates.push_back(&file);
  return best_of(mountpoint, candidates,
                 mount_class == MountClass::library ? FileMatch::By::library_stem : FileMatch::By::name);
}

}  // namespace ckpt
