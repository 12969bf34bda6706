// SPDX-License-Identifier: Apache-2.0
#include "ckpt/target.h"

#include <set>

#include "base/paths.h"
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
  std::string driver_root;
  std::optional<NodeFacts> node;
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

// What is left of a host path without the container's path behind it, if all moved libraries agree.
std::string driver_root_of(const std::vector<TargetFile>& files) {
  std::set<std::string> roots;
  for (const TargetFile& file : files) {
    if (file.mount_class != MountClass::library) continue;
    const std::string host = clean_path(file.host_path);
    const std::string place = clean_path(file.container_path);
    if (host.size() <= place.size() || host.compare(host.size() - place.size(), place.size(), place) != 0) return {};
    roots.insert(host.substr(0, host.size() - place.size()));
  }
  return roots.size() == 1 ? *roots.begin() : std::string();
}

CdiRegistry registry_of(const TargetOptions& options) {
  if (!options.cdi_paths.empty()) return CdiRegistry::load(options.cdi_paths, options.limits, options.cdi_fields);
  if (!options.node)
    return CdiRegistry::load(CdiRegistry::default_directories(), options.limits, options.cdi_fields);
  return CdiRegistry::parse(options.node->cdi, options.limits, options.cdi_fields);
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
    const CdiRegistry registry = registry_of(options);
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
  impl->driver_root = driver_root_of(impl->files);
  impl->node = options.node;
  if (impl->driver_version.empty() && options.node) impl->driver_version = options.node->nvidia_driver;
  if (!options.root.empty()) impl->root = std::make_unique<RootDirectory>(options.root);
  return Target(std::move(impl));
}

const std::vector<std::string>& Target::devices() const noexcept { return impl_->devices; }
const CdiEdits& Target::edits() const noexcept { return impl_->edits; }
const std::vector<TargetFile>& Target::files() const noexcept { return impl_->files; }
const std::string& Target::driver_version() const noexcept { return impl_->driver_version; }
const std::vector<CdiProblem>& Target::problems() const noexcept { return impl_->problems; }
bool Target::empty() const noexcept { return impl_->files.empty(); }
const std::string& Target::driver_root() const noexcept { return impl_->driver_root; }
bool Target::has_root() const noexcept { return impl_->root != nullptr; }

bool Target::can_look(const std::string& path) const {
  return impl_->root != nullptr || (impl_->node && impl_->node->find_file(clean_path(path)) != nullptr);
}

std::optional<RootedFile> Target::look(const std::string& path) const {
  if (impl_->root) return impl_->root->look(path);
  if (!impl_->node) return std::nullopt;
  const NodeFile* file = impl_->node->find_file(clean_path(path));
  return file == nullptr ? std::nullopt : file->file;
}

std::optional<DeviceNumbers> Target::numbers(const CdiDeviceNode& node) const {
  const std::string place = clean_path(node.host_path.empty() ? node.path : node.host_path);
  if (const auto file = look(place)) {
    if (file->kind == RootedFile::Kind::char_device) return DeviceNumbers{"c", file->dev_major, file->dev_minor};
    if (file->kind == RootedFile::Kind::block_device) return DeviceNumbers{"b", file->dev_major, file->dev_minor};
  }
  if (!node.major) return std::nullopt;
  return DeviceNumbers{node.type, *node.major, node.minor.value_or(0)};
}

std::optional<std::uint32_t> Target::gpu_minor(const std::string& uuid) const {
  if (!impl_->node) return std::nullopt;
  for (const NodeGpu& gpu : impl_->node->gpus)
    if (gpu.uuid == uuid) return gpu.minor;
  return std::nullopt;
}

}  // namespace ckpt
