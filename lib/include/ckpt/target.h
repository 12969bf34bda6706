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

namespace ckpt {

/// A driver file the target node offers: a CDI mount, or a CDI device node where a container has it as a bind.
struct TargetFile {
  std::string container_path;
  std::string host_path;
  MountClass mount_class = MountClass::user;
};

/// What a path is under TargetOptions::root.
struct RootedFile {
  enum class Kind { file, directory, symlink, socket, char_device, block_device, other };
  Kind kind = Kind::other;
  std::string resolved;  ///< symlinks followed inside the root; absolute, without the root
  std::uint64_t size = 0;
  std::uint32_t dev_major = 0;
  std::uint32_t dev_minor = 0;
  std::vector<std::uint32_t> build_id;  ///< GNU build-ID of an ELF file, as CRIU packs it; empty without one
};

struct TargetOptions {
  std::vector<std::string> cdi_paths;  ///< files and directories; empty: the standard directories
  std::vector<std::string> devices;    ///< qualified names; empty: chosen from the two below
  std::vector<std::string> requested;  ///< what the archive asked for
  std::string vendor;                  ///< "nvidia", "amd", "intel": whose devices the archive has; may be empty
  std::string files_list;              ///< path of what `nvidia-container-cli list` printed; empty: none
  std::string root;                    ///< the target's file system, to look at its files; empty: do not look
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
  /// Looks at a path inside the root and never outside it; absent when it does not exist or there is no root.
  std::optional<RootedFile> look(const std::string& path) const;

  struct Impl;
  explicit Target(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ckpt
