// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string_view>

#include "archive/handles.h"
#include "base/atomic_file.h"
#include "ckpt/archive.h"

namespace ckpt {

/// Compresses what it is given into another sink. The same bytes at the same level give the same result: no time stamp,
/// no threads. Without finish() the stream stays without an end.
class CompressingSink final : public ByteSink {
 public:
  /// gzip or zstd; `none` passes through. Throws Error(unsupported) for what is only read, Error(invalid_argument) for
  /// a level that the codec does not have.
  CompressingSink(ByteSink& out, Compression compression, std::optional<int> level);
  ~CompressingSink() override;
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

}  // namespace ckpt
