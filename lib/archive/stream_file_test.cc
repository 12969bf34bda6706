// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "ckpt/archive.h"
#include "ckpt/error.h"
#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using ckpt::testing::failure_of;
using ckpt::testing::TempDir;

namespace {

// "one line\n", by gzip, xz, zstd and bzip2.
constexpr unsigned char kGzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                                   0xcb, 0xcf, 0x4b, 0x55, 0xc8, 0xc9, 0xcc, 0x4b, 0xe5, 0x02,
                                   0x00, 0x35, 0x3c, 0x6a, 0xde, 0x09, 0x00, 0x00, 0x00};
constexpr unsigned char kXz[] = {0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00,
                                 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x08, 0x6f,
                                 0x6e, 0x65, 0x20, 0x6c, 0x69, 0x6e, 0x65, 0x0a, 0x00, 0x00, 0x00, 0x00, 0xd4, 0x96,
                                 0x71, 0x71, 0x76, 0x96, 0xd0, 0x3d, 0x00, 0x01, 0x21, 0x09, 0x6c, 0x18, 0xc5, 0xd5,
                                 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a};
constexpr unsigned char kZstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x49, 0x00, 0x00, 0x6f, 0x6e,
                                   0x65, 0x20, 0x6c, 0x69, 0x6e, 0x65, 0x0a, 0xb5, 0x3a, 0x2d, 0x66};
constexpr unsigned char kBzip2[] = {0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x33, 0xfc,
                                    0x0c, 0xc5, 0x00, 0x00, 0x04, 0x51, 0x00, 0x00, 0x10, 0x40, 0x00, 0x02,
                                    0x25, 0xa0, 0x00, 0x31, 0x0c, 0x00, 0xd0, 0xd3, 0xd1, 0xc8, 0x47, 0x92,
                                    0x51, 0x77, 0x24, 0x53, 0x85, 0x09, 0x03, 0x3f, 0xc0, 0xcc, 0x50};

template <std::size_t Size>
std::string bytes(const unsigned char (&array)[Size]) {
  return {reinterpret_cast<const char*>(array), Size};
}

std::string streamed(const std::string& path) {
  std::string text;
  stream_file(path, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string streamed_as_pipe(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  std::string text;
  stream_descriptor(fd, "-", [&](std::string_view piece) { text += piece; });
  ::close(fd);
  return text;
}

}  // namespace

TEST_CASE("a file is streamed as it is or unpacked") {
  const TempDir directory;
  for (const std::string& packed : {bytes(kGzip), bytes(kXz), bytes(kZstd), bytes(kBzip2), std::string("one line\n")}) {
    const std::string path = directory.write("log", packed);
    CHECK(streamed(path) == "one line\n");
    CHECK(streamed_as_pipe(path) == "one line\n");
  }
  const std::string large(3U << 20, 'x');
  const std::string path = directory.write("large", large);
  CHECK(streamed(path) == large);
  CHECK(streamed_as_pipe(path) == large);
  CHECK(streamed(directory.write("empty", "")).empty());
  CHECK(streamed_as_pipe(directory.file("empty")).empty());
}

TEST_CASE("damage and what is no file are refused") {
  const TempDir directory;
  for (const std::string& packed : {bytes(kGzip), bytes(kXz), bytes(kZstd), bytes(kBzip2)}) {
    const std::string path = directory.write("log", packed.substr(0, packed.size() - 3));
    const Error error = failure_of([&] { streamed(path); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().file == path);
  }
  CHECK(failure_of([&] { streamed(directory.path()); }).detail() == "not a regular file");
  CHECK(failure_of([&] { streamed(directory.file("none")); }).detail() == "cannot open: No such file or directory");
}
