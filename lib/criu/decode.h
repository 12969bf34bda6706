// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "criu/image.h"

namespace ckpt::criu {

// What the typed views share. Only sources of this room include it.

/// Throws Error(invalid_argument) unless the image is of one of these kinds (names of ImageKind).
void expect_kind(const Image& image, std::initializer_list<const char*> names);

/// The index of the one entry that such an image has. Throws Error(corrupt) when it has none.
std::size_t only_entry(const Image& image);

/// Throws Error(corrupt) about one entry.
[[noreturn]] void fail_entry(const Image& image, std::size_t index, const std::string& detail);

/// Fills `message` from its encoding, which belongs to entry `index`. Throws Error(corrupt) when the bytes are no such
/// message or lack required fields, naming them; Error(limit_exceeded) when they are too many to be decoded: a decoded
/// message takes up to fifty times their memory.
void decode(const Image& image, std::size_t index, std::string_view encoded, google::protobuf::Message& message);

/// The message of entry `index`.
template <typename Message>
Message entry_as(const Image& image, std::size_t index) {
  Message message;
  decode(image, index, image.entries()[index].payload, message);
  return message;
}

/// The number in an enum field, also one that the schema does not list (protobuf keeps those apart).
std::optional<std::uint32_t> enum_number(const Image& image, std::size_t index, std::uint32_t field);

}  // namespace ckpt::criu
