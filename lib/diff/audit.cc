// SPDX-License-Identifier: Apache-2.0
#include "ckpt/audit.h"

#include <algorithm>
#include <set>

#include "checkpoint/impl.h"
#include "diff/auditor.h"

namespace ckpt {

const char* to_string(Danger danger) noexcept {
  if (danger == Danger::high) return "high";
  return danger == Danger::medium ? "medium" : "low";
}

void Auditor::add(Danger danger, std::string code, std::string subject, std::string message, std::string remedy) {
  result.findings.push_back({std::move(code), danger, std::move(subject), std::move(message), std::move(remedy)});
}

void Auditor::guard(const std::function<void()>& part) {
  try {
    part();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io || error.code() == ErrorCode::internal) throw;
    result.problems.push_back(error);
  }
}

Json Auditor::document(const std::string& member) {
  const Checkpoint::Impl& impl = checkpoint.impl();
  const Located found = impl.find(member);
  if (!found || found.member->type != MemberType::file) return {};
  return Json::parse(found.archive->read(*found.member), impl.name, member, impl.limits);
}

Audit audit(const Checkpoint& checkpoint) {
  Auditor auditor{checkpoint, {}};
  for (const auto part : {audit_members, audit_inner_tars, audit_lists, audit_spec, audit_rights}) part(auditor);
  // Six hooks of one program are one thing to look at.
  std::set<std::string> told;
  std::erase_if(auditor.result.findings, [&](const AuditFinding& finding) {
    return !told.insert(finding.code + '\0' + finding.subject + '\0' + finding.message).second;
  });
  std::stable_sort(auditor.result.findings.begin(), auditor.result.findings.end(),
                   [](const AuditFinding& a, const AuditFinding& b) { return a.danger > b.danger; });
  return std::move(auditor.result);
}

}  // namespace ckpt
