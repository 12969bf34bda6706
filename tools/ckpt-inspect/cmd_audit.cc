// SPDX-License-Identifier: Apache-2.0
#include "ckpt/audit.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "commands.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string severity = "low";
};

Color color_of(Danger danger) {
  if (danger == Danger::high) return Color::red;
  return danger == Danger::medium ? Color::yellow : Color::dim;
}

Danger danger_from(const std::string& name) {
  for (const Danger danger : {Danger::low, Danger::medium, Danger::high})
    if (name == to_string(danger)) return danger;
  throw Error(ErrorCode::invalid_argument, {}, "--severity " + name + ": choose low, medium or high");
}

std::string audit_text(const Checkpoint& checkpoint, const Audit& audit, const Console& console) {
  if (audit.findings.empty()) return fmt::format("{}: nothing dangerous found\n", safe(checkpoint.name()));
  std::string text = fmt::format("{}: {} findings\n", safe(checkpoint.name()), audit.findings.size());
  for (const AuditFinding& finding : audit.findings) {
    const std::string label = fmt::format("{:<7}", to_string(finding.danger));
    text += fmt::format("{} {} {}: {}\n", console.paint(color_of(finding.danger), label), finding.code,
                        safe(finding.subject), safe(finding.message));
    if (!finding.remedy.empty()) text += fmt::format("        {}\n", safe(finding.remedy));
  }
  return text;
}

Json audit_json(const Checkpoint& checkpoint, const Audit& audit) {
  Json findings = Json::array();
  for (const AuditFinding& finding : audit.findings) {
    Json json = Json::object();
    json.set("code", finding.code).set("severity", to_string(finding.danger)).set("subject", finding.subject);
    findings.push(std::move(json.set("message", finding.message).set("remedy", finding.remedy)));
  }
  Json json = Json::object();
  json.set("archive", checkpoint.name()).set("clean", audit.findings.empty() && audit.problems.empty());
  return json.set("findings", std::move(findings));
}

CheckpointOptions audit_options(const std::string& path) {
  CheckpointOptions options;
  options.unsafe_names = UnsafeNames::keep;
  // The tars inside are read after the documents, and a pipe comes once.
  const char* directory = std::getenv("TMPDIR");
  if (path == "-") options.spool_directory = directory != nullptr && *directory != '\0' ? directory : "/tmp";
  return options;
}

struct Outcome {
  std::vector<Json> documents;
  int status = kYes;
};

void audit_one(const std::string& path, Danger least, Context context, Outcome& outcome) {
  const Checkpoint checkpoint = Checkpoint::open(path, audit_options(path));
  Audit report = audit(checkpoint);
  std::erase_if(report.findings, [&](const AuditFinding& finding) { return finding.danger < least; });
  if (context.options.json)
    outcome.documents.push_back(audit_json(checkpoint, report));
  else
    context.console.print(audit_text(checkpoint, report, context.console));
  for (const Error& problem : report.problems) context.console.error(problem);
  const bool unread = report_problems(checkpoint, context.console) || !report.problems.empty();
  outcome.status = std::max(outcome.status, unread ? kTrouble : report.findings.empty() ? kYes : kCurable);
}

int run(const Arguments& arguments, Context context) {
  const Danger least = danger_from(arguments.severity);
  Outcome outcome;
  for (const std::string& path : arguments.paths) {
    try {
      audit_one(path, least, context, outcome);
    } catch (const Error& error) {
      context.console.error(error);
      outcome.status = kTrouble;
    }
  }
  if (context.options.json && !outcome.documents.empty())
    context.console.print_json(wrap_archives("ckpt.audit/1", std::move(outcome.documents)));
  return outcome.status;
}

}  // namespace

Action add_audit(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("audit", "Say what in a checkpoint is dangerous to import");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives; - is standard input")->required();
  command->add_option("--severity", arguments->severity, "Leave out what is less dangerous: low (all), medium or high")
      ->type_name("LEVEL");
  command->footer("Exit status: 0 nothing found, 1 findings, 2 trouble (something could not be looked into).");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool
