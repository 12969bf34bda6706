// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ckpt/export.h"

namespace ckpt {

/// Makes text from an archive safe for a terminal and for one line: control characters, DEL, C1 controls,
/// bidirectional and line-breaking characters and bytes that are not UTF-8 become \xNN; a backslash becomes \\ so that
/// the result is unambiguous.
CKPT_API std::string escape_text(std::string_view text);

/// The library's version, "0.1.0".
CKPT_API const char* library_version() noexcept;
/// The newest CRIU whose images this library knows completely.
CKPT_API const char* known_criu_version() noexcept;
/// The newest CDI version this library reads.
CKPT_API const char* known_cdi_version() noexcept;

}  // namespace ckpt
