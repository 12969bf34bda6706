// SPDX-License-Identifier: Apache-2.0
#include "archive/unlz4.h"

#include <lz4frame.h>

#include <new>
#include <string>
#include <utility>

namespace ckpt {

Unlz4::Unlz4(Input input, const Where& where) : input_(std::move(input)), where_(where) {
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) throw std::bad_alloc();
}

Unlz4::~Unlz4() { LZ4F_freeDecompressionContext(context_); }

std::size_t Unlz4::read(char* into, std::size_t size) {
  std::size_t written = 0;
  while (size > 0 && written == 0) {
    if (packed_.empty()) packed_ = input_();
    if (packed_.empty()) {
      if (in_frame_) throw Error(ErrorCode::corrupt, where_, "damaged lz4 data: it ends too early");
      return 0;
    }
    std::size_t used = packed_.size();
    written = size;
    const std::size_t result = LZ4F_decompress(context_, into, &written, packed_.data(), &used, nullptr);
    if (LZ4F_isError(result) != 0)
      throw Error(ErrorCode::corrupt, where_, std::string("damaged lz4 data: ") + LZ4F_getErrorName(result));
    packed_.remove_prefix(used);
    in_frame_ = result != 0;  // 0: the frame is complete, and its checksum was right
  }
  return written;
}

}  // namespace ckpt
