// SPDX-License-Identifier: Apache-2.0
// Any bytes that are an image come back from JSON text as they were; any JSON either is an image or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ckpt/image.h"

namespace {

void round_trip(const std::string& bytes, ckpt::ImageStyle style) {
  std::string text;
  try {
    text = ckpt::decode_image(bytes, {}, style).dump(-1);
  } catch (const ckpt::Error&) {
    return;
  }
  // What was decoded must be encodable: an Error here ends the run.
  ckpt::Limits limits;
  limits.max_nesting = 400;
  if (ckpt::encode_image(ckpt::Json::parse(text, {}, {}, limits)) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  round_trip(bytes, ckpt::ImageStyle::plain);
  round_trip(bytes, ckpt::ImageStyle::pretty);
  try {
    ckpt::encode_image(ckpt::Json::parse(bytes));
  } catch (const ckpt::Error&) {
  }
  return 0;
}
