// SPDX-License-Identifier: Apache-2.0
#include "ckpt/target.h"

#include <set>

#include "cdi/driver_files.h"
#include "checkpoint/classify.h"
#include "ckpt/file.h"
#include "target/choose.h"
#include "target/root.h"

namespace ckpt {

struct CKPT_LOCAL Target::Impl {
  std::vector<std::string> devices;
  CdiEdits edits;
  std::vector<TargetFile> files;
  std::string driver_version;
  std::vector<CdiProblem> problems;
  std::unique_ptr<RootDirectory> root;
};

namespace {

MountClass class_of(const std::string& container_path) {
  return classify_driver_path(container_path).value_or(MountClass::user);
}

std::vector<TargetFile> files_of(const CdiEdits& edits) {
  std::vector<TargetFile> files;
  for (const CdiMount& mount : edits.mounts)
    files.push_back({mount.container_path, mount.host_path, class_of(mount.container_path)});
  for (const CdiDeviceNode& node : edits.device_nodes)
    files.push_back({node.path, node.host_path.empty() ? node.path : node.host_path, MountClass::device});
  return files;
}

std::string version_of(const std::vector<TargetFile>& files) {
  std::set<std::string> versions;
  for (const TargetFile& file : files) {
    if (file.mount_class != MountClass::library) continue;
    const std::string version = driver_version_in(file.host_path);
    versions.insert(version.empty() ? driver_version_in(file.container_path) : version);
  }
  versions.erase("");
  return versions.size() == 1 ? *versions.begin() : std::string();
}

void append(CdiEdits& edits, CdiEdits more) {
  edits.mounts.insert(edits.mounts.end(), more.mounts.begin(), more.mounts.end());
  edits.device_nodes.insert(edits.device_nodes.end(), more.device_nodes.begin(), more.device_nodes.end());
}

}  // namespace

Target::Target(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Target Target::load(const TargetOptions& options) {
  auto impl = std::make_shared<Impl>();
  const bool list_alone = !options.files_list.empty() && options.cdi_paths.empty();
  if (!list_alone) {
    const CdiRegistry registry = CdiRegistry::load(
        options.cdi_paths.empty() ? CdiRegistry::default_directories() : options.cdi_paths, options.limits);
    DeviceChoice choice = choose_devices(registry, options);
    impl->problems = registry.problems();
    impl->problems.insert(impl->problems.end(), choice.notes.begin(), choice.notes.end());
    if (!choice.names.empty()) impl->edits = registry.resolve(choice.names);
    impl->devices = std::move(choice.names);
  }
  if (!options.files_list.empty())
    append(impl->edits, edits_from_list(parse_container_cli_list(read_text_file(options.files_list, options.limits),
                                                                 options.files_list)));
  impl->files = files_of(impl->edits);
  impl->driver_version = version_of(impl->files);
  if (!options.root.empty()) impl->root = std::make_unique<RootDirectory>(options.root);
  return Target(std::move(impl));
}

const std::vector<std::string>& Target::devices() const noexcept { return impl_->devices; }
const CdiEdits& Target::edits() const noexcept { return impl_->edits; }
const std::vector<TargetFile>& Target::files() const noexcept { return impl_->files; }
const std::string& Target::driver_version() const noexcept { return impl_->driver_version; }
const std::vector<CdiProblem>& Target::problems() const noexcept { return impl_->problems; }
bool Target::empty() const noexcept { return impl_->files.empty(); }
bool Target::has_root() const noexcept { return impl_->root != nullptr; }

std::optional<RootedFile> Target::look(const std::string& path) const {
  return impl_->root ? impl_->root->look(path) : std::nullopt;
}

}  // namespace ckpt
