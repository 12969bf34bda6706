// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/check.h"
#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/json.h"

namespace ckpt {

/// One exception to the copy. `before` is what must be there, or the plan is stale.
struct Edit {
  enum class Op {
    replace,       ///< JSON: the value at `pointer`
    append,        ///< JSON: a new last item of the array at `pointer`; `before` is its length
    remove,        ///< JSON: the value at `pointer`
    set_field,     ///< mountpoints image: `field` of the entry with `mnt_id`
    remove_mount,  ///< mountpoints image: the entry with `mnt_id`; `before` is its mountpoint
    rename_file,   ///< files image: the name of the regular file `file_id`
    renumber,      ///< tmpfs image: device numbers "MAJOR:MINOR" of `node`
    add_node,      ///< tmpfs image: a node `node` like the node `before`, with the numbers "MAJOR:MINOR" in `after`
    placeholder,   ///< tar inside a member: an empty `after` ("file", "directory") named `node`; `before` is null
    copy_member,   ///< a new member `after` with the original bytes of `member`
  };
  Op op = Op::replace;
  std::string member;
  std::string pointer;
  std::uint32_t mnt_id = 0;
  std::uint32_t file_id = 0;
  std::string field;
  std::string node;
  Json before;
  Json after;
};
/// "replace", "append", ..., "copy_member".
CKPT_API const char* to_string(Edit::Op op) noexcept;

/// An external mount that CRIU must be told about: `mnt[key]:value`.
struct External {
  std::string key;
  std::string value;
  std::uint32_t mnt_id = 0;
  std::string mountpoint;
};

/// What a rewrite will do, as a value: printed, saved, read back, refused.
struct Plan {
  Engine engine = Engine::unknown;
  Runtime runtime = Runtime::unknown;
  std::vector<Edit> edits;
  std::vector<External> externals;  ///< lines that the patched archive still needs

  bool changes_nothing() const noexcept { return edits.empty(); }
  /// Schema "ckpt.plan/1".
  CKPT_API Json to_json() const;
  /// Throws Error(corrupt | unsupported) naming the pointer.
  CKPT_API static Plan from_json(const Json& document, const std::string& file);
};

/// `record` adds spec.dump.orig with the untouched spec.
enum class Provenance { none, record };

/// The edits that carry out a comparison.
CKPT_API Plan make_plan(const Checkpoint& checkpoint, const Comparison& comparison, Provenance provenance);

/// The list for the unpatched archive, and what no list can say.
struct ExternalList {
  std::vector<External> lines;
  std::vector<Finding> not_listable;
};
CKPT_API ExternalList external_list(const Checkpoint& checkpoint, const Comparison& comparison);

/// A whole node's list, without an archive.
enum class NodeListFor { restore, dump };
CKPT_API std::vector<External> node_external_list(const Target& target, NodeListFor purpose);

enum class ExternalFormat { conf, args, json };
/// Lines for a CRIU configuration file, an argument list (one shell-quoted pair a line), or schema "ckpt.externals/1".
/// Throws Error(invalid_argument) for a key or value that the format cannot carry safely, with the reason.
CKPT_API std::string format_externals(const std::vector<External>& lines, ExternalFormat format);

}  // namespace ckpt
