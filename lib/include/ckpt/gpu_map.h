// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/export.h"

namespace ckpt {

/// A GPU of this node.
struct GpuDevice {
  std::string uuid;  ///< "GPU-" and 36 characters
  std::string name;
  std::optional<std::uint32_t> minor;  ///< of /dev/nvidiaN
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> free_bytes;
  bool mig = false;
};

/// One pair of a device map, both as "GPU-" and 36 characters in lower case.
struct GpuPair {
  std::string old_uuid;
  std::string new_uuid;
};
/// Reads OLD=NEW[,OLD=NEW...]; the prefix may be absent, case does not matter. Throws Error(invalid_argument) for text
/// that is no map, one GPU twice on a side, and MIG instances.
CKPT_API std::vector<GpuPair> parse_device_map(const std::string& text);
CKPT_API std::string to_string(const std::vector<GpuPair>& map);

/// What a suspended set used, kept between suspend and resume.
struct GpuRecord {
  std::string driver;
  std::vector<GpuDevice> devices;
  /// Bytes by process (nspid) and GPU.
  std::vector<std::pair<std::uint32_t, std::vector<std::pair<std::string, std::uint64_t>>>> bytes;
};
/// JSON, schema "ckpt.gpu-record/1". parse throws Error(corrupt).
CKPT_API std::string to_json(const GpuRecord& record);
CKPT_API GpuRecord parse_gpu_record(const std::string& text, const std::string& file);

/// A map from the recorded GPUs to this node's: a GPU that is here keeps its place, the others take unused ones of the
/// same model. Throws Error(conflict) when there are too few.
CKPT_API std::vector<GpuPair> make_device_map(const std::vector<GpuDevice>& old_devices,
                                              const std::vector<GpuDevice>& here);

}  // namespace ckpt
