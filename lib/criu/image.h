// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/limits.h"

namespace ckpt::criu {

/// What a magic number stands for (CRIU criu/include/magic.h, image-desc.c).
struct ImageKind {
  std::uint32_t magic;
  const char* name;          ///< "MOUNTPOINTS": upper case, as crit spells it
  const char* message;       ///< protobuf message of an entry, "mnt_entry"; empty for raw content
  const char* head_message;  ///< message of the first entry where it differs (pagemap_head), else empty
};

/// The kind for a magic, or nullptr. Several old kinds share PAGEMAP's and SIGNAL's magic.
const ImageKind* find_kind(std::uint32_t magic) noexcept;
const std::vector<ImageKind>& all_kinds();

/// One entry: its message and whatever raw bytes follow it (queue data, ghost content ...).
struct Entry {
  std::size_t offset = 0;    ///< of the size word, in the image
  std::string_view payload;  ///< the encoded message
  std::string_view extra;    ///< bytes behind the message, empty for most kinds
};

/// A CRIU image held in memory, entries as raw bytes. Entries point into bytes(); moves keep them valid, copies do not
/// exist. CRIU's framing: `u32 0x54564319 (or 0x55105940), u32 magic, {u32 size, message, extra}*`;
/// inventory.img has only its own magic; img_version 1 images have no common head.
class Image {
 public:
  /// `where` names file and member. Throws Error(corrupt | unsupported | limit_exceeded) with entry and offset.
  static Image parse(std::string bytes, Where where, const Limits& limits = {});
  Image(Image&&) noexcept;
  Image& operator=(Image&&) noexcept;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const ImageKind& kind() const noexcept { return *kind_; }
  const std::string& bytes() const noexcept { return *bytes_; }
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  const Where& where() const noexcept { return where_; }

  /// The image with entry `index` replaced by another message; extras and all other bytes stay.
  std::string with_entry(std::size_t index, std::string_view payload) const;
  /// The image without the given entries (sorted or not, no duplicates).
  std::string without_entries(const std::vector<std::size_t>& indexes) const;

 private:
  Image() = default;
  const ImageKind* kind_ = nullptr;
  std::unique_ptr<std::string> bytes_;
  std::vector<Entry> entries_;
  Where where_;
};

/// Edits of one encoded message, on the wire: every byte that does not belong to `field` stays where it is, unknown
/// fields included. The last occurrence is replaced (proto2: last wins) and earlier ones dropped; an absent field is
/// inserted in field order. nullopt removes the field. Throws Error(corrupt) on a broken message.
std::string set_string(std::string_view message, std::uint32_t field, std::optional<std::string_view> value,
                       const Where& where);
std::string set_varint(std::string_view message, std::uint32_t field, std::optional<std::uint64_t> value,
                       const Where& where);

}  // namespace ckpt::criu
