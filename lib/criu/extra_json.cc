// SPDX-License-Identifier: Apache-2.0
#include "criu/extra_json.h"

#include "criu/base64.h"
#include "criu/wire.h"

namespace ckpt::criu {

namespace {

std::size_t padded(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }

Json stream_parts(const Entry& entry, const Where& where) {
  const auto in_bytes = static_cast<std::uint32_t>(last_varint(entry.payload, 1, where).value_or(0));
  Json parts = Json::object();
  parts.append_member("inq", to_base64(entry.extra.substr(0, in_bytes)));
  return parts.append_member("outq", to_base64(entry.extra.substr(in_bytes)));
}

Json semaphores(const Entry& entry, const Where& where) {
  const auto count = static_cast<std::uint32_t>(last_varint(entry.payload, 2, where).value_or(0));
  Json values = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const auto low = static_cast<unsigned char>(entry.extra[2 * i]);
    const auto high = static_cast<unsigned char>(entry.extra[2 * i + 1]);
    values.push(low | high << 8);
  }
  return values;
}

Json ipc_messages(const Entry& entry, MessageDecoder& decoder, const Where& where) {
  Json list = Json::array();
  for (Cursor cursor(entry.extra, where); !cursor.at_end();) {
    const std::string_view message = cursor.bytes(cursor.u32());
    const auto size = static_cast<std::uint32_t>(last_varint(message, 2, where).value_or(0));
    list.push(decoder.decode(message, message_type("ipc_msg"), where));
    list.push(to_base64(cursor.bytes(padded(size, 8)).substr(0, size)));
  }
  return list;
}

void append_u32(std::string& out, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

std::string encode_semaphores(const Json& values, const std::string& path, const Where& where) {
  std::string out;
  for (const Json& value : values.items()) {
    if (!value.is_integer() || value.as_uint(0x10000) > 0xffff)
      throw Error(ErrorCode::corrupt, where, path + ": a number of 16 bits is wanted");
    out += static_cast<char>(value.as_uint() & 0xff);
    out += static_cast<char>(value.as_uint() >> 8);
  }
  out.resize(padded(out.size(), 8));
  return out;
}

std::string encode_ipc_messages(const Json& list, const std::string& path, const Where& where) {
  if (list.size() % 2 != 0) throw Error(ErrorCode::corrupt, where, path + ": a message without its text");
  std::string out;
  for (std::size_t i = 0; i < list.size(); i += 2) {
    const std::string message = encode_message(list[i], message_type("ipc_msg"), path, where);
    std::string text = bytes_of(list[i + 1], path, where);
    text.resize(padded(text.size(), 8));
    append_u32(out, message.size());
    out += message + text;
  }
  return out;
}

}  // namespace

Json decode_extra(const ImageKind& kind, const Entry& entry, MessageDecoder& decoder, const Where& where) {
  switch (kind.extra) {
    case Extra::none:
      return {};
    case Extra::bytes_1_3:
      return stream_parts(entry, where);
    case Extra::ipc_msg:
      return ipc_messages(entry, decoder, where);
    case Extra::ipc_sem:
      return semaphores(entry, where);
    case Extra::ipc_shm: {
      if (last_varint(entry.payload, 3, where).value_or(0) != 0) return {};
      return to_base64(entry.extra.substr(0, last_varint(entry.payload, 2, where).value_or(0)));
    }
    case Extra::bytes_2:
    case Extra::bytes_2_3:
    case Extra::ghost:
      return to_base64(entry.extra);
  }
  return {};
}

std::string bytes_of(const Json& text, const std::string& path, const Where& where) {
  auto bytes = text.is_string() ? from_base64(text.as_string()) : std::nullopt;
  if (!bytes) throw Error(ErrorCode::corrupt, where, path + ": no base64 text");
  return std::move(*bytes);
}

std::string encode_extra(const ImageKind& kind, const Json& extra, const std::string& path, const Where& where) {
  if (extra.is_null()) return {};
  switch (kind.extra) {
    case Extra::none:
      throw Error(ErrorCode::corrupt, where, path + ": no " + kind.name + " entry has extra bytes");
    case Extra::bytes_1_3:
      return bytes_of(extra["inq"], path + ".inq", where) + bytes_of(extra["outq"], path + ".outq", where);
    case Extra::ipc_msg:
      return encode_ipc_messages(extra, path, where);
    case Extra::ipc_sem:
      return encode_semaphores(extra, path, where);
    case Extra::ipc_shm: {
      std::string bytes = bytes_of(extra, path, where);
      bytes.resize(padded(bytes.size(), 4));
      return bytes;
    }
    default:
      return bytes_of(extra, path, where);
  }
}

}  // namespace ckpt::criu
