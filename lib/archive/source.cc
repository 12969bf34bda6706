// SPDX-License-Identifier: Apache-2.0
#include "archive/source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "archive/gunzip.h"
#include "archive/unlz4.h"

namespace ckpt {

namespace {

constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kHeaderBlock = 4096;      // a plain tar is read by header, so little is read too much
constexpr std::size_t kStreamBlock = 1U << 16;  // what comes in one stream is all read anyway

[[noreturn]] void io_error(const std::string& file, const char* what) {
  throw Error(ErrorCode::io, Where{file, {}, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

std::int64_t modified_ns(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

Source::Source(std::shared_ptr<Descriptor> descriptor, std::string file, std::uint64_t begin, std::uint64_t length)
    : descriptor_(std::move(descriptor)),
      file_(std::move(file)),
      begin_(begin),
      length_(length),
      bytes_read_(std::make_shared<std::uint64_t>(0)) {
  struct stat status {};
  if (::fstat(descriptor_->get(), &status) != 0) io_error(file_, "cannot stat");
  file_size_ = static_cast<std::uint64_t>(status.st_size);
  modified_ns_ = modified_ns(status);
}

Source::Source(int pipe, std::string file)
    : pipe_(pipe), file_(std::move(file)), bytes_read_(std::make_shared<std::uint64_t>(0)) {}

std::shared_ptr<Source> Source::part(std::uint64_t begin, std::uint64_t length) const {
  auto part = std::make_shared<Source>(*this);
  part->begin_ = begin_ + begin;
  part->length_ = std::min(length, length_ - std::min(begin, length_));
  return part;
}

std::size_t Source::read_at(std::uint64_t offset, char* into, std::size_t size) const {
  if (offset >= length_) return 0;
  size = static_cast<std::size_t>(std::min<std::uint64_t>(size, length_ - offset));
  for (;;) {
    const ssize_t got = ::pread(descriptor_->get(), into, size, static_cast<off_t>(begin_ + offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io_error(file_, "cannot read");
    *bytes_read_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
}

void Source::read_exactly(std::uint64_t offset, char* into, std::size_t size, const std::string& member) const {
  while (size > 0) {
    const std::size_t got = read_at(offset, into, size);
    if (got == 0) throw Error(ErrorCode::corrupt, Where{file_, member, {}, offset}, "the archive ends here");
    offset += got;
    into += got;
    size -= got;
  }
}

std::size_t Source::read_next(char* into, std::size_t size) const {
  for (;;) {
    const ssize_t got = ::read(pipe_, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io_error(file_, "cannot read");
    *bytes_read_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
}

void Source::require_unchanged() const {
  if (!descriptor_) return;
  struct stat status {};
  if (::fstat(descriptor_->get(), &status) != 0) io_error(file_, "cannot stat");
  if (static_cast<std::uint64_t>(status.st_size) != file_size_ || modified_ns(status) != modified_ns_)
    throw Error(ErrorCode::io, Where{file_, {}, {}, {}}, "the archive changed while it was read");
}

TarStream::TarStream(const Source& source, Form form, std::uint64_t begin)
    : source_(source), where_{source.file(), {}, {}, {}}, handle_(archive_read_new()), position_(begin) {
  if (!handle_) throw std::bad_alloc();
  open(form);
}

void TarStream::open(Form form) {
  struct archive* handle = handle_.get();
  ahead_ = look_ahead();
  const Compression compression = compression_of(ahead_);
  block_.resize(compression == Compression::none && source_.seekable() ? kHeaderBlock : kStreamBlock);
  if (compression == Compression::gzip || compression == Compression::lz4) {
    const auto next_packed = [this] { return fetch(packed_); };
    packed_.resize(kStreamBlock);
    unpacks_ = compression;
    if (compression == Compression::gzip)
      unpacker_ = std::make_unique<Gunzip>(next_packed, where_);
    else
      unpacker_ = std::make_unique<Unlz4>(next_packed, where_);
  } else {
    archive_read_support_filter_zstd(handle);
    archive_read_support_filter_xz(handle);
    archive_read_support_filter_bzip2(handle);
  }
  if (form == Form::tar) {
    archive_read_support_format_tar(handle);
  } else {
    archive_read_support_format_raw(handle);
    archive_read_support_format_empty(handle);
  }
  archive_read_set_read_callback(handle, on_read);
  if (source_.seekable() && !unpacker_) archive_read_set_skip_callback(handle, on_skip);
  archive_read_set_callback_data(handle, this);
  if (archive_read_open1(handle) != ARCHIVE_OK) fail("not a readable tar");
}

// What the first bytes are is known before libarchive asks for them; from a pipe they come only once.
std::string TarStream::look_ahead() {
  std::string first(kMagicBytes, '\0');
  if (source_.seekable()) {
    first.resize(source_.read_at(position_, first.data(), first.size()));
    return first;
  }
  std::size_t got = 0;
  while (const std::size_t more = source_.read_next(first.data() + got, first.size() - got)) got += more;
  first.resize(got);
  return first;
}

std::string_view TarStream::fetch(std::vector<char>& block) {
  if (source_.seekable()) {
    const std::size_t got = source_.read_at(position_, block.data(), block.size());
    position_ += got;
    return {block.data(), got};
  }
  if (!ahead_.empty()) {
    const std::size_t got = ahead_.copy(block.data(), block.size());
    ahead_.clear();
    return {block.data(), got};
  }
  return {block.data(), source_.read_next(block.data(), block.size())};
}

std::string_view TarStream::unpack() {
  if (!unpacker_) return fetch(block_);
  return {block_.data(), unpacker_->read(block_.data(), block_.size())};
}

la_ssize_t TarStream::on_read(struct archive* handle, void* self, const void** bytes) {
  auto& stream = *static_cast<TarStream*>(self);
  try {
    const std::string_view got = stream.unpack();
    *bytes = got.data();
    return static_cast<la_ssize_t>(got.size());
  } catch (const Error&) {
    stream.failure_ = std::current_exception();
    archive_set_error(handle, EIO, "read failed");
    return ARCHIVE_FATAL;
  }
}

la_int64_t TarStream::on_skip(struct archive*, void* self, la_int64_t request) {
  auto& stream = *static_cast<TarStream*>(self);
  const std::uint64_t left =
      stream.source_.length() - std::min<std::uint64_t>(stream.position_, stream.source_.length());
  const auto step = std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max<la_int64_t>(request, 0)), left);
  stream.position_ += step;
  return static_cast<la_int64_t>(step);
}

void TarStream::fail(const char* doing) const {
  Where where = where_;
  where.member = member_;
  if (failure_) {
    try {
      std::rethrow_exception(failure_);
    } catch (const Error& error) {
      throw Error(error.code(), where, error.detail(), error.hint());
    }
  }
  const char* why = archive_error_string(handle_.get());
  throw Error(ErrorCode::corrupt, where, std::string(doing) + ": " + (why != nullptr ? why : "damaged"));
}

void TarStream::drain() {
  if (!unpacker_ && source_.seekable()) return;
  while (!unpack().empty()) continue;
}

struct archive_entry* TarStream::next() {
  struct archive_entry* entry = nullptr;
  const int result = archive_read_next_header(handle_.get(), &entry);
  if (result == ARCHIVE_EOF) return nullptr;
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail("not a readable tar");
  return entry;
}

std::uint64_t TarStream::position() const { return static_cast<std::uint64_t>(archive_filter_bytes(handle_.get(), 0)); }

std::uint64_t TarStream::header_position() const {
  return static_cast<std::uint64_t>(archive_read_header_position(handle_.get()));
}

void TarStream::skip_content() {
  const int result = archive_read_data_skip(handle_.get());
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN && result != ARCHIVE_EOF) fail("the member is cut off");
}

void TarStream::content(const std::function<void(std::string_view)>& sink) {
  static const std::string kZeros(1U << 16, '\0');
  la_int64_t done = 0;
  const auto fill_to = [&](la_int64_t offset) {
    while (done < offset) {
      const auto step = std::min<la_int64_t>(offset - done, static_cast<la_int64_t>(kZeros.size()));
      sink(std::string_view(kZeros).substr(0, static_cast<std::size_t>(step)));
      done += step;
    }
  };
  for (;;) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(handle_.get(), &bytes, &size, &offset);
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN && result != ARCHIVE_EOF) fail("the member is cut off");
    fill_to(offset);
    if (result == ARCHIVE_EOF) return;
    sink({static_cast<const char*>(bytes), size});
    done += static_cast<la_int64_t>(size);
  }
}

std::size_t TarStream::read_raw(char* into, std::size_t size) {
  const la_ssize_t got = archive_read_data(handle_.get(), into, size);
  if (got < 0) fail("cannot decompress");
  return static_cast<std::size_t>(got);
}

Compression TarStream::compression() const {
  if (unpacker_) return unpacks_;
  switch (archive_filter_code(handle_.get(), 0)) {
    case ARCHIVE_FILTER_ZSTD:
      return Compression::zstd;
    case ARCHIVE_FILTER_XZ:
      return Compression::xz;
    case ARCHIVE_FILTER_BZIP2:
      return Compression::bzip2;
    default:
      return Compression::none;
  }
}

Compression compression_of(std::string_view first_bytes) noexcept {
  const auto starts = [&](std::string_view magic) { return first_bytes.substr(0, magic.size()) == magic; };
  using namespace std::string_view_literals;
  if (starts("\x1f\x8b\x08"sv)) return Compression::gzip;
  if (starts("\x28\xb5\x2f\xfd"sv)) return Compression::zstd;
  if (starts("\xfd"
             "7zXZ\0"sv))
    return Compression::xz;
  if (starts("BZh"sv)) return Compression::bzip2;
  if (starts("\x04\x22\x4d\x18"sv)) return Compression::lz4;
  return Compression::none;
}

}  // namespace ckpt
