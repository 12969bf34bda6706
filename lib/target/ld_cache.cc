// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ckpt/error.h"
#include "ckpt/node.h"

namespace ckpt {

namespace {

// glibc's sysdeps/generic/dl-cache.h: 17 bytes of magic, 3 of version, two counts, 20 more bytes, then the entries.
constexpr std::string_view kMagic = "glibc-ld.so.cache";
constexpr std::size_t kCountOffset = 20;
constexpr std::size_t kEntriesOffset = 48;
constexpr std::size_t kEntrySize = 24;
constexpr std::size_t kValueOffset = 8;

std::uint32_t u32_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> parse_ld_cache(const std::string& bytes, const std::string& file) {
  const auto fail = [&](std::size_t offset, const std::string& detail) {
    throw Error(ErrorCode::corrupt, Where{file, {}, {}, offset}, detail);
  };
  // An old-format cache may come first; the new one follows it.
  const std::size_t begin = bytes.find(kMagic);
  if (begin == std::string::npos) fail(0, "no glibc-ld.so.cache in it");
  const std::string_view cache = std::string_view(bytes).substr(begin);
  if (cache.size() < kEntriesOffset) fail(begin, "the cache ends in its header");
  const std::uint64_t count = u32_at(cache, kCountOffset);
  if (count > (cache.size() - kEntriesOffset) / kEntrySize) fail(begin + kCountOffset, "more libraries than bytes");
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t entry = kEntriesOffset + static_cast<std::size_t>(i) * kEntrySize;
    const std::uint32_t value = u32_at(cache, entry + kValueOffset);
    const std::size_t end = value < cache.size() ? cache.find('\0', value) : std::string_view::npos;
    if (end == std::string_view::npos) fail(begin + entry, "a library's name lies outside the cache");
    paths.emplace_back(cache.substr(value, end - value));
  }
  return paths;
}

}  // namespace ckpt
