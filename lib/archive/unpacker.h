// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace ckpt {

/// A decompressor that holds the data to the checksums it carries, where libarchive's filter looks at none.
class Unpacker {
 public:
  /// The next packed bytes, valid until the next call; empty at the end.
  using Input = std::function<std::string_view()>;

  virtual ~Unpacker() = default;
  /// At most `size` bytes; 0 at the end. Throws Error(corrupt), and what the input throws.
  virtual std::size_t read(char* into, std::size_t size) = 0;
};

}  // namespace ckpt
