// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "images.h"

namespace ckpt::tool {

namespace {

const Json& stats_of(Images& images, const char* name, const char* part) {
  return images.optional_entries(name)[0][part];
}

bool is_time(const std::string& key) { return key.size() > 5 && key.compare(key.size() - 5, 5, "_time") == 0; }

std::string stats_text(Images& images) {
  Table table({"RUN", "FIGURE", "VALUE"});
  for (const auto& [name, part] : {std::pair("stats-dump", "dump"), {"stats-restore", "restore"}})
    for (const auto& [key, value] : stats_of(images, name, part).members())
      if (key.front() != '_')
        table.row({part, key, is_time(key) ? fmt::format("{} us", value.as_uint()) : std::to_string(value.as_uint())});
  return table.empty() ? "No statistics of CRIU.\n" : table.text();
}

Json stats_json(Images& images) {
  Json json = Json::object();
  json.set("archive", images.checkpoint().name());
  json.set("statistics", stats_of(images, "stats-dump", "dump"));
  return json.set("restore_statistics", stats_of(images, "stats-restore", "restore"));
}

}  // namespace

Action add_stats(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("stats", "Show CRIU's statistics of the dump (times in microseconds)");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("ARCHIVE", *paths, "Checkpoint archives; - is standard input")->required();
  return [paths, context] { return report_images(context, *paths, {"ckpt.stats/1", stats_json, stats_text}); };
}

}  // namespace ckpt::tool
