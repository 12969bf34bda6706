// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "archive/unpacker.h"
#include "ckpt/error.h"

struct z_stream_s;

namespace ckpt {

/// Unpacks gzip data, one member after the other, and holds each to its CRC and length. libarchive's own filter looks
/// at neither, and a rewrite would give damaged content a checksum that fits. Bytes behind the last member are ignored.
class Gunzip final : public Unpacker {
 public:
  /// `where` must outlive this.
  Gunzip(Input input, const Where& where);
  ~Gunzip() override;
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  std::size_t read(char* into, std::size_t size) override;

 private:
  bool refill();
  [[noreturn]] void fail(const char* why) const;

  Input input_;
  const Where& where_;
  std::unique_ptr<z_stream_s> stream_;
  bool between_ = false;
  bool done_ = false;
};

}  // namespace ckpt
