// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/export.h"
#include "ckpt/limits.h"

namespace ckpt {

/// Container Device Interface 0.3.0 to 1.1.0. Field names follow the CDI specification (config.go of specs-go).
struct CdiDeviceNode {
  std::string path;                   ///< in the container
  std::string host_path;              ///< on the node; equals `path` when the file leaves it out
  std::string type;                   ///< "b", "c", "u", "p" or empty
  std::optional<std::int64_t> major;  ///< absent when the file gives 0 or nothing: engines then ask the node
  std::optional<std::int64_t> minor;  ///< 0 when only the major is given
  std::optional<std::uint32_t> file_mode;
  std::string permissions;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
};

struct CdiMount {
  std::string host_path;
  std::string container_path;
  std::vector<std::string> options;
  std::string type;
};

struct CdiHook {
  std::string hook_name;
  std::string path;
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::optional<std::int64_t> timeout;  ///< seconds
};

struct CdiNetDevice {
  std::string host_interface_name;
  std::string name;
};

struct CdiIntelRdt {
  std::string clos_id;
  std::string l3_cache_schema;
  std::string mem_bw_schema;
  std::vector<std::string> schemata;
  bool enable_cmt = false;
  bool enable_mbm = false;
  bool enable_monitoring = false;
};

struct CdiEdits {
  std::vector<std::string> env;
  std::vector<CdiDeviceNode> device_nodes;
  std::vector<CdiNetDevice> net_devices;
  std::vector<CdiHook> hooks;
  std::vector<CdiMount> mounts;
  std::optional<CdiIntelRdt> intel_rdt;
  std::vector<std::uint32_t> additional_gids;
};

struct CdiDevice {
  std::string name;
  std::map<std::string, std::string> annotations;
  CdiEdits edits;
};

/// One CDI file that passed validation.
struct CdiSpec {
  std::string file;
  std::string version;  ///< without a leading "v"
  std::string vendor;
  std::string klass;
  std::map<std::string, std::string> annotations;
  std::vector<CdiDevice> devices;
  CdiEdits edits;    ///< apply to every device of the file
  int priority = 0;  ///< later --cdi paths and directories are higher
  /// Fields that no version of CDI has ("devices[0].containerEdits.foo"): engines refuse such a file.
  std::vector<std::string> unknown_fields;

  std::string kind() const { return vendor + "/" + klass; }
};

/// A file that could not be used, or something in a file worth saying.
struct CdiProblem {
  std::string file;
  std::string message;
  bool fatal = true;  ///< false: a warning, the file is in use
};

/// Parses and validates one CDI document; JSON and YAML go through the same reader, as in the engines.
/// Throws Error(corrupt | unsupported | limit_exceeded) naming file and field; unknown fields are only noted.
CKPT_API CdiSpec parse_cdi(const std::string& text, const std::string& file, const Limits& limits = {});

/// "vendor/class=name" taken apart; absent when it is not a qualified name.
struct CdiQualifiedName {
  std::string vendor;
  std::string klass;
  std::string name;
  std::string kind() const { return vendor + "/" + klass; }
};
CKPT_API std::optional<CdiQualifiedName> parse_cdi_name(const std::string& text);

/// What to make of fields that CDI does not have: say so, or refuse the file as the engines do.
enum class CdiFields { lenient, strict };

/// A CDI file by its content, for files of another node.
struct CdiText {
  std::string file;
  std::string text;
  int priority = 0;
};

/// CDI files with the engines' precedence: of two files that define one device the higher priority wins,
/// two of the same priority take the device away from both.
class CKPT_API CdiRegistry {
 public:
  /// /etc/cdi and /var/run/cdi, the standard directories in rising priority.
  static std::vector<std::string> default_directories();
  /// Loads files and directories (only *.json and *.yaml, not recursive); later paths have higher priority.
  /// A missing directory is skipped when `paths` are the defaults; a path given by name must exist.
  /// A broken file or unreadable directory is a problem, not an exception; a broken file that was itself named throws.
  static CdiRegistry load(const std::vector<std::string>& paths, const Limits& limits = {},
                          CdiFields fields = CdiFields::lenient);
  /// The same of texts; a broken one is a problem, not an exception.
  static CdiRegistry parse(const std::vector<CdiText>& texts, const Limits& limits = {},
                           CdiFields fields = CdiFields::lenient);

  const std::vector<CdiSpec>& specs() const noexcept { return specs_; }
  const std::vector<CdiProblem>& problems() const noexcept { return problems_; }
  /// Qualified names of all usable devices, sorted.
  std::vector<std::string> device_names() const;
  bool has(const std::string& qualified_name) const;
  /// The concatenated edits: a file's own edits come first, once, when its first device is met.
  /// Throws Error(invalid_argument) that lists the unresolved names; its hint has what there is and what is broken.
  CdiEdits resolve(const std::vector<std::string>& qualified_names) const;

 private:
  void index();

  std::vector<CdiSpec> specs_;
  std::vector<CdiProblem> problems_;
  /// qualified name -> (index into specs_, index into devices)
  std::map<std::string, std::pair<std::size_t, std::size_t>> index_;
};

}  // namespace ckpt
