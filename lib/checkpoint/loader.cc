// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <set>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "criu/image.h"

namespace ckpt {

namespace {

using Impl = Checkpoint::Impl;

std::optional<criu::Image> load_image(const Impl& checkpoint, const std::string& name) {
  const std::string member = checkpoint.image_prefix + name;
  auto bytes = checkpoint.read(member);
  if (!bytes) return std::nullopt;
  return criu::Image::parse(std::move(*bytes), checkpoint.where(member), checkpoint.limits);
}

// Reads one image into `into` if it is there; damage becomes a problem of the checkpoint.
template <typename Value, typename Read>
void load(Impl& checkpoint, const std::string& name, std::optional<Value>& into, Read read) {
  checkpoint.guard([&] {
    if (const auto image = load_image(checkpoint, name)) into = read(*image);
  });
}

// The number in names such as mountpoints-12.img; absent when the name has another shape.
std::optional<std::uint32_t> number_in(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kSuffix = ".img";
  if (name.size() <= prefix.size() + kSuffix.size() || name.substr(0, prefix.size()) != prefix ||
      name.substr(name.size() - kSuffix.size()) != kSuffix)
    return std::nullopt;
  const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - kSuffix.size());
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::set<std::uint32_t> numbered_images(const Impl& checkpoint, std::string_view prefix) {
  std::set<std::uint32_t> numbers;
  for (const Archive& layer : checkpoint.layers)
    for (const Member& member : layer.members()) {
      if (member.name.compare(0, checkpoint.image_prefix.size(), checkpoint.image_prefix) != 0) continue;
      const std::string_view name = std::string_view(member.name).substr(checkpoint.image_prefix.size());
      if (const auto number = number_in(name, prefix)) numbers.insert(*number);
    }
  return numbers;
}

void require(Impl& checkpoint, const std::string& name, const char* consequence) {
  if (checkpoint.find(checkpoint.image_prefix + name)) return;
  checkpoint.problems.emplace_back(ErrorCode::corrupt, checkpoint.where(checkpoint.image_prefix + name),
                                   std::string("missing: ") + consequence);
}

// A process may have a million mappings; that a file is mapped at all is what counts, and once is enough.
void keep_mapped_files(criu::Mm& mm) {
  std::set<std::uint64_t> seen;
  std::vector<criu::Vma> files;
  for (const criu::Vma& vma : mm.vmas)
    if (vma.maps_file() && seen.insert(vma.shmid).second) files.push_back(vma);
  mm.vmas = std::move(files);
}

void load_task(Impl& checkpoint, const criu::PstreeEntry& entry) {
  TaskImages task;
  task.process = {entry.pid, entry.ppid, entry.pgid, entry.sid, entry.threads, {}, {}};
  const std::string pid = std::to_string(entry.pid);
  std::optional<criu::Core> core;
  load(checkpoint, "core-" + pid + ".img", core, criu::read_core);
  load(checkpoint, "ids-" + pid + ".img", task.ids, criu::read_ids);
  load(checkpoint, "mm-" + pid + ".img", task.mm, criu::read_mm);
  load(checkpoint, "fs-" + pid + ".img", task.fs, criu::read_fs);
  if (task.mm) keep_mapped_files(*task.mm);
  if (core) {
    if (checkpoint.machine == 0) checkpoint.machine = core->mtype;
    task.process.comm = core->comm;
    task.process.state = core->task_state;
    if (core->has_stop_signo && checkpoint.criu_at_least.empty()) checkpoint.criu_at_least = "3.18";
  }
  if (task.ids) {
    std::optional<std::vector<criu::FdinfoEntry>> fds;
    load(checkpoint, "fdinfo-" + std::to_string(task.ids->files_id) + ".img", fds, criu::read_fdinfo);
    if (fds) task.fds = std::move(*fds);
  }
  checkpoint.processes.push_back(task.process);
  checkpoint.tasks.push_back(std::move(task));
}

void load_files(Impl& checkpoint) {
  std::optional<std::vector<criu::FileEntry>> files;
  load(checkpoint, "files.img", files, criu::read_files);
  if (!files) load(checkpoint, "reg-files.img", files, criu::read_files);
  if (!files) return;
  for (criu::FileEntry& file : *files) checkpoint.files.emplace(file.id, std::move(file));
}

void load_mount_namespaces(Impl& checkpoint) {
  for (const std::uint32_t id : numbered_images(checkpoint, "mountpoints-")) {
    const std::string name = "mountpoints-" + std::to_string(id) + ".img";
    std::optional<std::vector<criu::MountEntry>> mounts;
    load(checkpoint, name, mounts, criu::read_mounts);
    if (mounts) checkpoint.namespaces.push_back({checkpoint.image_prefix + name, id, std::move(*mounts)});
  }
  if (checkpoint.tasks.empty() || !checkpoint.tasks.front().ids) return;
  const auto wanted = checkpoint.tasks.front().ids->mnt_ns_id;
  for (std::size_t i = 0; i < checkpoint.namespaces.size(); ++i)
    if (wanted && checkpoint.namespaces[i].id == *wanted) checkpoint.main_namespace = static_cast<std::uint32_t>(i);
}

// One pagemap is enough: a dump is written by one CRIU.
void look_at_pagemap(Impl& checkpoint) {
  if (checkpoint.tasks.empty()) return;
  std::optional<bool> has;
  load(checkpoint, "pagemap-" + std::to_string(checkpoint.tasks.front().process.pid) + ".img", has,
       criu::pagemap_has_nr_pages);
  checkpoint.pagemaps_have_nr_pages = has.value_or(false);
}

}  // namespace

void load_documents(Impl& checkpoint) {
  checkpoint.guard([&] {
    if (!checkpoint.spec_text) checkpoint.spec_text = checkpoint.read("spec.dump");
    if (!checkpoint.spec_text) return;
    const Json document = Json::parse(*checkpoint.spec_text, checkpoint.name, "spec.dump", checkpoint.limits);
    checkpoint.spec = read_runtime_spec(document, checkpoint.where("spec.dump"));
  });
  checkpoint.guard([&] {
    checkpoint.config_text = checkpoint.read("config.dump");
    if (!checkpoint.config_text) return;
    const Json document = Json::parse(*checkpoint.config_text, checkpoint.name, "config.dump", checkpoint.limits);
    checkpoint.config = read_container_config(document, checkpoint.where("config.dump"));
  });
  checkpoint.guard([&] {
    if (checkpoint.spec)
      checkpoint.requested_mounts = read_cri_o_volumes(checkpoint.spec->annotations, checkpoint.where("spec.dump"));
  });
  checkpoint.guard([&] {
    checkpoint.status_text = checkpoint.read("status.dump");
    if (!checkpoint.status_text) return;
    const Json document = Json::parse(*checkpoint.status_text, checkpoint.name, "status.dump", checkpoint.limits);
    checkpoint.requested_mounts = read_cri_status_mounts(document, checkpoint.where("status.dump"));
  });
  checkpoint.has_record = static_cast<bool>(checkpoint.find("spec.dump.orig"));
}

void load_images(Impl& checkpoint) {
  if (checkpoint.image_prefix == "checkpoint/" && !checkpoint.problems.empty() &&
      checkpoint.problems.back().where().member == "checkpoint/")
    return;
  load(checkpoint, "inventory.img", checkpoint.inventory, criu::read_inventory);
  std::optional<std::vector<criu::PstreeEntry>> tree;
  load(checkpoint, "pstree.img", tree, criu::read_pstree);
  if (tree)
    for (const criu::PstreeEntry& entry : *tree) load_task(checkpoint, entry);
  load_files(checkpoint);
  load_mount_namespaces(checkpoint);
  look_at_pagemap(checkpoint);
  require(checkpoint, "inventory.img", "CRIU writes it last, so the dump was not completed");
  require(checkpoint, "pstree.img", "the process tree is unknown");
  if (checkpoint.namespaces.empty() && checkpoint.problems.empty())
    checkpoint.problems.emplace_back(ErrorCode::corrupt,
                                     checkpoint.where(checkpoint.image_prefix + "mountpoints-*.img"),
                                     "missing: the mounts of the container are unknown");
}

}  // namespace ckpt
