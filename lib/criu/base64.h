// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ckpt::criu {

/// RFC 4648 base64 with padding and without line breaks.
std::string to_base64(std::string_view bytes);
/// The bytes; white space is skipped, as crit breaks its lines. Absent when the text is no base64.
std::optional<std::string> from_base64(std::string_view text);

/// Quoted-printable without soft line breaks: crit spells names of unix sockets so.
std::string to_quoted_printable(std::string_view bytes);
std::optional<std::string> from_quoted_printable(std::string_view text);

}  // namespace ckpt::criu
