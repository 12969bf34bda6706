// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "commands.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::string path;
  std::vector<std::string> members;
};

// A terminal obeys what it is sent, so control bytes from an archive are spelled out there; a pipe or a file gets
// every byte as it is.
std::string for_terminal(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t plain = std::min(bytes.find_first_of("\n\t"), bytes.size());
    text += safe(bytes.substr(0, plain));
    if (plain < bytes.size()) text += bytes[plain];
    bytes.remove_prefix(std::min(plain + 1, bytes.size()));
  }
  return text;
}

void print_member(const Checkpoint& checkpoint, const std::string& name, Console& console) {
  for (const Archive& layer : checkpoint.layers()) {
    const Member* member = layer.find(name);
    if (member == nullptr) continue;
    if (member->type != MemberType::file && member->type != MemberType::hardlink)
      throw Error(ErrorCode::invalid_argument, Where{checkpoint.name(), name, {}, {}},
                  std::string("is a ") + to_string(member->type) + ", not a file");
    const bool terminal = console.stdout_is_terminal();
    layer.stream(*member, [&](std::string_view piece) {
      if (terminal)
        console.write_raw(for_terminal(piece));
      else
        console.write_raw(piece);
    });
    return;
  }
  throw Error(ErrorCode::invalid_argument, Where{checkpoint.name(), name, {}, {}}, "no such member",
              "`ckpt-inspect ls` lists them");
}

}  // namespace

Action add_cat(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("cat", "Write the bytes of members to standard output");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->path, "Checkpoint archive")->required();
  command->add_option("MEMBER", arguments->members, "Members, as `ls` names them")->required();
  return [arguments, context] {
    const Checkpoint checkpoint = open_for_reading(arguments->path, context.console);
    for (const std::string& member : arguments->members) print_member(checkpoint, member, context.console);
    return kYes;
  };
}

}  // namespace ckpt::tool
