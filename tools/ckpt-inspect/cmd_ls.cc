// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include <memory>

#include "commands.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::string path;
  std::vector<std::string> members;
};

bool wanted(const Member& member, const Arguments& arguments) {
  if (arguments.members.empty()) return true;
  return std::any_of(arguments.members.begin(), arguments.members.end(), [&](std::string name) {
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    return member.name == name || (member.name.size() > name.size() && member.name.rfind(name + "/", 0) == 0);
  });
}

std::string target_of(const Member& member) {
  if (member.type == MemberType::char_device || member.type == MemberType::block_device)
    return fmt::format("{}:{}", member.dev_major, member.dev_minor);
  return member.link_target;
}

Json member_json(const Member& member) {
  Json json = Json::object();
  json.set("name", member.name).set("type", to_string(member.type)).set("size", member.size);
  json.set("mode", fmt::format("{:04o}", member.mode)).set("uid", member.uid).set("gid", member.gid);
  json.set("mtime", member.mtime);
  if (!member.link_target.empty()) json.set("link_target", member.link_target);
  if (member.type == MemberType::char_device || member.type == MemberType::block_device)
    json.set("major", member.dev_major).set("minor", member.dev_minor);
  return json;
}

int run(const Arguments& arguments, Context context) {
  const Checkpoint checkpoint = open_for_reading(arguments.path, context.console);
  Table table({"TYPE", "MODE", "SIZE", "NAME", "TARGET"});
  Json list = Json::array();
  for (const Archive& layer : checkpoint.layers())
    for (const Member& member : layer.members()) {
      if (!wanted(member, arguments)) continue;
      table.row({to_string(member.type), fmt::format("{:04o}", member.mode), std::to_string(member.size), member.name,
                 target_of(member)});
      list.push(member_json(member));
    }
  if (list.size() == 0 && !arguments.members.empty())
    throw Error(ErrorCode::invalid_argument, Where{arguments.path, arguments.members.front(), {}, {}},
                "no such member");
  if (!context.options.json) {
    context.console.print(table.text());
    return kYes;
  }
  Json json = Json::object();
  json.set("archive", checkpoint.name()).set("members", std::move(list));
  context.console.print_json(wrap_archives("ckpt.ls/1", {std::move(json)}));
  return kYes;
}

}  // namespace

Action add_ls(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("ls", "List members of the archive");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->path, "Checkpoint archive; - is standard input")->required();
  command->add_option("MEMBER", arguments->members, "Only these members and what is below them");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool
