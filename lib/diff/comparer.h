// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ckpt/check.h"
#include "diff/build.h"
#include "diff/match.h"

namespace ckpt {

/// One comparison under way: the arguments and the value that grows. Each compare_* function adds its own part.
struct Comparer {
  const Checkpoint& checkpoint;
  const Target& target;
  const RestoreRules& rules;
  Comparison result;
  std::string archive_driver;            ///< the archive's one driver version, or empty
  std::set<std::size_t> used_maps;       ///< indexes into rules.maps
  std::set<std::string> used_drops;      ///< destinations of rules.drop_mounts
  std::set<std::size_t> used_externals;  ///< indexes into rules.externals_in_force
  /// Counted device nodes in the container, the archive's to the target's.
  std::map<std::string, std::string> node_pairs;

  void note(std::string code, std::string subject, std::string message, std::string remedy = {});
  void fixable(std::string code, std::string subject, std::string message, std::string remedy = {});
  /// Fixable once the user has decided.
  void undecided(std::string code, std::string subject, std::string message, std::string remedy);
  void blocker(std::string code, std::string subject, std::string message, std::string remedy = {});
};

void compare_mounts(Comparer& comparer);
void compare_devices(Comparer& comparer);
void compare_hooks(Comparer& comparer);

}  // namespace ckpt
