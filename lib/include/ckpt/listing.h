// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/limits.h"

namespace ckpt {

/// A file name that the kubelet gives: checkpoint-POD_NAMESPACE-CONTAINER-TIME.tar.
struct KubeletName {
  std::string pod;
  /// "NAMESPACE-CONTAINER": both may hold a hyphen, only the archive knows where the one ends.
  std::string namespace_and_container;
  std::string time;  ///< RFC 3339
};
CKPT_API std::optional<KubeletName> parse_kubelet_name(std::string_view file_name);

/// Seconds since the epoch of an RFC 3339 time; absent for other text.
CKPT_API std::optional<std::int64_t> seconds_of_rfc3339(std::string_view time);
/// The UTC time as RFC 3339; empty for years that it cannot spell.
CKPT_API std::string rfc3339_of_seconds(std::int64_t seconds);

/// One checkpoint of a directory, summed up. Names and times are empty when unknown.
struct ListedCheckpoint {
  std::string file;           ///< name in the directory
  std::uint64_t bytes = 0;    ///< on disk; of a directory all its files
  std::int64_t modified = 0;  ///< seconds since the epoch
  std::string pod;
  std::string pod_namespace;
  std::string container;
  std::string checkpointed;  ///< RFC 3339: out of the file's name, else as archived
  Engine engine = Engine::unknown;
  Runtime runtime = Runtime::unknown;
  std::string gpu_vendor;
  std::vector<std::string> driver_versions;
  std::uint64_t memory_pages = 0;  ///< bytes
  std::vector<Error> problems;     ///< damage; the rest is then what could still be told
};

/// The checkpoints of a directory in name order: files named like archives (.tar, .tar.gz, .tgz, .tar.zst ...) and
/// directories that hold one. Archives that are no checkpoints are left out unless the kubelet named them.
/// `progress` gets the bytes on disk looked at so far and in all, from the calling thread.
/// Throws Error(io | limit_exceeded) when the directory itself cannot be read.
CKPT_API std::vector<ListedCheckpoint> list_checkpoints(
    const std::string& directory, const Limits& limits = {},
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace ckpt
