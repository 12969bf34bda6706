// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include <memory>

#include "commands.h"
#include "show_details.h"

namespace ckpt::tool {

namespace {

std::string criu_line(const Checkpoint& checkpoint) {
  if (!checkpoint.criu_version().empty()) return checkpoint.criu_version();
  return checkpoint.criu_at_least().empty() ? std::string() : checkpoint.criu_at_least() + " or later";
}

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string capture_words(const std::string& capture) {
  if (capture == "cuda_plugin") return "memory captured by CRIU's CUDA plugin";
  if (capture == "amdgpu_plugin") return "memory captured by CRIU's AMD GPU plugin";
  if (capture == "out_of_band") return "memory moved to the host before the dump";
  if (capture == "none") return "no process maps the driver";
  return "driver mapped, no sign of how GPU memory was captured";
}

std::string gpu_line(const GpuReport& gpu) {
  if (gpu.signs.empty()) return "none";
  std::string line = gpu.vendor.empty() ? "signs of a GPU" : gpu.vendor;
  if (!gpu.driver_versions.empty()) line += " driver " + join(gpu.driver_versions);
  line += ", " + capture_words(gpu.capture);
  if (!gpu.pids.empty()) line += fmt::format(", pid {}", fmt::join(gpu.pids, ", "));
  return line;
}

std::size_t count_hidden(const Checkpoint& checkpoint) {
  return static_cast<std::size_t>(
      std::count_if(checkpoint.mounts().begin(), checkpoint.mounts().end(),
                    [](const Mount& mount) { return mount.hidden && mount.key_kind != KeyKind::internal; }));
}

std::string show_text(const Checkpoint& checkpoint) {
  const ContainerFacts& facts = checkpoint.facts();
  const CheckpointSizes& sizes = checkpoint.sizes();
  Sheet sheet;
  sheet.line("Archive", checkpoint.name());
  sheet.line("Container", facts.name);
  sheet.line("ID", facts.id);
  if (!facts.pod.empty()) sheet.line("Pod", facts.pod_namespace + "/" + facts.pod);
  sheet.line("Image", facts.image);
  sheet.line("Engine", to_string(checkpoint.engine()));
  sheet.line("Runtime", to_string(checkpoint.runtime()));
  sheet.line("CRIU", criu_line(checkpoint));
  sheet.line("Created", facts.created);
  sheet.line("Checkpointed", facts.checkpointed);
  sheet.line("IP", facts.ip);
  sheet.line("Form", checkpoint.form() + ", compression " + to_string(checkpoint.archive().compression()));
  sheet.line("Checkpoint", human_size(sizes.checkpoint));
  sheet.line("Memory pages", human_size(sizes.memory_pages));
  sheet.line("Rootfs diff", human_size(sizes.rootfs_diff));
  sheet.line("Processes", std::to_string(checkpoint.processes().size()));
  sheet.line("Mounts", fmt::format("{}, {} from outside that spec.dump does not know", checkpoint.mounts().size(),
                                   count_hidden(checkpoint)));
  sheet.line("GPU", gpu_line(checkpoint.gpu()));
  sheet.line("Patched", checkpoint.has_record() ? "yes (spec.dump.orig is there)" : "no record of it");
  return sheet.text();
}

Json gpu_json(const GpuReport& gpu) {
  Json json = Json::object();
  Json versions = Json::array();
  for (const std::string& version : gpu.driver_versions) versions.push(version);
  Json pids = Json::array();
  for (const std::uint32_t pid : gpu.pids) pids.push(pid);
  json.set("vendor", optional_text(gpu.vendor)).set("driver_versions", std::move(versions));
  return json.set("capture", optional_text(gpu.capture)).set("pids", std::move(pids));
}

Json show_json(const Checkpoint& checkpoint) {
  const ContainerFacts& facts = checkpoint.facts();
  Json json = Json::object();
  json.set("archive", checkpoint.name());
  json.set("container_name", facts.name).set("id", facts.id).set("image", facts.image);
  json.set("pod_name", optional_text(facts.pod)).set("pod_namespace", optional_text(facts.pod_namespace));
  json.set("engine", to_string(checkpoint.engine())).set("runtime", to_string(checkpoint.runtime()));
  json.set("created", optional_text(facts.created)).set("checkpointed", optional_text(facts.checkpointed));
  json.set("ip", optional_text(facts.ip)).set("form", checkpoint.form());
  json.set("compression", to_string(checkpoint.archive().compression()));
  json.set("criu_version", optional_text(checkpoint.criu_version()));
  json.set("criu_at_least", optional_text(checkpoint.criu_at_least()));
  Json sizes = Json::object();
  sizes.set("total_size", checkpoint.sizes().checkpoint).set("memory_pages_size", checkpoint.sizes().memory_pages);
  sizes.set("root_fs_diff_size", checkpoint.sizes().rootfs_diff);
  json.set("checkpoint_size", std::move(sizes));
  json.set("processes", static_cast<std::uint64_t>(checkpoint.processes().size()));
  json.set("mounts", static_cast<std::uint64_t>(checkpoint.mounts().size()));
  json.set("hidden_mounts", static_cast<std::uint64_t>(count_hidden(checkpoint)));
  return json.set("gpu", gpu_json(checkpoint.gpu())).set("patched", checkpoint.has_record());
}

}  // namespace

Action add_show(CLI::App& app, Context context) {
  CLI::App* command =
      app.add_subcommand("show", "Say what a checkpoint is: engine, container, sizes, GPU (the default)");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("ARCHIVE", *paths, "Checkpoint archives; - is standard input")->required();
  return [paths, context] {
    if (context.options.verbose == 0) return report_archives(context, *paths, {"ckpt.show/1", show_json, show_text});
    return report_images(
        context, *paths,
        {"ckpt.show/1",
         [](Images& images) { return show_json(images.checkpoint()).set("details", details_json(images)); },
         [](Images& images) { return show_text(images.checkpoint()) + details_text(images); }});
  };
}

}  // namespace ckpt::tool
