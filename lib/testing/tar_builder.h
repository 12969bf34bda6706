// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt::testing {

/// Makes tars block by block, so that tests can have every dialect and every oddity.
class TarBuilder {
 public:
  struct Header {
    std::string name;
    char type = '0';
    std::uint64_t size = 0;
    std::string link;
    std::uint32_t mode = 0644;
    std::uint64_t mtime = 1'700'000'000;
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    bool gnu = false;
    bool base256_size = false;
  };

  TarBuilder& file(const std::string& name, std::string_view bytes);
  TarBuilder& directory(const std::string& name);
  TarBuilder& node(const std::string& name, std::uint32_t major, std::uint32_t minor);
  TarBuilder& symlink(const std::string& name, const std::string& target);
  TarBuilder& hardlink(const std::string& name, const std::string& target);
  /// A PAX extension header with one record, for the member added next.
  TarBuilder& pax(const std::string& key, const std::string& value);
  /// A GNU long name for the member added next.
  TarBuilder& gnu_long_name(const std::string& name);
  /// A GNU sparse member (type S) of `real_size` bytes with `bytes` at `offset` and holes around.
  TarBuilder& gnu_sparse(const std::string& name, std::uint64_t real_size, std::uint64_t offset,
                         std::string_view bytes);
  TarBuilder& header(const Header& header);
  TarBuilder& raw(std::string_view bytes);
  /// With the two zero blocks that end a tar.
  std::string finish() const { return tar_ + std::string(1024, '\0'); }
  std::string unfinished() const { return tar_; }

 private:
  TarBuilder& content(std::string_view bytes);
  std::string tar_;
};

}  // namespace ckpt::testing
