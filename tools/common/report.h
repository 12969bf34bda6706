// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/check.h"
#include "ckpt/checkpoint.h"
#include "ckpt/json.h"
#include "common/console.h"

namespace ckpt::tool {

/// Opens an archive for looking at: a pipe is read once and not spooled. Duplicate members are warned about.
Checkpoint open_for_reading(const std::string& path, Console& console, Keep keep = Keep::images);

/// Says what was damaged or missing; true when there was something.
bool report_problems(const Checkpoint& checkpoint, Console& console);

/// One document for one archive, `archives` for several.
Json wrap_archives(const std::string& schema, std::vector<Json> archives);

Json findings_json(const std::vector<Finding>& findings);
/// One block a finding, blockers first; notes only when asked for.
enum class Notes { hidden, shown };
std::string findings_text(const std::vector<Finding>& findings, Notes notes, const Console& console);

/// kYes, kCurable or kBlocked.
int status_of(Verdict verdict) noexcept;

Json optional_text(const std::string& text);

}  // namespace ckpt::tool
