// SPDX-License-Identifier: Apache-2.0
// The descriptor set that the build makes of proto/ against the magic table and against what CRIU really writes.
#include <doctest/doctest.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/unknown_field_set.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "criu/image.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace pb = google::protobuf;
using ckpt::criu::Image;

namespace {

/// All messages of the build's descriptor set, in a pool of their own.
class Schema {
 public:
  Schema() {
    REQUIRE(files_.ParseFromString(ckpt::testing::read_file(CKPT_PROTOSET)));
    pool_ = std::make_unique<pb::DescriptorPool>();
    for (const auto& file : files_.file()) REQUIRE(pool_->BuildFile(file) != nullptr);
  }

  const pb::FileDescriptorSet& files() const { return files_; }

  const pb::Descriptor* find(const std::string& message) const {
    return pool_->FindMessageTypeByName("ckpt.criu." + message);
  }

  std::unique_ptr<pb::Message> decode(const std::string& name, std::string_view bytes) {
    std::unique_ptr<pb::Message> message(factory_.GetPrototype(find(name))->New());
    CHECK(message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    return message;
  }

 private:
  pb::FileDescriptorSet files_;
  std::unique_ptr<pb::DescriptorPool> pool_;
  pb::DynamicMessageFactory factory_;
};

// Names the messages with fields that the schema does not have.
void collect_unknown(const pb::Message& message, std::set<std::string>& names) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) names.insert(message.GetDescriptor()->name());
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) collect_unknown(reflection.GetMessage(message, field), names);
    for (int i = 0; field->is_repeated() && i < reflection.FieldSize(message, field); ++i)
      collect_unknown(reflection.GetRepeatedMessage(message, field, i), names);
  }
}

}  // namespace

TEST_CASE("every image kind has its message in the schema") {
  const Schema schema;
  for (const auto& kind : ckpt::criu::all_kinds()) {
    CAPTURE(kind.name);
    CHECK(schema.find(kind.message) != nullptr);
    if (*kind.head_message != 0) CHECK(schema.find(kind.head_message) != nullptr);
  }
}

TEST_CASE("files register where no other CRIU schema does") {
  const Schema schema;
  CHECK(schema.files().file_size() == 74);
  for (const auto& file : schema.files().file()) {
    CAPTURE(file.name());
    CHECK(file.name().rfind("ckpt/criu/", 0) == 0);
    CHECK(file.package() == "ckpt.criu");
  }
}

TEST_CASE("what CRIU wrote is understood completely") {
  Schema schema;
  std::set<std::string> unknown;
  for (const auto& file : std::filesystem::directory_iterator(ckpt::testing::testdata("images"))) {
    const std::string name = file.path().filename().string();
    if (name.find("tmpfs-dev") != std::string::npos) continue;
    CAPTURE(name);
    const Image image = Image::parse(ckpt::testing::read_file(file.path().string()), {});
    for (std::size_t i = 0; i < image.entries().size(); ++i) {
      const bool head = i == 0 && *image.kind().head_message != 0;
      const auto message =
          schema.decode(head ? image.kind().head_message : image.kind().message, image.entries()[i].payload);
      collect_unknown(*message, unknown);
    }
  }
  CHECK(unknown.empty());
}
