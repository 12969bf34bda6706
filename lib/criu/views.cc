// SPDX-License-Identifier: Apache-2.0
#include "criu/views.h"

#include <ckpt/criu/core.pb.h>
#include <ckpt/criu/fdinfo.pb.h>
#include <ckpt/criu/fs.pb.h>
#include <ckpt/criu/inventory.pb.h>
#include <ckpt/criu/mnt.pb.h>
#include <ckpt/criu/pstree.pb.h>
#include <ckpt/criu/stats.pb.h>

#include "criu/decode.h"

namespace ckpt::criu {

namespace {

MountEntry mount_from(mnt_entry&& message) {
  MountEntry mount;
  mount.fstype = message.fstype();
  mount.mnt_id = message.mnt_id();
  mount.root_dev = message.root_dev();
  mount.parent_mnt_id = message.parent_mnt_id();
  mount.flags = message.flags();
  mount.root = std::move(*message.mutable_root());
  mount.mountpoint = std::move(*message.mutable_mountpoint());
  mount.source = std::move(*message.mutable_source());
  mount.options = std::move(*message.mutable_options());
  mount.shared_id = message.shared_id();
  mount.master_id = message.master_id();
  mount.with_plugin = message.with_plugin();
  mount.ext_mount = message.ext_mount();
  mount.fsname = message.fsname();
  mount.deleted = message.deleted();
  if (message.has_sb_flags()) mount.sb_flags = message.sb_flags();
  if (message.has_ext_key()) mount.ext_key = std::move(*message.mutable_ext_key());
  return mount;
}

}  // namespace

std::vector<MountEntry> read_mounts(const Image& image) {
  expect_kind(image, {"MNTS"});
  std::vector<MountEntry> mounts;
  for (std::size_t i = 0; i < image.entries().size(); ++i) {
    mounts.push_back(mount_from(entry_as<mnt_entry>(image, i)));
    mounts.back().entry = i;
  }
  return mounts;
}

Inventory read_inventory(const Image& image) {
  expect_kind(image, {"INVENTORY"});
  const std::size_t entry = only_entry(image);
  const auto message = entry_as<inventory_entry>(image, entry);
  Inventory inventory;
  inventory.img_version = message.img_version();
  inventory.lsmtype = enum_number(image, entry, inventory_entry::kLsmtypeFieldNumber);
  if (message.has_pre_dump_mode()) inventory.pre_dump_mode = message.pre_dump_mode();
  if (message.has_tcp_close()) inventory.tcp_close = message.tcp_close();
  if (message.has_network_lock_method()) inventory.network_lock_method = message.network_lock_method();
  if (message.has_plugins_entry()) {
    const auto& plugins = message.plugins_entry().plugins();
    inventory.plugins.emplace(plugins.begin(), plugins.end());
  }
  if (message.has_dump_criu_run_id()) inventory.dump_criu_run_id = message.dump_criu_run_id();
  if (message.has_allow_uprobes()) inventory.allow_uprobes = message.allow_uprobes();
  return inventory;
}

std::vector<PstreeEntry> read_pstree(const Image& image) {
  expect_kind(image, {"PSTREE"});
  std::vector<PstreeEntry> tree;
  for (std::size_t i = 0; i < image.entries().size(); ++i) {
    const auto message = entry_as<pstree_entry>(image, i);
    tree.push_back({message.pid(),
                    message.ppid(),
                    message.pgid(),
                    message.sid(),
                    {message.threads().begin(), message.threads().end()}});
  }
  return tree;
}

Core read_core(const Image& image) {
  expect_kind(image, {"CORE"});
  const std::size_t entry = only_entry(image);
  const auto message = entry_as<core_entry>(image, entry);
  Core core;
  core.mtype = enum_number(image, entry, core_entry::kMtypeFieldNumber).value_or(0);
  if (message.has_tc()) {
    core.comm = message.tc().comm();
    core.task_state = message.tc().task_state();
    core.has_stop_signo = message.tc().has_stop_signo();
  } else {
    core.comm = message.thread_core().comm();
  }
  return core;
}

KobjIds read_ids(const Image& image) {
  expect_kind(image, {"IDS"});
  const auto message = entry_as<task_kobj_ids_entry>(image, only_entry(image));
  KobjIds ids;
  ids.vm_id = message.vm_id();
  ids.files_id = message.files_id();
  ids.fs_id = message.fs_id();
  if (message.has_mnt_ns_id()) ids.mnt_ns_id = message.mnt_ns_id();
  return ids;
}

std::vector<FdinfoEntry> read_fdinfo(const Image& image) {
  expect_kind(image, {"FDINFO"});
  std::vector<FdinfoEntry> fds;
  for (std::size_t i = 0; i < image.entries().size(); ++i) {
    const auto message = entry_as<fdinfo_entry>(image, i);
    const auto type = enum_number(image, i, fdinfo_entry::kTypeFieldNumber);
    fds.push_back({message.id(), message.flags(), type.value_or(0), message.fd()});
  }
  return fds;
}

FsEntry read_fs(const Image& image) {
  expect_kind(image, {"FS"});
  const auto message = entry_as<fs_entry>(image, only_entry(image));
  return {message.cwd_id(), message.root_id()};
}

std::optional<DumpStats> read_dump_stats(const Image& image) {
  expect_kind(image, {"STATS"});
  const auto message = entry_as<stats_entry>(image, only_entry(image));
  if (!message.has_dump()) return std::nullopt;
  const dump_stats_entry& dump = message.dump();
  return DumpStats{dump.freezing_time(), dump.frozen_time(),   dump.memdump_time(),
                   dump.memwrite_time(), dump.pages_scanned(), dump.pages_written()};
}

}  // namespace ckpt::criu
