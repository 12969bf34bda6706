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

/// A checkpoint image: what CRI-O, containerd 2.1 to 2.3 and Podman restore by its name (engines.md 5.3).
struct ImageOptions {
  enum class Form {
    layout,   ///< a directory; one that is there grows
    archive,  ///< an oci-archive: one tar
  } form = Form::layout;
  std::string path;
  /// Full name, "registry/name:tag"; empty: localhost/checkpoint-CONTAINER:latest.
  std::string name;
  enum class Layers {
    whole,  ///< one layer with the patched archive
    delta,  ///< the image that was opened, and one small layer with the changed members over its own
  } layers = Layers::whole;
  RewriteOptions rewrite;
};

struct ImageReport {
  std::string name;
  std::string digest;                ///< of the manifest, "sha256:..."
  std::uint64_t layer_bytes = 0;     ///< size of the layer that was written
  std::uint64_t members_changed = 0;
  /// Layers that the manifest names and the layout does not hold: a registry that has the base image has them.
  std::uint64_t layers_elsewhere = 0;
};

/// Writes the patched checkpoint as an image with the annotations that the three engines look for. Blobs come first,
/// the index last. Throws what rewrite_to_file throws, and Error(invalid_argument) for a delta over what is no image.
CKPT_API ImageReport rewrite_to_image(const Checkpoint& checkpoint, const Plan& plan, const ImageOptions& options);

}  // namespace ckpt
