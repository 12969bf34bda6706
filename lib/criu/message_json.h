// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ckpt/error.h"
#include "ckpt/image.h"
#include "ckpt/json.h"
#include "ckpt/limits.h"

namespace ckpt::criu {

/// The message of that name in ckpt.criu. Throws Error(internal) when the schema lacks it.
const google::protobuf::Descriptor& message_type(const char* name);

/// Turns encoded messages into JSON objects, driven by the descriptors alone. encode_message gives the same bytes back.
class MessageDecoder {
 public:
  MessageDecoder(ImageStyle style, const Limits& limits) : style_(style), limits_(limits) {}

  /// `where` is the place of the message. Throws Error(corrupt | limit_exceeded).
  Json decode(std::string_view message, const google::protobuf::Descriptor& type, const Where& where);

 private:
  friend class MessageReader;
  void charge(std::uint64_t values, const Where& where);

  ImageStyle style_;
  const Limits& limits_;
  std::uint64_t values_ = 0;  ///< made so far, of all messages together
  std::uint32_t depth_ = 0;
};

/// The encoding of one object. `path` names the object in errors ("entries[3].reg"). Throws Error(corrupt).
std::string encode_message(const Json& object, const google::protobuf::Descriptor& type, const std::string& path,
                           const Where& where);

/// What decode() keeps of a message besides its fields.
inline constexpr const char* kUnknownKey = "_unknown";
inline constexpr const char* kWireKey = "_wire";

/// The wire form of one value of a field, tag included. Throws Error(corrupt) with the path.
std::string encode_value(const Json& value, const google::protobuf::FieldDescriptor& field, const std::string& path,
                         const Where& where);
/// Appends a base-128 varint.
void append_varint(std::string& out, std::uint64_t value);

}  // namespace ckpt::criu
