// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/archive.h"
#include "ckpt/error.h"

namespace ckpt {

/// New numbers for one device node of an inner tar. `name` is the cleaned member name ("nvidia-uvm").
struct NodeNumbers {
  std::string name;
  std::uint32_t old_major = 0;
  std::uint32_t old_minor = 0;
  std::uint32_t new_major = 0;
  std::uint32_t new_minor = 0;
};

/// The members of a tmpfs-dev-*.tar.gz.img: a gzip'ed GNU tar in memory (facts: CRIU tmpfs_dump).
/// Throws Error(corrupt | limit_exceeded), `where` naming the image.
std::vector<Member> list_inner_tar(std::string_view gzip_bytes, const Where& where, const Limits& limits = {});

/// The same tar with other device numbers: only devmajor, devminor and the checksum of those header blocks differ
/// from the input once unpacked. Throws Error(conflict) when a node is absent or has other numbers than expected.
std::string renumber_inner_tar(std::string_view gzip_bytes, const std::vector<NodeNumbers>& nodes, const Where& where,
                               const Limits& limits = {});

}  // namespace ckpt
