// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ckpt/error.h"

namespace ckpt::testing {

/// The Error that an action throws, so that a test can look at its reason. One of code internal, "nothing was thrown",
/// when it throws none.
template <typename Action>
Error failure_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, {}, "nothing was thrown");
}

}  // namespace ckpt::testing
