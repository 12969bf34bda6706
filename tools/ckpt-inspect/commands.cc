// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

namespace ckpt::tool {

const std::vector<AddCommand>& all_commands() {
  static const std::vector<AddCommand> kCommands = {
      add_show, add_mounts, add_devices, add_gpu,    add_ps,     add_files, add_sockets, add_memory,
      add_stats, add_env,    add_ls,      add_cat,    add_decode, add_encode, add_config,  add_spec,
      add_check, add_explain, add_audit,  add_list,   add_diff,   add_node};
  return kCommands;
}

int report_archives(Context context, const std::vector<std::string>& paths, const ArchiveReport& report) {
  std::vector<Json> documents;
  bool trouble = false;
  for (const std::string& path : paths) {
    try {
      const Checkpoint checkpoint = open_for_reading(path, context.console);
      if (context.options.json)
        documents.push_back(report.json(checkpoint));
      else
        context.console.print((&path == &paths.front() ? "" : "\n") + report.text(checkpoint));
      if (report_problems(checkpoint, context.console)) trouble = true;
    } catch (const Error& error) {
      context.console.error(error);
      trouble = true;
    }
  }
  if (context.options.json && !documents.empty())
    context.console.print_json(wrap_archives(report.schema, std::move(documents)));
  return trouble ? kTrouble : kYes;
}

}  // namespace ckpt::tool
