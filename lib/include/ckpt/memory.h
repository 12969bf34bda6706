// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/image.h"

namespace ckpt {

/// A CRIU image of the checkpoint as decode_image shows it; absent when the archive has no such member. `name` is the
/// file's name in the image directory ("files.img") or, for stats-dump and stats-restore, beside it.
CKPT_API std::optional<Json> read_image(const Checkpoint& checkpoint, const std::string& name,
                                        ImageStyle style = ImageStyle::plain);

/// A run of pages of one process (CRIU's pagemap_entry).
struct PageRun {
  std::uint64_t address = 0;
  std::uint64_t pages = 0;
  std::uint64_t offset = 0;  ///< in the pages image, of present pages
  bool present = false;      ///< the pages are in this checkpoint
  bool in_parent = false;    ///< they are in the images of an earlier pre-dump
};

/// Where the pages of a process are.
struct PageMap {
  std::uint32_t pid = 0;
  std::string pages_member;
  std::uint64_t page_size = 4096;  ///< told by the size of the pages image, not by this machine
  std::vector<PageRun> runs;       ///< in the order of the pages image
};
/// Throws Error(corrupt) for a damaged or missing page map.
CKPT_API PageMap read_page_map(const Checkpoint& checkpoint, std::uint32_t pid);

/// A run of a process's memory. Of what is asked for, the parts that are in the checkpoint.
struct MemoryRange {
  std::uint32_t pid = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};
struct MemoryPiece {
  std::uint64_t address = 0;
  std::string bytes;
};
/// The dumped parts of each range, by address. One pass over the archive at most, none when a slice was kept.
CKPT_API std::vector<std::vector<MemoryPiece>> read_memory(const Checkpoint& checkpoint,
                                                           const std::vector<MemoryRange>& ranges);

/// All dumped pages of these processes in the order of the archive, in one pass; memory stays bounded. Pieces of one
/// process follow each other; a piece ends where the next address does not join.
CKPT_API void stream_memory(const Checkpoint& checkpoint, const std::vector<std::uint32_t>& pids,
                            const std::function<void(std::uint32_t, std::uint64_t, std::string_view)>& sink);

/// Arguments and environment of a process, out of its memory.
struct ProcessArguments {
  std::uint32_t pid = 0;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string missing;  ///< why they could not be read; empty when they could
};
/// For all processes, in one pass at most; without any when the checkpoint was opened with Keep::arguments and its page
/// maps precede its pages, as in every engine's archives. What is longer than 256 KiB is cut.
CKPT_API std::vector<ProcessArguments> read_arguments(const Checkpoint& checkpoint);

}  // namespace ckpt
