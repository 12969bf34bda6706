// SPDX-License-Identifier: Apache-2.0
#include "cuda/operation.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cuda/device_map.h"
#include "cuda/results.h"

namespace ckpt::cuda {

namespace {

GpuState state_after(Op op) {
  switch (op) {
    case Op::lock:
    case Op::restore:
      return GpuState::locked;
    case Op::checkpoint:
      return GpuState::checkpointed;
    default:
      return GpuState::running;
  }
}

bool copies(Op op) { return op == Op::checkpoint || op == Op::restore; }

// A process file descriptor, so that a number that was given away is noticed. -1 where there is none to be had: another
// /proc than this system's, or a kernel before 5.3.
int open_process(const Proc& proc, std::uint32_t pid) {
  if (proc.root() != "/proc") return -1;
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
}

}  // namespace

struct Operation::Target {
  Target(GpuStep&& first, int process_fd) : step(std::move(first)), fd(process_fd) {}
  ~Target() {
    if (fd >= 0) ::close(fd);
  }
  Target(Target&& other) noexcept
      : step(std::move(other.step)), fd(std::exchange(other.fd, -1)), timed_out(other.timed_out) {}
  Target& operator=(Target&&) = delete;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  bool exited() const {
    pollfd watched{fd, POLLIN, 0};
    return fd >= 0 && ::poll(&watched, 1, 0) > 0;
  }

  GpuStep step;
  int fd;
  bool timed_out = false;
};

Operation::Operation(Fleet& fleet, const GpuRequest& request, const std::vector<GpuProcess>& processes)
    : fleet_(fleet), request_(request) {
  adopt(processes);
}

Operation::~Operation() = default;

bool Operation::adopt(const std::vector<GpuProcess>& processes) {
  bool fresh = false;
  for (const GpuProcess& process : processes) {
    const bool known = std::any_of(targets_.begin(), targets_.end(), [&](const Target& target) {
      return target.step.process.pid == process.pid && target.step.process.start_time == process.start_time;
    });
    if (known || process.kind != GpuKind::cuda) continue;
    GpuStep step;
    step.process = process;
    step.before = step.after = process.state;
    // The descriptor may be somebody else's by the time it is opened: then the start times differ, and living() drops
    // it.
    targets_.emplace_back(std::move(step), open_process(fleet_.node().proc, process.pid));
    fresh = true;
  }
  return fresh;
}

std::vector<Operation::Target*> Operation::living(std::initializer_list<GpuState> states) {
  std::vector<Target*> found;
  for (Target& target : targets_) {
    GpuStep& step = target.step;
    if (step.gone || step.lost) continue;
    if (std::find(states.begin(), states.end(), step.after) == states.end()) continue;
    if (target.exited() || !fleet_.alive(step.process))
      step.gone = true;
    else
      found.push_back(&target);
  }
  return found;
}

unsigned Operation::jobs_for(Op op) const {
  if (!copies(op)) return 0;
  // Members of a CUDA checkpoint job change a common file while they are copied.
  const bool job =
      std::any_of(targets_.begin(), targets_.end(), [](const Target& target) { return target.step.process.job; });
  return job ? 1 : request_.jobs;
}

bool Operation::apply(Op op, std::initializer_list<GpuState> from) { return call(op, living(from)); }

bool Operation::call(Op op, const std::vector<Target*>& targets) {
  std::vector<Call> calls;
  const auto timeout = static_cast<std::uint32_t>(fleet_.options().timeout.count());
  for (const Target* target : targets) {
    const Milliseconds limit = copies(op)       ? fleet_.copy_limit(target->step.process)
                               : op == Op::lock ? fleet_.lock_limit()
                                                : fleet_.question_limit();
    calls.push_back({op, target->step.process.pid, op == Op::lock ? timeout : 0, limit});
  }
  std::vector<Pair> pairs;
  // What an undo puts back stays on its own GPUs.
  if (op == Op::restore && !undoing_) pairs = driver_pairs(request_.device_map);
  const std::vector<Answer> answers = fleet_.worker().run(calls, jobs_for(op), pairs);
  for (std::size_t index = 0; index < targets.size(); ++index) note(op, *targets[index], answers[index]);
  reread(targets);
  bool good = true;
  for (Target* target : targets)
    if (!settle(op, *target)) good = false;
  return good;
}

void Operation::note(Op op, Target& target, const Answer& answer) {
  GpuStep& step = target.step;
  step.elapsed_ms += answer.elapsed_ms;
  // The first failure is the one to report, whatever the undo meets.
  if (step.failed) return;
  step.call = to_string(op);
  step.result = static_cast<std::uint32_t>(answer.result);
  step.result_name = answer.arrived ? result_name(answer.result) : "no_answer";
  step.result_text = answer.arrived ? result_text(answer.result) : "no answer in time";
  step.failed = !answer.arrived || answer.result != kSuccess;
  target.timed_out = !answer.arrived || (op == Op::lock && answer.result == kNotReady);
}

void Operation::reread(const std::vector<Target*>& targets) {
  std::vector<GpuProcess*> asked;
  asked.reserve(targets.size());
  for (Target* target : targets) asked.push_back(&target->step.process);
  fleet_.read_states(asked, fleet_.question_limit());
  for (Target* target : targets) {
    GpuStep& step = target->step;
    step.after = step.process.state;
    if (step.after == GpuState::unknown && (target->exited() || !fleet_.alive(step.process))) step.gone = true;
  }
}

// The driver's word and the state it is in, together: is this process where it should be?
bool Operation::settle(Op op, Target& target) {
  GpuStep& step = target.step;
  const bool there = step.after == state_after(op);
  if (!step.failed) {
    if (there || step.gone) return true;
    step.failed = true;
    step.result_text = std::string("the driver reported success, but the process is ") + to_string(step.after);
    return false;
  }
  // Somebody else did it first, or it was done when nobody listened any more.
  if (there && !undoing_ && (step.result == kIllegalState || step.result_name == "no_answer")) {
    step.failed = target.timed_out = false;
    return true;
  }
  step.lost = step.gone || step.after == GpuState::failed ||
              (op == Op::restore && (step.result == kOutOfMemory || step.result == kInvalidValue) &&
               step.after != GpuState::checkpointed);
  // Out of memory poisons the process although its state may still read as before.
  if (op == Op::restore && step.call == to_string(op) && step.result == kOutOfMemory) step.lost = true;
  return false;
}

bool Operation::all_in(GpuState state) {
  bool good = true;
  reread(living({GpuState::running, GpuState::locked, GpuState::checkpointed, GpuState::failed, GpuState::unknown}));
  for (Target& target : targets_) {
    GpuStep& step = target.step;
    if (step.gone || step.after == state) continue;
    good = false;
    if (step.failed) continue;
    step.failed = true;
    step.result_text = std::string("it is ") + to_string(step.after) + " and not " + to_string(state);
  }
  return good;
}

void Operation::undo() {
  undoing_ = true;
  std::vector<Target*> copied;
  for (Target* target : living({GpuState::checkpointed}))
    if (target->step.before == GpuState::running || target->step.before == GpuState::locked) copied.push_back(target);
  call(Op::restore, copied);
  std::vector<Target*> locked;
  for (Target* target : living({GpuState::locked}))
    if (target->step.before == GpuState::running) locked.push_back(target);
  call(Op::unlock, locked);
  for (Target& target : targets_)
    target.step.rolled_back = !target.step.gone && !target.step.lost && target.step.after == target.step.before;
  undoing_ = false;
}

bool Operation::any_in(GpuState state) const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [&](const Target& target) { return !target.step.gone && target.step.after == state; });
}

GpuOutcome Operation::outcome() const {
  bool failed = !problem_.empty();
  bool timed_out = false;
  bool changed = false;
  for (const Target& target : targets_) {
    const GpuStep& step = target.step;
    failed = failed || step.failed;
    timed_out = timed_out || target.timed_out;
    changed = changed || step.lost || (!step.gone && step.after != step.before);
  }
  if (!failed) return GpuOutcome::done;
  if (changed) return GpuOutcome::not_rolled_back;
  return timed_out ? GpuOutcome::timed_out : GpuOutcome::rolled_back;
}

std::string Operation::explain() const {
  std::string text = problem_;
  for (const Target& target : targets_) {
    const GpuStep& step = target.step;
    if (!step.failed) continue;
    text += (text.empty() ? "" : "; ") + ("process " + std::to_string(step.process.pid)) + ": " + step.call + ": " +
            step.result_text;
    if (step.gone)
      text += ", and the process is gone";
    else if (step.lost)
      text += ", and the process is lost: only killing it helps";
    else if (step.after != step.before)
      text += std::string(", and it is ") + to_string(step.after);
  }
  return text;
}

GpuResult Operation::report(const std::string& problem) const {
  GpuResult report;
  report.verb = request_.verb;
  report.outcome = outcome();
  for (const Target& target : targets_) report.steps.push_back(target.step);
  if (report.outcome != GpuOutcome::done) report.explanation = problem.empty() ? explain() : problem;
  return report;
}

}  // namespace ckpt::cuda
