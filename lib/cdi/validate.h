// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/cdi.h"

namespace ckpt::cdi {

/// Checks a decoded spec as pkg/cdi does (cdi.md 1.3) and its version against what its fields need (1.1).
/// Throws Error(corrupt | unsupported) naming file and field.
void validate(const CdiSpec& spec, const std::string& file);

/// First character a letter, last one alphanumeric, between them alphanumeric or one of "_-.".
bool is_vendor_or_class(const std::string& text);
/// First and last character alphanumeric, between them also "_-.:".
bool is_device_name(const std::string& text);

}  // namespace ckpt::cdi
