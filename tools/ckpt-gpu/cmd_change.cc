// SPDX-License-Identifier: Apache-2.0
#include "ckpt/file.h"
#include "options.h"
#include "report.h"

namespace ckpt::tool {

namespace {

struct Verb {
  GpuVerb verb;
  const char* name;
  const char* help;
};
constexpr Verb kVerbs[] = {
    {GpuVerb::suspend, "suspend", "Lock all, then checkpoint all: GPU memory moves to host memory"},
    {GpuVerb::resume, "resume", "Restore all, then unlock all"},
    {GpuVerb::lock, "lock", "Stop further CUDA calls and wait for submitted work"},
    {GpuVerb::checkpoint, "checkpoint", "Copy the GPU memory of locked processes out"},
    {GpuVerb::restore, "restore", "Copy the GPU memory of checkpointed processes back in; they stay locked"},
    {GpuVerb::unlock, "unlock", "Let locked processes go on"},
    {GpuVerb::toggle, "toggle", "Suspend what runs, resume what is checkpointed"},
    {GpuVerb::recover, "recover", "Bring back what a killed run left locked or checkpointed"},
};

bool copies_out(GpuVerb verb) {
  return verb == GpuVerb::suspend || verb == GpuVerb::toggle || verb == GpuVerb::checkpoint;
}
bool takes_map(GpuVerb verb) {
  return verb == GpuVerb::resume || verb == GpuVerb::restore || verb == GpuVerb::toggle || verb == GpuVerb::recover;
}

GpuRequest request_of(GpuVerb verb, const GpuArguments& arguments) {
  GpuRequest request;
  request.verb = verb;
  request.jobs = arguments.jobs;
  request.force = arguments.force;
  request.hugepages = arguments.hugepages;
  if (takes_map(verb))
    request.device_map = find_device_map(arguments.device_map, arguments.device_map_file, arguments.state_root);
  if (!arguments.recorded.empty())
    request.recorded = parse_gpu_record(read_text_file(arguments.recorded), arguments.recorded);
  return request;
}

void say_findings(const GpuResult& report, Console& console) {
  for (const GpuFinding& finding : report.findings) {
    if (report.outcome == GpuOutcome::refused && finding.blocks) {
      console.error(finding.subject + ": " + finding.message);
      if (!finding.remedy.empty()) console.hint(finding.remedy);
    } else {
      console.warning(finding.subject + ": " + finding.message);
    }
  }
}

void say_end(const GpuResult& report, Console& console) {
  switch (report.outcome) {
    case GpuOutcome::done:
    case GpuOutcome::refused:
      return;
    case GpuOutcome::no_process:
      return console.error(report.explanation);
    case GpuOutcome::timed_out:
      console.error("timed out: " + report.explanation);
      return console.hint("every process is as it was before");
    case GpuOutcome::rolled_back:
      console.error("failed: " + report.explanation);
      return console.hint("every process is as it was before");
    case GpuOutcome::not_rolled_back:
      console.error("failed and not rolled back: " + report.explanation);
      return console.hint("ckpt-gpu recover brings back what can be brought back");
  }
}

// A setting of the whole system that a killed run left is put back by the next one, whatever it was asked to do.
void mend_hugepages(GpuSession& session, Console& console) {
  const std::string word = session.restore_hugepages();
  if (!word.empty()) console.warning("put transparent_hugepage back to " + word + ", which a killed run had changed");
}

bool names_nothing(const GpuArguments& arguments) {
  return arguments.pids.empty() && arguments.trees.empty() && arguments.cgroups.empty() && arguments.containers.empty();
}

int run_change(GpuVerb verb, GpuContext context) {
  const GpuArguments& arguments = context.arguments;
  GpuSession session(session_options(arguments));
  const GpuRequest request = request_of(verb, arguments);
  mend_hugepages(session, context.console);
  if (verb == GpuVerb::recover && names_nothing(arguments)) return kYes;
  if (request.hugepages) context.console.warning("transparent_hugepage=always for the whole system while copying");
  const GpuResult report = session.run(selection_of(arguments), request);
  if (context.options.json)
    context.console.print_json(report_json(report));
  else if (report.outcome != GpuOutcome::no_process)
    context.console.print(report_text(report));
  say_findings(report, context.console);
  say_end(report, context.console);
  if (!arguments.record.empty() && report.outcome == GpuOutcome::done)
    write_file(arguments.record, to_json(report.record));
  return status_of(report.outcome);
}

}  // namespace

void add_change_commands(CLI::App& app, GpuContext context, const Register& run) {
  GpuArguments& arguments = context.arguments;
  for (const Verb& verb : kVerbs) {
    CLI::App* command = app.add_subcommand(verb.name, verb.help);
    add_selection_options(*command, arguments);
    command->add_option("--jobs", arguments.jobs, "Copies at once (default: all)")->type_name("N");
    command->add_flag("--force", arguments.force, "Go past what preflight refuses, with a warning");
    if (copies_out(verb.verb)) {
      command->add_flag("--hugepages", arguments.hugepages,
                        "transparent_hugepage=always for the whole system while copying");
      command->add_option("--record", arguments.record, "Write down which GPUs were used, for resume and map")
          ->type_name("FILE");
    }
    if (takes_map(verb.verb)) add_map_options(*command, arguments);
    run(command, [kind = verb.verb, context] { return run_change(kind, context); });
  }
}

}  // namespace ckpt::tool
