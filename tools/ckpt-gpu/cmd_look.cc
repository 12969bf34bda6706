// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ckpt/file.h"
#include "options.h"
#include "report.h"

namespace ckpt::tool {

namespace {

bool is_cuda(const GpuProcess& process) { return process.kind == GpuKind::cuda; }

// What a listing tells by its exit status: a question that was refused is another matter than one without an answer.
int status_of_processes(const std::vector<GpuProcess>& processes) {
  int status = kNoProcess;
  for (const GpuProcess& process : processes) {
    const bool unknown =
        process.kind == GpuKind::unreachable || (is_cuda(process) && process.state == GpuState::unknown);
    const bool waits =
        process.trouble == "stopped" || process.trouble == "frozen" || process.trouble == "no answer from the driver";
    if (unknown && !waits) return kTrouble;
    if (unknown) status = kTimedOut;
    if (is_cuda(process) && status == kNoProcess) status = kYes;
  }
  return status;
}

void say_trouble(const std::vector<GpuProcess>& processes, Console& console) {
  for (const GpuProcess& process : processes)
    if (!process.trouble.empty()) console.warning("process " + std::to_string(process.pid) + ": " + process.trouble);
}

int run_state(GpuContext context) {
  GpuSession session(session_options(context.arguments));
  const GpuSelection selection = selection_of(context.arguments);
  std::vector<GpuProcess> processes = session.processes(selection);
  const int status = status_of_processes(processes);
  const bool all = context.arguments.all;
  processes.erase(std::remove_if(processes.begin(), processes.end(),
                                 [&](const GpuProcess& process) {
                                   return !all && !is_cuda(process) && process.kind != GpuKind::unreachable;
                                 }),
                  processes.end());
  if (context.options.json) {
    Json list = Json::array();
    for (const GpuProcess& process : processes) list.push(process_json(process));
    Json document = gpu_document("state");
    document.set("driver", driver_json(session.driver())).set("processes", std::move(list));
    context.console.print_json(document);
  } else if (!processes.empty()) {
    context.console.print(processes_text(processes));
  }
  say_trouble(processes, context.console);
  if (status == kNoProcess) context.console.error("no CUDA process");
  return status;
}

int run_tid(GpuContext context) {
  GpuSession session(session_options(context.arguments));
  const std::vector<GpuProcess> processes = session.processes(selection_of(context.arguments));
  Json list = Json::array();
  for (const GpuProcess& process : processes) {
    if (!is_cuda(process)) continue;
    Json json = Json::object();
    list.push(std::move(json.set("pid", process.pid).set("restore_tid", process.restore_tid)));
    if (!context.options.json)
      context.console.print(std::to_string(process.pid) + " " + std::to_string(process.restore_tid) + "\n");
  }
  Json document = gpu_document("tid");
  if (context.options.json) context.console.print_json(document.set("processes", std::move(list)));
  say_trouble(processes, context.console);
  const int status = status_of_processes(processes);
  if (status == kNoProcess) context.console.error("no CUDA process");
  return status;
}

int run_preflight(GpuContext context, const std::string& purpose) {
  if (purpose != "suspend" && purpose != "resume")
    throw Error(ErrorCode::invalid_argument, {}, "--for " + purpose + ": choose suspend or resume");
  GpuRequest request;
  request.verb = purpose == "suspend" ? GpuVerb::suspend : GpuVerb::resume;
  const GpuArguments& arguments = context.arguments;
  if (request.verb == GpuVerb::resume)
    request.device_map = find_device_map(arguments.device_map, arguments.device_map_file, arguments.state_root);
  if (!arguments.recorded.empty())
    request.recorded = parse_gpu_record(read_text_file(arguments.recorded), arguments.recorded);
  GpuSession session(session_options(arguments));
  const GpuSelection selection = selection_of(arguments);
  const std::vector<GpuProcess> processes = session.processes(selection);
  const std::vector<GpuFinding> findings = session.preflight(selection, request);
  const bool blocked =
      std::any_of(findings.begin(), findings.end(), [](const GpuFinding& finding) { return finding.blocks; });
  const bool none = std::none_of(processes.begin(), processes.end(), is_cuda);
  if (context.options.json) {
    Json list = Json::array();
    for (const GpuProcess& process : processes)
      if (is_cuda(process)) list.push(process_json(process));
    Json document = gpu_document("preflight");
    document.set("driver", driver_json(session.driver())).set("verdict", blocked ? "refused" : "ready");
    context.console.print_json(document.set("findings", findings_json(findings)).set("processes", std::move(list)));
  } else {
    context.console.print(findings_text(findings, context.console));
  }
  if (blocked) return kRefused;
  if (none) context.console.error("no CUDA process");
  return none ? kNoProcess : kYes;
}

}  // namespace

void add_look_commands(CLI::App& app, GpuContext context, const Register& run) {
  CLI::App* state = app.add_subcommand("state", "List CUDA processes and where they stand");
  add_selection_options(*state, context.arguments);
  state->add_flag("-a,--all", context.arguments.all, "Processes without CUDA, too");
  run(state, [context] { return run_state(context); });

  CLI::App* tid = app.add_subcommand("tid", "Print the restore thread of each CUDA process");
  add_selection_options(*tid, context.arguments);
  run(tid, [context] { return run_tid(context); });

  CLI::App* preflight = app.add_subcommand("preflight", "Say what speaks against a suspend or a resume");
  add_selection_options(*preflight, context.arguments);
  add_map_options(*preflight, context.arguments);
  const auto purpose = std::make_shared<std::string>("suspend");
  preflight->add_option("--for", *purpose, "suspend (default) or resume")->type_name("VERB");
  run(preflight, [context, purpose] { return run_preflight(context, *purpose); });
}

}  // namespace ckpt::tool
