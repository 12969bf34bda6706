// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/json.h"

namespace ckpt {

// Typed views of an OCI runtime spec (config.json; spec.dump in an archive). Only what the comparison looks at is
// decoded; edits go through JsonText, with the `index` members as parts of JSON pointers.

struct SpecMount {
  std::size_t index = 0;  ///< in /mounts
  std::string destination;
  std::string type;
  std::string source;
  std::vector<std::string> options;
  /// runc and crun look at the options, engines also at the type (engines.md 3.2).
  bool is_bind() const noexcept;
};

struct SpecDevice {
  std::size_t index = 0;  ///< in /linux/devices
  std::string path;
  std::string type;
  std::int64_t major = 0;
  std::int64_t minor = 0;
};

struct SpecDeviceRule {
  std::size_t index = 0;  ///< in /linux/resources/devices
  bool allow = false;
  std::string type;                   ///< empty means all types
  std::optional<std::int64_t> major;  ///< absent or -1 in the document: every major
  std::optional<std::int64_t> minor;
  std::string access;
};

struct SpecHook {
  std::string stage;      ///< prestart, createRuntime, createContainer ...
  std::size_t index = 0;  ///< in /hooks/<stage>
  std::string path;
  std::vector<std::string> args;
};

struct SpecNamespace {
  std::string type;  ///< "pid", "network", "mount" ...
  std::string path;  ///< empty: a new one
};

struct RuntimeSpec {
  std::string oci_version;
  std::string hostname;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::vector<SpecMount> mounts;
  std::vector<SpecDevice> devices;
  std::vector<SpecDeviceRule> device_rules;
  std::vector<SpecHook> hooks;
  std::vector<std::string> masked_paths;
  std::vector<std::string> readonly_paths;
  std::vector<SpecNamespace> namespaces;
};

/// Throws Error(corrupt) naming the JSON pointer of a value of the wrong type.
RuntimeSpec read_runtime_spec(const Json& document, const Where& where);

}  // namespace ckpt
