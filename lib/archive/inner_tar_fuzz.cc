// SPDX-License-Identifier: Apache-2.0
// A tar that is listed can be renumbered: only the numbers differ afterwards, and back again it is the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "archive/codec.h"
#include "archive/inner_tar.h"

using namespace ckpt;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

class StringSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  std::string text;
};

std::string gzip(std::string_view bytes) {
  StringSink out;
  CompressingSink sink(out, Compression::gzip, 1);
  sink.write(bytes);
  sink.finish();
  return out.text;
}

const Where kWhere{"fuzz", "tmpfs-dev-1.tar.gz.img", {}, {}};

void renumber_all(const std::string& packed, const Limits& limits) {
  const std::vector<Member> members = list_inner_tar(packed, kWhere, limits);
  for (const Member& member : members) {
    if (member.type != MemberType::char_device && member.type != MemberType::block_device) continue;
    const NodeNumbers node{member.name, member.dev_major, member.dev_minor, 511, 7};
    const std::string changed = edit_inner_tar(packed, {{node}, {}}, kWhere, limits);
    const std::vector<Member> after = list_inner_tar(changed, kWhere, limits);
    require(after.size() == members.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      require(after[i].name == members[i].name && after[i].size == members[i].size);
      if (after[i].name == node.name) require(after[i].dev_major == 511 && after[i].dev_minor == 7);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Limits limits;
  limits.max_members = 64;
  limits.max_inner_bytes = 1U << 20;
  // As it is, and as the inside of sound gzip data, where a mutation would hardly ever get past the checksum.
  for (const std::string& packed : {std::string(bytes), gzip(bytes)}) {
    try {
      renumber_all(packed, limits);
    } catch (const Error& error) {
      require(error.code() != ErrorCode::internal && error.where().member == kWhere.member);
    }
  }
  return 0;
}
