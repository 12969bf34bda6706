// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "options.h"

namespace {

bool called_as_cuda_checkpoint(std::string_view name) { return name.substr(name.rfind('/') + 1) == "cuda-checkpoint"; }

constexpr const char* kFooter =
    "Examples:\n"
    "  ckpt-gpu suspend --container web --record gpu.json\n"
    "                                  move the GPU memory of a container to host memory, for CRIU to dump\n"
    "  ckpt-gpu resume --container web --recorded gpu.json --device-map OLD=NEW\n"
    "                                  bring it back after the restore, on another GPU\n"
    "  ckpt-gpu state --tree 4711      CUDA processes below a process, and where they stand\n\n"
    "Called as cuda-checkpoint (a symbolic link) it answers as that program does, for CRIU's CUDA plugin.\n\n"
    "Exit status: 0 done, 1 no CUDA process, 2 usage or driver, 3 refused by preflight, 4 timed out, 5 failed and\n"
    "rolled back, 6 failed and not rolled back.";

}  // namespace

int main(int argc, char** argv) {
  using namespace ckpt::tool;
  if (argc > 0 && called_as_cuda_checkpoint(argv[0])) return run_compat({argv + 1, argv + argc});
  Console console("ckpt-gpu");
  CommonOptions options;
  GpuArguments arguments;
  CLI::App app("Suspend and resume the CUDA processes of containers and process trees", "ckpt-gpu");
  app.footer(kFooter);
  add_common_options(app, options);
  add_driver_options(app, arguments);
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_all_flag("--help-all", "Help of every command");
  int status = kYes;
  const Register run = [&](CLI::App* command, const GpuAction& action) {
    command->callback([&, action] {
      apply_common_options(options, console);
      status = action();
    });
  };
  const GpuContext context{console, options, arguments};
  add_look_commands(app, context, run);
  add_change_commands(app, context, run);
  add_map_command(app, context, run);
  return run_tool(console, app, {argv + 1, argv + argc}, [&] { return status; });
}
