// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/plan.h"

namespace ckpt {

enum class VerifyLevel { edited, full };

struct RewriteOptions {
  /// Absent: as the input, except that containerd gets a plain tar, and xz, bzip2 and lz4 are written as zstd for
  /// Podman and plain for the others.
  std::optional<Compression> compression;
  std::optional<int> level;
  VerifyLevel verify = VerifyLevel::edited;
  /// Uncompressed bytes done and in all; called from the calling thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct RewriteReport {
  Compression compression = Compression::none;
  bool compression_changed = false;  ///< another than the input's
  std::uint64_t members = 0;
  std::uint64_t members_changed = 0;
};

/// Checks every `before` of the plan against the checkpoint and writes the result to `output`: a temporary file beside
/// it, verified, fsynced, renamed over it; mode 0600. On failure `output` is as it was and no temporary is left.
/// Throws Error(conflict) for a stale plan, Error(unsupported) for a form that is only read, Error(io).
CKPT_API RewriteReport rewrite_to_file(const Checkpoint& checkpoint, const Plan& plan, const std::string& output,
                                       const RewriteOptions& options = {});

/// The same to a descriptor (a pipe). Everything that can be refused is refused before the first byte; a later failure
/// leaves the stream without tar's end blocks.
CKPT_API RewriteReport rewrite_to_stream(const Checkpoint& checkpoint, const Plan& plan, int fd,
                                         const RewriteOptions& options = {});

}  // namespace ckpt
