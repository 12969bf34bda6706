// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/driver.h"

namespace ckpt::cuda {

using Milliseconds = std::chrono::milliseconds;

/// The two libraries to load.
struct Libraries {
  std::string libcuda;
  std::string libnvml;
};

/// One driver call to make.
struct Call {
  Op op = Op::state;
  std::uint32_t pid = 0;
  std::uint32_t timeout_ms = 0;  ///< of a lock
  Milliseconds deadline{0};      ///< 0: none
};

/// What came of it.
struct Answer {
  bool arrived = false;  ///< false: past the deadline, or the worker died; whether it happened is not known
  Result result = kSuccess;
  std::int32_t value = 0;
  double elapsed_ms = 0;
  std::string text;  ///< of Op::devices
};

/// The process that makes the driver calls, one thread each, so that one that hangs can be given up: forked on first
/// use, killed past a deadline, forked anew on the next use. Requests and answers travel as packets on a socket.
class Worker {
 public:
  explicit Worker(Libraries libraries) : libraries_(std::move(libraries)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The driver's API version. Throws Error(unsupported) when it cannot be loaded or cannot checkpoint.
  std::uint32_t api_version();
  /// Makes the calls, at most `jobs` at once (0: all). Answers stand in the order of the calls. The map goes with
  /// restores. Throws Error(io) when no worker can be had.
  std::vector<Answer> run(const std::vector<Call>& calls, unsigned jobs = 0, const std::vector<Pair>& pairs = {});

 private:
  void start();
  void stop() noexcept;
  void read_greeting();

  Libraries libraries_;
  pid_t child_ = -1;
  int socket_ = -1;
  std::uint32_t api_version_ = 0;
};

}  // namespace ckpt::cuda
