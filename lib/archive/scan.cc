// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "archive/entry.h"
#include "archive/impl.h"
#include "base/paths.h"

namespace ckpt {

namespace {

/// Keeps what is worth keeping of a stream, within the limits.
class Keeper {
 public:
  Keeper(const Archive::Impl& archive, const ArchiveOptions& options) : archive_(archive), options_(options) {}

  bool wants(const Member& member) const {
    return !archive_.random_access() && options_.keep && member.type == MemberType::file &&
           member.size <= options_.limits.max_member_bytes && kept_ + member.size <= options_.limits.max_kept_bytes &&
           options_.keep(member);
  }

  // Runs of a member that is not kept whole, taken while it comes by.
  std::vector<ByteRange> slices(const Member& member) const {
    if (archive_.random_access() || !options_.slices || member.type != MemberType::file) return {};
    const auto kept = [&](std::string_view name) -> const std::string* {
      for (auto known = archive_.members.rbegin(); known != archive_.members.rend(); ++known)
        if (known->name == name) {
          const auto found = archive_.kept.find(known->header_offset);
          return found == archive_.kept.end() ? nullptr : &found->second;
        }
      return nullptr;
    };
    return options_.slices(member, kept);
  }

  std::map<std::uint64_t, std::string> read_slices(TarStream& stream, const std::vector<ByteRange>& ranges) {
    std::map<std::uint64_t, std::string> found;
    std::uint64_t position = 0;
    auto range = ranges.begin();
    stream.content([&](std::string_view piece) {
      const std::uint64_t end = position + piece.size();
      for (auto at = range; at != ranges.end() && at->offset < end; ++at) {
        const std::uint64_t from = std::max(at->offset, position);
        const std::uint64_t to = std::min(at->offset + at->size, end);
        if (to <= from || kept_ + (to - from) > options_.limits.max_kept_bytes) continue;
        found[at->offset] += piece.substr(from - position, to - from);
        kept_ += to - from;
      }
      position = end;
      while (range != ranges.end() && range->offset + range->size <= end) ++range;
    });
    return found;
  }

  std::string read(TarStream& stream, const Member& member) {
    std::string bytes;
    stream.content([&](std::string_view piece) {
      if (bytes.size() + piece.size() > member.size)
        throw Error(ErrorCode::corrupt, archive_.where(member), "longer than its header says");
      bytes += piece;
    });
    kept_ += bytes.size();
    return bytes;
  }

 private:
  const Archive::Impl& archive_;
  const ArchiveOptions& options_;
  std::uint64_t kept_ = 0;
};

void require_whole(const Archive::Impl& archive, const Member& member) {
  if (!archive.random_access() || member.end_offset <= archive.source->length()) return;
  throw Error(ErrorCode::corrupt, Where{archive.name, member.name, {}, archive.source->length()},
              "the archive ends inside this member, which has " + std::to_string(member.size) + " bytes");
}

void walk_tar(Archive::Impl& archive, const ArchiveOptions& options) {
  TarStream stream(*archive.source, TarStream::Form::tar);
  Keeper keeper(archive, options);
  archive.compression = stream.compression();
  while (struct archive_entry* entry = stream.next()) {
    archive.compression = stream.compression();
    if (archive.members.size() >= options.limits.max_members)
      throw Error(ErrorCode::limit_exceeded, Where{archive.name, {}, {}, {}},
                  "more than max_members, " + std::to_string(options.limits.max_members));
    Member member = member_of(entry);
    archive.require_name(member);
    stream.set_member(member.name);
    member.header_offset = stream.header_position();
    member.data_offset = stream.position();
    if (keeper.wants(member))
      archive.kept[member.header_offset] = keeper.read(stream, member);
    else if (const auto ranges = keeper.slices(member); !ranges.empty())
      archive.slices[member.header_offset] = keeper.read_slices(stream, ranges);
    stream.skip_content();
    member.end_offset = (stream.position() + 511) / 512 * 512;
    // A map that says nothing but "all is a hole" does not show in the entry; the room that the content takes does.
    if (member.type == MemberType::file && member.end_offset - member.data_offset != (member.size + 511) / 512 * 512)
      member.sparse = true;
    require_whole(archive, member);
    archive.members.push_back(std::move(member));
  }
  stream.drain();
  archive.source->require_unchanged();
}

}  // namespace

void scan_tar(Archive::Impl& archive, const ArchiveOptions& options) {
  try {
    walk_tar(archive, options);
  } catch (const Error& error) {
    if (!options.damaged || archive.members.empty() || error.code() != ErrorCode::corrupt) throw;
    options.damaged(error);
  }
  archive.index();
}

struct archive_entry* find_entry(TarStream& stream, const Member& member, std::uint64_t base) {
  stream.set_member(member.name);
  while (struct archive_entry* entry = stream.next()) {
    if (stream.header_position() + base == member.header_offset) return entry;
    if (stream.header_position() + base > member.header_offset) break;
  }
  stream.fail("the archive changed while it was read");
}

}  // namespace ckpt
