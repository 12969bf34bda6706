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
  return mm;
}

bool pagemap_has_nr_pages(const Image& image) {
  expect_kind(image, {"PAGEMAP"});
  for (std::size_t i = 1; i < image.entries().size(); ++i)
    if (last_varint(image.entries()[i].payload, pagemap_entry::kNrPagesFieldNumber, image.where(i))) return true;
  return false;
}

}  // namespace ckpt::criu
