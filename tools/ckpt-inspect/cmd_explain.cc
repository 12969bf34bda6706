// SPDX-License-Identifier: Apache-2.0
#include "ckpt/explain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "commands.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::string log;
  std::string archive;
  bool list = false;
};

std::string indented(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + safe(line) + "\n";
  return text;
}

std::string conf_file(const std::optional<Checkpoint>& checkpoint) {
  return checkpoint && checkpoint->runtime() == Runtime::crun ? "/etc/criu/crun.conf" : "/etc/criu/runc.conf";
}

std::string heading(const Explanation& explanation) {
  std::string text = safe(explanation.log);
  if (explanation.stage != LogStage::any) text += fmt::format(": {}", to_string(explanation.stage));
  if (explanation.outcome != LogOutcome::unknown) text += fmt::format(" {}", to_string(explanation.outcome));
  if (!explanation.criu_version.empty()) text += fmt::format(", CRIU {}", safe(explanation.criu_version));
  if (!explanation.kernel.empty()) text += fmt::format(", Linux {}", safe(explanation.kernel));
  return text + "\n";
}

std::string cause_text(const Diagnosis& cause, const std::string& conf, const Console& console) {
  std::string text = fmt::format("\n{} line {}: {}\n", console.paint(Color::red, cause.code), cause.line.number,
                                 safe(cause.line.text));
  text += fmt::format("\nCause:   {}\nRemedy:  {}\n", safe(cause.cause), safe(cause.remedy));
  if (!cause.conf_lines.empty())
    text += fmt::format("\nIn {} (or the file that the runtime names to CRIU):\n", conf) + indented(cause.conf_lines);
  if (!cause.commands.empty()) text += "\nNext:\n" + indented(cause.commands);
  return text;
}

std::string related_text(const std::vector<Diagnosis>& related) {
  std::string text = related.empty() ? "" : "\nAlso in the log:\n";
  for (const Diagnosis& diagnosis : related) {
    text += fmt::format("  {} line {}: {}\n", diagnosis.code, diagnosis.line.number, safe(diagnosis.cause));
    if (!diagnosis.remedy.empty()) text += fmt::format("    {}\n", safe(diagnosis.remedy));
    for (const std::string& command : diagnosis.commands) text += fmt::format("    {}\n", safe(command));
  }
  return text;
}

std::string errors_text(const Explanation& explanation) {
  if (explanation.outcome == LogOutcome::succeeded) return "\nNothing failed.\n";
  std::string text = "\nNo known cause.";
  if (explanation.last_errors.empty() && explanation.noise > 0)
    return text + " Only harmless lines are here; engines print the first line of CRIU's log, so look at all of it.\n";
  if (explanation.last_errors.empty()) return text + " There is no error line either; a higher log level says more.\n";
  text += explanation.first_error ? fmt::format(" The first error line is the likeliest:\n  line {}: {}\n",
                                                explanation.first_error->number, safe(explanation.first_error->text))
                                  : "\n";
  text += "The last error lines:\n";
  for (const LogLine& line : explanation.last_errors)
    text += fmt::format("  line {}: {}\n", line.number, safe(line.text));
  return text;
}

std::string explanation_text(const Explanation& explanation, const std::string& conf, Context context) {
  std::string text = heading(explanation);
  const auto& cause = explanation.cause;
  text += cause ? cause_text(*cause, conf, context.console) : errors_text(explanation);
  const auto& first = explanation.first_error;
  if (cause && first && first->number < cause->line.number)
    text += fmt::format("\nBefore it, unknown, line {}: {}\n", first->number, safe(first->text));
  if (cause && cause->mnt_id && cause->key.empty() && cause->path.empty())
    text += "\n--archive CHECKPOINT turns the mount's number into the container's path.\n";
  text += related_text(explanation.related);
  if (context.options.verbose > 0)
    text += fmt::format("\n{} lines, {} bytes; {} harmless lines set aside\n", explanation.lines, explanation.bytes,
                        explanation.noise);
  return text;
}

Json line_json(const LogLine& line) {
  Json json = Json::object();
  return json.set("line", line.number).set("text", line.text);
}

Json strings_json(const std::vector<std::string>& strings) {
  Json list = Json::array();
  for (const std::string& text : strings) list.push(text);
  return list;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  Json json = Json::object();
  json.set("code", diagnosis.code).set("weight", to_string(diagnosis.weight));
  json.set("line", diagnosis.line.number).set("text", diagnosis.line.text);
  json.set("mnt_id", diagnosis.mnt_id ? Json(*diagnosis.mnt_id) : Json());
  json.set("path", optional_text(diagnosis.path)).set("source", optional_text(diagnosis.source));
  json.set("ext_key", optional_text(diagnosis.key));
  json.set("message", diagnosis.cause).set("remedy", diagnosis.remedy);
  json.set("conf", strings_json(diagnosis.conf_lines));
  return json.set("commands", strings_json(diagnosis.commands));
}

Json explanation_json(const Explanation& explanation, const std::string& conf) {
  Json related = Json::array();
  for (const Diagnosis& diagnosis : explanation.related) related.push(diagnosis_json(diagnosis));
  Json errors = Json::array();
  for (const LogLine& line : explanation.last_errors) errors.push(line_json(line));
  Json json = Json::object();
  json.set("schema", "ckpt.explain/1").set("log", explanation.log).set("stage", to_string(explanation.stage));
  json.set("outcome", to_string(explanation.outcome)).set("criu_version", optional_text(explanation.criu_version));
  json.set("kernel", optional_text(explanation.kernel));
  json.set("cause", explanation.cause ? diagnosis_json(*explanation.cause) : Json());
  json.set("related", std::move(related)).set("conf_file", conf);
  json.set("first_error", explanation.first_error ? line_json(*explanation.first_error) : Json());
  json.set("last_errors", std::move(errors)).set("lines", explanation.lines).set("bytes", explanation.bytes);
  return json.set("noise", explanation.noise);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string catalogue_text() {
  std::string text;
  for (const FailureKind& kind : failure_kinds()) {
    text += fmt::format("{} ({}, {})\n", kind.code, to_string(kind.stage), to_string(kind.weight));
    for (const std::string& pattern : lines_of(kind.patterns)) text += fmt::format("  log:    {}\n", safe(pattern));
    text += fmt::format("  cause:  {}\n", kind.cause);
    if (!kind.remedy.empty()) text += fmt::format("  remedy: {}\n", kind.remedy);
  }
  return text;
}

Json catalogue_json() {
  Json kinds = Json::array();
  for (const FailureKind& kind : failure_kinds()) {
    Json json = Json::object();
    json.set("code", kind.code).set("stage", to_string(kind.stage)).set("weight", to_string(kind.weight));
    json.set("patterns", strings_json(lines_of(kind.patterns))).set("message", kind.cause).set("remedy", kind.remedy);
    json.set("conf", strings_json(lines_of(kind.conf))).set("commands", strings_json(lines_of(kind.commands)));
    kinds.push(std::move(json));
  }
  Json json = Json::object();
  return json.set("schema", "ckpt.explain-list/1").set("kinds", std::move(kinds));
}

Explanation explanation_of(const Arguments& arguments, const std::optional<Checkpoint>& checkpoint) {
  if (arguments.log == "-") return explain_log_stream(STDIN_FILENO, "-");
  if (!arguments.log.empty()) return explain_log(arguments.log);
  if (auto explanation = explain_log_of(*checkpoint)) return std::move(*explanation);
  throw Error(ErrorCode::invalid_argument, Where{arguments.archive, {}, {}, {}}, "no restore.log and no dump.log in it",
              "name the log that CRIU left in the bundle or the work directory");
}

int list(Context context) {
  if (context.options.json)
    context.console.print_json(catalogue_json());
  else
    context.console.print(catalogue_text());
  return kYes;
}

int run(const Arguments& arguments, Context context) {
  if (arguments.list) return list(context);
  if (arguments.log.empty() && arguments.archive.empty())
    throw Error(ErrorCode::invalid_argument, {}, "a LOG or --archive is required", "- is standard input");
  if (arguments.log == "-" && arguments.archive == "-")
    throw Error(ErrorCode::invalid_argument, {}, "LOG and --archive cannot both be standard input");
  std::optional<Checkpoint> checkpoint;
  if (!arguments.archive.empty()) checkpoint = open_for_reading(arguments.archive, context.console);
  Explanation explanation = explanation_of(arguments, checkpoint);
  if (checkpoint) locate(explanation, *checkpoint);
  const std::string conf = conf_file(checkpoint);
  if (context.options.json)
    context.console.print_json(explanation_json(explanation, conf));
  else
    context.console.print(explanation_text(explanation, conf, context));
  return explanation.cause || explanation.outcome == LogOutcome::succeeded ? kYes : kCurable;
}

}  // namespace

Action add_explain(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("explain", "Find the line of a CRIU log that matters, its cause and remedy");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("LOG", arguments->log,
                      "dump.log or restore.log, compressed or not, a directory with one, or what a runtime printed; - "
                      "is standard input (default: the log inside --archive)");
  command
      ->add_option("--archive", arguments->archive,
                   "The checkpoint it is about: mount ids and temporary paths become the container's paths")
      ->type_name("ARCHIVE");
  command->add_flag("--list", arguments->list, "Print the catalogue of known failures");
  command->footer("Exit status: 0 a cause was found or nothing failed, 1 no known cause, 2 trouble.");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool
