// SPDX-License-Identifier: Apache-2.0
#include "ckpt/error.h"

#include "base/escape.h"

namespace ckpt {

namespace {

std::string one_line(const Where& where, const std::string& detail) {
  std::string line;
  if (!where.file.empty()) line += escape_text(where.file) + ": ";
  if (!where.member.empty()) line += escape_text(where.member) + ": ";
  if (where.entry) line += "entry " + std::to_string(*where.entry) + ": ";
  if (where.offset) line += "offset " + std::to_string(*where.offset) + ": ";
  return line + escape_text(detail);
}

}  // namespace

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::io:
      return "io";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::limit_exceeded:
      return "limit_exceeded";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

Error::Error(ErrorCode code, Where where, std::string detail, std::string hint)
    : std::runtime_error(one_line(where, detail)),
      code_(code),
      where_(std::move(where)),
      detail_(std::move(detail)),
      hint_(std::move(hint)) {}

Error::~Error() = default;

}  // namespace ckpt
