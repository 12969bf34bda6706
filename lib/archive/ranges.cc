// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <map>

#include "archive/impl.h"

namespace ckpt {

namespace {

/// Collects the runs that are asked for out of contents that come by in pieces.
class Collector {
 public:
  using Ranges = std::vector<std::pair<const Member*, ByteRange>>;

  explicit Collector(const Ranges& ranges) : ranges_(ranges), found_(ranges.size()) {
    for (std::size_t i = 0; i < ranges.size(); ++i) by_member_[ranges[i].first].push_back(i);
  }

  void take(const Member& member, std::string_view piece) {
    if (&member != member_) {
      member_ = &member;
      position_ = 0;
    }
    for (const std::size_t index : by_member_[&member]) {
      const ByteRange& range = ranges_[index].second;
      const std::uint64_t from = std::max(range.offset, position_);
      const std::uint64_t to = std::min(range.offset + range.size, position_ + piece.size());
      if (from < to) found_[index] += piece.substr(from - position_, to - from);
    }
    position_ += piece.size();
  }

  std::vector<std::string> result() { return std::move(found_); }

 private:
  const Ranges& ranges_;
  std::vector<std::string> found_;
  std::map<const Member*, std::vector<std::size_t>> by_member_;
  const Member* member_ = nullptr;
  std::uint64_t position_ = 0;
};

// A run that needs no pass: of a member or a slice in memory, of a plain tar.
std::optional<std::string> at_hand(const Archive::Impl& archive, const Member& member, ByteRange range) {
  if (range.offset >= member.size) return std::string();
  range.size = std::min(range.size, member.size - range.offset);
  if (const auto kept = archive.kept.find(member.header_offset); kept != archive.kept.end() && !archive.directory)
    return range.offset < kept->second.size() ? kept->second.substr(range.offset, range.size) : std::string();
  if (const auto slices = archive.slices.find(member.header_offset); slices != archive.slices.end()) {
    auto slice = slices->second.upper_bound(range.offset);
    if (slice == slices->second.begin()) return std::nullopt;
    --slice;
    if (range.offset + range.size > slice->first + slice->second.size()) return std::nullopt;
    return slice->second.substr(range.offset - slice->first, range.size);
  }
  if (!archive.random_access() || member.sparse) return std::nullopt;
  std::string bytes(range.size, '\0');
  archive.source->read_exactly(member.data_offset + range.offset, bytes.data(), bytes.size(), member.name);
  return bytes;
}

std::string from_directory(const Archive::Impl& archive, const Member& member, ByteRange range) {
  if (range.offset >= member.size) return {};
  const Descriptor file(open_directory_file(archive, member));
  std::string bytes(std::min(range.size, member.size - range.offset), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(range.offset + done));
    if (got <= 0) throw Error(ErrorCode::io, archive.where(member), "cannot read all of it");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

void Archive::stream_all(const std::vector<const Member*>& members,
                         const std::function<void(const Member&, std::string_view)>& sink) const {
  std::map<std::uint64_t, const Member*> wanted;
  std::vector<const Member*> direct;
  for (const Member* member : members) {
    const bool kept = !impl_->directory && impl_->kept.contains(member->header_offset);
    if (impl_->directory || kept || impl_->random_access())
      direct.push_back(member);
    else
      wanted[member->header_offset] = member;
  }
  for (const Member* member : direct) stream(*member, [&](std::string_view piece) { sink(*member, piece); });
  if (wanted.empty()) return;
  if (!impl_->source->seekable())
    throw Error(ErrorCode::unsupported, impl_->where(*wanted.begin()->second),
                "a pipe is read once, and this member was not kept", "give the archive as a file");
  TarStream stream(*impl_->source, TarStream::Form::tar);
  std::size_t found = 0;
  while (found < wanted.size() && stream.next() != nullptr) {
    const auto member = wanted.find(stream.header_position());
    if (member == wanted.end()) continue;
    stream.set_member(member->second->name);
    stream.content([&](std::string_view piece) { sink(*member->second, piece); });
    ++found;
  }
  if (found < wanted.size()) stream.fail("the archive changed while it was read");
}

std::vector<std::string> Archive::read_ranges(const std::vector<std::pair<const Member*, ByteRange>>& ranges) const {
  std::vector<std::string> found(ranges.size());
  std::vector<std::pair<const Member*, ByteRange>> missing;
  std::vector<std::size_t> places;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& [member, range] = ranges[i];
    if (range.size > impl_->limits.max_member_bytes || (total += range.size) > impl_->limits.max_member_bytes)
      throw Error(ErrorCode::limit_exceeded, impl_->where(*member),
                  "more than max_member_bytes, " + std::to_string(impl_->limits.max_member_bytes));
    if (impl_->directory) {
      found[i] = from_directory(*impl_, *member, range);
    } else if (auto bytes = at_hand(*impl_, *member, range)) {
      found[i] = std::move(*bytes);
    } else {
      missing.emplace_back(member, range);
      places.push_back(i);
    }
  }
  if (missing.empty()) return found;
  Collector collector(missing);
  std::vector<const Member*> members;
  for (const auto& [member, range] : missing)
    if (std::find(members.begin(), members.end(), member) == members.end()) members.push_back(member);
  stream_all(members, [&](const Member& member, std::string_view piece) { collector.take(member, piece); });
  auto collected = collector.result();
  for (std::size_t i = 0; i < places.size(); ++i) found[places[i]] = std::move(collected[i]);
  return found;
}

}  // namespace ckpt
