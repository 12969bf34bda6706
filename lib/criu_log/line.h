// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ckpt::criu_log {

/// Who wrote a line and how loud it is.
enum class Level {
  error,    ///< CRIU's "Error (FILE:LINE): "
  warning,  ///< CRIU's "Warn  (FILE:LINE): "
  quiet,    ///< CRIU's information and debugging lines
  foreign,  ///< not CRIU's: a runtime, an engine, a program that CRIU ran
};

/// Tells the level of a line, whatever a journal or an engine has put in front of CRIU's text.
Level level_of(std::string_view line) noexcept;

}  // namespace ckpt::criu_log
