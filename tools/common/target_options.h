// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ckpt/check.h"
#include "ckpt/checkpoint.h"
#include "ckpt/target.h"

namespace ckpt::tool {

/// What the two tools let a user say about the node to restore on, as typed.
struct TargetArguments {
  std::vector<std::string> cdi;
  std::vector<std::string> devices;
  std::string files;
  std::string root;
  std::string engine = "auto";
  std::string runtime;
  std::vector<std::string> maps;
  std::vector<std::string> drop_mounts;
  bool drop_hooks = false;
  std::string node;
  bool strict = false;
  std::vector<std::string> gpu_maps;
  bool in_image = false;
  bool strip_cdi_annotations = false;
};

/// --cdi, --device, --files, --root, --node, --strict.
void add_target_options(CLI::App& app, TargetArguments& arguments);
/// --engine, --runtime, --map, --drop-mount, --drop-hooks, --gpu-map, --in-image, --strip-cdi-annotations.
void add_rule_options(CLI::App& app, TargetArguments& arguments);

/// Throws Error(io | corrupt | unsupported).
NodeFacts load_node_facts(const std::string& file);

/// The target for an archive: what it asked for chooses the devices.
Target load_target(const TargetArguments& arguments, const Checkpoint& checkpoint);
/// The target by itself.
Target load_target(const TargetArguments& arguments);
/// Throws Error(invalid_argument) for an unknown engine or runtime, or a map without "=".
RestoreRules restore_rules(const TargetArguments& arguments);

}  // namespace ckpt::tool
