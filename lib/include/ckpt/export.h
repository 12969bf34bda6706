// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(CKPT_BUILDING_LIBRARY)
#define CKPT_API __attribute__((visibility("default")))
#define CKPT_LOCAL __attribute__((visibility("hidden")))
#else
#define CKPT_API
#define CKPT_LOCAL
#endif
