// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_map.h"

#include <cstdlib>

// A map that is read is written and read back as it was; so is a record.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  try {
    const auto map = ckpt::parse_device_map(text);
    if (ckpt::to_string(ckpt::parse_device_map(ckpt::to_string(map))) != ckpt::to_string(map)) std::abort();
    ckpt::cuda::driver_pairs(map);
  } catch (const ckpt::Error&) {
  }
  try {
    const auto record = ckpt::parse_gpu_record(text, "fuzz");
    if (ckpt::to_json(ckpt::parse_gpu_record(ckpt::to_json(record), "again")) != ckpt::to_json(record)) std::abort();
  } catch (const ckpt::Error&) {
  }
  return 0;
}
