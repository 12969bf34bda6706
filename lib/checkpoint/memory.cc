// SPDX-License-Identifier: Apache-2.0
#include "ckpt/memory.h"

#include <algorithm>
#include <map>

#include "checkpoint/impl.h"
#include "checkpoint/page_map.h"

namespace ckpt {

namespace {

using Impl = Checkpoint::Impl;

std::optional<criu::Image> load(const Impl& checkpoint, const std::string& name) {
  const std::string member = checkpoint.image_prefix + name;
  auto bytes = checkpoint.read(member);
  if (!bytes) return std::nullopt;
  return criu::Image::parse(std::move(*bytes), checkpoint.where(member), checkpoint.limits);
}

Located pages_of(const Impl& checkpoint, const PageMap& map) {
  const Located pages = checkpoint.find(checkpoint.image_prefix + map.pages_member);
  if (!pages)
    throw Error(ErrorCode::corrupt, checkpoint.where(checkpoint.image_prefix + map.pages_member),
                "missing: memory of process " + std::to_string(map.pid));
  return pages;
}

std::vector<std::string> split_at_nul(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string joined(const std::vector<MemoryPiece>& pieces) {
  std::string text;
  std::uint64_t next = pieces.empty() ? 0 : pieces.front().address;
  for (const MemoryPiece& piece : pieces) {
    if (piece.address != next) break;
    text += piece.bytes;
    next += piece.bytes.size();
  }
  return text;
}

/// Gives the pieces of a pages image their addresses.
class Addresser {
 public:
  explicit Addresser(const PageMap& map) : map_(map) {
    for (const PageRun& run : map.runs)
      if (run.present && run.pages > 0) runs_.push_back(&run);
  }

  template <typename Sink>
  void take(std::string_view piece, const Sink& sink) {
    while (!piece.empty() && next_ < runs_.size()) {
      const PageRun& run = *runs_[next_];
      const std::uint64_t left = run.pages * map_.page_size - done_;
      const std::string_view part = piece.substr(0, std::min<std::uint64_t>(left, piece.size()));
      sink(map_.pid, run.address + done_, part);
      done_ += part.size();
      piece.remove_prefix(part.size());
      if (done_ < run.pages * map_.page_size) continue;
      done_ = 0;
      ++next_;
    }
  }

 private:
  const PageMap& map_;
  std::vector<const PageRun*> runs_;
  std::size_t next_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

std::optional<Json> read_image(const Checkpoint& checkpoint, const std::string& name, ImageStyle style) {
  const Impl& impl = checkpoint.impl();
  for (const std::string& member : {impl.image_prefix + name, name}) {
    auto bytes = impl.read(member);
    if (bytes) return decode_image(std::move(*bytes), impl.where(member), style, impl.limits);
  }
  return std::nullopt;
}

PageMap read_page_map(const Checkpoint& checkpoint, std::uint32_t pid) {
  const Impl& impl = checkpoint.impl();
  const std::string name = "pagemap-" + std::to_string(pid) + ".img";
  const auto image = load(impl, name);
  if (!image)
    throw Error(ErrorCode::corrupt, impl.where(impl.image_prefix + name),
                "missing: the pages of process " + std::to_string(pid) + " cannot be told apart");
  const Located pages = impl.find(impl.image_prefix + "pages-" + std::to_string(pages_id_of(*image)) + ".img");
  return page_map_of(*image, pid, pages ? std::optional(pages.member->size) : std::nullopt);
}

std::vector<std::vector<MemoryPiece>> read_memory(const Checkpoint& checkpoint,
                                                  const std::vector<MemoryRange>& ranges) {
  const Impl& impl = checkpoint.impl();
  struct Wanted {
    std::size_t range;
    std::uint64_t address;
  };
  std::map<std::uint32_t, PageMap> maps;
  std::map<const Archive*, std::vector<std::pair<const Member*, ByteRange>>> reads;
  std::map<const Archive*, std::vector<Wanted>> places;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const MemoryRange& range = ranges[i];
    if (!maps.contains(range.pid)) maps.emplace(range.pid, read_page_map(checkpoint, range.pid));
    const PageMap& map = maps.at(range.pid);
    const auto placed = place(map, range.address, range.size);
    if (placed.empty()) continue;
    const Located pages = pages_of(impl, map);
    for (const Placed& part : placed) {
      reads[pages.archive].emplace_back(pages.member, part.bytes);
      places[pages.archive].push_back({i, part.address});
    }
  }
  std::vector<std::vector<MemoryPiece>> found(ranges.size());
  for (const auto& [archive, wanted] : reads) {
    auto bytes = archive->read_ranges(wanted);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (!bytes[i].empty())
        found[places[archive][i].range].push_back({places[archive][i].address, std::move(bytes[i])});
  }
  for (auto& pieces : found)
    std::sort(pieces.begin(), pieces.end(),
              [](const MemoryPiece& a, const MemoryPiece& b) { return a.address < b.address; });
  return found;
}

void stream_memory(const Checkpoint& checkpoint, const std::vector<std::uint32_t>& pids,
                   const std::function<void(std::uint32_t, std::uint64_t, std::string_view)>& sink) {
  std::map<std::uint32_t, PageMap> maps;
  std::map<const Member*, Addresser> addressers;
  std::map<const Archive*, std::vector<const Member*>> members;
  for (const std::uint32_t pid : pids) {
    const PageMap& map = maps.emplace(pid, read_page_map(checkpoint, pid)).first->second;
    if (std::none_of(map.runs.begin(), map.runs.end(), [](const PageRun& run) { return run.present; })) continue;
    const Located pages = pages_of(checkpoint.impl(), map);
    if (addressers.emplace(pages.member, Addresser(map)).second) members[pages.archive].push_back(pages.member);
  }
  for (const auto& [archive, wanted] : members)
    archive->stream_all(
        wanted, [&](const Member& member, std::string_view piece) { addressers.at(&member).take(piece, sink); });
}

std::vector<ProcessArguments> read_arguments(const Checkpoint& checkpoint) {
  std::vector<ProcessArguments> all;
  std::vector<MemoryRange> ranges;
  for (const TaskImages& task : checkpoint.impl().tasks) {
    ProcessArguments& one = all.emplace_back();
    one.pid = task.process.pid;
    if (!task.mm) {
      one.missing = "mm-" + std::to_string(one.pid) + ".img is missing or damaged";
      continue;
    }
    try {
      const PageMap map = read_page_map(checkpoint, one.pid);
      const bool here = !place(map, task.mm->arg_start, 1).empty();
      if (here) pages_of(checkpoint.impl(), map);
      if (!here) one.missing = "its arguments are not among the dumped pages";
    } catch (const Error& error) {
      one.missing = error.where().member + ": " + error.detail();
    }
    if (!one.missing.empty()) continue;
    const criu::Mm& mm = *task.mm;
    const auto length = [](std::uint64_t start, std::uint64_t end) {
      return end > start ? std::min(end - start, kMaxArgumentBytes) : 0;
    };
    ranges.push_back({one.pid, mm.arg_start, length(mm.arg_start, mm.arg_end)});
    ranges.push_back({one.pid, mm.env_start, length(mm.env_start, mm.env_end)});
  }
  const auto found = read_memory(checkpoint, ranges);
  std::size_t next = 0;
  for (ProcessArguments& one : all) {
    if (!one.missing.empty()) continue;
    one.arguments = split_at_nul(joined(found[next]));
    one.environment = split_at_nul(joined(found[next + 1]));
    next += 2;
  }
  return all;
}

}  // namespace ckpt
