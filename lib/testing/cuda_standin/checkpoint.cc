// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "testing/cuda_standin/standin.h"

namespace {

using namespace ckpt::standin;
using namespace ckpt::cuda;

// An answer before the state machine is asked, or -1 to go on.
constexpr Result kGoOn = -2;

// Blocks as the driver does while something is under way in the process, and while it is stopped.
Result enter(const std::string& op, int pid) {
  log_call(op, pid);
  for (;;) {
    {
      State state;
      if (pid <= 0) return kInvalidValue;
      Line* process = state.process(pid);
      if (process == nullptr) return kNotInitialized;
      if (process->number("stopped") == 0 && process->number("until") == 0) return kGoOn;
    }
    sleep_ms(5);
  }
}

void move_memory(State& state, const Line& process, bool back) {
  Line* gpu = state.gpu(process.text("gpu"));
  if (gpu == nullptr) return;
  const std::uint64_t bytes = process.number("bytes");
  gpu->set("free", back ? gpu->number("free") - bytes : gpu->number("free") + bytes);
}

// Begins a change that is finished after the op's delay, whether the caller waits or not.
std::uint64_t begin(State& state, Line& process, const std::string& op, const char* next) {
  const std::uint64_t delay = state.delay_of(op);
  if (delay == 0) {
    process.fields["state"] = next;
    return 0;
  }
  process.set("until", now_ms() + delay);
  process.fields["next"] = next;
  return delay;
}

Result strike(State& state, Line& process, const std::string& fault) {
  if (fault.rfind("code:", 0) == 0) return static_cast<Result>(std::stol(fault.substr(5)));
  if (fault == "failed") {
    process.fields["state"] = "failed";
    return 999;
  }
  if (fault == "vanish") {
    state.remove_process(static_cast<int>(process.number("pid")));
    return kOperatingSystem;
  }
  return kSuccess;  // "lie"
}

struct Change {
  const char* op;
  const char* from;
  const char* to;
};

// The common path of the four changes. `check` judges what is special about one.
template <typename Check>
Result change(const Change& wanted, int pid, Check check) {
  const Result entered = enter(wanted.op, pid);
  if (entered != kGoOn) return entered;
  std::uint64_t delay = 0;
  bool late = false;
  {
    State state;
    Line* process = state.process(pid);
    if (process == nullptr) return kOperatingSystem;
    const std::string fault = state.fault_of(wanted.op, static_cast<int>(process->number("pid")));
    late = fault == "late";
    if (fault == "crash") std::raise(SIGSEGV);
    if (!fault.empty() && fault != "hang" && !late) return strike(state, *process, fault);
    if (fault.empty() || late) {
      if (process->text("state") != wanted.from) return kIllegalState;
      const Result judged = check(state, *process);
      if (judged != kSuccess) return judged;
      delay = begin(state, *process, wanted.op, wanted.to);
    } else {
      late = true;
    }
  }
  if (late) hang();
  sleep_ms(delay);
  return kSuccess;
}

constexpr const char* kStates[] = {"running", "locked", "checkpointed", "failed", "checkpointing", "restoring"};

Result judge_pairs(State& state, Line& process, const RestoreArgs& args) {
  if (args.pair_count == 0) return kSuccess;
  if (state.driver() != nullptr && state.driver()->number("version") < kFirstWithPairs) return kInvalidValue;
  const Line* old = state.gpu(process.text("gpu"));
  for (std::uint32_t index = 0; index < args.pair_count; ++index) {
    if (uuid_text(args.pairs[index].old_uuid) != process.text("gpu")) continue;
    const Line* next = state.gpu(uuid_text(args.pairs[index].new_uuid));
    if (next == nullptr) return kInvalidValue;
    if (old != nullptr && old->text("name") != next->text("name")) return kNotSupported;
    process.fields["gpu"] = next->text("uuid");
    return kSuccess;
  }
  return kInvalidValue;
}

Result judge_restore(State& state, Line& process, const RestoreArgs& args) {
  const Line* driver = state.driver();
  if (process.number("poisoned") != 0) return kOperatingSystem;
  if (!initialised && driver != nullptr && driver->text("persistence") == "0") return kOperatingSystem;
  const Result paired = judge_pairs(state, process, args);
  if (paired != kSuccess) return paired;
  const Line* gpu = state.gpu(process.text("gpu"));
  if (gpu != nullptr && gpu->number("free") < process.number("bytes")) {
    process.set("poisoned", 1);
    return kOutOfMemory;
  }
  if (process.number("import") != 0) {
    process.fields["state"] = "failed";
    return kInvalidValue;
  }
  move_memory(state, process, true);
  return kSuccess;
}

}  // namespace

extern "C" {
#define STANDIN_API __attribute__((visibility("default")))

STANDIN_API Result cuCheckpointProcessGetRestoreThreadId(int pid, int* tid) {
  const Result entered = enter("get-restore-tid", pid);
  if (entered != kGoOn) return entered;
  State state;
  const Line* process = state.process(pid);
  if (process == nullptr) return kNotInitialized;
  *tid = static_cast<int>(process->number("tid"));
  return kSuccess;
}

STANDIN_API Result cuCheckpointProcessGetState(int pid, int* value) {
  const Result entered = enter("get-state", pid);
  if (entered != kGoOn) return entered;
  State state;
  const Line* process = state.process(pid);
  if (process == nullptr) return kNotInitialized;
  const std::string fault = state.fault_of("get-state", pid);
  if (fault.rfind("code:", 0) == 0) return static_cast<Result>(std::stol(fault.substr(5)));
  for (int number = 0; number < 6; ++number)
    if (process->text("state") == kStates[number]) *value = number;
  return kSuccess;
}

STANDIN_API Result cuCheckpointProcessLock(int pid, LockArgs* args) {
  const std::uint32_t timeout = args != nullptr ? args->timeout_ms : 0;
  return change({"lock", "running", "locked"}, pid, [&](State&, Line& process) -> Result {
    const std::uint64_t busy = process.number("busy");
    if (timeout != 0 && busy > timeout) {
      sleep_ms(timeout);
      return kNotReady;
    }
    sleep_ms(busy);
    return kSuccess;
  });
}

STANDIN_API Result cuCheckpointProcessCheckpoint(int pid, PlainArgs*) {
  return change({"checkpoint", "locked", "checkpointed"}, pid, [](State& state, Line& process) -> Result {
    if (process.number("uvm") != 0) return kNotSupported;
    move_memory(state, process, false);
    return kSuccess;
  });
}

STANDIN_API Result cuCheckpointProcessRestore(int pid, RestoreArgs* args) {
  const RestoreArgs none;
  const RestoreArgs& given = args != nullptr ? *args : none;
  return change({"restore", "checkpointed", "locked"}, pid,
                [&](State& state, Line& process) { return judge_restore(state, process, given); });
}

STANDIN_API Result cuCheckpointProcessUnlock(int pid, PlainArgs*) {
  return change({"unlock", "locked", "running"}, pid, [](State&, const Line&) { return kSuccess; });
}
}
