// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ckpt {

/// Makes text from an archive safe for a terminal and for one line: control characters, DEL, C1 controls and
/// bytes that are not UTF-8 become \xNN; a backslash becomes \\ so that the result is unambiguous.
std::string escape_text(std::string_view text);

}  // namespace ckpt
