// SPDX-License-Identifier: Apache-2.0
#include "criu/spelling.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>

namespace ckpt::criu {

namespace {

namespace pb = google::protobuf;

struct Name {
  const char* field;  ///< empty: any field of the spelling
  std::uint64_t value;
  const char* text;
};
using Names = std::vector<Name>;

using S = Spelling;

// Presentation only; from images/*.proto of CRIU 4.2.
constexpr std::pair<std::string_view, Spelling> kSpellings[] = {
    {"sa_entry.sigaction", S::hex},
    {"sa_entry.flags", S::hex},
    {"sa_entry.restorer", S::hex},
    {"sa_entry.mask", S::hex},
    {"sa_entry.mask_extended", S::hex},
    {"task_core_entry.task_state", S::task_state},
    {"task_core_entry.blk_sigset", S::hex},
    {"task_core_entry.blk_sigset_extended", S::hex},
    {"task_core_entry.membarrier_registration_mask", S::hex},
    {"reg_file_entry.flags", S::file_flags},
    {"bpfmap_file_entry.flags", S::file_flags},
    {"memfd_file_entry.flags", S::file_flags},
    {"memfd_inode_entry.seals", S::seals},
    {"tcp_stream_entry.opt_mask", S::hex},
    {"inet_sk_entry.family", S::socket},
    {"inet_sk_entry.type", S::socket},
    {"inet_sk_entry.proto", S::socket},
    {"inet_sk_entry.state", S::socket},
    {"inet_sk_entry.flags", S::hex},
    {"inet_sk_entry.src_addr", S::ip},
    {"inet_sk_entry.dst_addr", S::ip},
    {"packet_sock_entry.flags", S::hex},
    {"netlink_sk_entry.flags", S::hex},
    {"signalfd_entry.flags", S::hex},
    {"signalfd_entry.sigmask", S::hex},
    {"tun_link_entry.flags", S::hex},
    {"timerfd_entry.flags", S::hex},
    {"timerfd_entry.settime_flags", S::hex},
    {"irmap_cache_entry.dev", S::odev},
    {"inotify_wd_entry.mask", S::hex},
    {"inotify_wd_entry.ignored_mask", S::hex},
    {"inotify_wd_entry.s_dev", S::dev},
    {"inotify_file_entry.flags", S::hex},
    {"fanotify_mark_entry.mflags", S::hex},
    {"fanotify_mark_entry.mask", S::hex},
    {"fanotify_mark_entry.ignored_mask", S::hex},
    {"fanotify_mark_entry.s_dev", S::dev},
    {"fanotify_file_entry.flags", S::hex},
    {"fanotify_file_entry.faflags", S::hex},
    {"fanotify_file_entry.evflags", S::hex},
    {"unix_sk_entry.type", S::socket},
    {"unix_sk_entry.state", S::socket},
    {"unix_sk_entry.flags", S::hex},
    {"unix_sk_entry.uflags", S::hex},
    {"pipe_entry.flags", S::hex},
    {"tty_file_entry.flags", S::hex},
    {"ghost_file_entry.dev", S::dev},
    {"ghost_file_entry.rdev", S::odev},
    {"vma_entry.start", S::hex},
    {"vma_entry.end", S::hex},
    {"vma_entry.prot", S::prot},
    {"vma_entry.flags", S::map_flags},
    {"vma_entry.status", S::vma_status},
    {"vma_entry.madv", S::hex},
    {"vma_entry.fdflags", S::hex},
    {"mm_entry.mm_start_code", S::hex},
    {"mm_entry.mm_end_code", S::hex},
    {"mm_entry.mm_start_data", S::hex},
    {"mm_entry.mm_end_data", S::hex},
    {"mm_entry.mm_start_stack", S::hex},
    {"mm_entry.mm_start_brk", S::hex},
    {"mm_entry.mm_brk", S::hex},
    {"mm_entry.mm_arg_start", S::hex},
    {"mm_entry.mm_arg_end", S::hex},
    {"mm_entry.mm_env_start", S::hex},
    {"mm_entry.mm_env_end", S::hex},
    {"mnt_entry.root_dev", S::dev},
    {"mnt_entry.flags", S::hex},
    {"mnt_entry.sb_flags", S::hex},
    {"sit_entry.local", S::ip},
    {"sit_entry.remote", S::ip},
    {"sit_entry.rd_prefix", S::ip},
    {"sit_entry.relay_prefix", S::ip},
    {"net_device_entry.flags", S::hex},
    {"pagemap_entry.vaddr", S::hex},
    {"pagemap_entry.flags", S::page_flags},
};

const std::map<std::string_view, Spelling>& spellings() {
  static const std::map<std::string_view, Spelling> kByField(std::begin(kSpellings), std::end(kSpellings));
  return kByField;
}

const Names& flag_names(Spelling spelling) {
  static const Names kProt = {{"", 1, "PROT_READ"}, {"", 2, "PROT_WRITE"}, {"", 4, "PROT_EXEC"}};
  static const Names kMap = {
      {"", 1, "MAP_SHARED"}, {"", 2, "MAP_PRIVATE"}, {"", 0x20, "MAP_ANON"}, {"", 0x100, "MAP_GROWSDOWN"}};
  static const Names kStatus = {
      {"", 0x1, "VMA_AREA_REGULAR"},    {"", 0x2, "VMA_AREA_STACK"},       {"", 0x4, "VMA_AREA_VSYSCALL"},
      {"", 0x8, "VMA_AREA_VDSO"},       {"", 0x20, "VMA_AREA_HEAP"},       {"", 0x40, "VMA_FILE_PRIVATE"},
      {"", 0x80, "VMA_FILE_SHARED"},    {"", 0x100, "VMA_ANON_SHARED"},    {"", 0x200, "VMA_ANON_PRIVATE"},
      {"", 0x400, "VMA_AREA_SYSVIPC"},  {"", 0x800, "VMA_AREA_SOCKET"},    {"", 0x1000, "VMA_AREA_VVAR"},
      {"", 0x2000, "VMA_AREA_AIORING"}, {"", 0x4000, "VMA_AREA_MEMFD"},    {"", 0x8000, "VMA_AREA_SHSTK"},
      {"", 0x10000, "VMA_AREA_GUARD"},  {"", 0x20000, "VMA_AREA_UPROBES"}, {"", 0x80000000U, "VMA_UNSUPP"}};
  static const Names kFile = {{"", 01, "O_WRONLY"},
                              {"", 02, "O_RDWR"},
                              {"", 02000, "O_APPEND"},
                              {"", 040000, "O_DIRECT"},
                              {"", 0100000, "O_LARGEFILE"}};
  static const Names kPage = {{"", 1, "PE_PARENT"}, {"", 2, "PE_LAZY"}, {"", 4, "PE_PRESENT"}};
  static const Names kSeals = {{"", 1, "F_SEAL_SEAL"},
                               {"", 2, "F_SEAL_SHRINK"},
                               {"", 4, "F_SEAL_GROW"},
                               {"", 8, "F_SEAL_WRITE"},
                               {"", 16, "F_SEAL_FUTURE_WRITE"}};
  static const Names kNone;
  switch (spelling) {
    case Spelling::prot:
      return kProt;
    case Spelling::map_flags:
      return kMap;
    case Spelling::vma_status:
      return kStatus;
    case Spelling::file_flags:
      return kFile;
    case Spelling::page_flags:
      return kPage;
    case Spelling::seals:
      return kSeals;
    default:
      return kNone;
  }
}

const Names& value_names(Spelling spelling) {
  // CRIU's own numbers (task-state.h); crit 4.2 has the names of 3 and 6 the wrong way round.
  static const Names kStates = {{"", 1, "Alive"}, {"", 2, "Dead"}, {"", 3, "Stopped"}, {"", 6, "Zombie"}};
  static const Names kSocket = {
      {"family", 1, "UNIX"},    {"family", 2, "INET"},      {"family", 10, "INET6"},     {"family", 16, "NETLINK"},
      {"family", 17, "PACKET"}, {"type", 1, "STREAM"},      {"type", 2, "DGRAM"},        {"type", 3, "RAW"},
      {"type", 5, "SEQPACKET"}, {"type", 10, "PACKET"},     {"state", 1, "ESTABLISHED"}, {"state", 2, "SYN_SENT"},
      {"state", 3, "SYN_RECV"}, {"state", 4, "FIN_WAIT1"},  {"state", 5, "FIN_WAIT2"},   {"state", 6, "TIME_WAIT"},
      {"state", 7, "CLOSE"},    {"state", 8, "CLOSE_WAIT"}, {"state", 9, "LAST_ACK"},    {"state", 10, "LISTEN"},
      {"proto", 0, "IP"},       {"proto", 6, "TCP"},        {"proto", 17, "UDP"},        {"proto", 136, "UDPLITE"}};
  static const Names kNone;
  if (spelling == Spelling::task_state) return kStates;
  return spelling == Spelling::socket ? kSocket : kNone;
}

std::string hex_text(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string flags_text(const Names& names, std::uint64_t value) {
  std::string text;
  for (const Name& name : names) {
    if ((value & name.value) == 0) continue;
    text += (text.empty() ? "" : " | ") + std::string(name.text);
    value &= ~name.value;
  }
  if (value != 0) text += (text.empty() ? "" : " | ") + hex_text(value);
  return text;
}

struct DeviceNumber {
  std::uint64_t major;
  std::uint64_t minor;
};

// The kernel packs major << 20 | minor; fields marked odev keep glibc's dev_t in 32 bits.
DeviceNumber take_apart(Spelling spelling, std::uint64_t value) {
  if (spelling == Spelling::dev) return {value >> 20, value & 0xfffff};
  return {value >> 8 & 0xfff, (value & 0xff) | (value >> 12 & 0xfff00)};
}

std::uint64_t put_together(Spelling spelling, DeviceNumber number) {
  if (spelling == Spelling::dev) return number.major << 20 | number.minor;
  return (number.major & 0xfff) << 8 | (number.minor & 0xff) | (number.minor & 0xfff00) << 12;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x") {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_flags(const Names& names, std::string_view text) {
  std::uint64_t value = 0;
  while (!text.empty()) {
    const std::size_t bar = text.find(" | ");
    const std::string_view word = text.substr(0, bar);
    text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 3);
    std::optional<std::uint64_t> bits = parse_number(word);
    for (const Name& name : names)
      if (word == name.text) bits = name.value;
    if (!bits) return std::nullopt;
    value |= *bits;
  }
  return value;
}

std::optional<std::uint64_t> parse_device(Spelling spelling, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return parse_number(text);
  const auto major = parse_number(text.substr(0, colon));
  const auto minor = parse_number(text.substr(colon + 1));
  if (!major || !minor) return std::nullopt;
  return put_together(spelling, {*major, *minor});
}

bool names_field(const Name& name, const pb::FieldDescriptor& field) {
  return *name.field == '\0' || field.name() == name.field;
}

}  // namespace

Spelling spelling_of(const pb::FieldDescriptor& field) {
  const std::string key = field.containing_type()->name() + "." + field.name();
  const auto found = spellings().find(key);
  return found == spellings().end() ? Spelling::none : found->second;
}

bool is_quoted_printable(const pb::FieldDescriptor& field) {
  return field.type() == pb::FieldDescriptor::TYPE_BYTES && field.name() == "name" &&
         field.containing_type()->name() == "unix_sk_entry";
}

Json spell(const pb::FieldDescriptor& field, Spelling spelling, std::uint64_t value) {
  if (spelling == Spelling::hex) return hex_text(value);
  if (spelling == Spelling::dev || spelling == Spelling::odev) {
    const DeviceNumber number = take_apart(spelling, value);
    return std::to_string(number.major) + ":" + std::to_string(number.minor);
  }
  if (const Names& flags = flag_names(spelling); !flags.empty()) return flags_text(flags, value);
  for (const Name& name : value_names(spelling))
    if (names_field(name, field) && name.value == value) return name.text;
  return value;
}

std::optional<std::uint64_t> number_of(const pb::FieldDescriptor& field, const Json& value) {
  if (value.is_integer()) {
    const std::uint64_t number = value.as_uint();
    return number == 0 ? static_cast<std::uint64_t>(value.as_int()) : number;
  }
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.as_string();
  const Spelling spelling = spelling_of(field);
  if (spelling == Spelling::dev || spelling == Spelling::odev) return parse_device(spelling, text);
  if (const Names& flags = flag_names(spelling); !flags.empty()) return parse_flags(flags, text);
  for (const Name& name : value_names(spelling))
    if (names_field(name, field) && text == name.text) return name.value;
  return parse_number(text);
}

std::optional<std::string> spell_address(const std::vector<std::uint32_t>& words) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (words.size() != 1 && words.size() != 4) return std::nullopt;
  const int family = words.size() == 1 ? AF_INET : AF_INET6;
  if (::inet_ntop(family, words.data(), text.data(), text.size()) == nullptr) return std::nullopt;
  return std::string(text.data());
}

std::optional<std::vector<std::uint32_t>> address_words(const std::string& text) {
  std::array<std::uint32_t, 4> words{};
  if (::inet_pton(AF_INET, text.c_str(), words.data()) == 1) return std::vector<std::uint32_t>{words[0]};
  if (::inet_pton(AF_INET6, text.c_str(), words.data()) != 1) return std::nullopt;
  return std::vector<std::uint32_t>(words.begin(), words.end());
}

}  // namespace ckpt::criu
