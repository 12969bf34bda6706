// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cuda/device_map.h"
#include "cuda/hugepages.h"
#include "cuda/operation.h"
#include "cuda/preflight.h"
#include "cuda/results.h"

namespace ckpt {

using cuda::Milliseconds;
using cuda::Op;
using cuda::Operation;

class GpuSession::Impl {
 public:
  explicit Impl(GpuOptions options) : fleet(std::move(options)) {}

  GpuResult run(const GpuSelection& selection, GpuRequest request);
  std::vector<GpuProcess> settled_processes(const GpuSelection& selection, GpuVerb verb);

  cuda::Fleet fleet;

 private:
  GpuResult suspend(const GpuSelection& selection, const GpuRequest& request, Operation& operation);
  GpuResult resume(Operation& operation);
  GpuResult single(const GpuRequest& request, Operation& operation);
  bool lock_all(const GpuSelection& selection, Operation& operation);
  std::vector<GpuProcess> look_again(GpuSelection selection);
  bool checkpoint_all(const GpuRequest& request, Operation& operation);
  bool interrupted(Operation& operation) const;
  GpuRecord record_of(const GpuResult& report);
};

namespace {

GpuResult refusal(const GpuRequest& request, const std::vector<GpuProcess>& processes,
                  std::vector<GpuFinding> findings) {
  GpuResult report;
  report.verb = request.verb;
  report.outcome = GpuOutcome::refused;
  for (const GpuFinding& finding : findings) {
    if (!finding.blocks) continue;
    if (finding.code == "no_answer") report.outcome = GpuOutcome::timed_out;
    report.explanation += (report.explanation.empty() ? "" : "; ") + finding.subject + ": " + finding.message;
  }
  report.findings = std::move(findings);
  for (const GpuProcess& process : processes) {
    if (process.kind != GpuKind::cuda && process.kind != GpuKind::unreachable) continue;
    GpuStep step;
    step.process = process;
    step.before = step.after = process.state;
    report.steps.push_back(std::move(step));
  }
  return report;
}

// Toggle means suspend for running processes and resume for checkpointed ones; a mixture has no other side.
std::optional<GpuVerb> meaning_of_toggle(const std::vector<GpuProcess>& processes) {
  std::optional<GpuVerb> verb;
  for (const GpuProcess& process : processes) {
    if (process.kind != GpuKind::cuda) continue;
    const bool running = process.state == GpuState::running;
    if (!running && process.state != GpuState::checkpointed) return std::nullopt;
    const GpuVerb wanted = running ? GpuVerb::suspend : GpuVerb::resume;
    if (verb && *verb != wanted) return std::nullopt;
    verb = wanted;
  }
  return verb;
}

bool any_blocks(const std::vector<GpuFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const GpuFinding& finding) { return finding.blocks; });
}

bool any_of_kind(const std::vector<GpuProcess>& processes, GpuKind kind) {
  return std::any_of(processes.begin(), processes.end(),
                     [&](const GpuProcess& process) { return process.kind == kind; });
}

}  // namespace

bool GpuSession::Impl::interrupted(Operation& operation) const {
  if (!fleet.cancelled()) return false;
  operation.fail("interrupted");
  return true;
}

// The selected processes once more, without those that have ended since.
std::vector<GpuProcess> GpuSession::Impl::look_again(GpuSelection selection) {
  selection.pids.clear();
  const cuda::Proc& proc = fleet.node().proc;
  auto& trees = selection.trees;
  trees.erase(std::remove_if(trees.begin(), trees.end(), [&](std::uint32_t pid) { return !proc.exists(pid); }),
              trees.end());
  try {
    return fleet.processes(selection);
  } catch (const Error& error) {
    // The container or the control group is gone, and with it what could be new.
    if (error.code() != ErrorCode::invalid_argument) throw;
    return {};
  }
}

// A process may fork or initialise CUDA while the others are being locked; a few rounds find those too.
bool GpuSession::Impl::lock_all(const GpuSelection& selection, Operation& operation) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    if (!operation.apply(Op::lock, {GpuState::running})) return false;
    if (interrupted(operation)) return false;
    if (!operation.adopt(look_again(selection))) return true;
  }
  operation.fail("new CUDA processes kept appearing");
  return false;
}

bool GpuSession::Impl::checkpoint_all(const GpuRequest& request, Operation& operation) {
  std::optional<cuda::HugePages> pages;
  if (request.hugepages) pages.emplace(fleet.node().state_root);
  return operation.apply(Op::checkpoint, {GpuState::locked}) && !interrupted(operation) &&
         operation.all_in(GpuState::checkpointed);
}

GpuResult GpuSession::Impl::suspend(const GpuSelection& selection, const GpuRequest& request, Operation& operation) {
  try {
    if (!lock_all(selection, operation) || !checkpoint_all(request, operation)) operation.undo();
  } catch (const Error& error) {
    // Nothing may stay locked because a switch could not be turned or a process list not be read.
    operation.fail(error.what());
    operation.undo();
  }
  return operation.report();
}

GpuResult GpuSession::Impl::resume(Operation& operation) {
  // Unlocked only when all are restored: a rank that runs while another cannot would hang both.
  if (operation.apply(Op::restore, {GpuState::checkpointed}) && operation.apply(Op::unlock, {GpuState::locked}))
    operation.all_in(GpuState::running);
  return operation.report();
}

GpuResult GpuSession::Impl::single(const GpuRequest& request, Operation& operation) {
  using State = GpuState;
  // A process that is there already needs nothing; in any other state the driver says why not.
  switch (request.verb) {
    case GpuVerb::lock:
      if (!operation.apply(Op::lock, {State::running, State::checkpointed})) operation.undo();
      break;
    case GpuVerb::checkpoint:
      if (!operation.apply(Op::checkpoint, {State::running, State::locked})) operation.undo();
      break;
    case GpuVerb::restore:
      operation.apply(Op::restore, {State::running, State::checkpointed});
      break;
    default:
      operation.apply(Op::unlock, {State::locked, State::checkpointed});
      break;
  }
  return operation.report();
}

GpuRecord GpuSession::Impl::record_of(const GpuResult& report) {
  GpuRecord record;
  record.driver = fleet.driver().version;
  const std::vector<GpuDevice> devices = fleet.devices();
  for (const GpuDevice& device : devices) {
    const bool used = std::any_of(report.steps.begin(), report.steps.end(), [&](const GpuStep& step) {
      const GpuProcess& process = step.process;
      return (device.minor && std::count(process.minors.begin(), process.minors.end(), *device.minor) > 0) ||
             std::any_of(process.gpu_bytes.begin(), process.gpu_bytes.end(),
                         [&](const auto& use) { return use.first == device.uuid; });
    });
    if (used) record.devices.push_back(device);
  }
  for (const GpuStep& step : report.steps)
    if (!step.gone) record.bytes.emplace_back(step.process.nspid, step.process.gpu_bytes);
  return record;
}

// For recover, what another run began may still be under way: the driver answers when that is over.
std::vector<GpuProcess> GpuSession::Impl::settled_processes(const GpuSelection& selection, GpuVerb verb) {
  constexpr Milliseconds kWait{300'000};
  std::vector<GpuProcess> processes = fleet.processes(selection);
  const bool silent = std::any_of(processes.begin(), processes.end(), [](const GpuProcess& process) {
    return process.trouble == cuda::kNoAnswer && process.state == GpuState::unknown;
  });
  if (verb != GpuVerb::recover || !silent) return processes;
  const Milliseconds given = fleet.options().copy_timeout;
  return fleet.processes(selection, given.count() > 0 ? given : kWait);
}

GpuResult GpuSession::Impl::run(const GpuSelection& selection, GpuRequest request) {
  if (request.verb == GpuVerb::recover) cuda::recover_hugepages(fleet.node().state_root);
  const std::vector<GpuProcess> processes = settled_processes(selection, request.verb);
  const bool any = any_of_kind(processes, GpuKind::cuda);
  const GpuVerb asked = request.verb;
  if (asked == GpuVerb::toggle && any) {
    const std::optional<GpuVerb> verb = meaning_of_toggle(processes);
    if (!verb)
      return refusal(request, processes,
                     {{"mixed_states", true, "processes", "they are neither all running nor all checkpointed",
                       "ckpt-gpu suspend or ckpt-gpu resume says which side is meant"}});
    request.verb = *verb;
  }
  std::vector<GpuFinding> findings = cuda::find_obstacles(fleet, processes, request);
  if (any_blocks(findings) && !request.force) return refusal(request, processes, std::move(findings));
  if (!any) {
    GpuResult report = refusal(request, processes, std::move(findings));
    report.outcome = GpuOutcome::no_process;
    report.explanation = "no CUDA process";
    return report;
  }
  Operation operation(fleet, request, processes);
  GpuResult report;
  if (request.verb == GpuVerb::suspend)
    report = suspend(selection, request, operation);
  else if (request.verb == GpuVerb::resume || request.verb == GpuVerb::recover)
    report = resume(operation);
  else
    report = single(request, operation);
  report.verb = asked;
  report.findings = std::move(findings);
  if (cuda::copies_out(request.verb) && report.outcome == GpuOutcome::done) report.record = record_of(report);
  return report;
}

GpuSession::GpuSession(GpuOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
GpuSession::~GpuSession() = default;

GpuDriver GpuSession::driver() { return impl_->fleet.driver(); }
std::vector<GpuDevice> GpuSession::devices() { return impl_->fleet.devices(); }

std::vector<GpuProcess> GpuSession::processes(const GpuSelection& selection) {
  impl_->fleet.worker().api_version();
  return impl_->fleet.processes(selection);
}

std::vector<GpuFinding> GpuSession::preflight(const GpuSelection& selection, const GpuRequest& request) {
  const std::vector<GpuProcess> found = processes(selection);
  return cuda::find_obstacles(impl_->fleet, found, request);
}

GpuResult GpuSession::run(const GpuSelection& selection, const GpuRequest& request) {
  impl_->fleet.worker().api_version();
  return impl_->run(selection, request);
}

GpuAnswer GpuSession::call(GpuCall call, std::uint32_t pid, const std::vector<GpuPair>& device_map) {
  cuda::Fleet& fleet = impl_->fleet;
  cuda::Call made{static_cast<Op>(call), pid, 0, fleet.question_limit()};
  if (made.op == Op::lock) {
    made.timeout_ms = static_cast<std::uint32_t>(fleet.options().timeout.count());
    made.deadline = fleet.lock_limit();
  }
  // A copy takes as long as it takes; leaving early would not end it.
  if (made.op == Op::checkpoint || made.op == Op::restore || made.op == Op::unlock)
    made.deadline = fleet.options().copy_timeout;
  std::vector<cuda::Pair> pairs;
  if (made.op == Op::restore) pairs = cuda::driver_pairs(device_map);
  if (!pairs.empty() && fleet.worker().api_version() < cuda::kFirstWithPairs)
    throw Error(ErrorCode::unsupported, {}, "this driver takes no device map");
  const cuda::Answer answer = fleet.worker().run({made}, 1, pairs).front();
  return {answer.arrived, answer.result, answer.value,
          answer.arrived ? cuda::result_text(answer.result) : "no answer from the driver"};
}

std::string GpuSession::restore_hugepages() { return cuda::recover_hugepages(impl_->fleet.node().state_root); }

}  // namespace ckpt
