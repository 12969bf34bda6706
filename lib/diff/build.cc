// SPDX-License-Identifier: Apache-2.0
#include "diff/build.h"

#include "base/paths.h"
#include "checkpoint/classify.h"

namespace ckpt {

namespace {

std::string counterpart_of(const Mount& mount, const MountUse& use, const std::string& new_source) {
  const std::string rest = use.file.size() > mount.mountpoint.size() && is_within(use.file, mount.mountpoint)
                               ? use.file.substr(mount.mountpoint.size())
                               : std::string();
  return clean_path(new_source + rest);
}

BuildVerdict compare_files(const MountUse& use, const RootedFile& file) {
  if (use.size && *use.size != file.size)
    return {SameBuild::differs,
            "size " + std::to_string(*use.size) + ", the target's file has " + std::to_string(file.size)};
  if (!use.build_id.empty() && use.build_id != file.build_id) return {SameBuild::differs, "another build-ID"};
  if (!use.size && use.build_id.empty()) return {SameBuild::unknown, "the image has neither size nor build-ID"};
  return {SameBuild::proved, "same size" + std::string(use.build_id.empty() ? "" : " and build-ID")};
}

BuildVerdict compare_versions(const std::string& old_version, const std::string& new_version, const char* of) {
  if (old_version == new_version) return {SameBuild::assumed, std::string("same ") + of + " " + old_version};
  return {SameBuild::differs, std::string(of) + " " + old_version + ", the target has " + new_version};
}

BuildVerdict compare_names(const std::string& old_path, const std::string& new_path, const Target& target,
                           const std::string& archive_driver) {
  const std::string old_version = driver_version_in(old_path);
  const std::string new_version = driver_version_in(new_path);
  if (!old_version.empty() && !new_version.empty()) return compare_versions(old_version, new_version, "version");
  if (!archive_driver.empty() && !target.driver_version().empty())
    return compare_versions(archive_driver, target.driver_version(), "driver version");
  const auto old_library = parse_library_name(base_name(old_path));
  const auto new_library = parse_library_name(base_name(new_path));
  if (old_library && new_library && !old_library->version.empty())
    return compare_versions(old_library->version, new_library->version, "version");
  return {SameBuild::unknown, "neither the names nor the driver versions tell"};
}

}  // namespace

BuildVerdict judge_build(const Mount& mount, const MountUse& use, const std::string& new_source, const Target& target,
                         const std::string& archive_driver) {
  const std::string path = counterpart_of(mount, use, new_source);
  if (target.can_look(path)) {
    const auto file = target.look(path);
    if (!file) return {SameBuild::missing, path + " does not exist on the target"};
    if (file->kind == RootedFile::Kind::symlink) {
      const auto real = target.look(file->resolved);
      if (!real) return {SameBuild::missing, path + " is a dangling symlink on the target"};
      return compare_files(use, *real);
    }
    return compare_files(use, *file);
  }
  return compare_names(use.file, path, target, archive_driver);
}

}  // namespace ckpt
