// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "ckpt/archive.h"

namespace ckpt {

/// A member that the input does not have. Written as a regular file, 0600, right after the member it follows.
struct NewMember {
  std::string name;
  std::string bytes;
  std::size_t after = 0;  ///< index into Archive::members()
};

/// What differs from a plain copy. Indexes are into Archive::members().
struct ArchiveEdits {
  std::map<std::size_t, std::string> replaced;  ///< new content; the header keeps all but the size
  std::set<std::size_t> removed;
  std::vector<NewMember> added;
  /// Bytes that come before the content the member has. A tar inside a member grows that way without being read.
  std::map<std::size_t, std::string> prefixed;
};

/// An empty file or directory for a tar inside a member.
struct Placeholder {
  std::string name;  ///< relative, cleaned
  MemberType type = MemberType::file;
};
/// Header blocks of placeholders, 0644 and 0755, owned by root: what may stand at the front of a tar.
std::string placeholder_blocks(const std::vector<Placeholder>& placeholders, std::int64_t mtime);

struct WriteOptions {
  Compression compression = Compression::none;  ///< none, gzip or zstd
  std::optional<int> level;                     ///< of the codec; absent: gzip 6, zstd 3
  /// Sees every uncompressed byte of the output.
  std::function<void(std::string_view)> tap;
  /// Called with the uncompressed bytes done and the total, now and then.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// A digest of every member as written, to compare with what a re-read finds.
struct WrittenMember {
  std::string name;
  std::uint64_t size = 0;
  std::string sha256;  ///< raw 32 bytes of the content
};

/// Copies `in` to `out` block by block with `edits` as exceptions.
/// Untouched members keep their very header and data blocks; a replaced member keeps its header blocks except for
/// size and checksum; a GNU sparse member (type S), which the engines cannot read, is written out whole.
/// A directory on disk becomes a ustar/PAX tar in name order with directory entries and numeric owners;
/// extended attributes are left behind, which no engine's checkpoint has.
/// The filling behind the end stays as long as it was. A compressed input is read to its end and must keep its
/// checksums. Throws Error(unsupported) for a compression that is only read and for other content of what is no regular
/// file.
std::vector<WrittenMember> rewrite_archive(const Archive& in, const ArchiveEdits& edits, const WriteOptions& options,
                                           ByteSink& out);

/// How much of a written archive is read again.
enum class Verify {
  edited,  ///< headers, and the content of the members named in `edits`
  full,    ///< every byte of content against the digests taken while writing
};

/// Re-reads `archive` and compares it with what rewrite_archive said it wrote. Throws Error(internal) on a difference.
void verify_archive(const Archive& archive, const std::vector<WrittenMember>& written, const Archive& in,
                    const ArchiveEdits& edits, Verify how);

/// A tar of changed members alone, each with the header that it has in its archive (or a new one), parents first:
/// what a layer over the archive has to hold.
struct ChangedMember {
  std::string name;
  std::string bytes;
  const Member* was = nullptr;  ///< absent: a new member
};
std::string write_changes(const std::vector<ChangedMember>& changes, const std::vector<const Member*>& directories);

}  // namespace ckpt
