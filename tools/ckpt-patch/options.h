// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "ckpt/plan.h"
#include "ckpt/rewrite.h"
#include "common/app.h"
#include "common/console.h"
#include "common/target_options.h"

namespace ckpt::tool {

/// The command line as typed.
struct PatchArguments {
  std::string input;
  std::string output;
  bool in_place = false;
  TargetArguments target;
  std::string externals;
  std::string externals_format = "conf";
  std::string purpose = "restore";
  bool autodetect = false;
  std::string plan;
  std::string apply;
  bool dry_run = false;
  bool force = false;
  bool record = false;
  std::string compress;
  std::string verify;
  std::string oci;
  std::string oci_archive;
  std::string image_name;
  bool delta = false;
};

struct PatchContext {
  Console& console;
  CommonOptions& common;
  const PatchArguments& arguments;
};

void add_patch_options(CLI::App& app, PatchArguments& arguments);
/// Settles what the options mean together (the output of --in-place, who owns stdout).
/// Throws Error(invalid_argument) for combinations that make no sense.
void settle_arguments(PatchArguments& arguments, const CommonOptions& common);

/// Where --oci or --oci-archive puts the image. Throws Error(invalid_argument) for a name that is none.
ImageOptions image_options(const PatchArguments& arguments);
bool wants_image(const PatchArguments& arguments);
RewriteOptions rewrite_options(const PatchArguments& arguments);
ExternalFormat external_format(const PatchArguments& arguments);

/// With IN: compare, plan, write.
int run_patch(const PatchContext& context);
/// Without IN: the list for a whole node.
int run_node_list(const PatchContext& context);

/// Writes text to a file that appears whole, or to stdout for "-".
void write_text(const std::string& path, const std::string& text, Console& console);

}  // namespace ckpt::tool
