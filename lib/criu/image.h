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

/// How many entries CRIU reads from an image.
enum class Entries { many, one };

/// Raw bytes that follow a message; their length stands in the message.
enum class Extra {
  none,
  bytes_2,    ///< field 2: pipe_data_entry.bytes, sk_packet_entry.length
  bytes_1_3,  ///< fields 1 and 3: tcp_stream_entry.inq_len, outq_len
  bytes_2_3,  ///< fields 2 and 3: bpfmap_data_entry.keys_bytes, values_bytes
  ipc_msg,    ///< qnum times a u32 size, an ipc_msg, its bytes padded to 8
  ipc_sem,    ///< nsems 16-bit values, padded to 8 bytes
  ipc_shm,    ///< size bytes padded to 4, unless in_pagemaps
  ghost,      ///< content to the end of the image, in chunks if the message says so
};

/// What a magic number stands for (CRIU criu/include/magic.h, image-desc.c).
struct ImageKind {
  std::uint32_t magic;
  const char* name;          ///< "MNTS": upper case, as crit spells it
  const char* message;       ///< protobuf message of an entry, "mnt_entry"
  const char* head_message;  ///< message of the first entry where it differs (pagemap_head), else empty
  Entries entries;
  Extra extra;
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
/// inventory.img has only its own magic; img_version 1 images have no common head. Images without framing (pages, tar
/// files, saved firewall rules) are refused as unsupported.
class Image {
 public:
  /// `where` names file and member. Throws Error(corrupt | unsupported | limit_exceeded) with entry and offset.
  static Image parse(std::string bytes, Where where, const Limits& limits = {});
  ~Image();
  Image(Image&&) noexcept;
  Image& operator=(Image&&) noexcept;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const ImageKind& kind() const noexcept { return *kind_; }
  const std::string& bytes() const noexcept { return *bytes_; }
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  const Where& where() const noexcept { return where_; }
  /// The same place, narrowed to an entry.
  Where where(std::size_t index) const;
  /// What follows the entry of an image that has only one. CRIU does not look at it; edits keep it.
  std::string_view trailing() const noexcept;

  /// The image with entry `index` replaced by another message; extras and all other bytes stay.
  /// Throws Error(invalid_argument) when there is no such entry, as without_entries does.
  std::string with_entry(std::size_t index, std::string_view payload) const;
  /// The image without the given entries (sorted or not, no duplicates).
  std::string without_entries(const std::vector<std::size_t>& indexes) const;

 private:
  Image() = default;
  std::size_t end_of_entries() const noexcept;

  const ImageKind* kind_ = nullptr;
  std::unique_ptr<std::string> bytes_;
  std::size_t first_ = 0;  ///< where the entries begin, behind the magics
  std::vector<Entry> entries_;
  Where where_;
};

/// Edits of one encoded message, on the wire: every byte that does not belong to `field` stays where it is, unknown
/// fields included. The last occurrence is replaced (proto2: last wins) and earlier ones dropped; an absent field is
/// inserted in field order. nullopt removes the field. Throws Error(corrupt) on a broken message, and on one that has
/// the field with another wire type, which CRIU could not read either.
std::string set_string(std::string_view message, std::uint32_t field, std::optional<std::string_view> value,
                       const Where& where);
std::string set_varint(std::string_view message, std::uint32_t field, std::optional<std::uint64_t> value,
                       const Where& where);

}  // namespace ckpt::criu
