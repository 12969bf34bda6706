// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "ckpt/file.h"
#include "common/progress.h"
#include "common/report.h"
#include "common/request_report.h"
#include "options.h"

namespace ckpt::tool {

namespace {

std::string spool_directory() {
  const char* directory = std::getenv("TMPDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/tmp";
}

Checkpoint open_input(const PatchContext& context) {
  CheckpointOptions options;
  if (context.arguments.input == "-") options.spool_directory = spool_directory();
  Checkpoint checkpoint = Checkpoint::open(context.arguments.input, options);
  for (const std::string& name : checkpoint.archive().duplicates())
    context.console.warning(context.arguments.input + ": " + name + ": occurs more than once; the last one counts");
  if (!checkpoint.problems().empty()) throw checkpoint.problems().front();
  return checkpoint;
}

bool concerns_mounts(const Finding& finding) {
  return finding.code.rfind("mount.", 0) == 0 || finding.code.rfind("source.", 0) == 0;
}

/// Says on stderr what stands in the way; each remedy once.
class Obstacles {
 public:
  explicit Obstacles(const PatchContext& context) : context_(context) {}

  void error(const Finding& finding) {
    context_.console.error(fmt::format("{}: {}: {}", context_.arguments.input, finding.subject, finding.message));
    if (!finding.remedy.empty() && told_.insert(finding.remedy).second) context_.console.hint(finding.remedy);
  }
  void warning(const Finding& finding) {
    context_.console.warning(fmt::format("{}: {}: {}", context_.arguments.input, finding.subject, finding.message));
  }

 private:
  const PatchContext& context_;
  std::set<std::string> told_;
};

enum class Scope { everything, mounts };

// kYes, or the status with which nothing is written.
int obstacles(const PatchContext& context, const Comparison& comparison, Scope scope) {
  Obstacles say(context);
  int status = kYes;
  for (const Finding& finding : comparison.findings) {
    if (finding.severity == Severity::blocker) {
      if (context.arguments.force) {
        say.warning(finding);
        continue;
      }
      say.error(finding);
      status = kBlocked;
    } else if (finding.needs_decision) {
      if (scope == Scope::mounts && !concerns_mounts(finding)) {
        say.warning(finding);
        continue;
      }
      say.error(finding);
      status = std::max(status, kCurable);
    }
  }
  return status;
}

Json plan_report(const PatchContext& context, const Plan& plan) {
  Json json = Json::object();
  json.set("schema", "ckpt.patch/1").set("archive", context.arguments.input);
  json.set("output", optional_text(context.arguments.dry_run ? std::string() : context.arguments.output));
  json.set("dry_run", context.arguments.dry_run);
  json.set("engine", to_string(plan.engine)).set("runtime", to_string(plan.runtime));
  return json.set("changed", !plan.changes_nothing()).set("plan", plan.to_json());
}

Json patch_json(const PatchContext& context, const Comparison* comparison, const Plan& plan) {
  Json json = plan_report(context, plan);
  const Json externals = *plan.to_json().find("externals");
  json.set("externals", externals);
  if (comparison != nullptr)
    json.set("verdict", to_string(comparison->verdict()))
        .set("findings", findings_json(comparison->findings))
        .set("request", request_json(*comparison))
        .set("device_map", optional_text(device_map_text(*comparison)));
  return json;
}

std::string value_text(const Json& value) { return value.is_string() ? value.as_string() : value.dump(-1); }

std::string edit_text(const Edit& edit) {
  switch (edit.op) {
    case Edit::Op::replace:
      return fmt::format("{}{}: {} -> {}", edit.member, edit.pointer, value_text(edit.before), value_text(edit.after));
    case Edit::Op::append:
      return edit.pointer == "/mounts"
                 ? fmt::format("{}{}: + {} from {}", edit.member, edit.pointer, edit.after["destination"].as_string(),
                               edit.after["source"].as_string())
                 : fmt::format("{}{}: + {}", edit.member, edit.pointer, edit.after.dump(-1));
    case Edit::Op::remove:
      return fmt::format("{}{}: removed", edit.member, edit.pointer);
    case Edit::Op::set_field:
      return fmt::format("{}: mount {} {}: {} -> {}", edit.member, edit.mnt_id, edit.field, value_text(edit.before),
                         value_text(edit.after));
    case Edit::Op::remove_mount:
      return fmt::format("{}: mount {} {}: removed", edit.member, edit.mnt_id, value_text(edit.before));
    case Edit::Op::renumber:
      return fmt::format("{}: {}: {} -> {}", edit.member, edit.node, value_text(edit.before), value_text(edit.after));
    case Edit::Op::rename_file:
      return fmt::format("{}: file {}: {} -> {}", edit.member, edit.file_id, value_text(edit.before),
                         value_text(edit.after));
    case Edit::Op::add_node:
      return fmt::format("{}: + {} {}", edit.member, edit.node, value_text(edit.after));
    case Edit::Op::placeholder:
      return fmt::format("{}: + empty {} {}", edit.member, value_text(edit.after), edit.node);
    case Edit::Op::copy_member:
      return fmt::format("{}: copy of {}", value_text(edit.after), edit.member);
  }
  return {};
}

std::string plan_text(const Plan& plan) {
  std::string text;
  for (const Edit& edit : plan.edits) text += "  " + safe(edit_text(edit)) + "\n";
  return text;
}

void print_result(const PatchContext& context, const Comparison* comparison, const Plan& plan) {
  const PatchArguments& arguments = context.arguments;
  if (arguments.output == "-" || arguments.externals == "-" || arguments.plan == "-") return;
  if (context.common.json) return context.console.print_json(patch_json(context, comparison, plan));
  std::string text;
  if (arguments.dry_run && comparison != nullptr)
    text +=
        findings_text(comparison->findings, context.common.verbose > 0 ? Notes::shown : Notes::hidden, context.console);
  const std::string to = arguments.dry_run || arguments.output.empty() ? "" : " -> " + arguments.output;
  text += plan.changes_nothing() ? fmt::format("{}{}: nothing to change\n", safe(arguments.input), safe(to))
                                 : fmt::format("{}{}: {} edit{}\n", safe(arguments.input), safe(to), plan.edits.size(),
                                               plan.edits.size() == 1 ? "" : "s");
  if (arguments.dry_run || context.common.verbose > 0) text += plan_text(plan);
  if (comparison != nullptr) {
    text += request_text(*comparison);
    if (const std::string map = device_map_text(*comparison); !map.empty())
      text += fmt::format("  ckpt-gpu resume --device-map {}\n", safe(map));
  }
  context.console.print(text);
}

void write_archive(const PatchContext& context, const Checkpoint& checkpoint, const Plan& plan) {
  Progress progress;
  RewriteOptions options = rewrite_options(context.arguments);
  options.progress = progress.callback();
  const std::string& output = context.arguments.output;
  const RewriteReport report = output == "-" ? rewrite_to_stream(checkpoint, plan, 1, options)
                                             : rewrite_to_file(checkpoint, plan, output, options);
  if (report.compression_changed && context.arguments.compress.empty() && !checkpoint.archive().is_directory())
    context.console.warning(fmt::format(
        "the input is compressed with {}; for {} the output is {}", to_string(checkpoint.archive().compression()),
        to_string(plan.engine), report.compression == Compression::none ? "a plain tar" : to_string(report.compression)));
  if (checkpoint.archive().is_directory() && output != "-")
    context.console.hint(fmt::format("the input is a directory; {} is a tar of it", output));
}

void write_image(const PatchContext& context, const Checkpoint& checkpoint, const Plan& plan) {
  if (!wants_image(context.arguments)) return;
  Progress progress;
  ImageOptions options = image_options(context.arguments);
  options.rewrite.progress = progress.callback();
  const ImageReport report = rewrite_to_image(checkpoint, plan, options);
  if (!context.common.json && context.arguments.externals != "-" && context.arguments.output != "-")
    context.console.print(fmt::format("{}: image {} {}, layer of {}\n", safe(options.path), safe(report.name),
                                     report.digest, human_size(report.layer_bytes)));
  if (report.layers_elsewhere > 0)
    context.console.hint(fmt::format("{} layer(s) of the base image are named, not copied: push to a registry that has "
                                     "them, or use --oci-archive",
                                     report.layers_elsewhere));
}

void write_plan(const PatchContext& context, const Plan& plan) {
  if (!context.arguments.plan.empty())
    write_text(context.arguments.plan, plan.to_json().dump() + "\n", context.console);
}

void write_externals(const PatchContext& context, const std::vector<External>& lines) {
  write_text(context.arguments.externals, format_externals(lines, external_format(context.arguments)), context.console);
}

const char* why_lines(const Plan& plan) {
  if (plan.engine == Engine::cri_o) return "CRI-O takes no mount's source from spec.dump";
  return plan.engine == Engine::runc || plan.engine == Engine::crun ? "there is no spec.dump to name them in"
                                                                    : "the runtime offers nothing for their keys";
}

int run_apply(const PatchContext& context) {
  const Checkpoint checkpoint = open_input(context);
  const std::string& file = context.arguments.apply;
  const Plan plan = Plan::from_json(Json::parse(read_text_file(file), file), file);
  if (!context.arguments.dry_run) {
    if (!context.arguments.externals.empty()) format_externals(plan.externals, external_format(context.arguments));
    if (!context.arguments.output.empty()) write_archive(context, checkpoint, plan);
    write_image(context, checkpoint, plan);
    if (!context.arguments.externals.empty()) write_externals(context, plan.externals);
  }
  print_result(context, nullptr, plan);
  return kYes;
}

// The list for an archive that stays as it is.
int run_list(const PatchContext& context, const Checkpoint& checkpoint, const Comparison& comparison) {
  if (const int status = obstacles(context, comparison, Scope::mounts); status != kYes) return status;
  const ExternalList list = external_list(checkpoint, comparison);
  if (!list.lines.empty() || list.not_listable.empty()) write_externals(context, list.lines);
  Obstacles say(context);
  for (const Finding& finding : list.not_listable) say.error(finding);
  if (context.common.json) {
    Json document = Json::parse(format_externals(list.lines, ExternalFormat::json));
    context.console.print_json(document.set("not_listable", findings_json(list.not_listable)));
  }
  return list.not_listable.empty() ? kYes : kCurable;
}

}  // namespace

int run_patch(const PatchContext& context) {
  const PatchArguments& arguments = context.arguments;
  if (!arguments.apply.empty()) return run_apply(context);
  const Checkpoint checkpoint = open_input(context);
  const Target target = load_target(arguments.target, checkpoint);
  for (const CdiProblem& problem : target.problems()) context.console.warning(problem.file + ": " + problem.message);
  const Comparison comparison = compare(checkpoint, target, restore_rules(arguments.target));
  const bool writes = !arguments.output.empty() || wants_image(arguments);
  if (!writes && !arguments.externals.empty() && !arguments.dry_run)
    return run_list(context, checkpoint, comparison);
  const Plan plan = make_plan(checkpoint, comparison, arguments.record ? Provenance::record : Provenance::none);
  if (arguments.dry_run) {
    write_plan(context, plan);
    print_result(context, &comparison, plan);
    return status_of(comparison.verdict());
  }
  if (const int status = obstacles(context, comparison, Scope::everything); status != kYes) {
    if (context.common.json) context.console.print_json(patch_json(context, &comparison, plan));
    return status;
  }
  if (!plan.externals.empty() && arguments.externals.empty() && writes) {
    context.console.error(fmt::format("{}: {} mounts need a line for CRIU, since {}", arguments.input,
                                      plan.externals.size(), why_lines(plan)));
    context.console.hint("--externals FILE beside it writes them");
    return kCurable;
  }
  if (!arguments.externals.empty()) format_externals(plan.externals, external_format(arguments));
  if (!arguments.output.empty()) write_archive(context, checkpoint, plan);
  write_image(context, checkpoint, plan);
  write_plan(context, plan);
  if (!arguments.externals.empty()) write_externals(context, plan.externals);
  print_result(context, &comparison, plan);
  return kYes;
}

}  // namespace ckpt::tool
