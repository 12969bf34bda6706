// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "common/console.h"

namespace ckpt::tool {

/// Exit statuses that scripts depend on.
inline constexpr int kYes = 0;      ///< done, no difference, restores
inline constexpr int kCurable = 1;  ///< the answer is no and it can be cured
inline constexpr int kTrouble = 2;  ///< usage, unreadable or corrupt input, input or output failed
inline constexpr int kBlocked = 3;  ///< no patch can make it restore

/// Options that every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  std::string format;
  std::string color = "auto";
};

/// Adds --json, --format, -q, -v, --color and --version.
void add_common_options(CLI::App& app, CommonOptions& options);
/// Applies them to the console; throws Error(invalid_argument) for a format that does not exist.
void apply_common_options(CommonOptions& options, Console& console);

/// Parses and runs `body`; every failure becomes one line on stderr and kTrouble, CLI11's own codes included.
int run_tool(Console& console, CLI::App& app, std::vector<std::string> arguments, const std::function<int()>& body);

}  // namespace ckpt::tool
