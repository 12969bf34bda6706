// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "archive/source.h"
#include "ckpt/archive.h"

namespace ckpt {

struct CKPT_LOCAL Archive::Impl {
  std::string name;
  bool directory = false;
  Compression compression = Compression::none;
  Limits limits;
  UnsafeNames unsafe_names = UnsafeNames::refuse;
  std::vector<Member> members;
  std::map<std::string, std::size_t, std::less<>> last;  ///< cleaned name to the index that counts
  std::vector<std::string> duplicates;

  std::shared_ptr<Source> source;             ///< tars
  std::shared_ptr<Descriptor> directory_fd;   ///< directories
  std::map<std::uint64_t, std::string> kept;  ///< content held since the one pass over a stream, by header_offset
  /// Runs held since the one pass, by header_offset and then by offset in the content.
  std::map<std::uint64_t, std::map<std::uint64_t, std::string>> slices;
  mutable std::uint64_t directory_bytes = 0;

  bool random_access() const noexcept { return source && source->seekable() && compression == Compression::none; }
  void index();
  void require_name(const Member& member) const;
  Where where(const Member& member) const { return Where{name, member.name, {}, {}}; }
};

/// Fills an Impl by walking a tar from front to back.
void scan_tar(Archive::Impl& archive, const ArchiveOptions& options);
/// Fills an Impl from a directory on disk, parents before children, in name order.
void scan_directory(Archive::Impl& archive, const ArchiveOptions& options);
/// The content of a file below the directory, no symlink followed.
void stream_directory_file(const Archive::Impl& archive, const Member& member,
                           const std::function<void(std::string_view)>& sink);
/// Opens a file below the directory, no symlink followed. Throws Error(io).
int open_directory_file(const Archive::Impl& archive, const Member& member);
/// Brings a reader to the member's entry. Throws Error(corrupt) when the archive changed in between.
struct archive_entry* find_entry(TarStream& stream, const Member& member, std::uint64_t base);

}  // namespace ckpt
