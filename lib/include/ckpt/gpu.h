// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/export.h"
#include "ckpt/gpu_map.h"

namespace ckpt {

/// Where a CUDA process stands (CUprocessState, CUDA 12.8; the last two since 13.4). `unknown`: the driver did not say.
enum class GpuState { running, locked, checkpointed, failed, checkpointing, restoring, unknown };
/// "running", "checkpointed" ...
CKPT_API const char* to_string(GpuState state) noexcept;

/// What a process has to do with the GPU. Only `cuda` can be suspended; the others are left alone.
enum class GpuKind {
  cuda,         ///< the driver knows it
  no_context,   ///< libcuda is mapped, but CUDA was not initialised
  nvml_only,    ///< only libnvidia-ml is mapped
  cpu_only,     ///< neither
  unreachable,  ///< the driver could not be asked about it: no permission, or no answer in time
};
CKPT_API const char* to_string(GpuKind kind) noexcept;

/// How to reach the driver and the processes.
struct GpuOptions {
  std::string libcuda = "libcuda.so.1";  ///< name or path for dlopen
  std::string libnvml;                   ///< likewise; empty: beside libcuda, then "libnvidia-ml.so.1"
  std::string proc_root = "/proc";
  std::string state_root = "/";               ///< below it: run/, var/, sys/ with the engines' states and cgroups
  std::chrono::milliseconds timeout{10'000};  ///< of a lock and of each question; 0 waits for ever (lock only)
  std::chrono::milliseconds copy_timeout{0};  ///< of one checkpoint or restore; 0: by the GPU memory to copy
  std::function<bool()> cancelled;            ///< asked between steps; true undoes what was done
};

/// The driver as the worker process found it.
struct GpuDriver {
  std::uint32_t api_version = 0;  ///< cuDriverGetVersion: 13000 is CUDA 13.0
  std::string version;            ///< "580.159.04" of /proc/driver/nvidia/version or NVML; empty when unknown
  bool nvml = false;              ///< memory and processes of each GPU can be read
};

/// A process of the selection, pinned by its start time.
struct GpuProcess {
  std::uint32_t pid = 0;         ///< as seen from here
  std::uint32_t nspid = 0;       ///< in its innermost pid namespace
  std::uint64_t start_time = 0;  ///< field 22 of /proc/PID/stat
  std::uint32_t uid = 0;
  std::string comm;
  std::string cgroup;  ///< path below the hierarchy; empty when it cannot be told
  char run_state = '?';
  GpuKind kind = GpuKind::cpu_only;
  GpuState state = GpuState::unknown;
  std::uint32_t restore_tid = 0;
  std::vector<std::pair<std::string, std::uint64_t>> gpu_bytes;  ///< by GPU uuid, from NVML; empty when unknown
  std::vector<std::uint32_t> minors;                             ///< /dev/nvidiaN that it holds open
  std::uint32_t uvm_maps = 0;
  bool nccl = false;    ///< it has threads of NCCL
  bool job = false;     ///< it belongs to a CUDA checkpoint job (driver 610): one at a time
  std::string trouble;  ///< why it is unreachable, or why the state is unknown
};

/// Which processes; the union of all. Names as a user types them.
struct GpuSelection {
  std::vector<std::uint32_t> pids;
  std::vector<std::uint32_t> trees;
  std::vector<std::string> cgroups;
  std::vector<std::string> containers;
  bool empty() const noexcept { return pids.empty() && trees.empty() && cgroups.empty() && containers.empty(); }
};

/// A container found in an engine's state files.
struct GpuContainer {
  std::string id;
  std::string name;
  std::string engine;  ///< runc, crun, containerd or podman: whose file it was
  std::string file;
  std::uint32_t pid = 0;         ///< of its first process; 0 when it does not run
  std::uint64_t start_time = 0;  ///< of that process, where the state file has it
};

/// Something that speaks for or against going on.
struct GpuFinding {
  std::string code;  ///< "stopped", "host_memory", "cgroup_memory", "mig" ...
  bool blocks = false;
  std::string subject;
  std::string message;
  std::string remedy;
};

enum class GpuVerb { lock, checkpoint, restore, unlock, suspend, resume, toggle, recover };
CKPT_API const char* to_string(GpuVerb verb) noexcept;

struct GpuRequest {
  GpuVerb verb = GpuVerb::suspend;
  std::vector<GpuPair> device_map;
  std::optional<GpuRecord> recorded;
  unsigned jobs = 0;       ///< copies at once; 0: all, but one at a time in a CUDA checkpoint job
  bool force = false;      ///< go past findings that block
  bool hugepages = false;  ///< transparent_hugepage=always while checkpointing
};

/// How a request ended.
enum class GpuOutcome {
  done,
  no_process,       ///< nothing to do: no CUDA process
  refused,          ///< a finding blocks; nothing was touched
  timed_out,        ///< every process is as it was before
  rolled_back,      ///< failed; every process is as it was before
  not_rolled_back,  ///< failed; at least one process is not as it was
};
CKPT_API const char* to_string(GpuOutcome outcome) noexcept;

/// What a request did to one process.
struct GpuStep {
  GpuProcess process;
  GpuState before = GpuState::unknown;
  GpuState after = GpuState::unknown;
  std::string call;          ///< the call that failed, or the last one
  std::uint32_t result = 0;  ///< CUresult of it
  std::string result_name;   ///< "CUDA_ERROR_NOT_READY"; "no_answer" when the deadline passed
  std::string result_text;
  double elapsed_ms = 0;  ///< in driver calls
  bool failed = false;
  bool rolled_back = false;
  bool lost = false;  ///< only killing it helps
  bool gone = false;  ///< it exited meanwhile
};

struct GpuResult {
  GpuVerb verb = GpuVerb::suspend;
  GpuOutcome outcome = GpuOutcome::done;
  std::vector<GpuFinding> findings;
  std::vector<GpuStep> steps;
  GpuRecord record;         ///< after suspend and checkpoint
  std::string explanation;  ///< what went wrong; empty when done
};

/// One driver call, for programs that stand in for cuda-checkpoint.
enum class GpuCall { thread_id, state, lock, checkpoint, restore, unlock };
struct GpuAnswer {
  bool arrived = false;  ///< false: no answer in time, and whether it happened is not known
  std::int32_t result = 0;
  std::int32_t value = 0;  ///< thread id, or a GpuState's number
  std::string text;        ///< the driver's words for the result
};

/// Talks to the CUDA driver about other processes. Every driver call runs in one worker process, forked on first use,
/// one thread a call; past a deadline that worker is killed, the states are read again and no call is repeated.
/// The caller must be single-threaded when the worker is forked. Every method may throw Error(io | unsupported).
class CKPT_API GpuSession {
 public:
  explicit GpuSession(GpuOptions options);
  ~GpuSession();
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;

  /// Throws Error(unsupported) without a driver, or with one that cannot checkpoint (before 570).
  GpuDriver driver();
  std::vector<GpuDevice> devices();
  /// Every process selected, whatever its kind, in order of pid. Throws Error(invalid_argument) when a named process,
  /// cgroup or container does not exist.
  std::vector<GpuProcess> processes(const GpuSelection& selection);
  /// Would `request` be refused? Asks the driver, changes nothing.
  std::vector<GpuFinding> preflight(const GpuSelection& selection, const GpuRequest& request);
  GpuResult run(const GpuSelection& selection, const GpuRequest& request);
  /// Makes one call as it is: no checks, nothing undone. `pid` may be any thread of the process.
  GpuAnswer call(GpuCall call, std::uint32_t pid, const std::vector<GpuPair>& device_map = {});
  /// Puts back a transparent_hugepage setting that a killed run left changed; the text it wrote, or empty.
  std::string restore_hugepages();

 private:
  class CKPT_LOCAL Impl;
  std::unique_ptr<Impl> impl_;
};

/// Containers known to the state files below `state_root`, in order of id.
CKPT_API std::vector<GpuContainer> find_containers(const std::string& state_root);

}  // namespace ckpt
