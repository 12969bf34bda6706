// SPDX-License-Identifier: Apache-2.0
#include "cuda/fleet.h"
#include "cuda/proc.h"

// What the kernel says about processes holds names that the processes choose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  ckpt::cuda::parse_stat(text);
  ckpt::cuda::parse_maps(text);
  ckpt::cuda::parse_cgroups(text);
  ckpt::cuda::leading_number(ckpt::cuda::field_of(text, "NSpid"));
  ckpt::cuda::parse_nvml(text);
  return 0;
}
