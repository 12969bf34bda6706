// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace ckpt {

/// SHA-256 in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  /// The 32 bytes; nothing can be added afterwards.
  std::string finish();

 private:
  evp_md_ctx_st* context_;
};

/// Bytes in lower-case hexadecimal, as OCI descriptors have digests.
std::string hex_of(std::string_view bytes);

}  // namespace ckpt
