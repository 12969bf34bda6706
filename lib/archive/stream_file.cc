// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "archive/source.h"
#include "ckpt/error.h"

namespace ckpt {

namespace {

[[noreturn]] void io_error(const std::string& file, const char* what) {
  throw Error(ErrorCode::io, Where{file, {}, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

bool is_plain_file(const Source& source) {
  char first[8] = {};
  return source.seekable() && compression_of({first, source.read_at(0, first, sizeof first)}) == Compression::none;
}

void stream_source(const Source& source, const std::function<void(std::string_view)>& sink) {
  std::vector<char> block(1U << 18);
  if (is_plain_file(source)) {
    std::size_t got = 0;
    for (std::uint64_t at = 0; (got = source.read_at(at, block.data(), block.size())) > 0; at += got)
      sink({block.data(), got});
    return;
  }
  TarStream stream(source, TarStream::Form::raw);
  if (stream.next() == nullptr) return;
  while (const std::size_t got = stream.read_raw(block.data(), block.size())) sink({block.data(), got});
}

}  // namespace

void stream_file(const std::string& path, const std::function<void(std::string_view)>& sink) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) io_error(path, "cannot open");
  auto file = std::make_shared<Descriptor>(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0) io_error(path, "cannot stat");
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::invalid_argument, Where{path, {}, {}, {}}, "not a regular file", "a pipe is read as -");
  stream_source(Source(std::move(file), path, 0, static_cast<std::uint64_t>(status.st_size)), sink);
}

void stream_descriptor(int fd, const std::string& name, const std::function<void(std::string_view)>& sink) {
  stream_source(Source(fd, name), sink);
}

}  // namespace ckpt
