// SPDX-License-Identifier: Apache-2.0
// The first byte chooses a view, the rest is one message of it: decoded, or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "criu/mount_tree.h"
#include "criu/views.h"

using namespace ckpt::criu;

namespace {

struct View {
  std::uint32_t magic;
  void (*read)(const Image& image);
};

constexpr View kViews[] = {
    {0x55563928, [](const Image& image) { check_mount_tree(read_mounts(image)); }},
    {0x58313116, [](const Image& image) { read_inventory(image); }},
    {0x50273030, [](const Image& image) { read_pstree(image); }},
    {0x55053847, [](const Image& image) { read_core(image); }},
    {0x54432030, [](const Image& image) { read_ids(image); }},
    {0x56213732, [](const Image& image) { read_fdinfo(image); }},
    {0x51403912, [](const Image& image) { read_fs(image); }},
    {0x56303138, [](const Image& image) { read_files(image); }},
    {0x50363636, [](const Image& image) { read_files(image); }},
    {0x57492820, [](const Image& image) { read_mm(image); }},
    {0x57093306, [](const Image& image) { read_dump_stats(image); }},
    {0x56084025, [](const Image& image) { pagemap_has_nr_pages(image); }},
};

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

// Headless, as CRIU's first image version was: that form is legal for every kind.
std::string image_of(const View& view, std::string_view bytes) {
  std::string image;
  append_u32(image, view.magic);
  const bool list = view.magic == 0x55563928 || view.magic == 0x56084025;
  const std::size_t half = list ? bytes.size() / 2 : 0;
  if (list) append_u32(image, static_cast<std::uint32_t>(half));
  image += bytes.substr(0, half);
  append_u32(image, static_cast<std::uint32_t>(bytes.size() - half));
  return image.append(bytes.substr(half));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const View& view = kViews[data[0] % std::size(kViews)];
  try {
    view.read(Image::parse(image_of(view, {reinterpret_cast<const char*>(data) + 1, size - 1}), {}));
  } catch (const ckpt::Error&) {
  }
  return 0;
}
