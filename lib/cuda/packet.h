// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/driver.h"
#include "cuda/worker.h"

namespace ckpt::cuda {

inline constexpr std::size_t kPacketBytes = std::size_t{160} * 1024;
inline constexpr std::uint32_t kMostPairs = 1024;

/// What the worker is asked; `pairs` follow it in the packet.
struct RequestHead {
  std::uint32_t id = 0;
  Op op = Op::state;
  std::uint32_t pid = 0;
  std::uint32_t timeout_ms = 0;
  std::uint32_t pair_count = 0;
};

/// What it answers; text follows. Id kGreeting comes first: `value` is the API version, a text says what is wrong.
struct AnswerHead {
  std::uint32_t id = 0;
  Result result = kSuccess;
  std::int32_t value = 0;
  std::uint32_t reserved = 0;
  double elapsed_ms = 0;
};
inline constexpr std::uint32_t kGreeting = 0xffffffff;

/// The worker's life: loads the driver, greets, serves the socket until its other end closes.
[[noreturn]] void serve(int socket, const Libraries& libraries);

}  // namespace ckpt::cuda
