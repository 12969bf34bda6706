// SPDX-License-Identifier: Apache-2.0
#include "archive/codec.h"

#include <cerrno>
#include <string>

namespace ckpt {

namespace {

constexpr int kGzipLevel = 6;
constexpr int kZstdLevel = 3;

void add_filter(struct archive* handle, Compression compression, std::optional<int> level) {
  const bool gzip = compression == Compression::gzip;
  const std::string text = std::to_string(level.value_or(gzip ? kGzipLevel : kZstdLevel));
  const char* const codec = to_string(compression);
  if ((gzip ? archive_write_add_filter_gzip(handle) : archive_write_add_filter_zstd(handle)) != ARCHIVE_OK)
    throw Error(ErrorCode::internal, {}, std::string("cannot compress with ") + codec);
  if (gzip) archive_write_set_filter_option(handle, codec, "timestamp", nullptr);
  if (archive_write_set_filter_option(handle, codec, "compression-level", text.c_str()) != ARCHIVE_OK)
    throw Error(ErrorCode::invalid_argument, {}, std::string(codec) + " has no level " + text);
}

}  // namespace

CompressingSink::CompressingSink(ByteSink& out, Compression compression, std::optional<int> level) : out_(out) {
  if (compression == Compression::none) return;
  if (compression != Compression::gzip && compression != Compression::zstd)
    throw Error(ErrorCode::unsupported, {}, std::string(to_string(compression)) + " is read but not written");
  handle_.reset(archive_write_new());
  archive_write_set_format_raw(handle_.get());
  add_filter(handle_.get(), compression, level);
  archive_write_set_bytes_per_block(handle_.get(), 0);
  const EntryHandle entry(archive_entry_new());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  if (archive_write_open(handle_.get(), this, nullptr, on_write, nullptr) != ARCHIVE_OK ||
      archive_write_header(handle_.get(), entry.get()) < ARCHIVE_WARN)
    fail();
}

// The handle closes on its way out and calls on_write, which must not write any more by then.
CompressingSink::~CompressingSink() {
  abandoned_ = true;
  handle_.reset();
}

la_ssize_t CompressingSink::on_write(struct archive* handle, void* self, const void* bytes, std::size_t size) {
  auto& sink = *static_cast<CompressingSink*>(self);
  if (sink.failure_ || sink.abandoned_) return -1;
  try {
    sink.out_.write({static_cast<const char*>(bytes), size});
    return static_cast<la_ssize_t>(size);
  } catch (...) {
    sink.failure_ = std::current_exception();
    archive_set_error(handle, EIO, "write failed");
    return -1;
  }
}

void CompressingSink::fail() const {
  if (failure_) std::rethrow_exception(failure_);
  throw Error(ErrorCode::internal, {}, std::string("cannot compress: ") + archive_error_string(handle_.get()));
}

void CompressingSink::write(std::string_view bytes) {
  if (!handle_) return out_.write(bytes);
  while (!bytes.empty()) {
    const la_ssize_t done = archive_write_data(handle_.get(), bytes.data(), bytes.size());
    if (done <= 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void CompressingSink::finish() {
  if (handle_ && archive_write_close(handle_.get()) != ARCHIVE_OK) fail();
}

}  // namespace ckpt
