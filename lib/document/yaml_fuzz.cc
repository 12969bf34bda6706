// SPDX-License-Identifier: Apache-2.0
// Any bytes are either refused with an Error that lies within them, or are a value within the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ckpt/error.h"
#include "document/yaml.h"

namespace {

std::size_t count(const ckpt::Json& value) {
  std::size_t nodes = 1;
  for (const ckpt::Json& item : value.items()) nodes += count(item);
  for (const auto& [key, member] : value.members()) nodes += count(member);
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ckpt::Limits limits;
  limits.max_document_nodes = 1000;
  try {
    if (count(ckpt::parse_yaml(text, "fuzz", limits)) > limits.max_document_nodes) std::abort();
  } catch (const ckpt::Error& error) {
    if (error.where().offset.value_or(0) > size) std::abort();
  }
  return 0;
}
