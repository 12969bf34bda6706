// SPDX-License-Identifier: Apache-2.0
#include "ckpt/archive.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include "archive/impl.h"
#include "base/paths.h"

namespace ckpt {

namespace {

[[noreturn]] void io_error(const std::string& file, const char* what) {
  throw Error(ErrorCode::io, Where{file, {}, {}, {}}, std::string(what) + ": " + std::strerror(errno));
}

Archive open_source(std::shared_ptr<Source> source, const std::string& name, const ArchiveOptions& options) {
  auto impl = std::make_shared<Archive::Impl>();
  impl->name = name;
  impl->limits = options.limits;
  impl->unsafe_names = options.unsafe_names;
  impl->source = std::move(source);
  if (impl->source->seekable() && impl->source->length() == 0)
    throw Error(ErrorCode::corrupt, Where{name, {}, {}, {}}, "the file is empty");
  if (impl->source->seekable()) {
    char first[8] = {};
    const std::size_t got = impl->source->read_at(0, first, sizeof first);
    impl->compression = compression_of({first, got});
  } else {
    impl->compression = Compression::none;
  }
  scan_tar(*impl, options);
  return Archive(std::move(impl));
}

Archive open_directory(const std::string& path, const ArchiveOptions& options) {
  auto impl = std::make_shared<Archive::Impl>();
  impl->name = path;
  impl->limits = options.limits;
  impl->unsafe_names = options.unsafe_names;
  impl->directory = true;
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) io_error(path, "cannot open");
  impl->directory_fd = std::make_shared<Descriptor>(fd);
  scan_directory(*impl, options);
  return Archive(std::move(impl));
}

// A file without a name: nobody else can open it, and it goes when we go.
std::shared_ptr<Descriptor> unnamed_file(const std::string& directory) {
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    std::string name = directory + "/ckpt-spool-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) io_error(directory, "cannot create a temporary file in it");
    ::unlink(name.c_str());
  }
  return std::make_shared<Descriptor>(fd);
}

void write_all(int fd, std::string_view bytes, const std::string& where) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) io_error(where, "cannot write the temporary copy");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

std::shared_ptr<Source> whole_file(std::shared_ptr<Descriptor> file, const std::string& name) {
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) io_error(name, "cannot stat");
  return std::make_shared<Source>(std::move(file), name, 0, static_cast<std::uint64_t>(status.st_size));
}

}  // namespace

const char* to_string(Compression compression) noexcept {
  switch (compression) {
    case Compression::none:
      return "none";
    case Compression::gzip:
      return "gzip";
    case Compression::zstd:
      return "zstd";
    case Compression::xz:
      return "xz";
    case Compression::bzip2:
      return "bzip2";
    case Compression::lz4:
      return "lz4";
  }
  return "none";
}

const char* to_string(MemberType type) noexcept {
  switch (type) {
    case MemberType::file:
      return "file";
    case MemberType::directory:
      return "directory";
    case MemberType::symlink:
      return "symlink";
    case MemberType::hardlink:
      return "hardlink";
    case MemberType::char_device:
      return "char";
    case MemberType::block_device:
      return "block";
    case MemberType::fifo:
      return "fifo";
    case MemberType::other:
      return "other";
  }
  return "other";
}

void Archive::Impl::index() {
  std::set<std::string> told;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [found, fresh] = last.insert_or_assign(members[i].name, i);
    if (!fresh && told.insert(found->first).second) duplicates.push_back(found->first);
  }
}

void Archive::Impl::require_name(const Member& member) const {
  if (member.raw_name.size() > limits.max_name_bytes || member.link_target.size() > limits.max_name_bytes)
    throw Error(ErrorCode::limit_exceeded, Where{name, member.name.substr(0, 64) + "...", {}, {}},
                "a name longer than max_name_bytes, " + std::to_string(limits.max_name_bytes));
  if (unsafe_names == UnsafeNames::refuse && !is_safe_name(member.raw_name))
    throw Error(ErrorCode::corrupt, Where{name, member.raw_name, {}, {}},
                "a member's name leads out of the archive (absolute, \"..\" or empty)");
}

Archive::Archive(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Archive Archive::open(const std::string& path, const ArchiveOptions& options) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) io_error(path, "cannot open");
  if (S_ISDIR(status.st_mode)) return open_directory(path, options);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::invalid_argument, Where{path, {}, {}, {}}, "not a regular file and not a directory",
                "a pipe is read as -");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) io_error(path, "cannot open");
  return open_source(whole_file(std::make_shared<Descriptor>(fd), path), path, options);
}

Archive Archive::open_stream(int fd, const std::string& name, const ArchiveOptions& options) {
  return open_source(std::make_shared<Source>(fd, name), name, options);
}

Archive Archive::spool(int fd, const std::string& name, const std::string& directory, const ArchiveOptions& options) {
  auto file = unnamed_file(directory);
  const Source pipe(fd, name);
  std::vector<char> block(1U << 20);
  while (const std::size_t got = pipe.read_next(block.data(), block.size()))
    write_all(file->get(), {block.data(), got}, directory);
  return open_source(whole_file(std::move(file), name), name, options);
}

Archive Archive::open_member(const Member& member, const ArchiveOptions& options) const {
  if (impl_->random_access() && !member.sparse)
    return open_source(impl_->source->part(member.data_offset, member.size), impl_->name, options);
  if (impl_->directory) {
    auto blob = std::make_shared<Descriptor>(open_directory_file(*impl_, member));
    return open_source(whole_file(std::move(blob), impl_->name), impl_->name, options);
  }
  auto file = unnamed_file("/tmp");
  stream(member, [&](std::string_view piece) { write_all(file->get(), piece, "/tmp"); });
  return open_source(whole_file(std::move(file), impl_->name), impl_->name, options);
}

const std::string& Archive::name() const noexcept { return impl_->name; }
bool Archive::is_directory() const noexcept { return impl_->directory; }
Compression Archive::compression() const noexcept { return impl_->compression; }
const std::vector<Member>& Archive::members() const noexcept { return impl_->members; }
const std::vector<std::string>& Archive::duplicates() const noexcept { return impl_->duplicates; }

const Member* Archive::find(std::string_view name) const noexcept {
  const auto found = impl_->last.find(name);
  return found == impl_->last.end() ? nullptr : &impl_->members[found->second];
}

std::string Archive::read(const Member& member) const {
  if (member.size > impl_->limits.max_member_bytes)
    throw Error(ErrorCode::limit_exceeded, impl_->where(member),
                "larger than max_member_bytes, " + std::to_string(impl_->limits.max_member_bytes));
  std::string bytes;
  stream(member, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

void Archive::stream(const Member& member, const std::function<void(std::string_view)>& sink) const {
  if (impl_->directory) return stream_directory_file(*impl_, member, sink);
  if (const auto kept = impl_->kept.find(member.header_offset); kept != impl_->kept.end()) return sink(kept->second);
  if (!impl_->source->seekable())
    throw Error(ErrorCode::unsupported, impl_->where(member), "a pipe is read once, and this member was not kept",
                "give the archive as a file");
  if (impl_->random_access() && !member.sparse) {
    std::vector<char> block(static_cast<std::size_t>(std::min<std::uint64_t>(1U << 20, member.size)));
    for (std::uint64_t done = 0; done < member.size;) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), member.size - done));
      impl_->source->read_exactly(member.data_offset + done, block.data(), step, member.name);
      sink({block.data(), step});
      done += step;
    }
    return;
  }
  // Compressed data has to be gone through from the start; a sparse member of a plain tar is found at its header.
  const std::uint64_t base = impl_->random_access() ? member.header_offset : 0;
  TarStream stream(*impl_->source, TarStream::Form::tar, base);
  find_entry(stream, member, base);
  stream.content(sink);
}

std::uint64_t Archive::bytes_read() const noexcept {
  return impl_->source ? impl_->source->bytes_read() : impl_->directory_bytes;
}

}  // namespace ckpt
