// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/export.h"
#include "ckpt/limits.h"

namespace ckpt {

enum class Compression { none, gzip, zstd, xz, bzip2, lz4 };
/// "none", "gzip", "zstd", "xz", "bzip2", "lz4".
CKPT_API const char* to_string(Compression compression) noexcept;

enum class MemberType { file, directory, symlink, hardlink, char_device, block_device, fifo, other };
/// "file", "directory", "symlink", "hardlink", "char", "block", "fifo", "other".
CKPT_API const char* to_string(MemberType type) noexcept;

/// One member as its header says it. Offsets count bytes of the uncompressed tar and are 0 for directories on disk.
struct Member {
  std::string name;      ///< cleaned: no leading "./", no trailing "/"; "." for the top itself
  std::string raw_name;  ///< as written in the header
  MemberType type = MemberType::file;
  std::uint64_t size = 0;  ///< bytes of content, holes of sparse members included
  std::uint32_t mode = 0;  ///< permission bits, with setuid, setgid and sticky
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::int64_t mtime = 0;       ///< seconds since the epoch
  std::string link_target;      ///< symlinks and hard links
  std::uint32_t dev_major = 0;  ///< device nodes
  std::uint32_t dev_minor = 0;
  bool sparse = false;              ///< stored with holes (GNU type S or a PAX sparse map)
  std::uint64_t header_offset = 0;  ///< first block, extension headers included
  std::uint64_t data_offset = 0;    ///< first byte of stored content
  std::uint64_t end_offset = 0;     ///< after content and padding: where the next member begins
};

/// What to do about member names that lead out of the archive (absolute, "..", empty).
enum class UnsafeNames {
  refuse,  ///< Error(corrupt)
  keep,    ///< they are members like others, so that an audit can name them; never extract such an archive
};

/// A run of bytes of a member's content.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct ArchiveOptions {
  Limits limits;
  /// Which members are worth keeping in memory when the archive cannot be read at random (compressed, a pipe).
  /// Others are read again from the start when asked for. Absent: none.
  std::function<bool(const Member&)> keep;
  UnsafeNames unsafe_names = UnsafeNames::refuse;
  /// Which runs of a member that is not kept whole are worth keeping (ascending, without overlap). `kept` gives the
  /// content of a member that came earlier and was kept, or nullptr. Absent: none.
  std::function<std::vector<ByteRange>(const Member&, const std::function<const std::string*(std::string_view)>& kept)>
      slices;
  /// Told when a tar turns out cut off or damaged after some members: these then make up the archive. Absent: open
  /// throws.
  std::function<void(const Error&)> damaged;
};

/// A checkpoint archive's members: a tar in any compression, or a directory. Immutable after open; copies share state.
/// Plain seekable tars are walked by header and their payloads read only on demand.
/// Names are checked: an absolute name, "..", NUL or a name over the limit is Error(corrupt).
class CKPT_API Archive {
 public:
  /// Opens by content, never by extension. Throws Error(io | corrupt | unsupported | limit_exceeded).
  static Archive open(const std::string& path, const ArchiveOptions& options = {});
  /// Reads a tar from a file descriptor that cannot be rewound (a pipe). The descriptor is not closed.
  /// When a second pass is needed the stream must have been spooled: see `spool`.
  static Archive open_stream(int fd, const std::string& name, const ArchiveOptions& options = {});
  /// Copies a stream to an unlinked 0600 file in `directory` and opens that.
  static Archive spool(int fd, const std::string& name, const std::string& directory,
                       const ArchiveOptions& options = {});
  /// Opens a tar that lies inside a member of another archive (an OCI layer). Plain over plain needs no copy.
  Archive open_member(const Member& member, const ArchiveOptions& options = {}) const;

  /// What the caller named it: a path, or "-".
  const std::string& name() const noexcept;
  bool is_directory() const noexcept;
  Compression compression() const noexcept;
  /// All members in archive order, duplicates included.
  const std::vector<Member>& members() const noexcept;
  /// The member of that cleaned name, the last one when there are several (as extraction leaves it), or nullptr.
  const Member* find(std::string_view name) const noexcept;
  /// Names that occur more than once, in order of first appearance.
  const std::vector<std::string>& duplicates() const noexcept;

  /// The whole content. Throws Error(limit_exceeded) above limits.max_member_bytes, Error(corrupt) when it is short.
  std::string read(const Member& member) const;
  /// The content in pieces, holes as zeros; memory stays bounded. `sink` may throw.
  void stream(const Member& member, const std::function<void(std::string_view)>& sink) const;

  /// The content of several members in archive order, in one pass however many they are.
  void stream_all(const std::vector<const Member*>& members,
                  const std::function<void(const Member&, std::string_view)>& sink) const;
  /// Runs of the members' contents, in the order asked for; one pass at most. What lies behind a member's end is left
  /// out. Throws Error(limit_exceeded) above limits.max_member_bytes in all.
  std::vector<std::string> read_ranges(const std::vector<std::pair<const Member*, ByteRange>>& ranges) const;

  /// Bytes taken from the underlying file so far: what `open` and the reads really cost.
  std::uint64_t bytes_read() const noexcept;

  struct Impl;
  explicit Archive(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// The content of a regular file in pieces, unpacked when it is compressed (told by content). `sink` may throw.
/// Throws Error(io | corrupt), Error(invalid_argument) for what is no regular file.
CKPT_API void stream_file(const std::string& path, const std::function<void(std::string_view)>& sink);
/// The same from a descriptor that cannot be rewound. It is not closed.
CKPT_API void stream_descriptor(int fd, const std::string& name, const std::function<void(std::string_view)>& sink);

}  // namespace ckpt
