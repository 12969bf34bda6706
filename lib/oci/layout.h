// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/archive.h"
#include "ckpt/error.h"
#include "ckpt/json.h"

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
  Json manifest;                         ///< the image manifest, or the ctr index; null for a docker-archive
  Json config;                           ///< the image configuration; null when there is none
};

/// Whether the outer archive or directory looks like an image: oci-layout + index.json, or manifest.json.
bool is_image_layout(const Archive& outer);

/// Opens the checkpoint in an image layout. Documents and layers are held to their digests, layers over
/// max_member_bytes to their sizes. Throws
/// Error(unsupported) when no manifest of the index looks like a checkpoint, naming what is there.
ImageCheckpoint open_image(const Archive& outer, const ArchiveOptions& options = {});

/// The member that holds a descriptor's blob. Throws Error(corrupt) when it is missing or has another size.
const Member& blob_member(const Archive& outer, const Json& descriptor);
/// Media types of a `ctr` checkpoint index (containerd's images/mediatypes.go).
inline constexpr const char* kCriuTarType = "application/vnd.containerd.container.criu.checkpoint.criu.tar";
inline constexpr const char* kCtrConfigType = "application/vnd.containerd.container.checkpoint.config.v1+proto";
/// A protobuf Any with another value; its type_url stays. Throws Error(corrupt).
std::string any_with_value(const std::string& any, std::string_view value, const Where& where);

}  // namespace ckpt
