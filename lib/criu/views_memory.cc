// SPDX-License-Identifier: Apache-2.0
#include <ckpt/criu/mm.pb.h>
#include <ckpt/criu/pagemap.pb.h>

#include "criu/decode.h"
#include "criu/views.h"
#include "criu/wire.h"

namespace ckpt::criu {

namespace {

Vma mapping(const Image& image, std::size_t entry, std::string_view encoded) {
  vma_entry message;
  decode(image, entry, encoded, message);
  Vma vma;
  vma.start = message.start();
  vma.end = message.end();
  vma.pgoff = message.pgoff();
  vma.shmid = message.shmid();
  vma.prot = message.prot();
  vma.flags = message.flags();
  vma.status = message.status();
  return vma;
}

bool is_vma(const WireField& field) {
  return field.number == mm_entry::kVmasFieldNumber && field.type == WireType::bytes;
}

}  // namespace

// A large process has a hundred thousand mappings, so they are decoded one by one and the rest without them.
Mm read_mm(const Image& image) {
  expect_kind(image, {"MM"});
  const std::size_t entry = only_entry(image);
  const std::string_view payload = image.entries()[entry].payload;
  Mm mm;
  std::string rest;
  WireReader reader(payload, image.where(entry));
  for (WireField field; reader.next(field);) {
    if (is_vma(field))
      mm.vmas.push_back(mapping(image, entry, field.bytes));
    else
      rest += payload.substr(field.begin, field.end - field.begin);
  }
  mm_entry message;
  decode(image, entry, rest, message);
  mm.exe_file_id = message.exe_file_id();
  mm.arg_start = message.mm_arg_start();
  mm.arg_end = message.mm_arg_end();
  mm.env_start = message.mm_env_start();
  mm.env_end = message.mm_env_end();
  return mm;
}

Pagemap read_pagemap(const Image& image) {
  constexpr std::uint32_t kParent = 1;
  constexpr std::uint32_t kPresent = 4;
  expect_kind(image, {"PAGEMAP"});
  Pagemap map;
  map.pages_id = entry_as<pagemap_head>(image, only_entry(image)).pages_id();
  for (std::size_t i = 1; i < image.entries().size(); ++i) {
    const auto message = entry_as<pagemap_entry>(image, i);
    const bool in_parent = message.in_parent() || (message.flags() & kParent) != 0;
    const std::uint32_t flags = message.has_flags() ? message.flags() : (in_parent ? 0 : kPresent);
    const std::uint64_t pages = message.has_nr_pages() ? message.nr_pages() : message.compat_nr_pages();
    map.entries.push_back({message.vaddr(), pages, (flags & kPresent) != 0, in_parent});
  }
  return map;
}

bool pagemap_has_nr_pages(const Image& image) {
  expect_kind(image, {"PAGEMAP"});
  for (std::size_t i = 1; i < image.entries().size(); ++i)
    if (last_varint(image.entries()[i].payload, pagemap_entry::kNrPagesFieldNumber, image.where(i))) return true;
  return false;
}

}  // namespace ckpt::criu
