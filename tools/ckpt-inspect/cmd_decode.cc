// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "ckpt/file.h"
#include "ckpt/image.h"
#include "commands.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::string path;
  std::string member;
  std::string output;
  bool all = false;
  bool pretty = false;

  ImageStyle style() const { return pretty ? ImageStyle::pretty : ImageStyle::plain; }
};

void write_result(const std::string& output, const std::string& bytes, Console& console) {
  if (output.empty() || output == "-")
    console.write_raw(bytes);
  else
    write_file(output, bytes);
}

std::string text_of(const Json& document, const Arguments& arguments) {
  return document.dump(arguments.pretty ? 4 : -1) + "\n";
}

bool is_image_file(const Arguments& arguments) {
  if (!arguments.member.empty() || arguments.all) return false;
  std::error_code failure;
  return arguments.path == "-" || std::filesystem::is_regular_file(arguments.path, failure);
}

int decode_file(const Arguments& arguments, Context context) {
  const std::string bytes = read_text_file(arguments.path == "-" ? "/dev/stdin" : arguments.path);
  const std::string name = std::filesystem::path(arguments.path).filename().string();
  if (!looks_like_image(std::string_view(bytes).substr(0, 4)) && raw_image_meaning(name).empty())
    throw Error(ErrorCode::invalid_argument, Where{arguments.path, {}, {}, {}}, "is no CRIU image",
                "of an archive, name a member or give --all");
  const Json document = decode_image(bytes, Where{arguments.path, {}, {}, {}}, arguments.style());
  write_result(arguments.output, text_of(document, arguments), context.console);
  return kYes;
}

int decode_member(const Arguments& arguments, Context context) {
  const Checkpoint checkpoint = open_for_reading(arguments.path, context.console);
  for (const std::string& name : {arguments.member, checkpoint.image_prefix() + arguments.member})
    for (const Archive& layer : checkpoint.layers()) {
      const Member* member = layer.find(name);
      if (member == nullptr || member->type != MemberType::file) continue;
      const Where where{checkpoint.name(), name, {}, {}};
      if (const std::string meaning = raw_image_meaning(name); !meaning.empty())
        throw Error(ErrorCode::unsupported, where, "no image with entries: " + meaning);
      const Json document = decode_image(layer.read(*member), where, arguments.style());
      write_result(arguments.output, text_of(document, arguments), context.console);
      return kYes;
    }
  throw Error(ErrorCode::invalid_argument, Where{checkpoint.name(), arguments.member, {}, {}}, "no such member",
              "`ckpt-inspect ls` lists them");
}

bool may_be_image(const Checkpoint& checkpoint, const Member& member) {
  if (member.type != MemberType::file) return false;
  const std::string base = member.name.substr(member.name.rfind('/') + 1);
  if (base == "stats-dump" || base == "stats-restore" || base == "irmap-cache") return true;
  const std::string& prefix = checkpoint.image_prefix();
  return member.name.compare(0, prefix.size(), prefix) == 0 && base.size() > 4 &&
         base.compare(base.size() - 4, 4, ".img") == 0;
}

// One image at a time is held: the text goes out as it is made.
int decode_all(const Arguments& arguments, Context context) {
  const Checkpoint checkpoint = open_for_reading(arguments.path, context.console);
  bool trouble = report_problems(checkpoint, context.console);
  std::string out =
      "{\"schema\": \"ckpt.decode/1\", \"archive\": " + Json(checkpoint.name()).dump(-1) + ", \"images\": {";
  Json raw = Json::object();
  const char* separator = "\n";
  for (const Archive& layer : checkpoint.layers())
    for (const Member& member : layer.members()) {
      if (!may_be_image(checkpoint, member) || layer.find(member.name) != &member) continue;
      if (const std::string meaning = raw_image_meaning(member.name); !meaning.empty()) {
        raw.set(member.name, meaning);
        continue;
      }
      try {
        const Json document =
            decode_image(layer.read(member), Where{checkpoint.name(), member.name, {}, {}}, arguments.style());
        out += separator + Json(member.name).dump(-1) + ": " + document.dump(arguments.pretty ? 4 : -1);
        separator = ",\n";
      } catch (const Error& error) {
        context.console.error(error);
        trouble = true;
      }
      if (arguments.output.empty()) {
        context.console.write_raw(out);
        out.clear();
      }
    }
  out += "\n}, \"raw\": " + raw.dump(-1) + "}\n";
  write_result(arguments.output, out, context.console);
  return trouble ? kTrouble : kYes;
}

struct EncodeArguments {
  std::string input = "-";
  std::string output;
};

int encode(const EncodeArguments& arguments, Context context) {
  Limits limits;
  limits.max_member_bytes *= 4;
  limits.max_nesting *= 4;
  limits.max_document_nodes *= 2;
  const std::string text = read_text_file(arguments.input == "-" ? "/dev/stdin" : arguments.input, limits);
  const std::string name = arguments.input == "-" ? "standard input" : arguments.input;
  write_result(arguments.output, encode_image(Json::parse(text, name, {}, limits), name, limits), context.console);
  return kYes;
}

}  // namespace

Action add_decode(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("decode", "Turn CRIU images into JSON in the shape of crit");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->path, "Checkpoint archive, or an image file; - is standard input")
      ->required();
  command->add_option("MEMBER", arguments->member, "Image in the archive; the image directory may be left out");
  command->add_flag("--all", arguments->all, "Every image of the archive in one document");
  command->add_flag("--pretty", arguments->pretty, "Flags, devices and addresses in words, and indented");
  command->add_option("-o,--output", arguments->output, "Write to a file")->type_name("FILE");
  return [arguments, context] {
    if (arguments->all) return decode_all(*arguments, context);
    return is_image_file(*arguments) ? decode_file(*arguments, context) : decode_member(*arguments, context);
  };
}

Action add_encode(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("encode", "Turn the JSON of `decode` (or of crit) into a CRIU image");
  const auto arguments = std::make_shared<EncodeArguments>();
  command->add_option("JSON", arguments->input, "JSON file; - is standard input, the default");
  command->add_option("-o,--output", arguments->output, "Image file to write; - is standard output")
      ->type_name("FILE")
      ->required();
  return [arguments, context] { return encode(*arguments, context); };
}

}  // namespace ckpt::tool
