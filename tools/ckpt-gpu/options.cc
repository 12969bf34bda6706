// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <atomic>
#include <csignal>

namespace ckpt::tool {

namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

void on_signal(int) { interrupted = true; }

// The first signal asks for an undo, the second ends the tool as usual.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

void add_driver_options(CLI::App& app, GpuArguments& arguments) {
  app.add_option("--timeout", arguments.timeout, "Limit of a lock and of each question to the driver (default 10000)")
      ->type_name("MS");
  app.add_option("--copy-timeout", arguments.copy_timeout,
                 "Limit of one checkpoint or restore (default: by the memory to copy)")
      ->type_name("MS");
  app.add_option("--libcuda", arguments.libcuda, "The driver's library (default libcuda.so.1)")->type_name("PATH");
  app.add_option("--libnvml", arguments.libnvml, "NVML (default: beside libcuda, then libnvidia-ml.so.1)")
      ->type_name("PATH");
  app.add_option("--state-root", arguments.state_root, "Where run, var and sys are looked for (default /)")
      ->type_name("DIR");
  app.add_option("--proc-root", arguments.proc_root, "The proc file system (default /proc)")->type_name("DIR");
}

void add_selection_options(CLI::App& app, GpuArguments& arguments) {
  app.add_option("--pid", arguments.pids, "Processes")->type_name("P");
  app.add_option("--tree", arguments.trees, "A process and all below it")->type_name("P");
  app.add_option("--cgroup", arguments.cgroups, "All processes of a control group and those below it")
      ->type_name("PATH");
  app.add_option("--container", arguments.containers, "A container: id, beginning of an id, or name")->type_name("ID");
}

void add_map_options(CLI::App& app, GpuArguments& arguments) {
  app.add_option("--device-map", arguments.device_map, "Which GPU takes the place of which: OLD=NEW[,OLD=NEW...]")
      ->type_name("MAP");
  app.add_option("--device-map-file", arguments.device_map_file, "A file with the device map")->type_name("FILE");
  app.add_option("--recorded", arguments.recorded, "What suspend --record wrote: checked against this node")
      ->type_name("FILE");
}

GpuOptions session_options(const GpuArguments& arguments) {
  catch_signals();
  GpuOptions options;
  options.libcuda = arguments.libcuda;
  options.libnvml = arguments.libnvml;
  options.proc_root = arguments.proc_root;
  options.state_root = arguments.state_root;
  options.timeout = std::chrono::milliseconds(arguments.timeout);
  options.copy_timeout = std::chrono::milliseconds(arguments.copy_timeout);
  options.cancelled = [] { return interrupted.load(); };
  return options;
}

GpuSelection selection_of(const GpuArguments& arguments) {
  GpuSelection selection{arguments.pids, arguments.trees, arguments.cgroups, arguments.containers};
  if (selection.empty())
    throw Error(ErrorCode::invalid_argument, {}, "no process was named",
                "--pid P, --tree P, --cgroup PATH or --container ID");
  return selection;
}

}  // namespace ckpt::tool
