// SPDX-License-Identifier: Apache-2.0
#include "criu/extra.h"

#include "criu/wire.h"

namespace ckpt::criu {

namespace {

/// Fields of one message as CRIU decodes them: uint32 fields keep the low half of a varint, absent ones are zero.
class Fields {
 public:
  Fields(std::string_view message, const Where& where) : message_(message), where_(where) {}
  std::uint64_t u64(std::uint32_t number) const { return last_varint(message_, number, where_).value_or(0); }
  std::uint32_t u32(std::uint32_t number) const { return static_cast<std::uint32_t>(u64(number)); }

 private:
  std::string_view message_;
  const Where& where_;
};

std::uint64_t padded(std::uint64_t size, std::uint64_t to) { return (size + to - 1) / to * to; }

std::string_view sized_message(Cursor& cursor) { return cursor.bytes(cursor.u32()); }

void skip_ipc_messages(Cursor& cursor, std::uint32_t count, const Where& where) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const Fields message(sized_message(cursor), where);
    cursor.bytes(padded(message.u32(2), 8));
  }
}

void skip_ghost_chunks(Cursor& cursor, const Where& where) {
  while (!cursor.at_end()) {
    const Fields chunk(sized_message(cursor), where);
    cursor.bytes(chunk.u64(1));
  }
}

// CRIU 3.0 and later keep the content in a pagemap; only older images have it here.
void skip_segment(Cursor& cursor, const Fields& segment) {
  if (segment.u64(3) != 0) return;
  const std::uint64_t size = segment.u64(2);
  if (size > cursor.remaining()) cursor.fail("a segment of " + std::to_string(size) + " bytes is cut off");
  cursor.bytes(padded(size, 4));
}

}  // namespace

void skip_extra(Cursor& cursor, Extra extra, std::string_view message, const Where& where) {
  if (extra == Extra::none) return;
  const Fields fields(message, where);
  switch (extra) {
    case Extra::none:
      return;
    case Extra::bytes_2:
      cursor.bytes(fields.u32(2));
      return;
    case Extra::bytes_1_3:
      cursor.bytes(std::uint64_t{fields.u32(1)} + fields.u32(3));
      return;
    case Extra::bytes_2_3:
      cursor.bytes(std::uint64_t{fields.u32(2)} + fields.u32(3));
      return;
    case Extra::ipc_msg:
      skip_ipc_messages(cursor, fields.u32(3), where);
      return;
    case Extra::ipc_sem:
      cursor.bytes(padded(std::uint64_t{fields.u32(2)} * 2, 8));
      return;
    case Extra::ipc_shm:
      skip_segment(cursor, fields);
      return;
    case Extra::ghost:
      if (fields.u64(9) != 0)
        skip_ghost_chunks(cursor, where);
      else
        cursor.bytes(cursor.remaining());
  }
}

}  // namespace ckpt::criu
