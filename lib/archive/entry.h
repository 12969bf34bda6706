// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive/handles.h"
#include "ckpt/archive.h"

namespace ckpt {

/// What a header says, without the offsets.
Member member_of(struct archive_entry* entry);

}  // namespace ckpt
