// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "ckpt/gpu.h"
#include "common/app.h"
#include "common/console.h"

namespace ckpt::tool {

/// Exit statuses of ckpt-gpu, which scripts depend on; kYes and kTrouble are those of all tools.
inline constexpr int kNoProcess = 1;
inline constexpr int kRefused = 3;
inline constexpr int kTimedOut = 4;
inline constexpr int kRolledBack = 5;
inline constexpr int kNotRolledBack = 6;

/// What the command line says, as typed.
struct GpuArguments {
  std::vector<std::uint32_t> pids;
  std::vector<std::uint32_t> trees;
  std::vector<std::string> cgroups;
  std::vector<std::string> containers;
  std::uint32_t timeout = 10'000;
  std::uint32_t copy_timeout = 0;
  std::string libcuda = "libcuda.so.1";
  std::string libnvml;
  std::string state_root = "/";
  std::string proc_root = "/proc";
  std::string device_map;
  std::string device_map_file;
  std::string record;
  std::string recorded;
  unsigned jobs = 0;
  bool force = false;
  bool hugepages = false;
  bool all = false;
};

/// What every command gets.
struct GpuContext {
  Console& console;
  CommonOptions& options;
  GpuArguments& arguments;
};

using GpuAction = std::function<int()>;

/// --libcuda, --libnvml, --timeout, --copy-timeout, --state-root, --proc-root.
void add_driver_options(CLI::App& app, GpuArguments& arguments);
/// --pid, --tree, --cgroup, --container.
void add_selection_options(CLI::App& app, GpuArguments& arguments);
/// --device-map, --device-map-file, --recorded.
void add_map_options(CLI::App& app, GpuArguments& arguments);

GpuOptions session_options(const GpuArguments& arguments);
/// Throws Error(invalid_argument) when nothing was selected.
GpuSelection selection_of(const GpuArguments& arguments);

/// The commands; each adds its subcommands and tells `run` what they do.
using Register = std::function<void(CLI::App*, GpuAction)>;
void add_look_commands(CLI::App& app, GpuContext context, const Register& run);
void add_change_commands(CLI::App& app, GpuContext context, const Register& run);
void add_map_command(CLI::App& app, GpuContext context, const Register& run);

/// The map to restore with: `text` if there is one, else of `file`, else what CKPT_GPU_DEVICE_MAP or the file that
/// CKPT_GPU_DEVICE_MAP_FILE names says, else run/ckpt-gpu/device-map below the root. Empty when there is none. A file
/// that others may write is refused: it decides where memory goes.
std::vector<GpuPair> find_device_map(const std::string& text, const std::string& file, const std::string& state_root);

/// The program under the name cuda-checkpoint.
int run_compat(const std::vector<std::string>& arguments);

}  // namespace ckpt::tool
