// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "commands.h"

namespace {

using namespace ckpt::tool;

// `ckpt-inspect ARCHIVE` means `ckpt-inspect show ARCHIVE`: the word is put in before the first argument that is
// neither an option, nor an option's value, nor a command.
std::vector<std::string> with_default_command(std::vector<std::string> arguments, const CLI::App& app) {
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (*word == "--format" || *word == "--color") {
      if (++word == arguments.end()) break;
      continue;
    }
    if (word->size() > 1 && word->front() == '-' && *word != "--") continue;
    const auto commands = app.get_subcommands({});
    const bool known = std::any_of(commands.begin(), commands.end(),
                                   [&](const CLI::App* command) { return command->get_name() == *word; });
    if (!known) arguments.insert(word, "show");
    break;
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  Console console("ckpt-inspect");
  CommonOptions options;
  CLI::App app("Look into container checkpoint archives, and say whether one will restore on another node",
               "ckpt-inspect");
  app.footer(
      "Examples:\n"
      "  ckpt-inspect checkpoint.tar                     what is in it\n"
      "  ckpt-inspect mounts --hidden checkpoint.tar     mounts that spec.dump does not know\n"
      "  ckpt-inspect check --cdi nvidia.yaml checkpoint.tar\n"
      "                                                  will it restore on the node of that CDI file?\n\n"
      "Exit status: 0 yes, 1 no but it can be patched, 2 trouble, 3 no patch can help.");
  add_common_options(app, options);
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_all_flag("--help-all", "Help of every command");
  int status = kYes;
  for (const AddCommand add : all_commands()) {
    const Action action = add(app, Context{console, options});
    app.get_subcommands({}).back()->callback([action, &status, &console, &options] {
      apply_common_options(options, console);
      status = action();
    });
  }
  std::vector<std::string> arguments(argv + 1, argv + argc);
  return run_tool(console, app, with_default_command(std::move(arguments), app), [&] { return status; });
}
