// SPDX-License-Identifier: Apache-2.0
#include "criu/decode.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <vector>

#include "criu/wire.h"

namespace ckpt::criu {

namespace {

namespace pb = google::protobuf;

constexpr std::size_t kMaxDecodedBytes = 4U << 20;
constexpr std::size_t kMaxNamed = 8;

// A required enum field whose number this schema does not know counts as present: later CRIU versions add numbers.
bool has_unlisted_number(const pb::Message& message, const pb::FieldDescriptor& field) {
  if (field.cpp_type() != pb::FieldDescriptor::CPPTYPE_ENUM) return false;
  const pb::UnknownFieldSet& unknown = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (unknown.field(i).number() == field.number() && unknown.field(i).type() == pb::UnknownField::TYPE_VARINT)
      return true;
  return false;
}

/// Collects the required fields that a message and the messages in it lack, as dotted paths.
class MissingFields {
 public:
  void look_at(const pb::Message& message, const std::string& path) {
    const pb::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count() && names_.size() < kMaxNamed; ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      if (field.is_required() && !message.GetReflection()->HasField(message, &field) &&
          !has_unlisted_number(message, field))
        names_.push_back(path + field.name());
      if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) look_inside(message, field, path);
    }
  }

  bool none() const { return names_.empty(); }

  std::string text() const {
    std::string text;
    for (const std::string& name : names_) text += (text.empty() ? "" : ", ") + name;
    return names_.size() == kMaxNamed ? text + " ..." : text;
  }

 private:
  void look_inside(const pb::Message& message, const pb::FieldDescriptor& field, const std::string& path) {
    const pb::Reflection& reflection = *message.GetReflection();
    if (!field.is_repeated()) {
      if (reflection.HasField(message, &field))
        look_at(reflection.GetMessage(message, &field), path + field.name() + ".");
      return;
    }
    for (int i = 0; i < reflection.FieldSize(message, &field) && names_.size() < kMaxNamed; ++i)
      look_at(reflection.GetRepeatedMessage(message, &field, i), path + field.name() + "[" + std::to_string(i) + "].");
  }

  std::vector<std::string> names_;
};

}  // namespace

void expect_kind(const Image& image, std::initializer_list<const char*> names) {
  const std::string_view kind = image.kind().name;
  if (std::find(names.begin(), names.end(), kind) != names.end()) return;
  throw Error(ErrorCode::invalid_argument, image.where(),
              "is a " + std::string(kind) + " image where a " + *names.begin() + " image is expected");
}

std::size_t only_entry(const Image& image) {
  if (image.entries().empty()) throw Error(ErrorCode::corrupt, image.where(), "the image has no entry");
  return 0;
}

void fail_entry(const Image& image, std::size_t index, const std::string& detail) {
  throw Error(ErrorCode::corrupt, image.where(index), detail);
}

void decode(const Image& image, std::size_t index, std::string_view encoded, pb::Message& message) {
  const std::string& name = message.GetDescriptor()->name();
  if (encoded.size() > kMaxDecodedBytes)
    throw Error(ErrorCode::limit_exceeded, image.where(index),
                "a " + name + " of " + std::to_string(encoded.size()) + " bytes is not decoded, the limit is " +
                    std::to_string(kMaxDecodedBytes));
  if (!message.ParsePartialFromArray(encoded.data(), static_cast<int>(encoded.size())))
    fail_entry(image, index, "the bytes are no " + name);
  if (message.IsInitialized()) return;
  MissingFields missing;
  missing.look_at(message, "");
  if (!missing.none()) fail_entry(image, index, name + " lacks required fields: " + missing.text());
}

std::optional<std::uint32_t> enum_number(const Image& image, std::size_t index, std::uint32_t field) {
  const auto number = last_varint(image.entries()[index].payload, field, image.where(index));
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace ckpt::criu
