// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "criu/base64.h"
#include "criu/message_json.h"
#include "criu/spelling.h"
#include "criu/wire.h"
#include "document/utf8.h"

namespace ckpt::criu {

namespace pb = google::protobuf;

namespace {

WireType wire_type_of(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_FIXED64:
    case pb::FieldDescriptor::TYPE_SFIXED64:
    case pb::FieldDescriptor::TYPE_DOUBLE:
      return WireType::fixed64;
    case pb::FieldDescriptor::TYPE_FIXED32:
    case pb::FieldDescriptor::TYPE_SFIXED32:
    case pb::FieldDescriptor::TYPE_FLOAT:
      return WireType::fixed32;
    case pb::FieldDescriptor::TYPE_STRING:
    case pb::FieldDescriptor::TYPE_BYTES:
    case pb::FieldDescriptor::TYPE_MESSAGE:
      return WireType::bytes;
    default:
      return WireType::varint;
  }
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::int64_t unzigzag(std::uint64_t value) { return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1)); }

Json enum_json(const pb::FieldDescriptor& field, std::uint64_t raw) {
  const auto number = static_cast<std::int32_t>(raw);
  const pb::EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
  return value == nullptr ? Json(std::int64_t{number}) : Json(value->name());
}

Json unsigned_json(const pb::FieldDescriptor& field, std::uint64_t value, ImageStyle style) {
  return style == ImageStyle::pretty ? spell(field, spelling_of(field), value) : Json(value);
}

Json number_json(const pb::FieldDescriptor& field, std::uint64_t raw, ImageStyle style) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_BOOL:
      return raw != 0;
    case pb::FieldDescriptor::TYPE_ENUM:
      return enum_json(field, raw);
    case pb::FieldDescriptor::TYPE_INT32:
      return std::int64_t{static_cast<std::int32_t>(raw)};
    case pb::FieldDescriptor::TYPE_INT64:
      return static_cast<std::int64_t>(raw);
    case pb::FieldDescriptor::TYPE_SINT32:
      return std::int64_t{static_cast<std::int32_t>(unzigzag(raw & 0xffffffffU))};
    case pb::FieldDescriptor::TYPE_SINT64:
      return unzigzag(raw);
    case pb::FieldDescriptor::TYPE_UINT32:
    case pb::FieldDescriptor::TYPE_FIXED32:
      return unsigned_json(field, raw & 0xffffffffU, style);
    default:
      return unsigned_json(field, raw, style);
  }
}

Json text_json(const pb::FieldDescriptor& field, std::string_view bytes) {
  if (is_quoted_printable(field)) return to_quoted_printable(bytes);
  if (field.type() == pb::FieldDescriptor::TYPE_BYTES) return to_base64(bytes);
  if (!first_not_utf8(bytes)) return bytes;
  // CRIU's strings are paths, and a path is any bytes; JSON text is not.
  Json object = Json::object();
  object.append_member("_base64", to_base64(bytes));
  return object;
}

}  // namespace

/// Reads one message and watches whether encode_message would give its bytes again.
class MessageReader {
 public:
  MessageReader(MessageDecoder& decoder, const pb::Descriptor& type, const Where& where)
      : decoder_(decoder), type_(type), where_(where) {}

  Json read(std::string_view message) {
    WireReader reader(message, where_);
    for (WireField field; reader.next(field);) take(message.substr(field.begin, field.end - field.begin), field);
    Json object = Json::object();
    for (auto& [number, found] : fields_) object.append_member(found.field->name(), finish(found));
    if (!unknown_.empty()) append_bytes(object, kUnknownKey, unknown_);
    if (!canonical_) append_bytes(object, kWireKey, message);
    return object;
  }

 private:
  struct Found {
    const pb::FieldDescriptor* field = nullptr;
    std::vector<Json> values;
    std::string_view message;  ///< of a single message field
    std::string merged;        ///< the same, when it occurs several times: they count together
  };

  void append_bytes(Json& object, const char* key, std::string_view bytes) {
    decoder_.charge(bytes.size() / 16 + 1, where_);
    object.append_member(key, to_base64(bytes));
  }

  void take(std::string_view raw, const WireField& wire) {
    const pb::FieldDescriptor* field = type_.FindFieldByNumber(static_cast<int>(wire.number));
    const bool packed = field != nullptr && field->is_packable() && wire.type == WireType::bytes;
    const bool known = field != nullptr && (packed || wire.type == wire_type_of(*field));
    const std::uint64_t rank = std::uint64_t{wire.number} * 2 + (known ? 0 : 1);
    if (rank < rank_) canonical_ = false;
    rank_ = rank;
    if (!known) {
      unknown_ += raw;
      return;
    }
    Found& found = fields_[wire.number];
    found.field = field;
    if (packed)
      take_packed(found, wire.bytes);
    else
      take_one(found, raw, wire);
  }

  void take_packed(Found& found, std::string_view bytes) {
    canonical_ = false;
    const WireType type = wire_type_of(*found.field);
    Cursor cursor(bytes, where_);
    while (!cursor.at_end()) {
      const std::uint64_t value = type == WireType::varint    ? cursor.varint()
                                  : type == WireType::fixed64 ? little_endian(cursor.bytes(8))
                                                              : little_endian(cursor.bytes(4));
      keep(found, number_json(*found.field, value, decoder_.style_));
    }
  }

  void take_one(Found& found, std::string_view raw, const WireField& wire) {
    if (found.field->type() == pb::FieldDescriptor::TYPE_MESSAGE) return take_message(found, raw, wire);
    const WireType type = wire.type;
    Json value = type == WireType::varint  ? number_json(*found.field, wire.varint, decoder_.style_)
                 : type == WireType::bytes ? text_json(*found.field, wire.bytes)
                                           : number_json(*found.field, little_endian(wire.bytes), decoder_.style_);
    if (encode_value(value, *found.field, "", where_) != raw) canonical_ = false;
    keep(found, std::move(value));
  }

  void take_message(Found& found, std::string_view raw, const WireField& wire) {
    std::string head;
    append_varint(head, std::uint64_t{wire.number} << 3 | static_cast<std::uint32_t>(WireType::bytes));
    append_varint(head, wire.bytes.size());
    if (raw.substr(0, raw.size() - wire.bytes.size()) != head) canonical_ = false;
    if (found.field->is_repeated())
      return keep(found, decoder_.decode(wire.bytes, *found.field->message_type(), where_));
    if (found.message.data() != nullptr) {
      canonical_ = false;
      if (found.merged.empty()) found.merged = found.message;
      found.merged += wire.bytes;
    }
    found.message = wire.bytes;
  }

  void keep(Found& found, Json value) {
    decoder_.charge(1, where_);
    if (!found.field->is_repeated() && !found.values.empty()) {
      canonical_ = false;
      found.values.clear();
    }
    found.values.push_back(std::move(value));
  }

  Json finish(Found& found) {
    const pb::FieldDescriptor& field = *found.field;
    if (!field.is_repeated() && field.type() == pb::FieldDescriptor::TYPE_MESSAGE)
      return decoder_.decode(found.merged.empty() ? found.message : found.merged, *field.message_type(), where_);
    if (!field.is_repeated()) return std::move(found.values.back());
    if (decoder_.style_ == ImageStyle::pretty && spelling_of(field) == Spelling::ip) return addresses(found);
    return Json(std::move(found.values));
  }

  static Json addresses(Found& found) {
    std::vector<std::uint32_t> words;
    for (const Json& value : found.values) words.push_back(static_cast<std::uint32_t>(value.as_uint()));
    const auto text = spell_address(words);
    if (!text) return Json(std::move(found.values));
    Json list = Json::array();
    return list.push(*text);
  }

  MessageDecoder& decoder_;
  const pb::Descriptor& type_;
  const Where& where_;
  std::map<std::uint32_t, Found> fields_;
  std::string unknown_;
  std::uint64_t rank_ = 0;
  bool canonical_ = true;
};

const pb::Descriptor& message_type(const char* name) {
  const pb::Descriptor* type =
      pb::DescriptorPool::generated_pool()->FindMessageTypeByName(std::string("ckpt.criu.") + name);
  if (type == nullptr) throw Error(ErrorCode::internal, {}, std::string("no message ") + name + " in the schema");
  return *type;
}

void MessageDecoder::charge(std::uint64_t values, const Where& where) {
  values_ += values;
  if (values_ > limits_.max_document_nodes)
    throw Error(ErrorCode::limit_exceeded, where,
                "more values than max_document_nodes, " + std::to_string(limits_.max_document_nodes));
}

Json MessageDecoder::decode(std::string_view message, const pb::Descriptor& type, const Where& where) {
  if (depth_ >= limits_.max_nesting)
    throw Error(ErrorCode::limit_exceeded, where,
                "messages nested deeper than max_nesting, " + std::to_string(limits_.max_nesting));
  charge(1, where);
  ++depth_;
  Json object = MessageReader(*this, type, where).read(message);
  --depth_;
  return object;
}

}  // namespace ckpt::criu
