// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/abi.h"

namespace ckpt::cuda {

enum class Op : std::uint32_t { thread_id, state, lock, checkpoint, restore, unlock, devices };
const char* to_string(Op op) noexcept;

/// libcuda, loaded into this process for good: its threads outlive every call. Lives in the worker process only.
class Driver {
 public:
  /// Never throws: a failure is kept as text.
  explicit Driver(const std::string& name);

  const std::string& failure() const noexcept { return failure_; }
  std::uint32_t api_version() const noexcept { return api_version_; }
  bool can_checkpoint() const noexcept;

  /// One call. `value` receives the thread id or the state.
  Result call(Op op, int pid, std::uint32_t timeout_ms, std::int32_t& value);
  /// Initialises CUDA in this process first: without persistence mode the driver demands it.
  Result restore(int pid, const std::vector<Pair>& pairs);

 private:
  InitFn init_ = nullptr;
  DriverVersionFn version_ = nullptr;
  ThreadIdFn thread_id_ = nullptr;
  StateFn state_ = nullptr;
  LockFn lock_ = nullptr;
  CheckpointFn checkpoint_ = nullptr;
  RestoreFn restore_ = nullptr;
  UnlockFn unlock_ = nullptr;
  std::once_flag initialised_;
  Result init_result_ = kSuccess;
  std::string failure_;
  std::uint32_t api_version_ = 0;
};

}  // namespace ckpt::cuda
