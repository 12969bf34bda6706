// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "ckpt/audit.h"
#include "ckpt/json.h"

namespace ckpt {

/// What the parts of an audit work on.
struct Auditor {
  const Checkpoint& checkpoint;
  Audit result;

  void add(Danger danger, std::string code, std::string subject, std::string message, std::string remedy);
  /// Runs a part; an Error of it is a problem of the audit.
  void guard(const std::function<void()>& part);
  /// A member as JSON; null when the archive does not have it as a file.
  Json document(const std::string& member);
};

// The parts, each in a file of its own.
void audit_members(Auditor& auditor);
void audit_inner_tars(Auditor& auditor);
void audit_lists(Auditor& auditor);
void audit_spec(Auditor& auditor);
void audit_rights(Auditor& auditor);

}  // namespace ckpt
