// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::cuda {

/// At most `limit` bytes of a file of the kernel or of an engine, cut off there; nothing when it cannot be read.
/// Files of /proc have no size, so it is read until it ends.
std::optional<std::string> read_some(const std::string& path, std::size_t limit = std::size_t{1} << 20);

/// Names in a directory without "." and "..", sorted; empty when it cannot be read. Stops at a million.
std::vector<std::string> names_in(const std::string& directory);

}  // namespace ckpt::cuda
