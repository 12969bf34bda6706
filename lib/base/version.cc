// SPDX-License-Identifier: Apache-2.0
#include "ckpt/text.h"

namespace ckpt {

const char* library_version() noexcept { return CKPT_VERSION; }
const char* known_criu_version() noexcept { return "4.2"; }
const char* known_cdi_version() noexcept { return "1.1.0"; }

}  // namespace ckpt
