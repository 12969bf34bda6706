// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ckpt {

/// Bounds on what an untrusted archive may make us hold or follow. Each field is a limit's name in error texts.
struct Limits {
  std::uint64_t max_members = 1'000'000;         ///< members of one archive
  std::uint64_t max_name_bytes = 16'384;         ///< one member name or link target
  std::uint64_t max_member_bytes = 64ULL << 20;  ///< one member held in memory (documents, images)
  std::uint64_t max_kept_bytes = 48ULL << 20;    ///< all members held in memory together
  std::uint64_t max_inner_bytes = 32ULL << 20;   ///< one unpacked inner tar (tmpfs-dev-*.tar.gz.img)
  std::uint64_t max_entries = 4'000'000;         ///< entries of one CRIU image
  std::uint64_t max_entry_bytes = 64ULL << 20;   ///< one entry of a CRIU image
  std::uint32_t max_nesting = 128;               ///< depth of JSON, YAML and nested messages
  std::uint64_t max_document_nodes = 4'000'000;  ///< values in one JSON or YAML document, aliases expanded
  std::uint64_t max_log_bytes = 16ULL << 30;     ///< a log, unpacked; only a line of it is held in memory
  std::uint32_t max_cdi_files = 4096;            ///< CDI files in one registry
};

}  // namespace ckpt
