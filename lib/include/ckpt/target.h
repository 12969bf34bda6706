// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/cdi.h"
#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/node.h"

namespace ckpt {

/// A driver file the target node offers: a CDI mount, or a CDI device node where a container has it as a bind.
struct TargetFile {
  std::string container_path;
  std::string host_path;
  MountClass mount_class = MountClass::user;
};

/// What a device node is on the target.
struct DeviceNumbers {
  std::string type;  ///< "c", "b" or empty when only the numbers are known
  std::int64_t major = 0;
  std::int64_t minor = 0;
};

struct TargetOptions {
  std::vector<std::string> cdi_paths;  ///< files and directories; empty: the standard directories
  std::vector<std::string> devices;    ///< qualified names; empty: chosen from the two below
  std::vector<std::string> requested;  ///< what the archive asked for
  std::string vendor;                  ///< "nvidia", "amd", "intel": whose devices the archive has; may be empty
  std::string files_list;              ///< path of what `nvidia-container-cli list` printed; empty: none
  std::string root;                    ///< the target's file system, to look at its files; empty: do not look
  std::optional<NodeFacts> node;       ///< what `ckpt-inspect node` found there; its CDI files count if none is named
  CdiFields cdi_fields = CdiFields::lenient;
  Limits limits;
};

/// The node to restore on. Immutable after load; copies share state.
class CKPT_API Target {
 public:
  /// Devices: those asked for by name (all must resolve); else what the archive asked for, if it all resolves; else
  /// the kind's device "all" or, without one, every device of the archive's kind.
  /// Throws Error(io | corrupt | invalid_argument).
  static Target load(const TargetOptions& options);

  /// Qualified names whose edits are in use, in order.
  const std::vector<std::string>& devices() const noexcept;
  const CdiEdits& edits() const noexcept;
  const std::vector<TargetFile>& files() const noexcept;
  /// Driver version in the libraries' names; empty when there are none or several.
  const std::string& driver_version() const noexcept;
  /// Broken or conflicting CDI files, and device names of the archive that this node does not have.
  const std::vector<CdiProblem>& problems() const noexcept;
  /// True when nothing describes the node: no CDI device resolved, no files listed.
  bool empty() const noexcept;

  bool has_root() const noexcept;
  /// Whether look() can tell if the path exists: there is a root, or the node's facts have the file.
  bool can_look(const std::string& path) const;
  /// Looks at a path inside the root and never outside it, or in the node's facts; absent when it does not exist or
  /// nobody can tell.
  std::optional<RootedFile> look(const std::string& path) const;
  /// A node's numbers: as the target's facts or its root have them, else as the CDI file says.
  std::optional<DeviceNumbers> numbers(const CdiDeviceNode& node) const;
  /// The minor of the GPU with that UUID; absent without facts.
  std::optional<std::uint32_t> gpu_minor(const std::string& uuid) const;
  /// The directory that stands before the container's path in every host path of the driver's files, such as
  /// /run/nvidia/driver; empty when there is none.
  const std::string& driver_root() const noexcept;

  struct Impl;
  explicit Target(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ckpt
