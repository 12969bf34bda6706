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

/// A node that is not there yet, made after one that is.
struct NodeAddition {
  std::string name;  ///< cleaned
  std::string like;  ///< cleaned name of the node whose header it takes: kind, mode, owner, times
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

/// What changes in an inner tar; renumbering comes first.
struct InnerTarEdits {
  std::vector<NodeNumbers> renumbered;
  std::vector<NodeAddition> added;
};

/// The members of a tmpfs-dev-*.tar.gz.img: a gzip'ed GNU tar in memory (facts: CRIU tmpfs_dump).
/// Throws Error(corrupt | limit_exceeded), `where` naming the image.
std::vector<Member> list_inner_tar(std::string_view gzip_bytes, const Where& where, const Limits& limits = {});

/// The same tar with other device numbers and more nodes: of the members it has only devmajor, devminor and the
/// checksum of renumbered header blocks differ from the input once unpacked; a new node's block follows its model's.
/// Throws Error(conflict) when a node is absent, has other numbers than expected, or is there already.
std::string edit_inner_tar(std::string_view gzip_bytes, const InnerTarEdits& edits, const Where& where,
                           const Limits& limits = {});

}  // namespace ckpt
