// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <ckpt/criu/fdinfo.pb.h>

#include "criu/decode.h"
#include "criu/views.h"
#include "criu/wire.h"

namespace ckpt::criu {

namespace {

// The field of file_entry that belongs to each type of enum fd_types; 0 for UND.
constexpr std::array<int, 21> kFieldOfType = {
    0,
    file_entry::kRegFieldNumber,
    file_entry::kPipeFieldNumber,
    file_entry::kFifoFieldNumber,
    file_entry::kIskFieldNumber,
    file_entry::kUskFieldNumber,
    file_entry::kEfdFieldNumber,
    file_entry::kEpfdFieldNumber,
    file_entry::kIfyFieldNumber,
    file_entry::kSgfdFieldNumber,
    file_entry::kPskFieldNumber,
    file_entry::kTtyFieldNumber,
    file_entry::kFfyFieldNumber,
    file_entry::kNlskFieldNumber,
    file_entry::kNsfFieldNumber,
    file_entry::kTunfFieldNumber,
    file_entry::kExtFieldNumber,
    file_entry::kTfdFieldNumber,
    file_entry::kMemfdFieldNumber,
    file_entry::kBpfFieldNumber,
    file_entry::kPidfdFieldNumber,
};

// CRIU follows the message that belongs to the type without looking whether it is there, and compares the ids.
void check_agreement(const Image& image, std::size_t index, const file_entry& file, std::uint32_t type) {
  if (type == UND || type >= kFieldOfType.size()) return;
  const auto* field = file_entry::descriptor()->FindFieldByNumber(kFieldOfType[type]);
  const auto* reflection = file.GetReflection();
  if (!reflection->HasField(file, field))
    fail_entry(image, index, "the file has type " + std::to_string(type) + " and no " + field->name());
  const auto& inner = reflection->GetMessage(file, field);
  const std::uint32_t id = inner.GetReflection()->GetUInt32(inner, inner.GetDescriptor()->FindFieldByName("id"));
  if (id != file.id())
    fail_entry(image, index,
               "the file has id " + std::to_string(file.id()) + ", its " + field->name() + " id " + std::to_string(id));
}

RegFile regular(const reg_file_entry& message) {
  RegFile file;
  file.id = message.id();
  file.flags = message.flags();
  file.name = message.name();
  file.mnt_id = message.mnt_id();
  if (message.has_size()) file.size = message.size();
  if (message.has_mode()) file.mode = message.mode();
  file.build_id.assign(message.build_id().begin(), message.build_id().end());
  return file;
}

FileEntry read_file(const Image& image, std::size_t index) {
  const auto message = entry_as<file_entry>(image, index);
  FileEntry file;
  file.entry = index;
  file.type = enum_number(image, index, file_entry::kTypeFieldNumber).value_or(0);
  file.id = message.id();
  check_agreement(image, index, message, file.type);
  if (file.type == REG) file.reg = regular(message.reg());
  if (file.type == UNIXSK) {
    if (!message.usk().name().empty()) file.unix_name = message.usk().name();
    if (message.usk().has_mnt_id()) file.unix_mnt_id = message.usk().mnt_id();
  }
  file.external = file.type == EXT;
  return file;
}

FileEntry read_old_regular(const Image& image, std::size_t index) {
  FileEntry file;
  file.entry = index;
  file.type = REG;
  file.reg = regular(entry_as<reg_file_entry>(image, index));
  file.id = file.reg->id;
  return file;
}

}  // namespace

std::vector<FileEntry> read_files(const Image& image) {
  expect_kind(image, {"FILES", "REG_FILES"});
  const bool old = image.kind().message == reg_file_entry::descriptor()->name();
  std::vector<FileEntry> files;
  for (std::size_t i = 0; i < image.entries().size(); ++i)
    files.push_back(old ? read_old_regular(image, i) : read_file(image, i));
  return files;
}

std::string with_file_name(const Image& image, std::size_t entry, std::string_view name) {
  const std::string_view payload = image.entries().at(entry).payload;
  const Where where = image.where(entry);
  if (image.kind().message == reg_file_entry::descriptor()->name())
    return image.with_entry(entry, set_string(payload, reg_file_entry::kNameFieldNumber, name, where));
  std::optional<std::string_view> reg;
  WireReader reader(payload, where);
  for (WireField field; reader.next(field);)
    if (field.number == file_entry::kRegFieldNumber) reg = field.bytes;
  if (!reg) throw Error(ErrorCode::invalid_argument, where, "the entry is no regular file");
  const std::string renamed = set_string(*reg, reg_file_entry::kNameFieldNumber, name, where);
  return image.with_entry(entry, set_string(payload, file_entry::kRegFieldNumber, renamed, where));
}

}  // namespace ckpt::criu
