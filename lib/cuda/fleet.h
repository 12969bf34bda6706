// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/gpu.h"
#include "cuda/select.h"
#include "cuda/worker.h"

namespace ckpt::cuda {

/// GpuProcess::trouble of a process about which the driver was asked in vain.
inline constexpr const char* kNoAnswer = "no answer from the driver";

/// What NVML's lines say (see nvml.h).
struct NvmlReport {
  std::string driver;
  std::vector<GpuDevice> devices;
  /// (pid, GPU uuid, bytes)
  struct Use {
    std::uint32_t pid = 0;
    std::string uuid;
    std::uint64_t bytes = 0;
  };
  std::vector<Use> uses;
};
NvmlReport parse_nvml(std::string_view text);

/// The node's processes and the driver's opinion of them.
class Fleet {
 public:
  explicit Fleet(GpuOptions options);

  /// The selected processes, each CUDA one with its state, restore thread and memory. `limit` is for one question.
  std::vector<GpuProcess> processes(const GpuSelection& selection, Milliseconds limit);
  std::vector<GpuProcess> processes(const GpuSelection& selection) { return processes(selection, question_limit()); }
  /// Asks the driver for the states anew; what does not answer becomes `unknown`. `limit` is for one question.
  void read_states(const std::vector<GpuProcess*>& processes, Milliseconds limit);
  /// Is it still the process that was selected?
  bool alive(const GpuProcess& process) const;

  std::vector<GpuDevice> devices();
  GpuDriver driver();

  /// How long a question may take, how long a lock, and how long a copy of the process's GPU memory.
  Milliseconds question_limit() const;
  Milliseconds lock_limit() const;
  Milliseconds copy_limit(const GpuProcess& process) const;
  bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  Worker& worker() noexcept { return worker_; }
  const Node& node() const noexcept { return node_; }
  const GpuOptions& options() const noexcept { return options_; }

 private:
  const NvmlReport& nvml();
  void identify(std::vector<GpuProcess>& processes, const GpuSelection& selection, Milliseconds limit);
  std::vector<Call> questions(std::vector<GpuProcess>& processes, const GpuSelection& selection, Milliseconds limit);
  void add_memory(std::vector<GpuProcess>& processes);

  GpuOptions options_;
  Node node_;
  Worker worker_;
  NvmlReport nvml_;
};

/// All GPU memory of a process.
std::uint64_t total_bytes(const GpuProcess& process);

}  // namespace ckpt::cuda
