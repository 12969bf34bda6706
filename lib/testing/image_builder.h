// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "criu/views.h"

namespace ckpt::testing {

// CRIU images for tests, from the same structs that the typed views return: what read_X of an image gives back is what
// X_image was given. Required fields that a struct lacks become 0 or empty; fields are written in CRIU's order.

std::string mountpoints_image(const std::vector<criu::MountEntry>& mounts);
std::string inventory_image(const criu::Inventory& inventory);
std::string pstree_image(const std::vector<criu::PstreeEntry>& tree);
std::string core_image(const criu::Core& core);
std::string ids_image(const criu::KobjIds& ids);
std::string fdinfo_image(const std::vector<criu::FdinfoEntry>& fds);
std::string fs_image(const criu::FsEntry& fs);
/// Files of type REG (1), PIPE (2), UNIXSK (5) and EXT (16). Throws Error(invalid_argument) for other types.
std::string files_image(const std::vector<criu::FileEntry>& files);
std::string mm_image(const criu::Mm& mm);
std::string stats_dump_image(const criu::DumpStats& stats);
/// A pagemap as CRIU 4.2 writes it: runs of pages that are all present, as (address, number of pages).
std::string pagemap_image(std::uint32_t pages_id, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs);

/// A mount with the fields that most tests need; fstype 0 (a file system that CRIU does not know), as drivers have.
criu::MountEntry mount(std::uint32_t mnt_id, std::uint32_t parent_mnt_id, std::string mountpoint);

// By hand, for what CRIU would not write.

/// The magics of a kind, by ImageKind's name.
std::string image_head(std::string_view kind);
/// `u32 size` and the bytes: one entry, extras to be appended.
std::string framed(std::string_view message);
/// An image of a kind with these messages.
std::string image_of(std::string_view kind, const std::vector<std::string>& messages);
std::string u32_bytes(std::uint32_t value);
/// One field of a message.
std::string varint_field(std::uint32_t number, std::uint64_t value);
std::string bytes_field(std::uint32_t number, std::string_view value);

}  // namespace ckpt::testing
