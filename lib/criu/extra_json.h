// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ckpt/json.h"
#include "criu/image.h"
#include "criu/message_json.h"

namespace ckpt::criu {

/// The raw bytes behind a message as crit shows them under "extra": base64, the parts of a TCP stream, semaphore
/// values, messages and their texts in turn. Null when the kind (or the message) has none. Ghost chunks are entries of
/// their own: see image_json.cc.
Json decode_extra(const ImageKind& kind, const Entry& entry, MessageDecoder& decoder, const Where& where);

/// The bytes for such a value, padding as CRIU writes it. Throws Error(corrupt).
std::string encode_extra(const ImageKind& kind, const Json& extra, const std::string& path, const Where& where);

/// base64 text as bytes. Throws Error(corrupt) with the path.
std::string bytes_of(const Json& text, const std::string& path, const Where& where);

}  // namespace ckpt::criu
