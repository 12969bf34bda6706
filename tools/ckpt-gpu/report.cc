// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <cmath>

#include "common/app.h"
#include "common/table.h"
#include "options.h"

namespace ckpt::tool {

namespace {

template <typename Number>
Json optional_number(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

std::uint64_t bytes_of(const GpuProcess& process) {
  std::uint64_t sum = 0;
  for (const auto& [uuid, bytes] : process.gpu_bytes) sum += bytes;
  return sum;
}

std::string bytes_text(const GpuProcess& process) {
  return process.gpu_bytes.empty() ? "-" : human_size(bytes_of(process));
}

std::string outcome_of(const GpuStep& step) {
  if (step.gone) return "gone";
  if (step.lost) return "lost";
  if (step.failed) return step.call.empty() ? step.result_text : step.call + ": " + step.result_text;
  return step.before == step.after ? "unchanged" : "ok";
}

Json step_json(const GpuStep& step) {
  Json json = process_json(step.process);
  json.set("state_before", to_string(step.before)).set("state_after", to_string(step.after));
  Json result = Json::object();
  result.set("call", step.call).set("code", step.result).set("name", step.result_name).set("text", step.result_text);
  json.set("result", step.call.empty() ? Json() : std::move(result));
  json.set("elapsed_ms", static_cast<std::uint64_t>(std::llround(step.elapsed_ms)));
  json.set("failed", step.failed).set("rolled_back", step.rolled_back);
  return json.set("lost", step.lost).set("gone", step.gone);
}

}  // namespace

Json gpu_document(const std::string& command) {
  Json document = Json::object();
  return document.set("schema", "ckpt.gpu-" + command + "/1");
}

Json process_json(const GpuProcess& process) {
  Json gpus = Json::array();
  for (const auto& [uuid, bytes] : process.gpu_bytes) {
    Json use = Json::object();
    gpus.push(std::move(use.set("uuid", uuid).set("bytes", bytes)));
  }
  Json json = Json::object();
  json.set("pid", process.pid).set("nspid", process.nspid).set("comm", process.comm).set("uid", process.uid);
  json.set("kind", to_string(process.kind)).set("state", to_string(process.state));
  json.set("restore_tid", process.restore_tid != 0 ? Json(process.restore_tid) : Json());
  json.set("cgroup", process.cgroup).set("gpus", std::move(gpus));
  return json.set("trouble", process.trouble.empty() ? Json() : Json(process.trouble));
}

Json device_json(const GpuDevice& device) {
  Json json = Json::object();
  json.set("uuid", device.uuid).set("name", device.name).set("minor", optional_number(device.minor));
  json.set("total_bytes", optional_number(device.total_bytes));
  return json.set("free_bytes", optional_number(device.free_bytes)).set("mig", device.mig);
}

Json driver_json(const GpuDriver& driver) {
  Json json = Json::object();
  json.set("version", driver.version.empty() ? Json() : Json(driver.version));
  return json.set("api_version", driver.api_version).set("nvml", driver.nvml);
}

Json findings_json(const std::vector<GpuFinding>& findings) {
  Json list = Json::array();
  for (const GpuFinding& finding : findings) {
    Json json = Json::object();
    json.set("code", finding.code).set("severity", finding.blocks ? "blocker" : "note");
    json.set("subject", finding.subject).set("message", finding.message);
    list.push(std::move(json.set("remedy", finding.remedy)));
  }
  return list;
}

Json report_json(const GpuResult& report) {
  Json steps = Json::array();
  for (const GpuStep& step : report.steps) steps.push(step_json(step));
  Json document = gpu_document(to_string(report.verb));
  document.set("outcome", to_string(report.outcome));
  document.set("explanation", report.explanation.empty() ? Json() : Json(report.explanation));
  return document.set("findings", findings_json(report.findings)).set("processes", std::move(steps));
}

std::string processes_text(const std::vector<GpuProcess>& processes) {
  Table table({"PID", "NSPID", "COMMAND", "KIND", "STATE", "RESTORE TID", "GPU MEMORY"});
  for (const GpuProcess& process : processes) {
    const bool cuda = process.kind == GpuKind::cuda;
    table.row({std::to_string(process.pid), std::to_string(process.nspid), process.comm, to_string(process.kind),
               cuda ? to_string(process.state) : "-", cuda ? std::to_string(process.restore_tid) : "-",
               bytes_text(process)});
  }
  return table.text();
}

std::string findings_text(const std::vector<GpuFinding>& findings, const Console& console) {
  std::string text;
  for (const GpuFinding& finding : findings) {
    text +=
        fmt::format("{}  {}: {}\n",
                    console.paint(finding.blocks ? Color::red : Color::yellow, finding.blocks ? "blocker" : "note   "),
                    safe(finding.subject), safe(finding.message));
    if (!finding.remedy.empty()) text += "         " + safe(finding.remedy) + "\n";
  }
  return text;
}

std::string report_text(const GpuResult& report) {
  Table table({"PID", "COMMAND", "BEFORE", "AFTER", "GPU MEMORY", "TIME", "RESULT"});
  for (const GpuStep& step : report.steps)
    table.row({std::to_string(step.process.pid), step.process.comm, to_string(step.before), to_string(step.after),
               bytes_text(step.process), fmt::format("{:.3f} s", step.elapsed_ms / 1000), outcome_of(step)});
  return table.empty() ? std::string() : table.text();
}

int status_of(GpuOutcome outcome) noexcept {
  switch (outcome) {
    case GpuOutcome::done:
      return kYes;
    case GpuOutcome::no_process:
      return kNoProcess;
    case GpuOutcome::refused:
      return kRefused;
    case GpuOutcome::timed_out:
      return kTimedOut;
    case GpuOutcome::rolled_back:
      return kRolledBack;
    case GpuOutcome::not_rolled_back:
      return kNotRolledBack;
  }
  return kTrouble;
}

}  // namespace ckpt::tool
