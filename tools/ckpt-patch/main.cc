// SPDX-License-Identifier: Apache-2.0
#include "options.h"

int main(int argc, char** argv) {
  using namespace ckpt::tool;
  Console console("ckpt-patch");
  CommonOptions common;
  PatchArguments arguments;
  CLI::App app("Rewrite a container checkpoint archive so that it restores on another node", "ckpt-patch");
  app.footer(
      "Examples:\n"
      "  ckpt-patch in.tar -o out.tar --cdi target.yaml  rewrite for the node of that CDI file\n"
      "  ckpt-patch in.tar --dry-run --cdi target.yaml   say what would change\n"
      "  ckpt-patch in.tar --externals list.conf --cdi target.yaml\n"
      "                                                  leave the archive, list its external mounts for CRIU\n"
      "  ckpt-patch --externals /etc/criu/runc.conf --for dump --cdi source.yaml\n"
      "                                                  make this node's dumps carry real keys\n\n"
      "Exit status: 0 done, 1 a decision is needed (nothing written), 2 trouble, 3 blocked (nothing written).");
  app.set_help_all_flag("--help-all", "Help with every option");
  add_common_options(app, common);
  add_patch_options(app, arguments);
  return run_tool(console, app, std::vector<std::string>(argv + 1, argv + argc), [&] {
    apply_common_options(common, console);
    settle_arguments(arguments, common);
    const PatchContext context{console, common, arguments};
    return arguments.input.empty() ? run_node_list(context) : run_patch(context);
  });
}
