// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/cdi.h"
#include "ckpt/export.h"
#include "ckpt/json.h"
#include "ckpt/limits.h"

namespace ckpt {

/// What a path is on a node.
struct RootedFile {
  enum class Kind { file, directory, symlink, socket, char_device, block_device, other };
  Kind kind = Kind::other;
  std::string resolved;  ///< symlinks followed inside the root; absolute, without the root
  std::uint64_t size = 0;
  std::uint32_t dev_major = 0;
  std::uint32_t dev_minor = 0;
  std::vector<std::uint32_t> build_id;  ///< GNU build-ID of an ELF file, as CRIU packs it; empty without one
};

/// A file whose kind, size and build-ID a node reports about itself.
struct NodeFile {
  std::string path;
  std::optional<RootedFile> file;  ///< absent: it was looked for and is not there
};

/// A GPU as /proc/driver/nvidia/gpus/<address>/information has it.
struct NodeGpu {
  std::string uuid;                    ///< "GPU-..."; empty until the driver has initialised it once
  std::optional<std::uint32_t> minor;  ///< of /dev/nvidiaN
  std::string pci_address;             ///< "0000:03:00.0"
  std::string model;
};

/// A configuration file of CRIU, as text.
struct NodeConf {
  std::string file;
  std::string text;
};

/// What a node knows about itself without NVIDIA's software: enough to judge a restore there from elsewhere.
struct CKPT_API NodeFacts {
  std::string kernel;                             ///< release, "6.1.0-18-amd64"
  std::string nvidia_driver;                      ///< version of the loaded module; empty without one
  std::vector<NodeGpu> gpus;                      ///< by PCI address
  std::map<std::string, std::int64_t> majors;     ///< character devices of /proc/devices by name
  std::vector<NodeFile> files;                    ///< sorted by path: driver libraries, CDI files' host paths, /dev nodes
  std::vector<CdiText> cdi;                       ///< CDI files of the standard directories
  std::map<std::string, std::string> versions;    ///< "criu", "runc", "crun", "podman", "containerd", "cri-o"
  std::vector<NodeConf> criu_conf;                ///< /etc/criu/*.conf

  const NodeFile* find_file(const std::string& path) const noexcept;
  /// Schema "ckpt.node/1".
  Json to_json() const;
  /// Throws Error(corrupt | unsupported) naming the pointer.
  static NodeFacts from_json(const Json& document, const std::string& file);
};

/// Looks at a node below `root` ("/" for this one); runs no program, so `versions` stays empty.
/// What is missing is left empty; throws Error(io) only when `root` is no directory.
CKPT_API NodeFacts collect_node_facts(const std::string& root, const Limits& limits = {});

/// The file names in a glibc ld.so.cache ("glibc-ld.so.cache1.1"), in its order. Throws Error(corrupt).
CKPT_API std::vector<std::string> parse_ld_cache(const std::string& bytes, const std::string& file);

}  // namespace ckpt
