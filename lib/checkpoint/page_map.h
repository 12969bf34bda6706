// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ckpt/memory.h"
#include "criu/image.h"

namespace ckpt {

/// The longest run of arguments or environment that is read.
inline constexpr std::uint64_t kMaxArgumentBytes = 256U << 10;

/// The page map of an image; `pages_bytes` is the size of its pages image, if it is there.
PageMap page_map_of(const criu::Image& image, std::uint32_t pid, std::optional<std::uint64_t> pages_bytes);
/// pages_id of the head. Throws Error(corrupt).
std::uint32_t pages_id_of(const criu::Image& image);

/// A dumped part of a range: where it is in memory and where in the pages image.
struct Placed {
  std::uint64_t address = 0;
  ByteRange bytes;
};
/// By offset in the pages image.
std::vector<Placed> place(const PageMap& map, std::uint64_t address, std::uint64_t size);

/// Picks arguments and environment out of pages images while an archive is read for the first time.
class ArgumentSlicer {
 public:
  explicit ArgumentSlicer(const Limits& limits) : limits_(limits) {}
  using Kept = std::function<const std::string*(std::string_view)>;

  void note(const Member& member);
  std::vector<ByteRange> slices(const Member& member, const Kept& kept);

 private:
  void learn(const Kept& kept);

  Limits limits_;
  std::vector<std::string> page_maps_;           ///< met, not looked at yet
  std::map<std::string, std::string> by_pages_;  ///< pages image to page map
};

}  // namespace ckpt
