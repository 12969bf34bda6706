// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ckpt/checkpoint.h"

namespace ckpt {

/// The class of a path in the container by its name alone (cdi.md 6.2); absent when the name says nothing about a
/// driver. A versioned library counts when its stem is one of NVIDIA's or its directory is.
std::optional<MountClass> classify_driver_path(std::string_view path);

/// "lib<stem>.so.<version>" taken apart.
struct LibraryName {
  std::string stem;     ///< "cuda" of libcuda.so.570.86.10
  std::string version;  ///< "570.86.10", "1" or empty
  /// Two or three numeric groups, three digits first: the form of a driver version rather than of a soname.
  bool has_driver_version() const;
};
std::optional<LibraryName> parse_library_name(std::string_view base);

/// The version that a driver file's path carries: of a library its suffix, of firmware its directory; else empty.
std::string driver_version_in(std::string_view path);

/// "nvidia", "amd", "intel", "drm", "infiniband", "vfio" ... for a device path, or empty for an ordinary node.
std::string device_class_of(std::string_view path);

}  // namespace ckpt
