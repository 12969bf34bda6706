// SPDX-License-Identifier: Apache-2.0
#include "cuda/preflight.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "testing/temp_dir.h"

using namespace ckpt;
using namespace ckpt::cuda;
using ckpt::testing::TempDir;

namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

GpuOptions options_at(const TempDir& dir, const std::string& driver) {
  ::setenv("CKPT_STANDIN_STATE", dir.write("driver", driver).c_str(), 1);
  GpuOptions options;
  options.libcuda = options.libnvml = CKPT_STANDIN;
  options.proc_root = dir.file("proc");
  options.state_root = dir.path();
  return options;
}

GpuProcess cuda_process(std::uint64_t bytes) {
  GpuProcess process;
  process.pid = process.nspid = 7;
  process.comm = "work";
  process.kind = GpuKind::cuda;
  process.state = GpuState::running;
  process.cgroup = "/box";
  if (bytes > 0) process.gpu_bytes = {{"GPU-a", bytes}};
  return process;
}

std::string codes(Fleet& fleet, const GpuProcess& process, const GpuRequest& request = {}) {
  std::string codes;
  for (const GpuFinding& finding : find_obstacles(fleet, {process}, request))
    codes += (codes.empty() ? "" : " ") + std::string(finding.blocks ? "!" : "") + finding.code;
  return codes;
}

}  // namespace

TEST_CASE("host memory needs a tenth more than the GPU memory in use") {
  const TempDir dir;
  Fleet fleet(options_at(dir, "driver version=13000\n"));
  dir.write("proc/meminfo", "MemTotal: 9\nMemAvailable:   1153433 kB\n");
  CHECK(codes(fleet, cuda_process(kGib)) == "!host_memory");
  dir.write("proc/meminfo", "MemAvailable:   1153434 kB\n");
  CHECK(codes(fleet, cuda_process(kGib)) == "");
  GpuProcess out = cuda_process(100 * kGib);
  out.state = GpuState::checkpointed;
  CHECK(codes(fleet, out) == "");
  CHECK(codes(fleet, cuda_process(0)) == "size_unknown");
}

TEST_CASE("what the driver cannot do, or will wait for, is said before anything is locked") {
  const TempDir dir;
  Fleet fleet(options_at(dir, "driver version=13000\ngpu uuid=GPU-a mig=1 minor=2\n"));
  dir.write("proc/meminfo", "MemAvailable: 99999999 kB\n");
  GpuProcess process = cuda_process(kGib);
  CHECK(codes(fleet, process) == "!mig");
  process.gpu_bytes = {{"GPU-b", kGib}};
  CHECK(codes(fleet, process) == "mig");
  process.minors = {2};
  CHECK(codes(fleet, process) == "!mig");
  process.minors = {};
  process.uvm_maps = 2;
  process.nccl = true;
  CHECK(codes(fleet, process) == "managed_memory nccl mig");
  process = cuda_process(0);
  process.state = GpuState::failed;
  GpuRequest resume;
  resume.verb = GpuVerb::resume;
  CHECK(codes(fleet, process, resume) == "!failed");
  process.kind = GpuKind::unreachable;
  for (const auto& [trouble, code] : {std::pair{"stopped", "!stopped"}, std::pair{"frozen", "!frozen"},
                                      std::pair{kNoAnswer, "!no_answer"}, std::pair{"x", "!unreachable"}}) {
    process.trouble = trouble;
    CHECK(codes(fleet, process, resume) == code);
  }
}

TEST_CASE("a record of another driver is refused") {
  const TempDir dir;
  Fleet fleet(options_at(dir, "driver version=13000\n"));
  dir.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1.2  x\n");
  GpuRequest request;
  request.verb = GpuVerb::resume;
  request.recorded = GpuRecord{};
  request.recorded->driver = "580.1.2";
  CHECK(codes(fleet, cuda_process(0), request) == "");
  request.recorded->driver = "580.1.3";
  CHECK(codes(fleet, cuda_process(0), request) == "!other_driver");
}

TEST_CASE("a copy may take as long as its size asks for, unless a limit is given") {
  const TempDir dir;
  GpuOptions options = options_at(dir, "driver version=13000\n");
  CHECK(Fleet(options).copy_limit(cuda_process(64 * kGib)) == Milliseconds(120'000 + 1024 * 1000));
  CHECK(Fleet(options).copy_limit(cuda_process(0)) == Milliseconds(1'800'000));
  options.copy_timeout = Milliseconds(7);
  CHECK(Fleet(options).copy_limit(cuda_process(64 * kGib)) == Milliseconds(7));
  options.timeout = Milliseconds(0);
  CHECK(Fleet(options).lock_limit() == Milliseconds(0));
  CHECK(Fleet(options).question_limit() == Milliseconds(10'000));
}
