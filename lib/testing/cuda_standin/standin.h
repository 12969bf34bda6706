// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cuda/abi.h"

namespace ckpt::standin {

/// A stand-in for libcuda.so.1 and libnvidia-ml.so.1, for tests: no GPU, only a state machine. What a real driver keeps
/// inside the processes stands in the text file that CKPT_STANDIN_STATE names, so that every caller sees the same; each
/// call is appended to that file's name plus ".log". A line is a kind and its fields:
///   driver version=13000 persistence=1
///   gpu uuid=GPU-... name=NVIDIA_H200 total=BYTES free=BYTES mig=0 minor=0
///   process pid=7 state=running tid=8 bytes=BYTES gpu=GPU-...  and perhaps busy=MS (a kernel that a lock waits for),
///           stopped=1, uvm=1, import=1
///   fault op=checkpoint pid=7 do=code:2|hang|late|crash|vanish|failed|lie [skip=N calls first]
///   delay op=checkpoint ms=200
struct Line {
  std::string kind;
  std::map<std::string, std::string> fields;

  std::uint64_t number(const std::string& key) const;
  std::string text(const std::string& key) const;
  void set(const std::string& key, std::uint64_t value) { fields[key] = std::to_string(value); }
};

/// The state file, locked and read; written back when it goes.
class State {
 public:
  State();
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Line* process(int pid);
  Line* gpu(const std::string& uuid);
  std::vector<Line*> all(const std::string& kind);
  const Line* driver();
  std::uint64_t delay_of(const std::string& op);
  /// The fault that strikes this call, used up; empty for none.
  std::string fault_of(const std::string& op, int pid);
  void remove_process(int pid);

 private:
  int fd_ = -1;
  std::vector<Line> lines_;
};

/// Was cuInit called in this process?
extern bool initialised;

void log_call(const std::string& op, int pid);
std::uint64_t now_ms();
void sleep_ms(std::uint64_t ms);
[[noreturn]] void hang();
std::string uuid_text(const cuda::Uuid& uuid);

}  // namespace ckpt::standin
