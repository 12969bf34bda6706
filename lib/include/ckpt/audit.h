// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"

namespace ckpt {

/// How much a finding lets an archive do to the node that imports it, least first.
enum class Danger {
  low,     ///< worth knowing: names a part of the host, gives something away
  medium,  ///< reaches the host when an engine does not guard against it
  high,    ///< reads, writes or runs something of the host with an engine that trusts its archives
};
/// "low", "medium", "high".
CKPT_API const char* to_string(Danger danger) noexcept;

struct AuditFinding {
  std::string code;  ///< stable, "hook.runs"
  Danger danger = Danger::low;
  std::string subject;  ///< what it is about: a member, a path in the container, a hook
  std::string message;
  std::string remedy;
};

struct Audit {
  std::vector<AuditFinding> findings;  ///< most dangerous first, else in the archive's order
  std::vector<Error> problems;         ///< what could not be looked into
};

/// What in a checkpoint is dangerous to import: names and links that lead out of the archive or of its inner tars,
/// device members, annotations, hooks, mounts, devices and rights of spec.dump, paths that an engine deletes or creates
/// on the host, names of secrets in the environment (never values).
/// The checkpoint should have been opened with CheckpointOptions::unsafe_names `keep`, else such names were refused
/// then. Reads the inner tars; throws Error(io) only.
CKPT_API Audit audit(const Checkpoint& checkpoint);

}  // namespace ckpt
