// SPDX-License-Identifier: Apache-2.0
#include "archive/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace ckpt {

namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window, and a gzip header and trailer that zlib checks
constexpr unsigned char kMagic = 0x1f;

uInt chunk(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

Gunzip::Gunzip(Input input, const Where& where)
    : input_(std::move(input)), where_(where), stream_(std::make_unique<z_stream>()) {
  if (inflateInit2(stream_.get(), kGzipOnly) != Z_OK) throw std::bad_alloc();
}

Gunzip::~Gunzip() { inflateEnd(stream_.get()); }

bool Gunzip::refill() {
  if (stream_->avail_in > 0) return true;
  const std::string_view packed = input_();
  // zlib declares its input as not const but does not write to it.
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream_->avail_in = chunk(packed.size());
  return stream_->avail_in > 0;
}

std::size_t Gunzip::read(char* into, std::size_t size) {
  const uInt wanted = chunk(size);
  stream_->next_out = reinterpret_cast<Bytef*>(into);
  stream_->avail_out = wanted;
  while (!done_ && wanted > 0 && stream_->avail_out == wanted) {
    const bool more = refill();
    if (between_ && (!more || *stream_->next_in != kMagic)) {
      done_ = true;
      break;
    }
    if (!more) fail("it ends too early");
    between_ = false;
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END) fail(stream_->msg);
    if (result == Z_STREAM_END) between_ = inflateReset(stream_.get()) == Z_OK;
  }
  return wanted - stream_->avail_out;
}

void Gunzip::fail(const char* why) const {
  throw Error(ErrorCode::corrupt, where_,
              std::string("damaged gzip data: ") + (why != nullptr ? why : "cannot unpack"));
}

}  // namespace ckpt
