// SPDX-License-Identifier: Apache-2.0
#include "common/target_options.h"

#include <algorithm>

namespace ckpt::tool {

namespace {

[[noreturn]] void usage(const std::string& text, const std::string& hint = {}) {
  throw Error(ErrorCode::invalid_argument, {}, text, hint);
}

PathMap parse_map(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) usage("--map " + text + ": OLD=NEW is wanted");
  PathMap map{text.substr(0, sign), text.substr(sign + 1)};
  if (map.old_path.empty() || map.old_path.front() != '/' || map.new_path.empty() || map.new_path.front() != '/')
    usage("--map " + text + ": both paths must be absolute");
  for (const std::string* path : {&map.old_path, &map.new_path}) {
    const std::string slashed = *path + "/";
    if (slashed.find("/../") != std::string::npos) usage("--map " + text + ": \"..\" leads who knows where");
    if (std::any_of(path->begin(), path->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      usage("--map " + text + ": a path holds a control character");
  }
  return map;
}

void add_map(RestoreRules& rules, const PathMap& map) {
  for (const PathMap& other : rules.maps)
    if (other.old_path == map.old_path && other.new_path != map.new_path)
      usage("--map gives " + map.old_path + " two places, " + other.new_path + " and " + map.new_path);
  rules.maps.push_back(map);
}

TargetOptions options_of(const TargetArguments& arguments) {
  TargetOptions options;
  options.cdi_paths = arguments.cdi;
  options.devices = arguments.devices;
  options.files_list = arguments.files;
  options.root = arguments.root;
  return options;
}

}  // namespace

void add_target_options(CLI::App& app, TargetArguments& arguments) {
  app.add_option("--cdi", arguments.cdi,
                 "CDI file or directory of the target node; later ones win (default: /etc/cdi, /var/run/cdi)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--device", arguments.devices,
                 "CDI device to use, vendor/class=name (default: what the archive asked for)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--files", arguments.files,
                 "List of the target's driver files, as `nvidia-container-cli list` prints it")
      ->type_name("LIST");
  app.add_option("--root", arguments.root,
                 "The target's file system, to check its files (existence, kind, size, build-ID)")
      ->type_name("DIR");
}

void add_rule_options(CLI::App& app, TargetArguments& arguments) {
  app.add_option("--engine", arguments.engine,
                 "Who restores: auto (who made it), podman, cri-o, containerd, runc, crun")
      ->type_name("ENGINE");
  app.add_option("--runtime", arguments.runtime, "Who runs CRIU: runc or crun (default: as archived)")
      ->type_name("RUNTIME");
  app.add_option("--map", arguments.maps,
                 "Take NEW on the target for the old node's OLD (a file or a leading directory)")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  app.add_option("--drop-mount", arguments.drop_mounts, "Leave out the mount at this place in the container")
      ->type_name("DEST")
      ->allow_extra_args(false);
  app.add_flag("--drop-hooks", arguments.drop_hooks,
               "Drop every hook that would run at the restore, not only NVIDIA's own");
}

Target load_target(const TargetArguments& arguments, const Checkpoint& checkpoint) {
  TargetOptions options = options_of(arguments);
  options.requested = checkpoint.requested_devices();
  options.vendor = checkpoint.gpu().vendor;
  return Target::load(options);
}

Target load_target(const TargetArguments& arguments) {
  TargetOptions options = options_of(arguments);
  if (options.cdi_paths.empty() && options.files_list.empty()) options.cdi_paths = CdiRegistry::default_directories();
  return Target::load(options);
}

RestoreRules restore_rules(const TargetArguments& arguments) {
  RestoreRules rules;
  if (arguments.engine != "auto") {
    const auto engine = engine_from(arguments.engine);
    if (!engine || *engine == Engine::unknown)
      usage("--engine " + arguments.engine + " is unknown", "choose auto, podman, cri-o, containerd, runc or crun");
    rules.engine = *engine;
  }
  if (!arguments.runtime.empty()) {
    const auto runtime = runtime_from(arguments.runtime);
    if (!runtime || *runtime == Runtime::unknown)
      usage("--runtime " + arguments.runtime + " is unknown", "choose runc or crun");
    rules.runtime = *runtime;
  }
  for (const std::string& map : arguments.maps) add_map(rules, parse_map(map));
  rules.drop_mounts = arguments.drop_mounts;
  if (arguments.drop_hooks) rules.drop_hooks = RestoreRules::Hooks::all;
  return rules;
}

}  // namespace ckpt::tool
