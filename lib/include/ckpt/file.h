// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ckpt/export.h"
#include "ckpt/limits.h"

namespace ckpt {

/// Writes a file that appears whole or not at all, mode 0600: temporary beside it, fsync, rename. Throws Error(io).
CKPT_API void write_file(const std::string& path, std::string_view bytes);

/// Reads a whole file of at most limits.max_member_bytes. Throws Error(io | limit_exceeded).
CKPT_API std::string read_text_file(const std::string& path, const Limits& limits = {});

}  // namespace ckpt
