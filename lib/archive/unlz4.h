// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "archive/unpacker.h"
#include "ckpt/error.h"

struct LZ4F_dctx_s;

namespace ckpt {

/// Unpacks LZ4 frames, one after the other; liblz4 checks the content's and the blocks' checksums where a frame has
/// them.
class Unlz4 final : public Unpacker {
 public:
  /// `where` must outlive this.
  Unlz4(Input input, const Where& where);
  ~Unlz4() override;
  Unlz4(const Unlz4&) = delete;
  Unlz4& operator=(const Unlz4&) = delete;

  std::size_t read(char* into, std::size_t size) override;

 private:
  Input input_;
  const Where& where_;
  LZ4F_dctx_s* context_ = nullptr;
  std::string_view packed_;
  bool in_frame_ = false;
};

}  // namespace ckpt
