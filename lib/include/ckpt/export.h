// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(CKPT_BUILDING_LIBRARY)
#define CKPT_API __attribute__((visibility("default")))
#else
#define CKPT_API
#endif
