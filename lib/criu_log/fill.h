// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/explain.h"

namespace ckpt::criu_log {

/// What a diagnosis' texts are filled in with beside what it holds itself.
struct Surroundings {
  std::string archive = "CHECKPOINT";  ///< as a command line names it
  std::string conf_file = "/etc/criu/runc.conf";
};

/// Fills cause, remedy, conf_lines and commands from the diagnosis' kind. A value that a configuration line or a shell
/// would take for something else is quoted, or its line is left out.
void fill_in(Diagnosis& diagnosis, const FailureKind& kind, const Surroundings& surroundings);

/// The row of the catalogue with that code.
const FailureKind& kind_of(const std::string& code);

}  // namespace ckpt::criu_log
