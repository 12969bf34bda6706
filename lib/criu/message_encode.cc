// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "criu/base64.h"
#include "criu/message_json.h"
#include "criu/spelling.h"
#include "criu/wire.h"

namespace ckpt::criu {

namespace pb = google::protobuf;

namespace {

[[noreturn]] void refuse(const Where& where, const std::string& path, const std::string& what) {
  throw Error(ErrorCode::corrupt, where, path + ": " + what);
}

void append_tag(std::string& out, const pb::FieldDescriptor& field, WireType type) {
  append_varint(out, static_cast<std::uint64_t>(field.number()) << 3 | static_cast<std::uint32_t>(type));
}

void append_fixed(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}

std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0);
}

/// Looks a value over before it is encoded.
class Value {
 public:
  Value(const Json& json, const pb::FieldDescriptor& field, const std::string& path, const Where& where)
      : json_(json), field_(field), path_(path), where_(where) {}

  std::uint64_t unsigned_up_to(std::uint64_t most) const {
    const auto number = number_of(field_, json_);
    if (!number || (json_.is_integer() && json_.as_int() < 0 && json_.as_uint() == 0))
      refuse(where_, path_, "an unsigned number is wanted");
    if (*number > most) refuse(where_, path_, "larger than " + std::to_string(most));
    return *number;
  }

  std::int64_t signed_within(std::int64_t least, std::int64_t most) const {
    const bool fits = json_.is_integer() && (json_.as_int() != 0 || json_.as_uint() == 0);
    if (!fits || json_.as_int() < least || json_.as_int() > most)
      refuse(where_, path_, "a number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted");
    return json_.as_int();
  }

  std::uint64_t boolean() const {
    if (json_.is_bool()) return json_.as_bool() ? 1 : 0;
    return unsigned_up_to(1);
  }

  std::uint64_t enumerated() const {
    if (json_.is_integer())
      return static_cast<std::uint64_t>(
          signed_within(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
    const pb::EnumValueDescriptor* value = field_.enum_type()->FindValueByName(json_.as_string());
    if (!json_.is_string() || value == nullptr) refuse(where_, path_, "no value of " + field_.enum_type()->name());
    return static_cast<std::uint64_t>(std::int64_t{value->number()});
  }

  std::string text() const {
    const Json* encoded = json_.find("_base64");
    const bool plain = field_.type() == pb::FieldDescriptor::TYPE_STRING && encoded == nullptr;
    const Json& source = encoded == nullptr ? json_ : *encoded;
    if (!source.is_string()) refuse(where_, path_, "text is wanted");
    if (plain) return source.as_string();
    const bool quoted = encoded == nullptr && is_quoted_printable(field_);
    auto bytes = quoted ? from_quoted_printable(source.as_string()) : from_base64(source.as_string());
    if (!bytes) refuse(where_, path_, quoted ? "no quoted-printable text" : "no base64 text");
    return std::move(*bytes);
  }

 private:
  const Json& json_;
  const pb::FieldDescriptor& field_;
  const std::string& path_;
  const Where& where_;
};

std::uint64_t varint_of(const Value& value, const pb::FieldDescriptor& field) {
  using Int32 = std::numeric_limits<std::int32_t>;
  using Int64 = std::numeric_limits<std::int64_t>;
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_BOOL:
      return value.boolean();
    case pb::FieldDescriptor::TYPE_ENUM:
      return value.enumerated();
    case pb::FieldDescriptor::TYPE_INT32:
      return static_cast<std::uint64_t>(value.signed_within(Int32::min(), Int32::max()));
    case pb::FieldDescriptor::TYPE_INT64:
      return static_cast<std::uint64_t>(value.signed_within(Int64::min(), Int64::max()));
    case pb::FieldDescriptor::TYPE_SINT32:
      return zigzag(value.signed_within(Int32::min(), Int32::max()));
    case pb::FieldDescriptor::TYPE_SINT64:
      return zigzag(value.signed_within(Int64::min(), Int64::max()));
    case pb::FieldDescriptor::TYPE_UINT32:
      return value.unsigned_up_to(std::numeric_limits<std::uint32_t>::max());
    default:
      return value.unsigned_up_to(std::numeric_limits<std::uint64_t>::max());
  }
}

/// Builds one message: known fields by number, unknown ones between them.
class MessageWriter {
 public:
  MessageWriter(const pb::Descriptor& type, const std::string& path, const Where& where)
      : type_(type), path_(path), where_(where) {}

  std::string write(const Json& object) {
    if (!object.is_object()) refuse(where_, path_, "an object is wanted");
    for (const auto& [key, value] : object.members()) take(key, value);
    std::string out;
    for (const auto& [rank, bytes] : parts_) out += bytes;
    return out;
  }

 private:
  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

  void take(const std::string& key, const Json& value) {
    if (key == kWireKey || key == "extra" || key == "_extra") return;
    if (key == kUnknownKey) return take_unknown(value);
    const pb::FieldDescriptor* field = type_.FindFieldByName(key);
    if (field == nullptr) refuse(where_, path_of(key), "no field of " + type_.name());
    std::string& part = parts_[static_cast<std::uint64_t>(field->number()) * 2];
    if (!part.empty()) refuse(where_, path_of(key), "occurs twice");
    if (field->is_repeated())
      part = repeated(*field, path_of(key), value);
    else
      part = encode_value(value, *field, path_of(key), where_);
  }

  std::string repeated(const pb::FieldDescriptor& field, const std::string& path, const Json& values) const {
    if (!values.is_array()) refuse(where_, path, "a list is wanted");
    std::string out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto words = spelling_of(field) == Spelling::ip && values[i].is_string()
                             ? address_words(values[i].as_string())
                             : std::nullopt;
      const std::string item = path + "[" + std::to_string(i) + "]";
      if (!words) out += encode_value(values[i], field, item, where_);
      if (words)
        for (const std::uint32_t word : *words) out += encode_value(word, field, item, where_);
    }
    return out;
  }

  void take_unknown(const Json& value) {
    const auto bytes = value.is_string() ? from_base64(value.as_string()) : std::nullopt;
    if (!bytes) refuse(where_, path_of(kUnknownKey), "no base64 text");
    WireReader reader(*bytes, where_);
    for (WireField field; reader.next(field);)
      parts_[std::uint64_t{field.number} * 2 + 1].append(*bytes, field.begin, field.end - field.begin);
  }

  const pb::Descriptor& type_;
  const std::string& path_;
  const Where& where_;
  std::map<std::uint64_t, std::string> parts_;  ///< by field number, known before unknown
};

Json without(const Json& object, const std::initializer_list<std::string_view>& keys) {
  Json rest = Json::object();
  for (const auto& [key, value] : object.members())
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) rest.append_member(key, value);
  return rest;
}

// The noted bytes are in force while they still say what the object says.
std::optional<std::string> unedited(const Json& object, const pb::Descriptor& type, const Where& where) {
  const Json* wire = object.find(kWireKey);
  if (wire == nullptr) return std::nullopt;
  auto bytes = from_base64(wire->as_string());
  if (!wire->is_string() || !bytes) throw Error(ErrorCode::corrupt, where, std::string(kWireKey) + ": no base64 text");
  const Json fields = without(object, {kWireKey, "extra", "_extra"});
  const Limits limits;
  for (const ImageStyle style : {ImageStyle::plain, ImageStyle::pretty})
    if (without(MessageDecoder(style, limits).decode(*bytes, type, where), {kWireKey}) == fields) return bytes;
  return std::nullopt;
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

std::string encode_value(const Json& json, const pb::FieldDescriptor& field, const std::string& path,
                         const Where& where) {
  const Value value(json, field, path, where);
  std::string out;
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_MESSAGE:
    case pb::FieldDescriptor::TYPE_STRING:
    case pb::FieldDescriptor::TYPE_BYTES: {
      const bool message = field.type() == pb::FieldDescriptor::TYPE_MESSAGE;
      const std::string bytes = message ? encode_message(json, *field.message_type(), path, where) : value.text();
      append_tag(out, field, WireType::bytes);
      append_varint(out, bytes.size());
      return out += bytes;
    }
    case pb::FieldDescriptor::TYPE_FIXED64:
      append_tag(out, field, WireType::fixed64);
      append_fixed(out, value.unsigned_up_to(std::numeric_limits<std::uint64_t>::max()), 8);
      return out;
    case pb::FieldDescriptor::TYPE_FIXED32:
      append_tag(out, field, WireType::fixed32);
      append_fixed(out, value.unsigned_up_to(std::numeric_limits<std::uint32_t>::max()), 4);
      return out;
    default:
      append_tag(out, field, WireType::varint);
      append_varint(out, varint_of(value, field));
      return out;
  }
}

std::string encode_message(const Json& object, const pb::Descriptor& type, const std::string& path,
                           const Where& where) {
  if (auto bytes = unedited(object, type, where)) return std::move(*bytes);
  return MessageWriter(type, path, where).write(object);
}

}  // namespace ckpt::criu
