// SPDX-License-Identifier: Apache-2.0
#include "options.h"

namespace ckpt::tool {

namespace {

constexpr const char* kMasters = "enable-external-masters";

// What a dump needs beside the list: mounts of a host whose / is shared are slaves in the container.
std::string with_masters(const std::string& text, ExternalFormat format) {
  switch (format) {
    case ExternalFormat::conf:
      return text + kMasters + "\n";
    case ExternalFormat::args:
      return text + "--" + kMasters + "\n";
    case ExternalFormat::json:
      break;
  }
  Json document = Json::parse(text);
  return document.set("options", Json(Json::Array{Json(kMasters)})).dump() + "\n";
}

std::string autodetect_text(ExternalFormat format) {
  switch (format) {
    case ExternalFormat::conf:
      return "external=mnt[]\n";
    case ExternalFormat::args:
      return "--external 'mnt[]'\n";
    case ExternalFormat::json:
      break;
  }
  Json line = Json::object();
  line.set("key", "").set("value", "").set("mountpoint", "");
  Json document = Json::object();
  document.set("schema", "ckpt.externals/1").set("externals", Json(Json::Array{std::move(line)}));
  return document.dump() + "\n";
}

}  // namespace

int run_node_list(const PatchContext& context) {
  const PatchArguments& arguments = context.arguments;
  const ExternalFormat format = external_format(arguments);
  const bool for_dump = arguments.purpose == "dump";
  if (arguments.autodetect) {
    write_text(arguments.externals, with_masters(autodetect_text(format), format), context.console);
    context.console.hint(
        "dumps with detected mounts carry no key of their own: only a patched archive restores where the driver lies "
        "elsewhere; the list without --auto is the more reliable one");
    return kYes;
  }
  const Target target = load_target(arguments.target);
  for (const CdiProblem& problem : target.problems()) context.console.warning(problem.file + ": " + problem.message);
  const auto lines = node_external_list(target, for_dump ? NodeListFor::dump : NodeListFor::restore);
  if (lines.empty())
    throw Error(ErrorCode::invalid_argument, {}, "no CDI device and no list of files describes the node",
                "name its CDI file with --cdi, or the output of `nvidia-container-cli list` with --files");
  const std::string text = format_externals(lines, format);
  write_text(arguments.externals, for_dump ? with_masters(text, format) : text, context.console);
  return kYes;
}

}  // namespace ckpt::tool
