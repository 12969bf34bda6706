// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/error.h"
#include "ckpt/export.h"
#include "ckpt/json.h"
#include "ckpt/limits.h"

namespace ckpt {

/// How numbers with a meaning are spelled: as numbers, or as `crit decode --pretty` does (hexadecimal addresses, names
/// of flags, "major:minor", IP addresses).
enum class ImageStyle { plain, pretty };

/// A CRIU image as JSON in crit's shape: {"magic": "MNTS", "entries": [{...}]}, field names and enum names as in CRIU,
/// bytes as base64 without line breaks, raw bytes behind a message as "extra". What crit has no place for is kept under
/// keys with an underscore, so that encode_image gives the same bytes again: "_unknown" (fields this library does not
/// know, their wire bytes), "_wire" (a message in an unusual encoding, in force until a field of it is edited),
/// "_extra", "_trailing", "_head". `where` names file and member. Throws Error(corrupt | unsupported |
/// limit_exceeded); files without entries (pages, packed tmpfs ...) are unsupported and the text says what they are.
CKPT_API Json decode_image(std::string bytes, const Where& where, ImageStyle style = ImageStyle::plain,
                           const Limits& limits = {});

/// The image that such a document describes, in either style. Throws Error(corrupt) that names the entry and the
/// field, and Error(unsupported) for an unknown magic. `file` only names the document in errors.
CKPT_API std::string encode_image(const Json& document, const std::string& file = {}, const Limits& limits = {});

/// True when the bytes begin as a CRIU image with entries does.
CKPT_API bool looks_like_image(std::string_view beginning) noexcept;

/// What a file of a CRIU image directory without entries is, told by its name ("memory pages", "a packed tmpfs" ...);
/// empty when the name tells nothing.
CKPT_API std::string raw_image_meaning(std::string_view name);

}  // namespace ckpt
