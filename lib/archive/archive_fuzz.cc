// SPDX-License-Identifier: Apache-2.0
// Any bytes are either refused with an Error or are an archive whose copy has the same members.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "archive/rewrite_archive.h"
#include "ckpt/archive.h"
#include "ckpt/error.h"

using namespace ckpt;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// A file in memory that opens by name.
class MemoryFile final : public ByteSink {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) { require(fd_ >= 0); }
  ~MemoryFile() override { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  void write(std::string_view bytes) override {
    require(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

constexpr std::uint64_t kSmall = 1U << 20;

ArchiveOptions bounded() {
  ArchiveOptions options;
  options.limits.max_members = 1000;
  options.limits.max_member_bytes = kSmall;
  options.limits.max_kept_bytes = kSmall;
  options.keep = [](const Member&) { return true; };
  return options;
}

/// Sparse members claim any size; what is written out whole has to stay small.
bool is_small(const Archive& archive) {
  std::uint64_t total = 0;
  for (const Member& member : archive.members()) {
    if (member.size > kSmall) return false;
    total += member.size;
  }
  return total <= kSmall;
}

void require_same(const Archive& a, const Archive& b) {
  require(a.members().size() == b.members().size());
  for (std::size_t i = 0; i < a.members().size(); ++i) {
    const Member& one = a.members()[i];
    const Member& other = b.members()[i];
    require(one.name == other.name && one.type == other.type && one.mode == other.mode);
    if (one.type == MemberType::file) require(a.read(one) == b.read(other));
  }
}

void copy_and_compare(const Archive& in) {
  MemoryFile out;
  const auto written = rewrite_archive(in, {}, {}, out);
  verify_archive(out.path(), written, in, {}, Verify::full);
  require_same(in, Archive::open(out.path(), bounded()));
}

void replace_first(const Archive& in) {
  ArchiveEdits edits;
  // libarchive carries sparse attributes over to headers that lack them, so an edit may change what the next one means.
  // Verification finds that; here it would only be in the way.
  for (const Member& member : in.members())
    if (member.sparse) return;
  for (std::size_t i = 0; i < in.members().size() && edits.replaced.empty(); ++i)
    if (in.members()[i].type == MemberType::file) edits.replaced[i] = "other content";
  if (edits.replaced.empty()) return;
  MemoryFile out;
  const auto written = rewrite_archive(in, edits, {}, out);
  verify_archive(out.path(), written, in, edits, Verify::full);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  MemoryFile file;
  file.write({reinterpret_cast<const char*>(data), size});
  try {
    const Archive in = Archive::open(file.path(), bounded());
    if (!is_small(in)) return 0;
    copy_and_compare(in);
    replace_first(in);
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal);
  }
  return 0;
}
