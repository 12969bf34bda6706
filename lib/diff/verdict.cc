// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ckpt/check.h"

namespace ckpt {

const char* to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::restores:
      return "restores";
    case Verdict::patchable:
      return "patchable";
    case Verdict::blocked:
      return "blocked";
  }
  return "blocked";
}

const char* to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::fixable:
      return "fixable";
    case Severity::blocker:
      return "blocker";
  }
  return "blocker";
}

const char* to_string(MountChange::Action action) noexcept {
  switch (action) {
    case MountChange::Action::keep:
      return "keep";
    case MountChange::Action::repoint:
      return "repoint";
    case MountChange::Action::add:
      return "add";
    case MountChange::Action::drop:
      return "drop";
    case MountChange::Action::list:
      return "list";
    case MountChange::Action::in_image:
      return "in_image";
    case MountChange::Action::unspec:
      return "unspec";
    case MountChange::Action::rename:
      return "rename";
  }
  return "keep";
}

Verdict Comparison::verdict() const noexcept {
  const auto any = [&](Severity severity) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.severity == severity; });
  };
  if (any(Severity::blocker)) return Verdict::blocked;
  return any(Severity::fixable) ? Verdict::patchable : Verdict::restores;
}

bool Comparison::needs_decision() const noexcept {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.needs_decision; });
}

}  // namespace ckpt
