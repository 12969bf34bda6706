// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/handles.h"
#include "archive/unpacker.h"
#include "ckpt/archive.h"

namespace ckpt {

/// The bytes an archive is made of: a run of a file that can be read at any place, or a pipe that comes once.
class Source {
 public:
  /// A run of a regular file. `file` names it in errors.
  Source(std::shared_ptr<Descriptor> descriptor, std::string file, std::uint64_t begin, std::uint64_t length);
  /// A pipe; the descriptor stays the caller's.
  Source(int pipe, std::string file);

  bool seekable() const noexcept { return descriptor_ != nullptr; }
  const std::string& file() const noexcept { return file_; }
  std::uint64_t length() const noexcept { return length_; }
  /// A run of this run.
  std::shared_ptr<Source> part(std::uint64_t begin, std::uint64_t length) const;

  /// Reads at most `size` bytes at `offset`; 0 at the end. Throws Error(io).
  std::size_t read_at(std::uint64_t offset, char* into, std::size_t size) const;
  /// Reads exactly that much. Throws Error(corrupt) when the file is shorter.
  void read_exactly(std::uint64_t offset, char* into, std::size_t size, const std::string& member) const;
  /// The next bytes of a pipe.
  std::size_t read_next(char* into, std::size_t size) const;
  std::uint64_t bytes_read() const noexcept { return *bytes_read_; }
  /// Throws Error(io) when the file's size or modification time is not what it was at the beginning.
  void require_unchanged() const;
  int descriptor() const noexcept { return descriptor_ ? descriptor_->get() : pipe_; }
  std::uint64_t begin() const noexcept { return begin_; }

 private:
  std::shared_ptr<Descriptor> descriptor_;
  int pipe_ = -1;
  std::string file_;
  std::uint64_t begin_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t file_size_ = 0;
  std::int64_t modified_ns_ = 0;
  std::shared_ptr<std::uint64_t> bytes_read_;
};

/// A libarchive reader over a source. Plain tars are skipped through by position, never by reading; gzip and lz4 are
/// unpacked on the way to libarchive, see Unpacker.
class TarStream {
 public:
  enum class Form { tar, raw };  ///< raw: the decompressed bytes as they are
  TarStream(const Source& source, Form form, std::uint64_t begin = 0);

  /// The next entry, or nullptr at the end. Throws Error(corrupt).
  struct archive_entry* next();
  /// Bytes of the uncompressed stream consumed so far.
  std::uint64_t position() const;
  std::uint64_t header_position() const;
  void skip_content();
  /// The entry's content in pieces, holes as zeros. Throws Error(corrupt).
  void content(const std::function<void(std::string_view)>& sink);
  /// Raw form: up to `size` bytes; 0 at the end.
  std::size_t read_raw(char* into, std::size_t size);
  /// Reads what is left behind the end of the tar, so that the last checksums are looked at and whoever fills a pipe
  /// can finish. Throws Error(corrupt).
  void drain();
  Compression compression() const;
  void set_member(std::string member) { member_ = std::move(member); }
  [[noreturn]] void fail(const char* doing) const;

 private:
  static la_ssize_t on_read(struct archive* handle, void* self, const void** bytes);
  static la_int64_t on_skip(struct archive* handle, void* self, la_int64_t request);
  void open(Form form);
  std::string look_ahead();
  std::string_view fetch(std::vector<char>& block);
  std::string_view unpack();

  const Source& source_;
  const Where where_;
  ReaderHandle handle_;
  std::unique_ptr<Unpacker> unpacker_;
  Compression unpacks_ = Compression::none;
  std::vector<char> packed_;
  std::vector<char> block_;
  std::string ahead_;
  std::uint64_t position_ = 0;
  std::string member_;
  std::exception_ptr failure_;
};

/// Compression told by the first bytes.
Compression compression_of(std::string_view first_bytes) noexcept;

}  // namespace ckpt
