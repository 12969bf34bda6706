// SPDX-License-Identifier: Apache-2.0
#include "testing/image_builder.h"

#include <algorithm>

#include <ckpt/criu/core.pb.h>
#include <ckpt/criu/fdinfo.pb.h>
#include <ckpt/criu/fs.pb.h>
#include <ckpt/criu/inventory.pb.h>
#include <ckpt/criu/mm.pb.h>
#include <ckpt/criu/mnt.pb.h>
#include <ckpt/criu/pagemap.pb.h>
#include <ckpt/criu/pstree.pb.h>
#include <ckpt/criu/stats.pb.h>

namespace ckpt::testing {

namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

void fill(criu::fown_entry& fown) {
  fown.set_uid(0);
  fown.set_euid(0);
  fown.set_signum(0);
  fown.set_pid_type(0);
  fown.set_pid(0);
}

void fill(criu::sk_opts_entry& options) {
  options.set_so_sndbuf(0);
  options.set_so_rcvbuf(0);
  options.set_so_snd_tmo_sec(0);
  options.set_so_snd_tmo_usec(0);
  options.set_so_rcv_tmo_sec(0);
  options.set_so_rcv_tmo_usec(0);
}

void fill(criu::reg_file_entry& message, const criu::FileEntry& file) {
  const criu::RegFile& reg = file.reg.value();
  message.set_id(file.id);
  message.set_flags(reg.flags);
  message.set_pos(0);
  fill(*message.mutable_fown());
  message.set_name(reg.name);
  message.set_mnt_id(reg.mnt_id);
  if (reg.size) message.set_size(*reg.size);
  if (reg.mode) message.set_mode(*reg.mode);
  message.mutable_build_id()->Assign(reg.build_id.begin(), reg.build_id.end());
}

void fill(criu::unix_sk_entry& message, const criu::FileEntry& file) {
  message.set_id(file.id);
  message.set_ino(file.id);
  message.set_type(1);
  message.set_state(7);
  message.set_flags(0);
  message.set_uflags(0);
  message.set_backlog(0);
  message.set_peer(0);
  fill(*message.mutable_fown());
  fill(*message.mutable_opts());
  message.set_name(file.unix_name.value_or(""));
  if (file.unix_mnt_id) message.set_mnt_id(*file.unix_mnt_id);
}

void fill(criu::pipe_entry& message, const criu::FileEntry& file) {
  message.set_id(file.id);
  message.set_pipe_id(file.id);
  message.set_flags(0);
  fill(*message.mutable_fown());
}

void fill(criu::ext_file_entry& message, const criu::FileEntry& file) {
  message.set_id(file.id);
  fill(*message.mutable_fown());
}

std::string encoded(const criu::FileEntry& file) {
  criu::file_entry message;
  message.set_type(static_cast<criu::fd_types>(file.type));
  message.set_id(file.id);
  switch (file.type) {
    case criu::REG:
      fill(*message.mutable_reg(), file);
      break;
    case criu::PIPE:
      fill(*message.mutable_pipe(), file);
      break;
    case criu::UNIXSK:
      fill(*message.mutable_usk(), file);
      break;
    case criu::EXT:
      fill(*message.mutable_ext(), file);
      break;
    default:
      throw Error(ErrorCode::invalid_argument, {}, "no builder for file type " + std::to_string(file.type));
  }
  return message.SerializePartialAsString();
}

void fill(criu::vma_entry& message, const criu::Vma& vma) {
  message.set_start(vma.start);
  message.set_end(vma.end);
  message.set_pgoff(vma.pgoff);
  message.set_shmid(vma.shmid);
  message.set_prot(vma.prot);
  message.set_flags(vma.flags);
  message.set_status(vma.status);
  message.set_fd(-1);
}

std::string encoded(const criu::MountEntry& mount) {
  criu::mnt_entry message;
  message.set_fstype(mount.fstype);
  message.set_mnt_id(mount.mnt_id);
  message.set_root_dev(mount.root_dev);
  message.set_parent_mnt_id(mount.parent_mnt_id);
  message.set_flags(mount.flags);
  message.set_root(mount.root);
  message.set_mountpoint(mount.mountpoint);
  message.set_source(mount.source);
  message.set_options(mount.options);
  message.set_shared_id(mount.shared_id);
  message.set_master_id(mount.master_id);
  if (mount.with_plugin) message.set_with_plugin(true);
  if (mount.ext_mount) message.set_ext_mount(true);
  if (!mount.fsname.empty()) message.set_fsname(mount.fsname);
  if (mount.deleted) message.set_deleted(true);
  if (mount.sb_flags) message.set_sb_flags(*mount.sb_flags);
  if (mount.ext_key) message.set_ext_key(*mount.ext_key);
  return message.SerializePartialAsString();
}

template <typename Value, typename Encode>
std::string image_of_each(std::string_view kind, const std::vector<Value>& values, Encode encode) {
  std::string out = image_head(kind);
  for (const Value& value : values) out += framed(encode(value));
  return out;
}

}  // namespace

std::string mountpoints_image(const std::vector<criu::MountEntry>& mounts) {
  return image_of_each("MNTS", mounts, [](const criu::MountEntry& mount) { return encoded(mount); });
}

std::string inventory_image(const criu::Inventory& inventory) {
  criu::inventory_entry message;
  message.set_img_version(inventory.img_version);
  message.set_fdinfo_per_id(true);
  if (inventory.lsmtype) message.set_lsmtype(static_cast<criu::lsmtype>(*inventory.lsmtype));
  if (inventory.pre_dump_mode) message.set_pre_dump_mode(*inventory.pre_dump_mode);
  if (inventory.tcp_close) message.set_tcp_close(*inventory.tcp_close);
  if (inventory.network_lock_method) message.set_network_lock_method(*inventory.network_lock_method);
  if (inventory.plugins) {
    message.mutable_plugins_entry();
    for (const std::string& plugin : *inventory.plugins) message.mutable_plugins_entry()->add_plugins(plugin);
  }
  if (inventory.dump_criu_run_id) message.set_dump_criu_run_id(*inventory.dump_criu_run_id);
  if (inventory.allow_uprobes) message.set_allow_uprobes(*inventory.allow_uprobes);
  return image_of("INVENTORY", {message.SerializePartialAsString()});
}

std::string pstree_image(const std::vector<criu::PstreeEntry>& tree) {
  return image_of_each("PSTREE", tree, [](const criu::PstreeEntry& entry) {
    criu::pstree_entry message;
    message.set_pid(entry.pid);
    message.set_ppid(entry.ppid);
    message.set_pgid(entry.pgid);
    message.set_sid(entry.sid);
    for (const std::uint32_t thread : entry.threads) message.add_threads(thread);
    return message.SerializePartialAsString();
  });
}

std::string core_image(const criu::Core& core) {
  criu::core_entry message;
  message.set_mtype(static_cast<criu::core_entry::march>(core.mtype));
  if (core.task_state) {
    criu::task_core_entry& task = *message.mutable_tc();
    task.set_task_state(*core.task_state);
    task.set_exit_code(0);
    task.set_personality(0);
    task.set_flags(0);
    task.set_blk_sigset(0);
    task.set_comm(core.comm);
    if (core.has_stop_signo) task.set_stop_signo(0);
  }
  criu::thread_core_entry& thread = *message.mutable_thread_core();
  thread.set_futex_rla(0);
  thread.set_futex_rla_len(0);
  thread.set_comm(core.comm);
  return image_of("CORE", {message.SerializePartialAsString()});
}

std::string ids_image(const criu::KobjIds& ids) {
  criu::task_kobj_ids_entry message;
  message.set_vm_id(ids.vm_id);
  message.set_files_id(ids.files_id);
  message.set_fs_id(ids.fs_id);
  message.set_sighand_id(1);
  if (ids.mnt_ns_id) message.set_mnt_ns_id(*ids.mnt_ns_id);
  return image_of("IDS", {message.SerializePartialAsString()});
}

std::string fdinfo_image(const std::vector<criu::FdinfoEntry>& fds) {
  return image_of_each("FDINFO", fds, [](const criu::FdinfoEntry& fd) {
    return varint_field(1, fd.id) + varint_field(2, fd.flags) + varint_field(3, fd.type) + varint_field(4, fd.fd);
  });
}

std::string fs_image(const criu::FsEntry& fs) {
  return image_of("FS", {varint_field(1, fs.cwd_id) + varint_field(2, fs.root_id)});
}

std::string files_image(const std::vector<criu::FileEntry>& files) {
  return image_of_each("FILES", files, [](const criu::FileEntry& file) { return encoded(file); });
}

std::string mm_image(const criu::Mm& mm) {
  criu::mm_entry message;
  const auto* type = criu::mm_entry::descriptor();
  for (int number = 1; number <= 11; ++number)
    message.GetReflection()->SetUInt64(&message, type->FindFieldByNumber(number), 0);
  message.set_exe_file_id(mm.exe_file_id);
  for (const criu::Vma& vma : mm.vmas) fill(*message.add_vmas(), vma);
  return image_of("MM", {message.SerializePartialAsString()});
}

std::string stats_dump_image(const criu::DumpStats& stats) {
  criu::stats_entry message;
  criu::dump_stats_entry& dump = *message.mutable_dump();
  dump.set_freezing_time(stats.freezing_time);
  dump.set_frozen_time(stats.frozen_time);
  dump.set_memdump_time(stats.memdump_time);
  dump.set_memwrite_time(stats.memwrite_time);
  dump.set_pages_scanned(stats.pages_scanned);
  dump.set_pages_skipped_parent(0);
  dump.set_pages_written(stats.pages_written);
  dump.set_pages_lazy(0);
  return image_of("STATS", {message.SerializePartialAsString()});
}

std::string pagemap_image(std::uint32_t pages_id, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs) {
  std::vector<std::string> messages = {varint_field(1, pages_id)};
  for (const auto& [address, pages] : runs)
    messages.push_back(varint_field(1, address) + varint_field(2, 0) + varint_field(4, 4) + varint_field(5, pages));
  return image_of("PAGEMAP", messages);
}

criu::MountEntry mount(std::uint32_t mnt_id, std::uint32_t parent_mnt_id, std::string mountpoint) {
  criu::MountEntry entry;
  entry.mnt_id = mnt_id;
  entry.parent_mnt_id = parent_mnt_id;
  entry.root_dev = mnt_id;
  entry.root = "/";
  entry.mountpoint = std::move(mountpoint);
  return entry;
}

std::string image_head(std::string_view kind) {
  const auto& kinds = criu::all_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.name == kind; });
  if (found == kinds.end()) throw Error(ErrorCode::invalid_argument, {}, "no image kind " + std::string(kind));
  if (kind == "INVENTORY") return u32_bytes(found->magic);
  const bool service = kind == "STATS" || kind == "IRMAP_CACHE";
  return u32_bytes(service ? 0x55105940 : 0x54564319) + u32_bytes(found->magic);
}

std::string framed(std::string_view message) {
  return u32_bytes(static_cast<std::uint32_t>(message.size())).append(message);
}

std::string image_of(std::string_view kind, const std::vector<std::string>& messages) {
  std::string out = image_head(kind);
  for (const std::string& message : messages) out += framed(message);
  return out;
}

std::string u32_bytes(std::uint32_t value) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::string varint_field(std::uint32_t number, std::uint64_t value) {
  return varint(std::uint64_t{number} << 3) + varint(value);
}

std::string bytes_field(std::uint32_t number, std::string_view value) {
  return (varint(std::uint64_t{number} << 3 | 2) + varint(value.size())).append(value);
}

}  // namespace ckpt::testing
