// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/json.h"

namespace ckpt {

/// One side of a comparison: a checkpoint with its spec.dump, or a runtime spec alone.
struct ComparedSide {
  std::string name;  ///< as the caller named it
  std::optional<Checkpoint> checkpoint;
  std::optional<Json> spec;  ///< absent when a checkpoint has none
};

/// Opens a checkpoint in any form, a config.json (told by its content) or a bundle directory with one.
/// Throws what Checkpoint::open and Json::parse throw.
CKPT_API ComparedSide open_side(const std::string& path, const CheckpointOptions& options = {});

struct Difference {
  enum class Change { added, removed, changed };
  /// Of the spec: "mounts", "devices", "device_rules", "hooks", "environment", "annotations", "namespaces", "rlimits",
  /// "capabilities", "masked_paths", "readonly_paths", "spec" (everything else). Of two checkpoints: "checkpoint",
  /// "image_mounts", "device_nodes", "processes", "files", "gpu", "sizes", "members".
  std::string section;
  Change change = Change::changed;
  std::string subject;  ///< destination, path, name, pid, JSON pointer; " (2)" marks a second one of the same name
  std::string field;    ///< of a changed subject; empty when it has one value
  Json before;          ///< null when added
  Json after;           ///< null when removed
  /// Who puts such a thing into a container, where its place tells: "engine", "runtime", "cdi", "nvidia hook",
  /// "hook or shim"; empty when it may be anybody, most often the user or the image.
  std::string added_by;
  bool confidential = false;  ///< before and after are not for showing unasked
};
/// "added", "removed", "changed".
CKPT_API const char* to_string(Difference::Change change) noexcept;

struct DifferenceReport {
  std::vector<Difference> differences;    ///< by section, else in the order of the first side
  std::vector<std::string> not_compared;  ///< sections that only one side has
};

/// What differs between two sides. Pairs list items by what names them, never by position; ids that the kernel hands
/// out anew (mnt_id, device numbers of file systems) are not compared.
CKPT_API DifferenceReport compare_sides(const ComparedSide& a, const ComparedSide& b);

}  // namespace ckpt
