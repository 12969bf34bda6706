// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace ckpt::tool {

/// A line on stderr that says how far a long work is: on a terminal only, after the first second, wiped at the end.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What a rewrite calls.
  std::function<void(std::uint64_t, std::uint64_t)> callback();

 private:
  void show(std::uint64_t done, std::uint64_t total);

  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  bool terminal_ = false;
  bool shown_ = false;
};

}  // namespace ckpt::tool
