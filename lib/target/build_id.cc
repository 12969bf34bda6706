// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "target/root.h"

namespace ckpt {

namespace {

constexpr std::size_t kWindow = 1U << 20;

std::string read_window(int fd) {
  std::string bytes(kWindow, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

template <typename Struct>
bool load(const std::string& bytes, std::uint64_t offset, Struct& into) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof into) return false;
  std::memcpy(&into, bytes.data() + offset, sizeof into);
  return true;
}

std::vector<std::uint32_t> words_of(const char* note, std::size_t size) {
  std::vector<std::uint32_t> words((size + 3) / 4, 0);
  std::memcpy(words.data(), note, size);
  return words;
}

// Notes are padded to four bytes: name size, description size, type, name, description.
std::vector<std::uint32_t> find_in_notes(const std::string& bytes, std::uint64_t begin, std::uint64_t size) {
  if (begin > bytes.size()) return {};
  const std::uint64_t end = begin + std::min<std::uint64_t>(size, bytes.size() - begin);
  for (std::uint64_t at = begin; at < end;) {
    Elf32_Nhdr note{};
    if (end - at < sizeof note || !load(bytes, at, note)) return {};
    const std::uint64_t name = at + sizeof note;
    const std::uint64_t description = name + ((static_cast<std::uint64_t>(note.n_namesz) + 3) & ~3ULL);
    if (description > end || note.n_descsz > end - description) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(bytes.data() + name, "GNU", 4) == 0)
      return words_of(bytes.data() + description, note.n_descsz);
    at = description + ((static_cast<std::uint64_t>(note.n_descsz) + 3) & ~3ULL);
  }
  return {};
}

template <typename Header, typename Segment>
std::vector<std::uint32_t> find_in_segments(const std::string& bytes) {
  Header header{};
  if (!load(bytes, 0, header) || header.e_phentsize != sizeof(Segment)) return {};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Segment segment{};
    if (!load(bytes, header.e_phoff + i * sizeof segment, segment)) return {};
    if (segment.p_type != PT_NOTE) continue;
    auto words = find_in_notes(bytes, segment.p_offset, segment.p_filesz);
    if (!words.empty()) return words;
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> read_build_id(int fd) {
  const std::string bytes = read_window(fd);
  if (bytes.size() < EI_NIDENT || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return {};
  if (bytes[EI_CLASS] == ELFCLASS64) return find_in_segments<Elf64_Ehdr, Elf64_Phdr>(bytes);
  if (bytes[EI_CLASS] == ELFCLASS32) return find_in_segments<Elf32_Ehdr, Elf32_Phdr>(bytes);
  return {};
}

}  // namespace ckpt
