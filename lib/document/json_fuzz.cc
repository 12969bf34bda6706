// SPDX-License-Identifier: Apache-2.0
// Any bytes are either refused with an Error or are a value that survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ckpt/error.h"
#include "ckpt/json.h"

using ckpt::Json;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ckpt::Limits limits;
  limits.max_document_nodes = 10000;
  Json value;
  try {
    value = Json::parse(text, {}, {}, limits);
  } catch (const ckpt::Error& error) {
    require(!error.where().offset || *error.where().offset <= size);
    return 0;
  }
  for (const int indent : {-1, 2}) {
    const std::string written = value.dump(indent);
    const Json again = Json::parse(written, {}, {}, limits);
    require(again == value);
    require(again.dump(indent) == written);
  }
  return 0;
}
