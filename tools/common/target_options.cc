// SPDX-License-Identifier: Apache-2.0
#include "common/target_options.h"

#include <algorithm>

#include "ckpt/file.h"

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

GpuMap parse_gpu_map(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
    usage("--gpu-map " + text + ": OLD=NEW is wanted", "UUIDs (GPU-...) or minors of /dev/nvidiaN");
  return {text.substr(0, sign), text.substr(sign + 1)};
}

TargetOptions options_of(const TargetArguments& arguments) {
  TargetOptions options;
  options.cdi_paths = arguments.cdi;
  options.devices = arguments.devices;
  options.files_list = arguments.files;
  options.root = arguments.root;
  options.cdi_fields = arguments.strict ? CdiFields::strict : CdiFields::lenient;
  if (!arguments.node.empty()) options.node = load_node_facts(arguments.node);
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
  app.add_option("--node", arguments.node, "Facts of the target node, as `ckpt-inspect node` prints them there")
      ->type_name("FACTS");
  app.add_flag("--strict", arguments.strict, "Refuse CDI files with unknown fields, as the engines do");
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
  app.add_option("--gpu-map", arguments.gpu_maps,
                 "GPU of the archive and the target's in its place: UUIDs, or minors of /dev/nvidiaN (default: by name, "
                 "then by position)")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  app.add_flag("--in-image", arguments.in_image,
               "CRI-O: name the sources in the image, for nodes with `external mnt[]`, instead of listing them");
  app.add_flag("--strip-cdi-annotations", arguments.strip_cdi_annotations,
               "Remove cdi.k8s.io/ annotations, with which an archive asks the engine for devices");
}

NodeFacts load_node_facts(const std::string& file) {
  return NodeFacts::from_json(Json::parse(read_text_file(file), file), file);
}

Target load_target(const TargetArguments& arguments, const Checkpoint& checkpoint) {
  TargetOptions options = options_of(arguments);
  options.requested = checkpoint.requested_devices();
  options.vendor = checkpoint.gpu().vendor;
  return Target::load(options);
}

Target load_target(const TargetArguments& arguments) {
  TargetOptions options = options_of(arguments);
  if (options.cdi_paths.empty() && options.files_list.empty() && !options.node) options.cdi_paths = CdiRegistry::default_directories();
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
  for (const std::string& map : arguments.gpu_maps) rules.gpu_maps.push_back(parse_gpu_map(map));
  if (arguments.in_image) rules.bring = RestoreRules::Bring::in_image;
  if (arguments.strip_cdi_annotations) rules.cdi_annotations = RestoreRules::CdiAnnotations::strip;
  if (arguments.drop_hooks) rules.drop_hooks = RestoreRules::Hooks::all;
  return rules;
}

}  // namespace ckpt::tool
