// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/checkpoint.h"
#include "criu/views.h"
#include "spec/engine_documents.h"
#include "spec/runtime_spec.h"

namespace ckpt {

/// A member and the layer it was found in.
struct Located {
  const Archive* archive = nullptr;
  const Member* member = nullptr;
  explicit operator bool() const noexcept { return member != nullptr; }
};

/// Everything that is read out of one task's images.
struct TaskImages {
  Process process;
  std::optional<criu::KobjIds> ids;
  std::optional<criu::Mm> mm;
  std::optional<criu::FsEntry> fs;
  std::vector<criu::FdinfoEntry> fds;
};

/// The mounts of one mountpoints image.
struct MountNamespace {
  std::string member;
  std::uint32_t id = 0;  ///< namespace id in the file name
  std::vector<criu::MountEntry> mounts;
};

struct CKPT_LOCAL Checkpoint::Impl {
  std::string name;
  std::vector<Archive> layers;
  std::string form;
  std::string image_prefix;
  Limits limits;

  Engine engine = Engine::unknown;
  Runtime runtime = Runtime::unknown;
  ContainerFacts facts;
  CheckpointSizes sizes;
  std::string criu_at_least;
  std::string criu_version;
  std::optional<std::vector<std::string>> criu_plugins;
  std::vector<std::string> requested_devices;
  bool has_record = false;

  std::optional<std::string> spec_text;
  std::optional<std::string> config_text;
  std::optional<std::string> status_text;  ///< containerd's status.dump
  std::vector<RequestedMount> requested_mounts;  ///< by the pod, as CRI-O or containerd recorded it
  std::optional<RuntimeSpec> spec;
  ContainerConfig config;
  std::map<std::string, std::string> image_annotations;
  std::shared_ptr<const Archive> outer;  ///< images: the layout that the layers lie in
  Json image_manifest;                   ///< images: the manifest, or the `ctr` index
  Json image_config;                     ///< images: the configuration
  std::uint32_t machine = 0;             ///< core_entry.mtype of the first task: 1 x86_64, 3 aarch64 ...

  std::vector<TaskImages> tasks;
  std::vector<MountNamespace> namespaces;
  std::uint32_t main_namespace = 0;  ///< index into namespaces
  std::map<std::uint32_t, criu::FileEntry> files;
  bool pagemaps_have_nr_pages = false;
  std::optional<criu::Inventory> inventory;

  std::vector<Mount> mounts;
  std::vector<UnusedSpecMount> unused_spec_mounts;
  std::vector<DeviceEntry> devices;
  std::vector<Process> processes;
  GpuReport gpu;
  std::vector<Error> problems;

  /// The member of that name in the topmost layer that has it.
  Located find(std::string_view member) const;
  std::optional<std::string> read(const std::string& member) const;
  Where where(const std::string& member) const { return Where{name, member, {}, {}}; }
  /// Runs `step`; an Error becomes a problem, so that the rest stays readable.
  void guard(const std::function<void()>& step);
};

// The steps of Checkpoint::open, in order. Each fills its own part of the value.
void open_sources(Checkpoint::Impl& checkpoint, const std::string& path, const CheckpointOptions& options);
void load_documents(Checkpoint::Impl& checkpoint);
void load_images(Checkpoint::Impl& checkpoint);
void detect_engine(Checkpoint::Impl& checkpoint);
void join_mounts(Checkpoint::Impl& checkpoint);
void attach_uses(Checkpoint::Impl& checkpoint);
void collect_devices(Checkpoint::Impl& checkpoint);
void collect_gpu_signs(Checkpoint::Impl& checkpoint);
void collect_facts(Checkpoint::Impl& checkpoint);

}  // namespace ckpt
