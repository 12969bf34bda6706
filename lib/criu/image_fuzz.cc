// SPDX-License-Identifier: Apache-2.0
// Any bytes either are an image, which then is put together again as it was, or are refused with an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "criu/image.h"

using ckpt::criu::Image;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// What is put into a message comes out again as it went in, once the message is in a form that edits keep.
void edit(std::string_view message) {
  const std::string once = ckpt::criu::set_string(message, 18, "key", {});
  require(ckpt::criu::set_string(once, 18, "key", {}) == once);
  const std::string removed = ckpt::criu::set_string(once, 18, std::nullopt, {});
  require(ckpt::criu::set_string(ckpt::criu::set_string(removed, 18, "x", {}), 18, std::nullopt, {}) == removed);
  const std::string number = ckpt::criu::set_varint(message, 11, message.size(), {});
  require(ckpt::criu::set_varint(number, 11, message.size(), {}) == number);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  ckpt::Limits limits;
  limits.max_entries = 1000;
  try {
    const Image image = Image::parse(bytes, {}, limits);
    require(image.without_entries({}) == bytes);
    for (std::size_t i = 0; i < image.entries().size() && i < 16; ++i) {
      require(image.with_entry(i, image.entries()[i].payload) == bytes);
      edit(image.entries()[i].payload);
    }
  } catch (const ckpt::Error&) {
  }
  return 0;
}
