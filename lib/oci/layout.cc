// SPDX-License-Identifier: Apache-2.0
#include "oci/layout.h"

#include <algorithm>

#include "archive/sha256.h"
#include "ckpt/error.h"
#include "ckpt/json.h"

namespace ckpt {

namespace {

constexpr std::uint32_t kMaxIndexDepth = 4;

[[noreturn]] void refuse(ErrorCode code, const Archive& outer, const std::string& member, const std::string& detail) {
  throw Error(code, Where{outer.name(), member, {}, {}}, detail);
}

const Member& require_member(const Archive& outer, const std::string& name) {
  const Member* member = outer.find(name);
  if (member == nullptr) refuse(ErrorCode::corrupt, outer, name, "missing in the image layout");
  return *member;
}

Json read_json(const Archive& outer, const std::string& name, const Limits& limits) {
  return Json::parse(outer.read(require_member(outer, name)), outer.name(), name, limits);
}

// "sha256:HEX" is kept at blobs/sha256/HEX; anything else in HEX would be a path.
std::string blob_name(const Archive& outer, const Json& descriptor) {
  const std::string& digest = descriptor["digest"].as_string();
  const std::size_t colon = digest.find(':');
  const auto plain = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  const bool good = colon != std::string::npos && colon > 0 && colon + 1 < digest.size() &&
                    std::all_of(digest.begin(), digest.begin() + static_cast<std::ptrdiff_t>(colon), plain) &&
                    std::all_of(digest.begin() + static_cast<std::ptrdiff_t>(colon) + 1, digest.end(), plain);
  if (!good) refuse(ErrorCode::corrupt, outer, "index.json", "not a digest: \"" + digest + "\"");
  return "blobs/" + digest.substr(0, colon) + "/" + digest.substr(colon + 1);
}

const Member& blob_of(const Archive& outer, const Json& descriptor) {
  const Member& blob = require_member(outer, blob_name(outer, descriptor));
  const Json& said = descriptor["size"];
  if (!said.is_null() && (!said.is_integer() || said.as_int(0) < 0))
    refuse(ErrorCode::corrupt, outer, blob.name, "its descriptor's size is no size");
  const std::uint64_t size = said.as_uint(blob.size);
  if (size != blob.size)
    refuse(ErrorCode::corrupt, outer, blob.name,
           "has " + std::to_string(blob.size) + " bytes, its descriptor says " + std::to_string(size));
  return blob;
}

void require_digest(const Archive& outer, const Member& blob, const Json& descriptor) {
  constexpr std::string_view kSha256 = "sha256:";
  const std::string& digest = descriptor["digest"].as_string();
  if (digest.compare(0, kSha256.size(), kSha256) != 0) return;
  Sha256 sum;
  outer.stream(blob, [&](std::string_view piece) { sum.add(piece); });
  if (digest.substr(kSha256.size()) != hex_of(sum.finish()))
    refuse(ErrorCode::corrupt, outer, blob.name, "its content does not have its digest");
}

std::string read_blob(const Archive& outer, const Json& descriptor) {
  const Member& blob = blob_of(outer, descriptor);
  require_digest(outer, blob, descriptor);
  return outer.read(blob);
}

// What is larger than a member in memory may be is held to its size alone: to look at a checkpoint must not mean to
// read all its memory pages.
Archive open_layer(const Archive& outer, const Json& descriptor, const ArchiveOptions& options) {
  const Member& blob = blob_of(outer, descriptor);
  if (blob.size <= options.limits.max_member_bytes) require_digest(outer, blob, descriptor);
  return outer.open_member(blob, options);
}

bool ends(const std::string& text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool is_index(const Json& document, const std::string& media_type) {
  return document["manifests"].is_array() || ends(media_type, "image.index.v1+json") ||
         ends(media_type, "manifest.list.v2+json");
}

void collect_annotations(const Json& document, std::map<std::string, std::string>& into) {
  for (const auto& [key, value] : document["annotations"].members())
    if (value.is_string()) into[key] = value.as_string();
}

/// A protobuf Any{1 type_url, 2 value}: where its value stands.
struct AnyValue {
  std::size_t field = 0;  ///< the field's tag
  std::size_t begin = 0;
  std::size_t end = 0;
};

AnyValue find_any_value(const std::string& bytes, const Where& where) {
  std::size_t at = 0;
  const auto varint = [&]() -> std::uint64_t {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw Error(ErrorCode::corrupt, where, "not a protobuf Any");
  };
  while (at < bytes.size()) {
    const std::size_t field = at;
    const std::uint64_t tag = varint();
    const std::uint64_t size = varint();
    if ((tag & 7) != 2 || size > bytes.size() - at) break;
    if (tag >> 3 == 2) return {field, at, at + static_cast<std::size_t>(size)};
    at += static_cast<std::size_t>(size);
  }
  throw Error(ErrorCode::corrupt, where, "not a protobuf Any with a value");
}

std::string any_value(const Archive& outer, const Json& descriptor) {
  const std::string bytes = read_blob(outer, descriptor);
  const AnyValue value = find_any_value(bytes, Where{outer.name(), blob_name(outer, descriptor), {}, {}});
  return bytes.substr(value.begin, value.end - value.begin);
}

bool is_checkpoint(const ImageCheckpoint& image) {
  return std::any_of(image.layers.begin(), image.layers.end(), [](const Archive& layer) {
    return layer.find("spec.dump") != nullptr || layer.find("config.dump") != nullptr ||
           layer.find("checkpoint") != nullptr || layer.find("checkpoint/inventory.img") != nullptr;
  });
}

/// Looks for a checkpoint among the manifests of an image layout.
class Search {
 public:
  Search(const Archive& outer, const ArchiveOptions& options) : outer_(outer), options_(options) {}

  bool in_index(const Json& index, std::uint32_t depth) {
    if (depth > kMaxIndexDepth) refuse(ErrorCode::limit_exceeded, outer_, "index.json", "indexes are nested too deep");
    if (is_ctr_index(index)) return open_ctr(index);
    for (const Json& descriptor : index["manifests"].items()) {
      const std::string name = blob_name(outer_, descriptor);
      seen_ += (seen_.empty() ? "" : ", ") + descriptor["mediaType"].as_string();
      if (!ends(descriptor["mediaType"].as_string(), "json")) continue;
      const Json document = Json::parse(read_blob(outer_, descriptor), outer_.name(), name, options_.limits);
      found.reference = descriptor["annotations"]["org.opencontainers.image.ref.name"].as_string();
      if (is_index(document, descriptor["mediaType"].as_string()) ? in_index(document, depth + 1)
                                                                  : in_manifest(document, descriptor))
        return true;
    }
    return false;
  }

  const std::string& seen() const noexcept { return seen_; }
  ImageCheckpoint found;

 private:
  static bool is_ctr_index(const Json& index) {
    const auto& all = index["manifests"].items();
    return std::any_of(all.begin(), all.end(),
                       [](const Json& descriptor) { return descriptor["mediaType"].as_string() == kCriuTarType; });
  }

  bool in_manifest(const Json& manifest, const Json& descriptor) {
    ImageCheckpoint image;
    image.form = outer_.is_directory() ? ImageForm::oci_layout : ImageForm::oci_archive;
    image.reference = found.reference;
    collect_annotations(descriptor, image.annotations);
    collect_annotations(manifest, image.annotations);
    image.manifest = manifest;
    const auto& layers = manifest["layers"].items();
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
      image.layers.push_back(open_layer(outer_, *layer, options_));
    if (!is_checkpoint(image)) return false;
    if (manifest["config"].is_object())
      image.config = Json::parse(read_blob(outer_, manifest["config"]), outer_.name(),
                                 blob_name(outer_, manifest["config"]), options_.limits);
    found = std::move(image);
    return true;
  }

  // The rw layer is the container's file system, not part of the checkpoint's own members.
  bool open_ctr(const Json& index) {
    found.form = ImageForm::ctr_index;
    found.manifest = index;
    collect_annotations(index, found.annotations);
    for (const Json& descriptor : index["manifests"].items()) {
      const std::string& type = descriptor["mediaType"].as_string();
      if (type == kCriuTarType) found.layers.push_back(open_layer(outer_, descriptor, options_));
      if (type == kCtrConfigType) found.spec_json = any_value(outer_, descriptor);
    }
    return true;
  }

  const Archive& outer_;
  const ArchiveOptions& options_;
  std::string seen_;
};

ImageCheckpoint open_docker(const Archive& outer, const ArchiveOptions& options) {
  ImageCheckpoint image;
  image.form = ImageForm::docker_archive;
  const Json manifest = read_json(outer, "manifest.json", options.limits);
  for (const Json& one : manifest.items()) {
    image.layers.clear();
    image.reference = one["RepoTags"][0].as_string();
    const auto& layers = one["Layers"].items();
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
      const Member* member = &require_member(outer, layer->as_string());
      // A layer that an image has twice is stored once, with a link beside it.
      if (member->type == MemberType::symlink || member->type == MemberType::hardlink) continue;
      image.layers.push_back(outer.open_member(*member, options));
    }
    if (is_checkpoint(image)) return image;
  }
  refuse(ErrorCode::unsupported, outer, "manifest.json", "none of its images is a container checkpoint");
}

}  // namespace

const Member& blob_member(const Archive& outer, const Json& descriptor) { return blob_of(outer, descriptor); }

std::string any_with_value(const std::string& any, std::string_view value, const Where& where) {
  const AnyValue old = find_any_value(any, where);
  std::string field = "\x12";  // field 2, length-delimited
  for (std::uint64_t size = value.size(); field.size() == 1 || size != 0; size >>= 7)
    field += static_cast<char>((size & 0x7f) | (size >= 0x80 ? 0x80 : 0));
  return any.substr(0, old.field) + field + std::string(value) + any.substr(old.end);
}

bool is_image_layout(const Archive& outer) {
  return (outer.find("oci-layout") != nullptr && outer.find("index.json") != nullptr) ||
         (outer.find("manifest.json") != nullptr && outer.find("spec.dump") == nullptr);
}

ImageCheckpoint open_image(const Archive& outer, const ArchiveOptions& options) {
  if (outer.find("index.json") == nullptr) return open_docker(outer, options);
  Search search(outer, options);
  if (search.in_index(read_json(outer, "index.json", options.limits), 0)) return std::move(search.found);
  refuse(ErrorCode::unsupported, outer, "index.json",
         "no manifest of the image is a container checkpoint; there are: " + search.seen());
}

}  // namespace ckpt
