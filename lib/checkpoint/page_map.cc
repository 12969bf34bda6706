// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/page_map.h"

#include <algorithm>
#include <charconv>

#include "base/paths.h"
#include "criu/views.h"

namespace ckpt {

namespace {

constexpr std::string_view kPageMap = "pagemap-";

std::string directory_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

std::optional<std::uint32_t> pid_of(std::string_view base) {
  if (base.substr(0, kPageMap.size()) != kPageMap) return std::nullopt;
  std::uint32_t pid = 0;
  const auto [end, failure] = std::from_chars(base.data() + kPageMap.size(), base.data() + base.size(), pid);
  if (failure != std::errc() ||
      std::string_view(end, static_cast<std::size_t>(base.data() + base.size() - end)) != ".img")
    return std::nullopt;
  return pid;
}

// Nothing in the images says how large a page is: the pages image and the count of pages do.
std::uint64_t page_size_of(std::uint64_t bytes, std::uint64_t pages) {
  for (const std::uint64_t size : {4096U, 16384U, 65536U, 8192U})
    if (pages > 0 && bytes / pages == size) return size;
  return 4096;
}

}  // namespace

std::uint32_t pages_id_of(const criu::Image& image) { return criu::read_pagemap(image).pages_id; }

PageMap page_map_of(const criu::Image& image, std::uint32_t pid, std::optional<std::uint64_t> pages_bytes) {
  const criu::Pagemap raw = criu::read_pagemap(image);
  PageMap map;
  map.pid = pid;
  map.pages_member = "pages-" + std::to_string(raw.pages_id) + ".img";
  std::uint64_t present = 0;
  for (const criu::PagemapEntry& entry : raw.entries)
    if (entry.present && entry.pages < (1ULL << 40)) present += entry.pages;
  if (pages_bytes) map.page_size = page_size_of(*pages_bytes, present);
  std::uint64_t offset = 0;
  for (const criu::PagemapEntry& entry : raw.entries) {
    if (entry.pages >= (1ULL << 40) || entry.vaddr > ~std::uint64_t{0} - entry.pages * map.page_size)
      throw Error(ErrorCode::corrupt, image.where(), "a run of pages leaves the address space");
    map.runs.push_back({entry.vaddr, entry.pages, entry.present ? offset : 0, entry.present, entry.in_parent});
    if (entry.present) offset += entry.pages * map.page_size;
  }
  return map;
}

std::vector<Placed> place(const PageMap& map, std::uint64_t address, std::uint64_t size) {
  std::vector<Placed> placed;
  const std::uint64_t end = size > ~std::uint64_t{0} - address ? ~std::uint64_t{0} : address + size;
  for (const PageRun& run : map.runs) {
    if (!run.present) continue;
    const std::uint64_t from = std::max(address, run.address);
    const std::uint64_t to = std::min(end, run.address + run.pages * map.page_size);
    if (from < to) placed.push_back({from, {run.offset + (from - run.address), to - from}});
  }
  return placed;
}

void ArgumentSlicer::note(const Member& member) {
  if (pid_of(base_name(member.name))) page_maps_.push_back(member.name);
}

void ArgumentSlicer::learn(const Kept& kept) {
  for (const std::string& name : page_maps_) {
    const std::string* bytes = kept(name);
    if (bytes == nullptr) continue;
    const auto id = pages_id_of(criu::Image::parse(*bytes, Where{{}, name, {}, {}}, limits_));
    by_pages_[directory_of(name) + "pages-" + std::to_string(id) + ".img"] = name;
  }
  page_maps_.clear();
}

// Damage is not for here: whoever reads the images for good reports it.
std::vector<ByteRange> ArgumentSlicer::slices(const Member& member, const Kept& kept) try {
  if (base_name(member.name).substr(0, 6) != "pages-") return {};
  learn(kept);
  const auto found = by_pages_.find(member.name);
  if (found == by_pages_.end()) return {};
  const std::string& name = found->second;
  const std::uint32_t pid = pid_of(base_name(name)).value_or(0);
  const std::string mm_name = directory_of(name) + "mm-" + std::to_string(pid) + ".img";
  const std::string* mm_bytes = kept(mm_name);
  if (mm_bytes == nullptr) return {};
  const criu::Mm mm = criu::read_mm(criu::Image::parse(*mm_bytes, Where{{}, mm_name, {}, {}}, limits_));
  const PageMap map = page_map_of(criu::Image::parse(*kept(name), Where{{}, name, {}, {}}, limits_), pid, member.size);
  std::vector<ByteRange> ranges;
  for (const auto& [start, end] : {std::pair(mm.arg_start, mm.arg_end), std::pair(mm.env_start, mm.env_end)})
    if (end > start)
      for (const Placed& part : place(map, start, std::min(end - start, kMaxArgumentBytes)))
        ranges.push_back(part.bytes);
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].offset < ranges[i - 1].offset + ranges[i - 1].size) return {};
  return ranges;
} catch (const Error&) {
  return {};
}

}  // namespace ckpt
