// SPDX-License-Identifier: Apache-2.0
#include "common/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "common/console.h"

namespace ckpt::tool {

using namespace std::chrono_literals;

Progress::Progress()
    : start_(std::chrono::steady_clock::now()), last_(start_), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

std::function<void(std::uint64_t, std::uint64_t)> Progress::callback() {
  if (!terminal_) return {};
  return [this](std::uint64_t done, std::uint64_t total) { show(done, total); };
}

void Progress::show(std::uint64_t done, std::uint64_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < 1s || now - last_ < 200ms || total == 0) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done) / seconds;
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  fmt::print(stderr, "\r\033[K{:3.0f} %  {} of {}  {}/s  {:.0f} s left",
             100.0 * static_cast<double>(done) / static_cast<double>(total), human_size(done), human_size(total),
             human_size(static_cast<std::uint64_t>(rate)), left);
  std::fflush(stderr);
}

}  // namespace ckpt::tool
