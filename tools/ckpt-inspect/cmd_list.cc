// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "ckpt/listing.h"
#include "commands.h"
#include "common/progress.h"

namespace ckpt::tool {

namespace {

// As kubectl says it: the largest unit that still tells something.
std::string age_of(const ListedCheckpoint& listed, std::int64_t now) {
  const std::int64_t age = now - seconds_of_rfc3339(listed.checkpointed).value_or(listed.modified);
  if (age < 0) return "0s";
  if (age < 120) return fmt::format("{}s", age);
  if (age < 7200) return fmt::format("{}m", age / 60);
  if (age < 172800) return fmt::format("{}h", age / 3600);
  return fmt::format("{}d", age / 86400);
}

std::string gpu_of(const ListedCheckpoint& listed) {
  if (listed.gpu_vendor.empty()) return "-";
  return fmt::format("{} {}", listed.gpu_vendor, fmt::join(listed.driver_versions, ","));
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string list_text(const std::vector<ListedCheckpoint>& all) {
  const std::int64_t now = std::time(nullptr);
  Table table({"NAMESPACE", "POD", "CONTAINER", "ENGINE", "GPU", "SIZE", "AGE", "STATUS", "FILE"});
  for (const ListedCheckpoint& listed : all)
    table.row({or_dash(listed.pod_namespace), or_dash(listed.pod), or_dash(listed.container), to_string(listed.engine),
               gpu_of(listed), human_size(listed.bytes), age_of(listed, now),
               listed.problems.empty() ? "ok" : "damaged", listed.file});
  return table.empty() ? "No checkpoints.\n" : table.text();
}

Json listed_json(const std::string& directory, const ListedCheckpoint& listed) {
  Json versions = Json::array();
  for (const std::string& version : listed.driver_versions) versions.push(version);
  Json problems = Json::array();
  for (const Error& problem : listed.problems) problems.push(problem.what());
  Json json = Json::object();
  json.set("file", listed.file).set("path", directory + "/" + listed.file).set("size", listed.bytes);
  json.set("modified", rfc3339_of_seconds(listed.modified)).set("checkpointed", optional_text(listed.checkpointed));
  json.set("namespace", optional_text(listed.pod_namespace)).set("pod", optional_text(listed.pod));
  json.set("container", optional_text(listed.container)).set("engine", to_string(listed.engine));
  json.set("runtime", to_string(listed.runtime)).set("gpu_vendor", optional_text(listed.gpu_vendor));
  json.set("driver_versions", std::move(versions)).set("memory_pages_size", listed.memory_pages);
  return json.set("damaged", !listed.problems.empty()).set("problems", std::move(problems));
}

std::vector<ListedCheckpoint> list_with_progress(const std::string& directory) {
  Progress progress;
  return list_checkpoints(directory, {}, progress.callback());
}

int run(const std::string& directory, Context context) {
  const std::vector<ListedCheckpoint> all = list_with_progress(directory);
  Json list = Json::array();
  int status = kYes;
  for (const ListedCheckpoint& listed : all) {
    if (!listed.problems.empty()) status = kTrouble;
    if (context.options.json) list.push(listed_json(directory, listed));
  }
  if (context.options.json) {
    Json json = Json::object();
    json.set("schema", "ckpt.list/1").set("directory", directory).set("checkpoints", std::move(list));
    context.console.print_json(json);
  } else {
    context.console.print(list_text(all));
    context.console.flush();
  }
  for (const ListedCheckpoint& listed : all)
    for (const Error& problem : listed.problems) context.console.error(problem);
  return status;
}

}  // namespace

Action add_list(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("list", "List the checkpoints in a directory");
  const auto directory = std::make_shared<std::string>("/var/lib/kubelet/checkpoints");
  command->add_option("DIR", *directory, "Directory (default: the kubelet's, /var/lib/kubelet/checkpoints)");
  command->footer("Exit status: 0 all can be read, 2 one is damaged (all are shown first) or DIR cannot be read.");
  return [directory, context] { return run(*directory, context); };
}

}  // namespace ckpt::tool
