// SPDX-License-Identifier: Apache-2.0
#include "common/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/app.h"

namespace ckpt::tool {

namespace {

Color color_of(Severity severity) {
  switch (severity) {
    case Severity::blocker:
      return Color::red;
    case Severity::fixable:
      return Color::yellow;
    case Severity::note:
      return Color::dim;
  }
  return Color::plain;
}

int weight(const Finding& finding) {
  if (finding.severity == Severity::blocker) return 0;
  if (finding.severity == Severity::fixable) return finding.needs_decision ? 1 : 2;
  return 3;
}

}  // namespace

Checkpoint open_for_reading(const std::string& path, Console& console, Keep keep) {
  CheckpointOptions options;
  options.keep = keep;
  options.damage = Damage::collect;
  Checkpoint checkpoint = Checkpoint::open(path, options);
  for (const Archive& layer : checkpoint.layers())
    for (const std::string& name : layer.duplicates())
      console.warning(fmt::format("{}: {}: occurs more than once; the last one counts", path, name));
  return checkpoint;
}

bool report_problems(const Checkpoint& checkpoint, Console& console) {
  for (const Error& problem : checkpoint.problems()) console.error(problem);
  return !checkpoint.problems().empty();
}

Json wrap_archives(const std::string& schema, std::vector<Json> archives) {
  Json document = Json::object();
  document.set("schema", schema);
  if (archives.size() != 1) return document.set("archives", Json(std::move(archives)));
  for (const auto& [key, value] : archives.front().members()) document.set(key, value);
  return document;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json json = Json::object();
    json.set("code", finding.code).set("severity", to_string(finding.severity)).set("subject", finding.subject);
    json.set("message", finding.message).set("remedy", finding.remedy);
    list.push(std::move(json.set("needs_decision", finding.needs_decision)));
  }
  return list;
}

std::string findings_text(const std::vector<Finding>& findings, Notes notes, const Console& console) {
  std::vector<Finding> sorted = findings;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Finding& a, const Finding& b) { return weight(a) < weight(b); });
  std::string text;
  for (const Finding& finding : sorted) {
    if (finding.severity == Severity::note && notes == Notes::hidden) continue;
    const std::string label = finding.needs_decision ? "decide" : to_string(finding.severity);
    text += fmt::format("{} {}: {}\n", console.paint(color_of(finding.severity), fmt::format("{:<8}", label)),
                        safe(finding.subject), safe(finding.message));
    if (!finding.remedy.empty()) text += fmt::format("         {}\n", safe(finding.remedy));
  }
  return text;
}

int status_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::restores:
      return kYes;
    case Verdict::patchable:
      return kCurable;
    case Verdict::blocked:
      return kBlocked;
  }
  return kBlocked;
}

Json optional_text(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace ckpt::tool
