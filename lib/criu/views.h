// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "criu/image.h"

namespace ckpt::criu {

// Typed views of the messages that the comparison needs. Field names follow CRIU's images/*.proto.
// Each read_* takes an image of the right kind and throws Error(corrupt) with the entry when a required field is
// missing, Error(invalid_argument) when the image is of another kind.

/// mnt_entry; fstype codes: enum fstype of mnt.proto (5 tmpfs, 17 overlayfs ...).
struct MountEntry {
  std::size_t entry = 0;  ///< index in the image
  std::uint32_t fstype = 0;
  std::uint32_t mnt_id = 0;
  std::uint32_t root_dev = 0;  ///< kernel encoding, major << 20 | minor
  std::uint32_t parent_mnt_id = 0;
  std::uint32_t flags = 0;  ///< MS_* bits of the mount
  std::string root;
  std::string mountpoint;
  std::string source;
  std::string options;
  std::uint32_t shared_id = 0;
  std::uint32_t master_id = 0;
  bool with_plugin = false;
  bool ext_mount = false;  ///< CRIU before 3.0: the key stands in `root`
  std::string fsname;
  bool deleted = false;
  std::optional<std::uint32_t> sb_flags;
  std::optional<std::string> ext_key;
};
std::vector<MountEntry> read_mounts(const Image& image);
/// Field numbers of mnt_entry that edits name.
inline constexpr std::uint32_t kMountMountpointField = 7;
inline constexpr std::uint32_t kMountSourceField = 8;
inline constexpr std::uint32_t kMountExtMountField = 13;
inline constexpr std::uint32_t kMountExtKeyField = 18;

struct Inventory {
  std::uint32_t img_version = 0;
  std::optional<std::uint32_t> lsmtype;  ///< 0 none, 1 SELinux, 2 AppArmor
  std::optional<std::uint32_t> pre_dump_mode;
  std::optional<bool> tcp_close;
  std::optional<std::uint32_t> network_lock_method;
  std::optional<std::vector<std::string>> plugins;  ///< absent: written by CRIU before 4.1
  std::optional<std::string> dump_criu_run_id;
  std::optional<bool> allow_uprobes;
};
Inventory read_inventory(const Image& image);

struct PstreeEntry {
  std::uint32_t pid = 0;
  std::uint32_t ppid = 0;
  std::uint32_t pgid = 0;
  std::uint32_t sid = 0;
  std::vector<std::uint32_t> threads;
};
std::vector<PstreeEntry> read_pstree(const Image& image);

struct Core {
  std::uint32_t mtype = 0;                  ///< 1 x86_64, 3 aarch64 ...
  std::string comm;                         ///< of the task, or of the thread when there is no task part
  std::optional<std::uint32_t> task_state;  ///< 1 alive, 2 dead, 3 stopped, 6 zombie
  bool has_stop_signo = false;              ///< a field of CRIU 3.18 and later
};
Core read_core(const Image& image);

struct KobjIds {
  std::uint32_t vm_id = 0;
  std::uint32_t files_id = 0;
  std::uint32_t fs_id = 0;
  std::optional<std::uint32_t> mnt_ns_id;
};
KobjIds read_ids(const Image& image);

struct FdinfoEntry {
  std::uint32_t id = 0;
  std::uint32_t flags = 0;
  std::uint32_t type = 0;  ///< enum fd_types of fdinfo.proto: 1 REG, 5 UNIXSK, 16 EXT ...
  std::uint32_t fd = 0;
};
std::vector<FdinfoEntry> read_fdinfo(const Image& image);

struct FsEntry {
  std::uint32_t cwd_id = 0;
  std::uint32_t root_id = 0;
};
FsEntry read_fs(const Image& image);

/// reg_file_entry inside a file_entry of files.img (or the older reg-files.img).
struct RegFile {
  std::uint32_t id = 0;
  std::uint32_t flags = 0;
  std::string name;  ///< absolute path in the container
  std::int32_t mnt_id = -1;
  std::optional<std::uint64_t> size;
  std::optional<std::uint32_t> mode;    ///< full st_mode
  std::vector<std::uint32_t> build_id;  ///< note bytes packed in host-endian words, zero padded; may be empty
};
/// files.img entries as far as the comparison looks at them.
struct FileEntry {
  std::uint32_t type = 0;
  std::uint32_t id = 0;
  std::optional<RegFile> reg;
  std::optional<std::string> unix_name;  ///< a unix socket's name, first byte 0 when abstract; absent when unbound
  std::optional<std::int32_t> unix_mnt_id;
  bool external = false;  ///< type EXT: a plugin's file
  std::size_t entry = 0;  ///< index in the image
};
std::vector<FileEntry> read_files(const Image& image);
/// The image with another name for the regular file in `entry`; every other byte stays.
/// Throws Error(invalid_argument) when the entry is no regular file.
std::string with_file_name(const Image& image, std::size_t entry, std::string_view name);

struct Vma {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t pgoff = 0;
  std::uint64_t shmid = 0;  ///< id in files.img when status has FILE_PRIVATE (0x40) or FILE_SHARED (0x80)
  std::uint32_t prot = 0;
  std::uint32_t flags = 0;
  std::uint32_t status = 0;
  bool maps_file() const noexcept { return (status & (0x40u | 0x80u)) != 0; }
};
struct Mm {
  std::uint32_t exe_file_id = 0;
  std::uint64_t arg_start = 0;
  std::uint64_t arg_end = 0;
  std::uint64_t env_start = 0;
  std::uint64_t env_end = 0;
  std::vector<Vma> vmas;
};
Mm read_mm(const Image& image);

/// stats-dump (service head): times in microseconds.
struct DumpStats {
  std::uint32_t freezing_time = 0;
  std::uint32_t frozen_time = 0;
  std::uint32_t memdump_time = 0;
  std::uint32_t memwrite_time = 0;
  std::uint64_t pages_scanned = 0;
  std::uint64_t pages_written = 0;
};
std::optional<DumpStats> read_dump_stats(const Image& image);

/// pagemap_entry with CRIU's rules for older images applied: no flags means present, in_parent implies the flag.
struct PagemapEntry {
  std::uint64_t vaddr = 0;
  std::uint64_t pages = 0;
  bool present = false;
  bool in_parent = false;
};
struct Pagemap {
  std::uint32_t pages_id = 0;
  std::vector<PagemapEntry> entries;
};
Pagemap read_pagemap(const Image& image);

/// True when any entry of a pagemap image has nr_pages (field 5): written by CRIU 4.2 or later.
bool pagemap_has_nr_pages(const Image& image);

}  // namespace ckpt::criu
