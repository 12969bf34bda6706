// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "archive/handles.h"
#include "base/atomic_file.h"
#include "ckpt/archive.h"

namespace ckpt {

/// Compresses what it is given into another sink. The same bytes at the same level give the same result: no time stamp,
/// no threads. Without finish() the stream stays without an end.
class CompressingSink final : public ByteSink {
 public:
  /// gzip or zstd; `none` passes through. Throws Error(unsupported) for what is only read.
  CompressingSink(ByteSink& out, Compression compression, std::optional<int> level);
  ~CompressingSink() override { abandoned_ = true; }
  CompressingSink(const CompressingSink&) = delete;
  CompressingSink& operator=(const CompressingSink&) = delete;

  void write(std::string_view bytes) override;
  void finish();

 private:
  static la_ssize_t on_write(struct archive* handle, void* self, const void* bytes, std::size_t size);
  [[noreturn]] void fail() const;

  ByteSink& out_;
  WriterHandle handle_;
  std::exception_ptr failure_;
  bool abandoned_ = false;
};

/// SHA-256 in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  /// The 32 bytes; nothing can be added afterwards.
  std::string finish();

 private:
  void* context_;
};

}  // namespace ckpt
