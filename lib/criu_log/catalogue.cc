// SPDX-License-Identifier: Apache-2.0
#include "criu_log/catalogue.h"

namespace ckpt {

const char* to_string(LogStage stage) noexcept {
  if (stage == LogStage::dump) return "dump";
  return stage == LogStage::restore ? "restore" : "any";
}

const char* to_string(LogOutcome outcome) noexcept {
  if (outcome == LogOutcome::succeeded) return "succeeded";
  return outcome == LogOutcome::failed ? "failed" : "unknown";
}

const char* to_string(FailureWeight weight) noexcept {
  switch (weight) {
    case FailureWeight::noise:
      return "noise";
    case FailureWeight::fallout:
      return "fallout";
    case FailureWeight::wrapper:
      return "wrapper";
    case FailureWeight::warning:
      return "warning";
    case FailureWeight::cause:
      return "cause";
  }
  return "cause";
}

const std::vector<FailureKind>& failure_kinds() {
  static const std::vector<FailureKind> kKinds = [] {
    std::vector<FailureKind> all;
    for (const auto part :
         {criu_log::mount_kinds, criu_log::file_kinds, criu_log::network_kinds, criu_log::process_kinds,
          criu_log::device_kinds, criu_log::engine_kinds, criu_log::fallout_kinds})
      for (const FailureKind& kind : part()) all.push_back(kind);
    return all;
  }();
  return kKinds;
}

}  // namespace ckpt
