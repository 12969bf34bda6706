// SPDX-License-Identifier: Apache-2.0
#include "ckpt/listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>

namespace ckpt {

namespace {

namespace fs = std::filesystem;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::optional<int> digits(std::string_view text) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = failure == std::errc() && end == text.data() + text.size() && text.front() != '-';
  return all ? std::optional(value) : std::nullopt;
}

// "Z" or "+02:00" in seconds east of Greenwich.
std::optional<int> offset_of(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  const auto hours = digits(zone.substr(1, 2));
  const auto minutes = digits(zone.substr(4, 2));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (*hours * 3600 + *minutes * 60);
}

// What lies behind the seconds: a fraction is passed over.
std::string_view zone_of(std::string_view rest) {
  if (rest.empty() || rest.front() != '.') return rest;
  const std::size_t end = rest.find_first_not_of("0123456789", 1);
  return end == std::string_view::npos || end == 1 ? std::string_view() : rest.substr(end);
}

bool is_archive_name(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kEnds = {".tar",    ".tar.gz",  ".tgz", ".tar.zst", ".tzst",
                                                             ".tar.xz", ".tar.bz2", ".txz", ".tar.lz4", ".tbz2"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return ends_with(name, end); });
}

bool holds_checkpoint(const fs::path& directory) {
  static constexpr std::array<const char*, 4> kSigns = {"inventory.img", "checkpoint", "oci-layout", "spec.dump"};
  std::error_code ignored;
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](const char* sign) { return fs::exists(directory / sign, ignored); });
}

bool is_candidate(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (entry.is_directory(ignored)) return holds_checkpoint(entry.path());
  return entry.is_regular_file(ignored) && is_archive_name(entry.path().filename().string());
}

std::vector<std::string> candidates_in(const std::string& directory, const Limits& limits) {
  std::error_code failure;
  std::vector<std::string> names;
  for (fs::directory_iterator at(directory, failure), end; !failure && at != end; at.increment(failure)) {
    if (!is_candidate(*at)) continue;
    names.push_back(at->path().filename().string());
    if (names.size() > limits.max_members)
      throw Error(ErrorCode::limit_exceeded, Where{directory, {}, {}, {}},
                  "more than max_members, " + std::to_string(limits.max_members));
  }
  if (failure) throw Error(ErrorCode::io, Where{directory, {}, {}, {}}, "cannot read: " + failure.message());
  std::sort(names.begin(), names.end());
  return names;
}

void sum_up(ListedCheckpoint& listed, const Checkpoint& checkpoint) {
  const ContainerFacts& facts = checkpoint.facts();
  listed.pod = facts.pod;
  listed.pod_namespace = facts.pod_namespace;
  listed.container = facts.name;
  listed.checkpointed = facts.checkpointed;
  listed.engine = checkpoint.engine();
  listed.runtime = checkpoint.runtime();
  listed.gpu_vendor = checkpoint.gpu().vendor;
  listed.driver_versions = checkpoint.gpu().driver_versions;
  listed.memory_pages = checkpoint.sizes().memory_pages;
  listed.problems = checkpoint.problems();
  if (checkpoint.archive().is_directory())
    for (const Member& member : checkpoint.archive().members()) listed.bytes += member.size;
}

// What the archive does not tell, its name may; the time in it is the kubelet's own word. The kubelet's container names
// say it shorter than CRI-O's own.
void add_name(ListedCheckpoint& listed, const KubeletName& name) {
  if (listed.pod.empty()) listed.pod = name.pod;
  listed.checkpointed = name.time;
  const std::string& both = name.namespace_and_container;
  const std::string prefix = listed.pod_namespace + "-";
  if (!listed.pod_namespace.empty() && both.rfind(prefix, 0) == 0) {
    listed.container = both.substr(prefix.size());
  } else if (const std::size_t hyphen = both.find('-'); hyphen == both.rfind('-') && hyphen != std::string::npos) {
    listed.pod_namespace = both.substr(0, hyphen);
    listed.container = both.substr(hyphen + 1);
  } else if (listed.container.empty()) {
    listed.container = both;
  }
}

bool is_no_checkpoint(const Error& error) {
  return error.code() == ErrorCode::corrupt && error.detail().rfind("not a container checkpoint", 0) == 0;
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::optional<ListedCheckpoint> listed_of(const std::string& directory, const std::string& file, const Limits& limits) {
  ListedCheckpoint listed;
  listed.file = file;
  const std::string path = directory + "/" + file;
  const auto name = parse_kubelet_name(file);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) listed.modified = status.st_mtime;
  listed.bytes = file_bytes(path);
  try {
    CheckpointOptions options;
    options.limits = limits;
    sum_up(listed, Checkpoint::open(path, options));
  } catch (const Error& error) {
    if (is_no_checkpoint(error) && !name) return std::nullopt;
    listed.problems.push_back(error);
  }
  if (name) add_name(listed, *name);
  return listed;
}

}  // namespace

std::optional<KubeletName> parse_kubelet_name(std::string_view file_name) {
  constexpr std::string_view kStart = "checkpoint-";
  constexpr std::string_view kEnd = ".tar";
  if (file_name.substr(0, kStart.size()) != kStart || !ends_with(file_name, kEnd)) return std::nullopt;
  file_name.remove_prefix(kStart.size());
  file_name.remove_suffix(std::min(kEnd.size(), file_name.size()));
  const std::size_t underscore = file_name.find('_');
  if (underscore == std::string_view::npos || underscore == 0) return std::nullopt;
  const std::string_view rest = file_name.substr(underscore + 1);
  for (const std::size_t length : {20U, 25U}) {
    if (rest.size() < length + 2 || rest[rest.size() - length - 1] != '-') continue;
    const std::string_view time = rest.substr(rest.size() - length);
    if (!seconds_of_rfc3339(time)) continue;
    return KubeletName{std::string(file_name.substr(0, underscore)),
                       std::string(rest.substr(0, rest.size() - length - 1)), std::string(time)};
  }
  return std::nullopt;
}

std::optional<std::int64_t> seconds_of_rfc3339(std::string_view time) {
  if (time.size() < 20 || time[4] != '-' || time[7] != '-' || time[13] != ':' || time[16] != ':') return std::nullopt;
  if (time[10] != 'T' && time[10] != 't') return std::nullopt;
  const auto year = digits(time.substr(0, 4));
  const auto month = digits(time.substr(5, 2));
  const auto day = digits(time.substr(8, 2));
  const auto hour = digits(time.substr(11, 2));
  const auto minute = digits(time.substr(14, 2));
  const auto second = digits(time.substr(17, 2));
  const auto offset = offset_of(zone_of(time.substr(19)));
  if (!year || !month || !day || !hour || !minute || !second || !offset) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t hours = days * 24 + *hour;
  return (hours * 60 + *minute) * 60 + *second - *offset;
}

std::string rfc3339_of_seconds(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr || parts.tm_year < -1900 || parts.tm_year > 8099) return {};
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::vector<ListedCheckpoint> list_checkpoints(
    const std::string& directory, const Limits& limits,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  const std::vector<std::string> files = candidates_in(directory, limits);
  const auto bytes_of = [&](const std::string& file) {
    return file_bytes(std::string(directory).append("/").append(file));
  };
  std::uint64_t total = 0;
  for (const std::string& file : files) total += bytes_of(file);
  std::vector<ListedCheckpoint> all;
  std::uint64_t done = 0;
  for (const std::string& file : files) {
    if (progress) progress(std::min(done, total), total);
    if (auto listed = listed_of(directory, file, limits)) all.push_back(std::move(*listed));
    done += bytes_of(file);
  }
  return all;
}

}  // namespace ckpt
