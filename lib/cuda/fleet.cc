// SPDX-License-Identifier: Apache-2.0
#include "cuda/fleet.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "cuda/results.h"

namespace ckpt::cuda {

namespace {

constexpr Milliseconds kDefaultQuestion{10'000};
// The driver ends a lock by itself at its own limit; past that and this grace it hangs.
constexpr Milliseconds kGrace{2'000};

std::optional<std::uint64_t> number(const std::string& word) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string without_slashes(const std::string& root) { return root.substr(0, root.find_last_not_of('/') + 1); }

std::string words_for(const Answer& answer) {
  return answer.arrived ? result_text(answer.result) : std::string(kNoAnswer);
}

// Results by which the driver says "nothing of mine".
bool means_no_cuda(const Answer& answer) {
  return answer.arrived && (answer.result == kNotInitialized || answer.result == kInvalidValue);
}

}  // namespace

NvmlReport parse_nvml(std::string_view text) {
  NvmlReport report;
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string kind, first, total, free, mig, minor;
    words >> kind >> first;
    if (kind == "driver" && first != "-") report.driver = first;
    if (kind == "gpu") {
      GpuDevice device;
      words >> total >> free >> mig >> minor;
      device.uuid = first;
      std::getline(words >> std::ws, device.name);
      if (device.name == "-") device.name.clear();
      device.total_bytes = number(total);
      device.free_bytes = number(free);
      device.mig = number(mig).value_or(0) != 0;
      if (const auto value = number(minor)) device.minor = static_cast<std::uint32_t>(*value);
      report.devices.push_back(std::move(device));
    }
    if (kind == "use" && !report.devices.empty()) {
      words >> total;
      report.uses.push_back({static_cast<std::uint32_t>(number(first).value_or(0)), report.devices.back().uuid,
                             number(total).value_or(0)});
    }
  }
  return report;
}

Fleet::Fleet(GpuOptions options)
    : options_(std::move(options)),
      node_{Proc(options_.proc_root), Cgroups(without_slashes(options_.state_root)),
            without_slashes(options_.state_root)},
      worker_(Libraries{options_.libcuda, options_.libnvml}) {}

Milliseconds Fleet::question_limit() const {
  return options_.timeout.count() > 0 ? options_.timeout : kDefaultQuestion;
}

Milliseconds Fleet::lock_limit() const {
  return options_.timeout.count() > 0 ? options_.timeout + kGrace : Milliseconds(0);
}

// The slowest copy seen moved 1.1 GB a second; a sixteenth of that, and two minutes for contexts and modules.
Milliseconds Fleet::copy_limit(const GpuProcess& process) const {
  if (options_.copy_timeout.count() > 0) return options_.copy_timeout;
  const std::uint64_t bytes = total_bytes(process);
  if (bytes == 0) return Milliseconds(30 * 60 * 1000);
  return Milliseconds(120'000 + static_cast<std::int64_t>((bytes >> 26) * 1000));
}

std::vector<GpuProcess> Fleet::processes(const GpuSelection& selection, Milliseconds limit) {
  std::vector<GpuProcess> processes = select_processes(node_, selection);
  identify(processes, selection, limit);
  add_memory(processes);
  return processes;
}

// The processes worth a question: those that map libcuda, and those that were named.
std::vector<Call> Fleet::questions(std::vector<GpuProcess>& processes, const GpuSelection& selection,
                                   Milliseconds limit) {
  std::vector<Call> calls;
  for (GpuProcess& process : processes) {
    const bool named = std::count(selection.pids.begin(), selection.pids.end(), process.pid) > 0;
    if (process.kind != GpuKind::cuda && !named) continue;
    const bool frozen = !process.cgroup.empty() && node_.cgroups.frozen(process.cgroup);
    if (process.run_state == 'T' || frozen) {
      // Every call about it would wait until it runs again.
      process.kind = GpuKind::unreachable;
      process.trouble = frozen ? "frozen" : "stopped";
      continue;
    }
    calls.push_back({Op::thread_id, process.pid, 0, limit});
  }
  return calls;
}

void Fleet::identify(std::vector<GpuProcess>& processes, const GpuSelection& selection, Milliseconds limit) {
  const std::vector<Call> calls = questions(processes, selection, limit);
  const std::vector<Answer> answers = worker_.run(calls);
  std::vector<GpuProcess*> known;
  auto process = processes.begin();
  for (std::size_t index = 0; index < calls.size(); ++index) {
    while (process->pid != calls[index].pid) ++process;
    const Answer& answer = answers[index];
    if (answer.arrived && answer.result == kSuccess) {
      process->kind = GpuKind::cuda;
      process->restore_tid = static_cast<std::uint32_t>(answer.value);
      known.push_back(&*process);
    } else if (means_no_cuda(answer)) {
      if (process->kind == GpuKind::cuda) process->kind = GpuKind::no_context;
    } else if (alive(*process)) {
      process->kind = GpuKind::unreachable;
      process->trouble = words_for(answer);
    } else {
      process->kind = GpuKind::cpu_only;
      process->trouble = "exited";
    }
  }
  read_states(known, limit);
}

void Fleet::read_states(const std::vector<GpuProcess*>& processes, Milliseconds limit) {
  std::vector<Call> calls;
  calls.reserve(processes.size());
  for (const GpuProcess* process : processes) calls.push_back({Op::state, process->pid, 0, limit});
  const std::vector<Answer> answers = worker_.run(calls);
  for (std::size_t index = 0; index < processes.size(); ++index) {
    GpuProcess& process = *processes[index];
    const Answer& answer = answers[index];
    const bool good = answer.arrived && answer.result == kSuccess && answer.value >= 0 && answer.value <= 5;
    process.state = good ? static_cast<GpuState>(answer.value) : GpuState::unknown;
    process.trouble = good ? "" : words_for(answer);
  }
}

bool Fleet::alive(const GpuProcess& process) const {
  const auto stat = node_.proc.stat(process.pid);
  return stat && stat->start_time == process.start_time && stat->state != 'Z' && stat->state != 'X';
}

const NvmlReport& Fleet::nvml() {
  const std::vector<Answer> answers = worker_.run({{Op::devices, 0, 0, question_limit()}});
  if (answers.front().arrived) nvml_ = parse_nvml(answers.front().text);
  return nvml_;
}

void Fleet::add_memory(std::vector<GpuProcess>& processes) {
  const bool any = std::any_of(processes.begin(), processes.end(),
                               [](const GpuProcess& process) { return process.kind == GpuKind::cuda; });
  if (!any) return;
  for (const NvmlReport::Use& use : nvml().uses)
    for (GpuProcess& process : processes)
      if (process.pid == use.pid && process.kind == GpuKind::cuda) process.gpu_bytes.emplace_back(use.uuid, use.bytes);
}

std::vector<GpuDevice> Fleet::devices() {
  std::vector<GpuDevice> devices = nvml().devices;
  return devices.empty() ? node_.proc.devices() : devices;
}

GpuDriver Fleet::driver() {
  GpuDriver driver;
  driver.api_version = worker_.api_version();
  const NvmlReport& report = nvml();
  driver.nvml = !report.devices.empty();
  driver.version = node_.proc.driver_version();
  if (driver.version.empty()) driver.version = report.driver;
  return driver;
}

std::uint64_t total_bytes(const GpuProcess& process) {
  std::uint64_t sum = 0;
  for (const auto& [uuid, bytes] : process.gpu_bytes) sum += bytes;
  return sum;
}

}  // namespace ckpt::cuda
