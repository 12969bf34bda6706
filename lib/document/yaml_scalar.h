// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/json.h"

namespace ckpt {

/// What a plain (unquoted) YAML scalar means to the container engines' reader (cdi.md 1.6).
Json resolve_plain_scalar(const std::string& text);

}  // namespace ckpt
