// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ckpt/criu_conf.h"
#include "commands.h"
#include "common/request_report.h"
#include "common/target_options.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  TargetArguments target;
  std::string criu_conf;
};

Color color_of(Verdict verdict) {
  if (verdict == Verdict::restores) return Color::green;
  return verdict == Verdict::patchable ? Color::yellow : Color::red;
}

std::string advice(const Comparison& comparison) {
  if (comparison.verdict() == Verdict::restores) return "it restores there as it is";
  if (comparison.verdict() == Verdict::blocked) return "no patch can make it restore there";
  return comparison.needs_decision() ? "a patch helps, once the points marked `decide` are settled"
                                     : "ckpt-patch can make it restore there";
}

std::size_t count(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](const Finding& finding) { return finding.severity == severity; }));
}

std::string check_text(const Checkpoint& checkpoint, const Comparison& comparison, Context context) {
  const Verdict verdict = comparison.verdict();
  const Notes notes = context.options.verbose > 0 ? Notes::shown : Notes::hidden;
  std::string text = fmt::format("{}: {} under {} with {}: {}\n", safe(checkpoint.name()),
                                 context.console.paint(color_of(verdict), to_string(verdict)),
                                 to_string(comparison.engine), to_string(comparison.runtime), advice(comparison));
  text += findings_text(comparison.findings, notes, context.console);
  text += request_text(comparison);
  const std::size_t hidden = count(comparison.findings, Severity::note);
  if (hidden > 0 && notes == Notes::hidden) text += fmt::format("{} notes, shown with -v\n", hidden);
  return text;
}

Json check_json(const Checkpoint& checkpoint, const Target& target, const Comparison& comparison) {
  Json devices = Json::array();
  for (const std::string& name : target.devices()) devices.push(name);
  Json json = Json::object();
  json.set("archive", checkpoint.name()).set("engine", to_string(comparison.engine));
  json.set("runtime", to_string(comparison.runtime)).set("target_devices", std::move(devices));
  json.set("verdict", to_string(comparison.verdict())).set("request", request_json(comparison));
  return json.set("findings", findings_json(comparison.findings));
}

// A file that was named counts; else what the node's facts have for the runtime.
CriuConf conf_of(const Arguments& arguments) {
  if (!arguments.criu_conf.empty()) return load_criu_conf(arguments.criu_conf);
  if (arguments.target.node.empty()) return {};
  const NodeFacts node = load_node_facts(arguments.target.node);
  const bool crun = arguments.target.runtime == "crun" || arguments.target.engine == "crun";
  for (const char* name : {crun ? "/etc/criu/crun.conf" : "/etc/criu/runc.conf", "/etc/criu/runc.conf"})
    for (const NodeConf& conf : node.criu_conf)
      if (conf.file == name) return parse_criu_conf(conf.text, conf.file);
  return {};
}

RestoreRules rules_of(const Arguments& arguments, const CriuConf& conf) {
  RestoreRules rules = restore_rules(arguments.target);
  rules.externals_in_force = conf.externals;
  rules.autodetect_in_force = conf.autodetect;
  return rules;
}

int run(const Arguments& arguments, Context context) {
  const CriuConf conf = conf_of(arguments);
  std::vector<Json> documents;
  int status = kYes;
  for (const std::string& path : arguments.paths) {
    const Checkpoint checkpoint = open_for_reading(path, context.console);
    const Target target = load_target(arguments.target, checkpoint);
    Comparison comparison = compare(checkpoint, target, rules_of(arguments, conf));
    for (Finding& finding : lint_criu_conf(conf, checkpoint, target)) comparison.findings.push_back(std::move(finding));
    status = std::max(status, status_of(comparison.verdict()));
    if (context.options.json)
      documents.push_back(check_json(checkpoint, target, comparison));
    else
      context.console.print(check_text(checkpoint, comparison, context));
  }
  if (context.options.json) context.console.print_json(wrap_archives("ckpt.check/1", std::move(documents)));
  return status;
}

}  // namespace

Action add_check(CLI::App& app, Context context) {
  CLI::App* command =
      app.add_subcommand("check", "Say whether a checkpoint will restore on a target node, and what is in the way");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives; - is standard input")->required();
  add_target_options(*command, arguments->target);
  add_rule_options(*command, arguments->target);
  command
      ->add_option("--criu-conf", arguments->criu_conf,
                   "CRIU configuration in force at the restore (/etc/criu/runc.conf): its external mounts count, and "
                   "it is checked")
      ->type_name("FILE");
  command->footer("Exit status: 0 restores, 1 patchable, 3 blocked, 2 trouble.");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool
