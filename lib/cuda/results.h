// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cuda/abi.h"

namespace ckpt::cuda {

/// "CUDA_ERROR_NOT_READY"; "CUDA_ERROR_77" for a number that is not known.
std::string result_name(Result result);
/// The driver's own words for a result ("device not ready"), or "error 77".
std::string result_text(Result result);

}  // namespace ckpt::cuda
