// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ckpt/compare.h"
#include "commands.h"

namespace ckpt::tool {

namespace {

enum class Values { hidden, shown };

struct Arguments {
  std::string a;
  std::string b;
  std::vector<std::string> sections;
  bool values = false;
};

constexpr std::size_t kLongList = 8;

// One line a value: lists and objects in short, texts as they are.
std::string short_form(const Json& value) {
  if (value.is_string()) return value.as_string().empty() ? "\"\"" : value.as_string();
  if (value.is_array() && value.size() > kLongList) return fmt::format("a list of {}", value.size());
  if (!value.is_object()) return value.is_null() ? "(none)" : value.dump(-1);
  std::string text;
  for (const auto& [key, member] : value.members())
    if (!member.is_null()) text += (text.empty() ? "" : ", ") + key + " " + short_form(member);
  return text;
}

std::string value_text(const Difference& difference, Values values) {
  const bool hidden = difference.confidential && values == Values::hidden;
  if (difference.change == Difference::Change::changed) {
    if (hidden) return "value changed";
    return fmt::format("{}{} -> {}", difference.field.empty() ? "" : difference.field + ": ",
                       short_form(difference.before), short_form(difference.after));
  }
  if (hidden) return {};
  const Json& value = difference.change == Difference::Change::added ? difference.after : difference.before;
  return value.is_bool() ? std::string() : short_form(value);
}

std::string line_of(const Difference& difference, Values values, const Console& console) {
  const bool added = difference.change == Difference::Change::added;
  const bool removed = difference.change == Difference::Change::removed;
  const Color color = added ? Color::green : removed ? Color::red : Color::yellow;
  std::string line = fmt::format("  {} {}", added ? "+" : removed ? "-" : "~", safe(difference.subject));
  if (!difference.added_by.empty()) line += fmt::format(" [{}]", difference.added_by);
  const std::string value = value_text(difference, values);
  if (!value.empty()) line += "  " + safe(value);
  return console.paint(color, line) + "\n";
}

std::string diff_text(const Arguments& arguments, const DifferenceReport& report, const Console& console) {
  const Values values = arguments.values ? Values::shown : Values::hidden;
  if (report.differences.empty()) return fmt::format("{} and {} do not differ\n", safe(arguments.a), safe(arguments.b));
  std::string text = fmt::format("- {}\n+ {}\n", safe(arguments.a), safe(arguments.b));
  std::string section;
  for (const Difference& difference : report.differences) {
    if (difference.section != section) text += "\n" + difference.section + "\n";
    section = difference.section;
    text += line_of(difference, values, console);
  }
  return text;
}

Json diff_json(const Arguments& arguments, const DifferenceReport& report) {
  Json list = Json::array();
  for (const Difference& difference : report.differences) {
    const bool hidden = difference.confidential && !arguments.values;
    Json json = Json::object();
    json.set("section", difference.section).set("change", to_string(difference.change));
    json.set("subject", difference.subject).set("field", optional_text(difference.field));
    json.set("before", hidden ? Json() : difference.before).set("after", hidden ? Json() : difference.after);
    list.push(std::move(json.set("added_by", optional_text(difference.added_by)).set("hidden", hidden)));
  }
  Json missing = Json::array();
  for (const std::string& name : report.not_compared) missing.push(name);
  Json json = Json::object();
  json.set("schema", "ckpt.diff/1").set("a", arguments.a).set("b", arguments.b);
  json.set("identical", report.differences.empty()).set("differences", std::move(list));
  return json.set("not_compared", std::move(missing));
}

ComparedSide open(const std::string& path, Context context, bool& trouble) {
  ComparedSide side = open_side(path);
  if (!side.checkpoint) return side;
  for (const std::string& name : side.checkpoint->archive().duplicates())
    context.console.warning(fmt::format("{}: {}: occurs more than once; the last one counts", path, name));
  if (report_problems(*side.checkpoint, context.console)) trouble = true;
  return side;
}

void keep_sections(DifferenceReport& report, const std::vector<std::string>& sections) {
  if (sections.empty()) return;
  std::erase_if(report.differences, [&](const Difference& difference) {
    return std::find(sections.begin(), sections.end(), difference.section) == sections.end();
  });
}

void check_sections(const std::vector<std::string>& sections) {
  static const std::vector<std::string> kKnown = {"mounts",       "devices",      "device_rules",   "hooks",
                                                  "environment",  "annotations",  "namespaces",     "rlimits",
                                                  "capabilities", "masked_paths", "readonly_paths", "spec",
                                                  "checkpoint",   "image_mounts", "device_nodes",   "processes",
                                                  "files",        "gpu",          "sizes",          "members"};
  for (const std::string& section : sections)
    if (std::find(kKnown.begin(), kKnown.end(), section) == kKnown.end())
      throw Error(ErrorCode::invalid_argument, {}, "--only " + section + " is unknown",
                  fmt::format("choose of {}", fmt::join(kKnown, ", ")));
}

int run(const Arguments& arguments, Context context) {
  check_sections(arguments.sections);
  if (arguments.a == "-" && arguments.b == "-")
    throw Error(ErrorCode::invalid_argument, {}, "A and B cannot both be standard input");
  bool trouble = false;
  const ComparedSide a = open(arguments.a, context, trouble);
  const ComparedSide b = open(arguments.b, context, trouble);
  if (!(a.spec && b.spec) && !(a.checkpoint && b.checkpoint))
    throw Error(ErrorCode::invalid_argument, Where{(a.spec ? b : a).name, {}, {}, {}},
                "has no spec.dump, so there is nothing to compare with a config.json");
  DifferenceReport report = compare_sides(a, b);
  keep_sections(report, arguments.sections);
  if (context.options.json)
    context.console.print_json(diff_json(arguments, report));
  else
    context.console.print(diff_text(arguments, report, context.console));
  for (const ComparedSide* side : {&a, &b})
    if (!side->spec)
      context.console.warning(side->name + ": has no spec.dump; mounts, hooks and the like not compared");
  if (trouble) return kTrouble;
  return report.differences.empty() ? kYes : kCurable;
}

}  // namespace

Action add_diff(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand(
      "diff", "Say what differs between two checkpoints, a checkpoint and a bundle, or two config.json");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("A", arguments->a, "A checkpoint, a config.json or a bundle directory; - is standard input")
      ->required();
  command->add_option("B", arguments->b, "What to compare it with")->required();
  command->add_option("--only", arguments->sections, "Only this section: mounts, hooks, environment, image_mounts ...")
      ->type_name("SECTION")
      ->allow_extra_args(false);
  command->add_flag("--values", arguments->values, "Show values of environment variables and annotations");
  command->footer(
      "In brackets stands who puts such a thing into a container, where its place tells.\n"
      "Exit status: 0 no difference, 1 differences, 2 trouble.");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool
