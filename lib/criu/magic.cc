// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "criu/image.h"

namespace ckpt::criu {

namespace {

constexpr Entries kOne = Entries::one;
constexpr Entries kMany = Entries::many;

}  // namespace

const std::vector<ImageKind>& all_kinds() {
  // Magic numbers of CRIU's criu/include/magic.h; none ever changed. SHMEM_PAGEMAP, PAGES_OLD and SHM_PAGES_OLD share
  // PAGEMAP's, PSIGNAL shares SIGNAL's, BINFMT_MISC_OLD shares BINFMT_MISC's.
  static const std::vector<ImageKind> kKinds = {
      {0x58313116, "INVENTORY", "inventory_entry", "", kOne, Extra::none},
      {0x50273030, "PSTREE", "pstree_entry", "", kMany, Extra::none},
      {0x55053847, "CORE", "core_entry", "", kOne, Extra::none},
      {0x54432030, "IDS", "task_kobj_ids_entry", "", kOne, Extra::none},
      {0x57492820, "MM", "mm_entry", "", kOne, Extra::none},
      {0x54023547, "CREDS", "creds_entry", "", kOne, Extra::none},
      {0x51403912, "FS", "fs_entry", "", kOne, Extra::none},
      {0x56084025, "PAGEMAP", "pagemap_entry", "pagemap_head", kMany, Extra::none},
      {0x56303138, "FILES", "file_entry", "", kMany, Extra::none},
      {0x56213732, "FDINFO", "fdinfo_entry", "", kMany, Extra::none},
      {0x59133954, "REMAP_FPATH", "remap_file_path_entry", "", kMany, Extra::none},
      {0x52583605, "GHOST_FILE", "ghost_file_entry", "", kOne, Extra::ghost},
      {0x48453499, "MEMFD_INODE", "memfd_inode_entry", "", kMany, Extra::none},
      {0x55563928, "MNTS", "mnt_entry", "", kMany, Extra::none},
      {0x49353943, "AUTOFS", "autofs_entry", "", kOne, Extra::none},
      {0x67343323, "BINFMT_MISC", "binfmt_misc_entry", "", kMany, Extra::none},
      {0x59383330, "CGROUP", "cgroup_entry", "", kOne, Extra::none},
      {0x64413049, "SECCOMP", "seccomp_entry", "", kOne, Extra::none},
      {0x59423047, "APPARMOR", "apparmor_entry", "", kOne, Extra::none},
      {0x54473203, "UTSNS", "utsns_entry", "", kOne, Extra::none},
      {0x43114433, "TIMENS", "timens_entry", "", kOne, Extra::none},
      {0x61157326, "PIDNS", "pidns_entry", "", kOne, Extra::none},
      {0x55474906, "USERNS", "userns_entry", "", kOne, Extra::none},
      {0x53115007, "IPC_VAR", "ipc_var_entry", "", kOne, Extra::none},
      {0x46283044, "IPCNS_SHM", "ipc_shm_entry", "", kMany, Extra::ipc_shm},
      {0x55453737, "IPCNS_MSG", "ipc_msg_entry", "", kMany, Extra::ipc_msg},
      {0x59573019, "IPCNS_SEM", "ipc_sem_entry", "", kMany, Extra::ipc_sem},
      {0x55933752, "NETNS", "netns_entry", "", kOne, Extra::none},
      {0x57373951, "NETDEV", "net_device_entry", "", kMany, Extra::none},
      {0x56264026, "SK_QUEUES", "sk_packet_entry", "", kMany, Extra::bytes_2},
      {0x56453709, "PIPES_DATA", "pipe_data_entry", "", kMany, Extra::bytes_2},
      {0x59333054, "FIFO_DATA", "pipe_data_entry", "", kMany, Extra::bytes_2},
      {0x51465506, "TCP_STREAM", "tcp_stream_entry", "", kOne, Extra::bytes_1_3},
      {0x59453036, "TTY_INFO", "tty_info_entry", "", kMany, Extra::none},
      {0x59413026, "TTY_DATA", "tty_data_entry", "", kMany, Extra::none},
      {0x54323616, "FILE_LOCKS", "file_lock_entry", "", kMany, Extra::none},
      {0x57506142, "BPFMAP_FILE", "bpfmap_file_entry", "", kMany, Extra::none},
      {0x64324033, "BPFMAP_DATA", "bpfmap_data_entry", "", kMany, Extra::bytes_2_3},
      {0x61404013, "CPUINFO", "cpuinfo_entry", "", kOne, Extra::none},
      {0x57093306, "STATS", "stats_entry", "", kOne, Extra::none},
      {0x57004059, "IRMAP_CACHE", "irmap_cache_entry", "", kMany, Extra::none},
      // Written by older CRIU only; merged into files.img, mm, core and the file entries since.
      {0x50363636, "REG_FILES", "reg_file_entry", "", kMany, Extra::none},
      {0x59255641, "EXT_FILES", "ext_file_entry", "", kMany, Extra::none},
      {0x61394011, "NS_FILES", "ns_file_entry", "", kMany, Extra::none},
      {0x44523722, "EVENTFD_FILE", "eventfd_file_entry", "", kMany, Extra::none},
      {0x45023858, "EVENTPOLL_FILE", "eventpoll_file_entry", "", kMany, Extra::none},
      {0x57323820, "SIGNALFD", "signalfd_entry", "", kMany, Extra::none},
      {0x48424431, "INOTIFY_FILE", "inotify_file_entry", "", kMany, Extra::none},
      {0x55096122, "FANOTIFY_FILE", "fanotify_file_entry", "", kMany, Extra::none},
      {0x54373943, "UNIXSK", "unix_sk_entry", "", kMany, Extra::none},
      {0x56443851, "INETSK", "inet_sk_entry", "", kMany, Extra::none},
      {0x60454618, "PACKETSK", "packet_sock_entry", "", kMany, Extra::none},
      {0x58005614, "NETLINK_SK", "netlink_sk_entry", "", kMany, Extra::none},
      {0x56513555, "PIPES", "pipe_entry", "", kMany, Extra::none},
      {0x58364939, "FIFO", "fifo_entry", "", kMany, Extra::none},
      {0x59433025, "TTY_FILES", "tty_file_entry", "", kMany, Extra::none},
      {0x57143751, "TUNFILE", "tunfile_entry", "", kMany, Extra::none},
      {0x50493712, "TIMERFD", "timerfd_entry", "", kMany, Extra::none},
      {0x54435556, "PIDFD", "pidfd_entry", "", kMany, Extra::none},
      {0x44433746, "EVENTPOLL_TFD", "eventpoll_tfd_entry", "", kMany, Extra::none},
      {0x54562009, "INOTIFY_WD", "inotify_wd_entry", "", kMany, Extra::none},
      {0x56506035, "FANOTIFY_MARK", "fanotify_mark_entry", "", kMany, Extra::none},
      {0x54123737, "VMAS", "vma_entry", "", kMany, Extra::none},
      {0x55344201, "SIGACT", "sa_entry", "", kMany, Extra::none},
      {0x57464056, "ITIMERS", "itimer_entry", "", kMany, Extra::none},
      {0x52603957, "POSIX_TIMERS", "posix_timer_entry", "", kMany, Extra::none},
      {0x57113925, "RLIMIT", "rlimit_entry", "", kMany, Extra::none},
      {0x59255647, "SIGNAL", "siginfo_entry", "", kMany, Extra::none},
  };
  return kKinds;
}

const ImageKind* find_kind(std::uint32_t magic) noexcept {
  const auto& kinds = all_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const ImageKind& kind) { return kind.magic == magic; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace ckpt::criu
