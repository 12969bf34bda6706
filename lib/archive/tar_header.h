// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/handles.h"
#include "ckpt/archive.h"
#include "ckpt/error.h"

namespace ckpt {

inline constexpr std::size_t kTarBlock = 512;
inline constexpr std::size_t kTarNameWidth = 100;

/// A number field of a ustar header block: where it stands and how wide it is (POSIX pax, "ustar Interchange Format").
struct TarField {
  std::size_t offset;
  std::size_t width;
};
inline constexpr TarField kTarSize{124, 12};
inline constexpr TarField kTarDevMajor{329, 8};
inline constexpr TarField kTarDevMinor{337, 8};

/// Writes a number into a header block, in octal or, where that is too narrow, in GNU's base-256. The field's own
/// way of ending (blank or NUL) stays.
void set_tar_number(std::string& blocks, std::size_t block, TarField field, std::uint64_t value);
/// Makes the checksum of the block at `block` true again.
void set_tar_checksum(std::string& blocks, std::size_t block);

/// Where the header block proper begins in a member's header blocks, behind x, g, L and K extensions; absent when the
/// blocks are not shaped like that.
std::optional<std::size_t> find_header_block(std::string_view blocks);
/// The typeflag of a header block.
char tar_type(std::string_view blocks, std::size_t block);
/// True when an extension header carries a size of its own or a sparse map, which would override the header's.
bool has_pax_size(std::string_view blocks);

/// New header blocks for an entry, made by libarchive: ustar, with PAX records only where ustar cannot say it.
std::string make_header(struct archive_entry* entry);
/// An entry for a member as the model has it, with another size.
EntryHandle entry_for(const Member& member, std::uint64_t size);
/// A plain entry with another size out of a member's header blocks; all else that they say stays, extended attributes
/// included. Throws Error(corrupt).
EntryHandle entry_of_header(std::string_view blocks, std::uint64_t size, const Where& where);

}  // namespace ckpt
