// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/archive.h"

namespace ckpt {

enum class ImageForm { oci_layout, oci_archive, docker_archive, ctr_index };

/// A checkpoint found inside an image layout.
struct ImageCheckpoint {
  ImageForm form = ImageForm::oci_layout;
  std::string reference;                           ///< org.opencontainers.image.ref.name, may be empty
  std::map<std::string, std::string> annotations;  ///< of the manifest (and of the index entry)
  /// Archives to look members up in, topmost layer first. For a ctr index: the criu tar, with the images at its root;
  /// its rw layer is the container's file system and holds none of the checkpoint's members.
  std::vector<Archive> layers;
  std::optional<std::string> spec_json;  ///< ctr index: the OCI spec out of its protobuf Any
};

/// Whether the outer archive or directory looks like an image: oci-layout + index.json, or manifest.json.
bool is_image_layout(const Archive& outer);

/// Opens the checkpoint in an image layout. Documents and layers are held to their digests, layers over
/// max_member_bytes to their sizes. Throws
/// Error(unsupported) when no manifest of the index looks like a checkpoint, naming what is there.
ImageCheckpoint open_image(const Archive& outer, const ArchiveOptions& options = {});

}  // namespace ckpt
