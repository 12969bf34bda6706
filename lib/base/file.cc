// SPDX-License-Identifier: Apache-2.0
#include "ckpt/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/atomic_file.h"
#include "ckpt/error.h"

namespace ckpt {

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string read_text_file(const std::string& path, const Limits& limits) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::io, Where{path, {}, {}, {}}, std::string("cannot open: ") + std::strerror(errno));
  std::string text;
  char block[1 << 16];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
    if (text.size() > limits.max_member_bytes)
      throw Error(ErrorCode::limit_exceeded, Where{path, {}, {}, {}},
                  "larger than max_member_bytes, " + std::to_string(limits.max_member_bytes));
  }
  if (in.bad())
    throw Error(ErrorCode::io, Where{path, {}, {}, {}}, std::string("cannot read: ") + std::strerror(errno));
  return text;
}

}  // namespace ckpt
