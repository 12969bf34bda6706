// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ckpt::cuda {

/// What NVML says about this node's GPUs, as lines of text for the pipe: "driver VERSION", then for each GPU
/// "gpu UUID TOTAL FREE MIG MINOR NAME" ("-" for what is not known) and "use PID BYTES" for each process on it.
/// Empty when neither library can be loaded. Lives in the worker process only.
std::string read_nvml(const std::string& libcuda, const std::string& libnvml);

}  // namespace ckpt::cuda
