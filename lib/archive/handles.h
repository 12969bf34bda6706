// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "ckpt/error.h"

namespace ckpt {

// Owners for what libarchive and the kernel hand out.

struct FreeReader {
  void operator()(struct archive* handle) const noexcept { archive_read_free(handle); }
};
using ReaderHandle = std::unique_ptr<struct archive, FreeReader>;

/// Closes on the way, so whoever gives up early must have its write callback refuse by then.
struct FreeWriter {
  void operator()(struct archive* handle) const noexcept { archive_write_free(handle); }
};
using WriterHandle = std::unique_ptr<struct archive, FreeWriter>;

struct FreeEntry {
  void operator()(struct archive_entry* entry) const noexcept { archive_entry_free(entry); }
};
using EntryHandle = std::unique_ptr<struct archive_entry, FreeEntry>;

/// A file descriptor and its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      if (fd_ >= 0) ::close(fd_);
      fd_ = other.release();
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return fd_; }
  int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

}  // namespace ckpt
