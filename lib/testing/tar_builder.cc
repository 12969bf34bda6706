// SPDX-License-Identifier: Apache-2.0
#include "testing/tar_builder.h"

#include <algorithm>
#include <cstdio>

namespace ckpt::testing {

namespace {

void put(std::string& block, std::size_t offset, std::string_view text) {
  std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(offset));
}

std::string octal(std::uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
  return text;
}

std::string base256(std::uint64_t value, std::size_t width) {
  std::string bytes(width, '\0');
  for (std::size_t i = width; i-- > 1; value >>= 8) bytes[i] = static_cast<char>(value & 0xff);
  bytes[0] = static_cast<char>(0x80);
  return bytes;
}

}  // namespace

TarBuilder& TarBuilder::header(const Header& header) {
  std::string block(512, '\0');
  put(block, 0, std::string_view(header.name).substr(0, 100));
  put(block, 100, octal(header.mode, 7));
  put(block, 108, octal(0, 7));
  put(block, 116, octal(0, 7));
  put(block, 124, header.base256_size ? base256(header.size, 12) : octal(header.size, 11));
  put(block, 136, octal(header.mtime, 11));
  block[156] = header.type;
  put(block, 157, std::string_view(header.link).substr(0, 100));
  put(block, 257,
      header.gnu ? "ustar  "
                 : std::string_view("ustar\0"
                                    "00",
                                    8));
  if (header.type == '3' || header.type == '4') {
    put(block, 329, octal(header.major, 7));
    put(block, 337, octal(header.minor, 7));
  }
  std::fill_n(block.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(block, 148, octal(sum, 6) + std::string(1, '\0'));
  tar_ += block;
  return *this;
}

TarBuilder& TarBuilder::content(std::string_view bytes) {
  tar_ += bytes;
  tar_.resize((tar_.size() + 511) / 512 * 512, '\0');
  return *this;
}

TarBuilder& TarBuilder::raw(std::string_view bytes) {
  tar_ += bytes;
  return *this;
}

TarBuilder& TarBuilder::file(const std::string& name, std::string_view bytes) {
  Header one;
  one.name = name;
  one.size = bytes.size();
  return header(one).content(bytes);
}

TarBuilder& TarBuilder::directory(const std::string& name) {
  Header one;
  one.name = name;
  one.type = '5';
  one.mode = 0755;
  return header(one);
}

TarBuilder& TarBuilder::node(const std::string& name, std::uint32_t major, std::uint32_t minor) {
  Header one;
  one.name = name;
  one.type = '3';
  one.mode = 0666;
  one.major = major;
  one.minor = minor;
  one.gnu = true;
  return header(one);
}

TarBuilder& TarBuilder::symlink(const std::string& name, const std::string& target) {
  Header one;
  one.name = name;
  one.type = '2';
  one.link = target;
  return header(one);
}

TarBuilder& TarBuilder::hardlink(const std::string& name, const std::string& target) {
  Header one;
  one.name = name;
  one.type = '1';
  one.link = target;
  return header(one);
}

TarBuilder& TarBuilder::pax(const std::string& key, const std::string& value) {
  std::size_t length = key.size() + value.size() + 3;
  std::size_t whole = length + std::to_string(length).size();
  if (std::to_string(whole).size() != std::to_string(length).size()) whole = length + std::to_string(whole).size();
  const std::string record = std::to_string(whole) + " " + key + "=" + value + "\n";
  Header one;
  one.name = "PaxHeaders/x";
  one.type = 'x';
  one.size = record.size();
  return header(one).content(record);
}

TarBuilder& TarBuilder::gnu_long_name(const std::string& name) {
  Header one;
  one.name = "././@LongLink";
  one.type = 'L';
  one.size = name.size() + 1;
  one.gnu = true;
  return header(one).content(name + std::string(1, '\0'));
}

TarBuilder& TarBuilder::gnu_sparse(const std::string& name, std::uint64_t real_size, std::uint64_t offset,
                                   std::string_view bytes) {
  std::string block(512, '\0');
  TarBuilder plain;
  Header one;
  one.name = name;
  one.type = 'S';
  one.size = bytes.size();
  one.gnu = true;
  plain.header(one);
  block = plain.tar_;
  put(block, 386, octal(offset, 11));
  put(block, 398, octal(bytes.size(), 11));
  put(block, 410, octal(real_size, 11));
  put(block, 422, octal(0, 11));
  put(block, 483, octal(real_size, 11));
  std::fill_n(block.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(block, 148, octal(sum, 6) + std::string(1, '\0'));
  tar_ += block;
  return content(bytes);
}

}  // namespace ckpt::testing
