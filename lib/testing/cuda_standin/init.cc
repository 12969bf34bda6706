// SPDX-License-Identifier: Apache-2.0
#include "testing/cuda_standin/standin.h"

namespace ckpt::standin {

bool initialised = false;

}  // namespace ckpt::standin

extern "C" {
#define STANDIN_API __attribute__((visibility("default")))

using namespace ckpt::standin;
using namespace ckpt::cuda;

STANDIN_API Result cuInit(unsigned) {
  log_call("init", 0);
  State state;
  if (state.all("gpu").empty()) return 100;
  initialised = true;
  return kSuccess;
}

STANDIN_API Result cuDriverGetVersion(int* version) {
  State state;
  *version = state.driver() != nullptr ? static_cast<int>(state.driver()->number("version")) : 13000;
  return kSuccess;
}
}
