// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "ckpt/export.h"

namespace ckpt {

/// Why an operation failed. Tools map every code to exit status 2.
enum class ErrorCode {
  io,                ///< the operating system refused a read, write, rename ...
  corrupt,           ///< bytes that break their own format
  unsupported,       ///< well-formed, but not something this library handles
  limit_exceeded,    ///< a bound of ckpt::Limits was met
  conflict,          ///< a plan's `before` does not match the archive
  invalid_argument,  ///< the caller's request cannot be carried out as asked
  internal,          ///< a broken promise inside the library
};

/// The stable spelling of a code, as used in JSON ("limit_exceeded").
CKPT_API const char* to_string(ErrorCode code) noexcept;

/// The place a failure belongs to; every part may be absent.
struct Where {
  std::string file;                     ///< archive, CDI file, plan ... as the caller named it
  std::string member;                   ///< member of an archive
  std::optional<std::uint64_t> entry;   ///< zero-based entry of a CRIU image
  std::optional<std::uint64_t> offset;  ///< byte offset inside the innermost thing named
};

/// The one exception type that crosses the library's boundary.
/// what() is one line, `file: member: entry N: offset N: detail`, with control characters escaped.
class CKPT_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, Where where, std::string detail, std::string hint = {});
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  ErrorCode code() const noexcept { return code_; }
  const Where& where() const noexcept { return where_; }
  const std::string& detail() const noexcept { return detail_; }
  /// What the user can do about it; empty when nothing useful is known.
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorCode code_;
  Where where_;
  std::string detail_;
  std::string hint_;
};

}  // namespace ckpt
