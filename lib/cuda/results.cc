// SPDX-License-Identifier: Apache-2.0
#include "cuda/results.h"

#include <algorithm>
#include <array>

namespace ckpt::cuda {

namespace {

struct Known {
  Result number;
  const char* name;
  const char* text;
};

// Numbers and names of cuda.h, texts as cuGetErrorString gives them: tools around cuda-checkpoint look for these.
constexpr std::array kKnown = {
    Known{0, "CUDA_SUCCESS", "no error"},
    Known{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    Known{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    Known{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    Known{4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    Known{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    Known{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    Known{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    Known{304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    Known{401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    Known{600, "CUDA_ERROR_NOT_READY", "device not ready"},
    Known{800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    Known{801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    Known{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    Known{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    Known{999, "CUDA_ERROR_UNKNOWN", "unknown error"},
    Known{kNoSymbol, "no_symbol", "the driver has no such function"},
};

const Known* find(Result result) {
  const auto* found =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) { return known.number == result; });
  return found == kKnown.end() ? nullptr : found;
}

}  // namespace

std::string result_name(Result result) {
  const Known* known = find(result);
  return known != nullptr ? known->name : "CUDA_ERROR_" + std::to_string(result);
}

std::string result_text(Result result) {
  const Known* known = find(result);
  return known != nullptr ? known->text : "error " + std::to_string(result);
}

}  // namespace ckpt::cuda
