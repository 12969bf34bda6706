// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "ckpt/archive.h"
#include "ckpt/json.h"

namespace ckpt {

/// A blob of an OCI layout.
struct Blob {
  std::string digest;  ///< "sha256:HEX"
  std::uint64_t size = 0;
};

/// Writes an OCI image layout, blobs first. Until commit() nobody can see an image in it.
class ImageWriter {
 public:
  virtual ~ImageWriter() = default;
  /// A blob of what `produce` writes. Throws what that throws, and Error(io).
  virtual Blob add(const std::function<void(ByteSink&)>& produce) = 0;
  Blob add_text(std::string_view text);
  /// What was added as an archive again. For tars only once sealed.
  virtual Archive open_blob(const Blob& blob, const ArchiveOptions& options) const = 0;
  /// Names the image: `descriptor` goes into index.json.
  virtual void seal(const Json& descriptor) = 0;
  virtual void commit() = 0;
};

/// A directory. One that is there must be a layout: it grows, and of the images in it only one of the same
/// org.opencontainers.image.ref.name is replaced. Throws Error(invalid_argument) for any other directory that is not
/// empty.
std::unique_ptr<ImageWriter> write_layout(const std::string& path);
/// A tar (oci-archive) that appears whole or not at all.
std::unique_ptr<ImageWriter> write_image_archive(const std::string& path);

/// {mediaType, digest, size}.
Json descriptor_of(const std::string& media_type, const Blob& blob);
/// {schemaVersion, mediaType, manifests}: an index of one image.
Json index_of_one(const Json& descriptor);

}  // namespace ckpt
