// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "archive/impl.h"
#include "archive/rewrite_archive.h"
#include "archive/sha256.h"

namespace ckpt {

namespace {

[[noreturn]] void differs(const std::string& path, const std::string& member, const std::string& detail) {
  throw Error(ErrorCode::internal, Where{path, member, {}, {}}, "verification failed: " + detail);
}

std::set<std::string> edited_names(const Archive& in, const ArchiveEdits& edits) {
  std::set<std::string> names;
  for (const auto& [index, bytes] : edits.replaced) names.insert(in.members()[index].name);
  for (const auto& [index, bytes] : edits.prefixed) names.insert(in.members()[index].name);
  for (const NewMember& added : edits.added) names.insert(added.name);
  return names;
}

// A sparse member is stored as pieces and a map; what was written is what is stored.
std::string stored_digest(const Archive& archive, const Member& member) {
  Sha256 digest;
  if (!member.sparse) {
    archive.stream(member, [&](std::string_view piece) { digest.add(piece); });
    return digest.finish();
  }
  std::vector<char> block(1U << 16);
  for (std::uint64_t at = member.data_offset; at < member.end_offset;) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), member.end_offset - at));
    archive.impl()->source->read_exactly(at, block.data(), step, member.name);
    digest.add({block.data(), step});
    at += step;
  }
  return digest.finish();
}

void compare_digest(const Archive& archive, std::size_t index, const WrittenMember& written) {
  const Member& member = archive.members()[index];
  if (member.type != MemberType::file || (member.sparse && archive.compression() != Compression::none)) return;
  if (stored_digest(archive, member) != written.sha256)
    differs(archive.name(), member.name, "other content than was written");
}

/// Compares all members of a compressed archive in one pass, which reading each by itself would not be.
void compare_streamed(const Archive& archive, const std::vector<WrittenMember>& written,
                      const std::set<std::string>& only) {
  TarStream stream(*archive.impl()->source, TarStream::Form::tar);
  for (std::size_t i = 0; stream.next() != nullptr; ++i) {
    if (i >= written.size()) differs(archive.name(), {}, "it changed while it was read");
    const Member& member = archive.members()[i];
    const bool wanted = only.empty() || only.count(member.name) != 0;
    if (!wanted || member.type != MemberType::file || member.sparse) continue;
    Sha256 digest;
    stream.content([&](std::string_view piece) { digest.add(piece); });
    if (digest.finish() != written[i].sha256) differs(archive.name(), member.name, "other content than was written");
  }
}

}  // namespace

void verify_archive(const Archive& archive, const std::vector<WrittenMember>& written, const Archive& in,
                    const ArchiveEdits& edits, Verify how) {
  const std::set<std::string> edited = edited_names(in, edits);
  const std::string& path = archive.name();
  const auto& members = archive.members();
  if (members.size() != written.size())
    differs(path, {}, std::to_string(members.size()) + " members, wrote " + std::to_string(written.size()));
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].name != written[i].name ||
        (members[i].type == MemberType::file && members[i].size != written[i].size))
      differs(path, written[i].name, "another header than was written");
  if (how == Verify::edited && edited.empty()) return;
  const std::set<std::string> only = how == Verify::full ? std::set<std::string>{} : edited;
  if (archive.compression() != Compression::none) return compare_streamed(archive, written, only);
  for (std::size_t i = 0; i < members.size(); ++i)
    if (only.empty() || only.count(members[i].name) != 0) compare_digest(archive, i, written[i]);
}

}  // namespace ckpt
