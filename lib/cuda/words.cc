// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ckpt/gpu.h"

namespace ckpt {

namespace {

template <std::size_t Count, typename Enum>
const char* word(const std::array<const char*, Count>& words, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < Count ? words[index] : "unknown";
}

}  // namespace

const char* to_string(GpuState state) noexcept {
  static constexpr std::array kWords = {"running",       "locked",    "checkpointed", "failed",
                                        "checkpointing", "restoring", "unknown"};
  return word(kWords, state);
}

const char* to_string(GpuKind kind) noexcept {
  static constexpr std::array kWords = {"cuda", "no_context", "nvml_only", "cpu_only", "unreachable"};
  return word(kWords, kind);
}

const char* to_string(GpuVerb verb) noexcept {
  static constexpr std::array kWords = {"lock",    "checkpoint", "restore", "unlock",
                                        "suspend", "resume",     "toggle",  "recover"};
  return word(kWords, verb);
}

const char* to_string(GpuOutcome outcome) noexcept {
  static constexpr std::array kWords = {"done", "no_process", "refused", "timed_out", "rolled_back", "not_rolled_back"};
  return word(kWords, outcome);
}

}  // namespace ckpt
