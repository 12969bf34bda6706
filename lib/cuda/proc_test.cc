// SPDX-License-Identifier: Apache-2.0
#include "cuda/proc.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "cuda/cgroup.h"
#include "cuda/fleet.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using namespace ckpt::cuda;
using ckpt::testing::TempDir;

TEST_CASE("a stat line is read whatever the name holds") {
  const auto stat = parse_stat("12 (a) b) (c) T 4 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2\n");
  REQUIRE(stat);
  CHECK(stat->comm == "a) b) (c");
  CHECK(stat->state == 'T');
  CHECK(stat->parent == 4);
  CHECK(stat->start_time == 987654);
}

TEST_CASE("a stat line cut short is none") {
  const std::string line = "12 (sh) S 4 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 7";
  CHECK(parse_stat(line));
  for (std::size_t size = 0; size + 1 < line.size(); ++size) CHECK_FALSE(parse_stat(line.substr(0, size)));
  CHECK_FALSE(parse_stat(")("));
}

TEST_CASE("maps tell the driver's libraries from those that are called alike") {
  const auto signs = [](const std::string& path) {
    return parse_maps("7f00-7f10 r-xp 00000000 fd:00 12 " + path + "\n7f20-7f30 rw-p 0 0 0 [heap]\n");
  };
  CHECK(signs("/usr/lib/libcuda.so.580.95.05").libcuda);
  CHECK(signs("/opt/nv/libcuda.so").libcuda);
  CHECK(signs("/usr/lib/libcuda.so.1 (deleted)").libcuda);
  CHECK_FALSE(signs("/usr/lib/libcudart.so.13").libcuda);
  CHECK_FALSE(signs("/usr/lib/libcuda.sox").libcuda);
  CHECK_FALSE(signs("/usr/lib/libnvidia-ml.so.1").libcuda);
  CHECK(signs("/usr/lib/libnvidia-ml.so.1").libnvml);
  CHECK(parse_maps("1-2 rw-s 0 0 1 /dev/nvidia-uvm\n3-4 rw-s 0 0 1 /dev/nvidia-uvm").uvm == 2);
}

TEST_CASE("fields are found by their whole name") {
  const std::string status = "Name:\tx\nUidMap:\t7\nUid:\t1000\t0\t0\t0\nNSpid:\t40\t7\t1\n";
  CHECK(leading_number(field_of(status, "Uid")) == 1000);
  CHECK(field_of(status, "NSpid") == "40\t7\t1");
  CHECK(field_of(status, "Gid").empty());
  CHECK(field_of("Device Minor: \t 3\n", "Device Minor") == "3");
  CHECK_FALSE(leading_number("x1"));
  CHECK_FALSE(leading_number("99999999999999999999999"));
}

TEST_CASE("a process of this system is seen as it is") {
  const Proc proc("/proc");
  const auto self = proc.look(static_cast<std::uint32_t>(::getpid()));
  REQUIRE(self);
  CHECK(self->comm == "cuda_test");
  CHECK(self->uid == ::getuid());
  CHECK(self->kind == GpuKind::cpu_only);
  CHECK(self->start_time > 0);
  const auto tree = proc.tree(static_cast<std::uint32_t>(::getppid()));
  CHECK(std::count(tree.begin(), tree.end(), ::getpid()) == 1);
  CHECK_FALSE(proc.look(0x3fffffff));
}

TEST_CASE("GPUs and the driver's version are read from /proc/driver/nvidia") {
  const TempDir dir;
  dir.write("driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x)\n"
            "GCC version:  gcc version 13.3.0\n");
  dir.write("driver/nvidia/gpus/0000:01:00.0/information",
            "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-b\nDevice Minor: \t 1\n");
  dir.write("driver/nvidia/gpus/0000:02:00.0/information",
            "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-a\nDevice Minor: \t 0\n");
  dir.write("driver/nvidia/gpus/0000:03:00.0/information", "Model: \t\t X\nGPU UUID: \t GPU-??\nDevice Minor: ?\n");
  const Proc proc(dir.path());
  CHECK(proc.driver_version() == "580.159.04");
  const auto devices = proc.devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[1].uuid == "GPU-a");
  CHECK(devices[1].name == "NVIDIA H200");
  CHECK(devices[2].minor == 1u);
}

TEST_CASE("NVML's lines are read, what is not known stays open") {
  const NvmlReport report = parse_nvml(
      "driver 580.1\ngpu GPU-a 100 40 1 3 NVIDIA H200 NVL\nuse 7 60\nuse 8 1\ngpu GPU-b - - 0 - -\nuse x\nnoise\n");
  CHECK(report.driver == "580.1");
  REQUIRE(report.devices.size() == 2);
  CHECK(report.devices[0].name == "NVIDIA H200 NVL");
  CHECK(report.devices[0].free_bytes == 40u);
  CHECK(report.devices[0].mig);
  CHECK(report.devices[0].minor == 3u);
  CHECK_FALSE(report.devices[1].total_bytes);
  CHECK_FALSE(report.devices[1].minor);
  CHECK(report.devices[1].name.empty());
  CHECK(report.uses.size() == 3);
  CHECK(report.uses[1].bytes == 1);
  CHECK(parse_nvml("use 7 60\n").uses.empty());
}

TEST_CASE("control groups of both versions: members, frozen, and what is left of the tightest limit") {
  const TempDir dir;
  const std::string group = "sys/fs/cgroup/a/b/";
  dir.write(group + "cgroup.procs", "7\n0\n");
  dir.write(group + "below/cgroup.procs", "9\n8\n");
  dir.write(group + "memory.max", "max\n");
  dir.write("sys/fs/cgroup/a/memory.max", "1000\n");
  dir.write("sys/fs/cgroup/a/memory.current", "400\n");
  dir.write("sys/fs/cgroup/a/cgroup.freeze", "0\n");
  const Cgroups cgroups(dir.path());
  CHECK(cgroups.processes("a/b") == std::vector<std::uint32_t>{7, 8, 9});
  CHECK(cgroups.processes(dir.file("sys/fs/cgroup/a/b")) == std::vector<std::uint32_t>{7, 8, 9});
  CHECK_FALSE(cgroups.processes("a/c"));
  CHECK(cgroups.memory_left("/a/b") == 600u);
  CHECK_FALSE(cgroups.memory_left("/other"));
  CHECK_FALSE(cgroups.frozen("/a/b"));
  dir.write("sys/fs/cgroup/a/cgroup.freeze", "1\n");
  CHECK(cgroups.frozen("/a/b"));

  dir.write("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "500\n");
  dir.write("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "600\n");
  dir.write("sys/fs/cgroup/memory/old/cgroup.procs", "5\n");
  dir.write("sys/fs/cgroup/freezer/old/freezer.state", "FROZEN\n");
  CHECK(cgroups.processes("/old") == std::vector<std::uint32_t>{5});
  CHECK(cgroups.memory_left("/old") == 0u);
  CHECK(cgroups.frozen("/old"));
  dir.write("sys/fs/cgroup/memory/free/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK_FALSE(cgroups.memory_left("/free"));
}
