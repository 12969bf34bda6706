// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/cursor.h"
#include "criu/image.h"

namespace ckpt::criu {

/// Moves the cursor over the raw bytes that follow a message. Their lengths come from the message and are untrusted.
/// `where` is the place of the message. Throws Error(corrupt) when the image does not have those bytes.
void skip_extra(Cursor& cursor, Extra extra, std::string_view message, const Where& where);

}  // namespace ckpt::criu
