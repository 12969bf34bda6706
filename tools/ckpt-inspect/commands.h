// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "ckpt/checkpoint.h"
#include "common/app.h"
#include "common/console.h"
#include "common/report.h"
#include "common/table.h"

namespace ckpt::tool {

/// What every command gets.
struct Context {
  Console& console;
  CommonOptions& options;
};

/// A subcommand: its options, and what runs when it was chosen.
using Action = std::function<int()>;
using AddCommand = Action (*)(CLI::App& app, Context context);

Action add_show(CLI::App& app, Context context);
Action add_mounts(CLI::App& app, Context context);
Action add_devices(CLI::App& app, Context context);
Action add_gpu(CLI::App& app, Context context);
Action add_ls(CLI::App& app, Context context);
Action add_cat(CLI::App& app, Context context);
Action add_check(CLI::App& app, Context context);
Action add_node(CLI::App& app, Context context);
Action add_explain(CLI::App& app, Context context);
Action add_audit(CLI::App& app, Context context);
Action add_list(CLI::App& app, Context context);
Action add_diff(CLI::App& app, Context context);
Action add_decode(CLI::App& app, Context context);
Action add_encode(CLI::App& app, Context context);
Action add_ps(CLI::App& app, Context context);
Action add_files(CLI::App& app, Context context);
Action add_sockets(CLI::App& app, Context context);
Action add_memory(CLI::App& app, Context context);
Action add_stats(CLI::App& app, Context context);
Action add_env(CLI::App& app, Context context);
Action add_config(CLI::App& app, Context context);
Action add_spec(CLI::App& app, Context context);

/// All commands in the order of --help.
const std::vector<AddCommand>& all_commands();

/// Runs a report over several archives: opens each, lets `report` add text and make JSON, and joins them.
struct ArchiveReport {
  std::string schema;
  std::function<Json(const Checkpoint&)> json;
  std::function<std::string(const Checkpoint&)> text;
};
int report_archives(Context context, const std::vector<std::string>& paths, const ArchiveReport& report);

}  // namespace ckpt::tool
