// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "images.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::vector<std::uint32_t> pids;
};

struct Places {
  std::string exe;
  std::string cwd;
  std::string root;
};

Places places_of(Images& images, const Process& process) {
  Places places;
  if (process.state && *process.state == 6) return places;
  places.exe = images.path_of(images.only(fmt::format("mm-{}.img", process.pid))["exe_file_id"].as_uint());
  const Json& fs = images.only(fmt::format("fs-{}.img", process.pid));
  places.cwd = images.path_of(fs["cwd_id"].as_uint());
  places.root = images.path_of(fs["root_id"].as_uint());
  return places;
}

std::string files_text(Images& images, const Arguments& arguments) {
  Table table({"PID", "COMMAND", "FD", "TYPE", "MODE", "POS", "PATH"});
  for (const Process& process : chosen(images.checkpoint(), arguments.pids)) {
    const std::string pid = std::to_string(process.pid);
    const Places places = places_of(images, process);
    for (const auto& [name, path] : {std::pair("exe", places.exe), {"cwd", places.cwd}, {"root", places.root}})
      if (!path.empty()) table.row({pid, process.comm, name, "REG", "", "", path});
    for (const OpenFile& file : open_files(images, process.pid))
      table.row({pid, process.comm, std::to_string(file.fd), file.type, open_flags(file.flags),
                 file.position ? std::to_string(*file.position) : "", file.path});
  }
  return table.empty() ? "No open files.\n" : table.text();
}

Json files_json(Images& images, const Arguments& arguments) {
  Json list = Json::array();
  for (const Process& process : chosen(images.checkpoint(), arguments.pids)) {
    Json files = Json::array();
    for (const OpenFile& file : open_files(images, process.pid)) {
      Json json = Json::object();
      json.set("type", file.type).set("fd", file.fd).set("path", file.path);
      json.set("flags", file.flags).set("mode", open_flags(file.flags));
      json.set("pos", file.position ? Json(*file.position) : Json());
      files.push(std::move(json.set("id", file.id)));
    }
    const Places places = places_of(images, process);
    Json json = Json::object();
    json.set("pid", process.pid).set("command", process.comm).set("exe", optional_text(places.exe));
    json.set("cwd", optional_text(places.cwd)).set("root", optional_text(places.root));
    list.push(std::move(json.set("open_files", std::move(files))));
  }
  Json json = Json::object();
  return json.set("archive", images.checkpoint().name()).set("file_descriptors", std::move(list));
}

}  // namespace

Action add_files(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("files", "List open descriptors, programs and directories of the processes");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives; - is standard input")->required();
  add_pid_option(*command, arguments->pids);
  return [arguments, context] {
    return report_images(context, arguments->paths,
                         {"ckpt.files/1", [&](Images& images) { return files_json(images, *arguments); },
                          [&](Images& images) { return files_text(images, *arguments); }});
  };
}

}  // namespace ckpt::tool
