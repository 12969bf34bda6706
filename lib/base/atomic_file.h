// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt {

/// Where finished bytes go, front to back. write() throws Error(io).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;
};

/// A file that appears whole or not at all: a 0600 temporary in the target's directory, then fsync and rename.
/// Without commit() the temporary goes and an older target stays as it was. The temporary has no name until commit(),
/// so a run that is killed leaves nothing; only file systems without O_TMPFILE get a name, ".NAME.ckpt-", from the
/// start.
class AtomicFile final : public ByteSink {
 public:
  explicit AtomicFile(std::string target);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes) override;
  /// Overwrites what was written at `offset`; what comes next still goes to the end. Throws Error(io).
  void write_at(std::uint64_t offset, std::string_view bytes);
  /// Another name in the same directory, for a file that is named after its content.
  void rename_target(const std::string& name);
  /// Flushes, fsyncs, renames over the target, fsyncs the directory.
  void commit();

  int fd() const noexcept { return fd_; }
  /// For re-reading before the rename.
  std::string temporary_path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  void give_name();

  std::string target_;
  std::string temporary_;  ///< empty while the file has no name
  int fd_ = -1;
};

/// A descriptor that somebody else owns (stdout).
class FdSink final : public ByteSink {
 public:
  FdSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  void write(std::string_view bytes) override;

 private:
  int fd_;
  std::string name_;
};

}  // namespace ckpt
