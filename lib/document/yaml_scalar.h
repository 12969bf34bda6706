// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/json.h"

namespace ckpt {

/// What a plain (unquoted) YAML scalar means to the container engines' reader (cdi.md 1.6).
Json resolve_plain_scalar(const std::string& text);

/// A floating point number as that reader turns it into text: Go's shortest form of a 32-bit float ("1.5", "1e+06",
/// "+Inf", "NaN").
std::string float_text(double value);

}  // namespace ckpt
