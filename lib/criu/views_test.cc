// SPDX-License-Identifier: Apache-2.0
#include "criu/views.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "testing/failure.h"
#include "testing/image_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt::testing;
using ckpt::Error;
using ckpt::ErrorCode;
using ckpt::criu::FileEntry;
using ckpt::criu::Image;

namespace {

Image parse(const std::string& bytes) { return Image::parse(bytes, {"a.tar", "x.img", {}, {}}); }

bool says(const Error& error, const char* text) { return error.detail().find(text) != std::string::npos; }

/// What an action writes to stderr.
template <typename Action>
std::string printed_by(Action action) {
  const TempDir directory;
  const std::string path = directory.write("stderr", "");
  const int before = ::dup(2);
  const int file = ::open(path.c_str(), O_WRONLY);
  ::dup2(file, 2);
  action();
  ::dup2(before, 2);
  ::close(file);
  ::close(before);
  return read_file(path);
}

const std::string kFown = bytes_field(
    4, varint_field(1, 0) + varint_field(2, 0) + varint_field(3, 0) + varint_field(4, 0) + varint_field(5, 0));

std::string mount_message(std::uint32_t without) {
  std::string message;
  for (std::uint32_t number = 1; number <= 9; ++number)
    if (number != without) message += number <= 5 ? varint_field(number, number) : bytes_field(number, "/s");
  return message;
}

FileEntry regular(std::uint32_t id, std::string name) {
  FileEntry file;
  file.type = 1;
  file.id = id;
  file.reg.emplace();
  file.reg->id = id;
  file.reg->name = std::move(name);
  return file;
}

}  // namespace

TEST_CASE("mounts come back as they were given") {
  auto given = mount(92, 70, "/usr/lib/libcuda.so");
  given.fstype = 17;
  given.flags = 0x200007;
  given.source = "/dev/vdb";
  given.options = "errors=continue";
  given.shared_id = 4;
  given.master_id = 5;
  given.with_plugin = given.ext_mount = given.deleted = true;
  given.fsname = "xfs";
  given.sb_flags = 1;
  given.ext_key = "";
  const Image image = parse(mountpoints_image({mount(70, 1, "/"), given}));
  const auto mounts = ckpt::criu::read_mounts(image);
  REQUIRE(mounts.size() == 2);
  CHECK_FALSE(mounts[0].ext_key.has_value());
  CHECK_FALSE(mounts[0].sb_flags.has_value());
  CHECK(mounts[1].entry == 1);
  CHECK(mounts[1].mnt_id == 92);
  CHECK(mounts[1].parent_mnt_id == 70);
  CHECK(mounts[1].root_dev == 92);
  CHECK(mounts[1].root == "/");
  CHECK(mounts[1].fsname == "xfs");
  CHECK(mounts[1].deleted);
  CHECK(mounts[1].ext_key == "");
  CHECK(mountpoints_image(mounts) == image.bytes());
}

TEST_CASE("a required field that is missing is named, with its entry") {
  const char* const kNames[] = {"fstype", "mnt_id",     "root_dev", "parent_mnt_id", "flags",
                                "root",   "mountpoint", "source",   "options"};
  for (std::uint32_t number = 1; number <= 9; ++number) {
    const Image image = parse(image_of("MNTS", {mount_message(0), mount_message(number)}));
    const Error error = failure_of([&] { ckpt::criu::read_mounts(image); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.detail() == std::string("mnt_entry lacks required fields: ") + kNames[number - 1]);
    CHECK(error.where().entry == 1);
    CHECK(error.where().member == "x.img");
  }
  const Image empty = parse(image_of("MNTS", {""}));
  CHECK(says(failure_of([&] { ckpt::criu::read_mounts(empty); }), "fstype, mnt_id, root_dev, parent_mnt_id, flags"));
}

TEST_CASE("a message cut inside a field is corrupt") {
  const std::string message = mount_message(0);
  for (std::size_t size = 0; size < message.size(); ++size) {
    const Image image = parse(image_of("MNTS", {message.substr(0, size)}));
    const Error error = failure_of([&] { ckpt::criu::read_mounts(image); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(says(error, "mnt_entry"));
  }
}

TEST_CASE("an unknown field is no obstacle and survives an edit in its place") {
  const std::string unknown = bytes_field(99, std::string("\0\xff keep", 7));
  const std::string message = unknown + mount_message(0);
  const Image image = parse(image_of("MNTS", {message}));
  REQUIRE(ckpt::criu::read_mounts(image)[0].mountpoint == "/s");
  const std::string keyed = ckpt::criu::set_string(message, ckpt::criu::kMountExtKeyField, "/key", {});
  CHECK(keyed == message + bytes_field(18, "/key"));
  const Image edited = parse(image.with_entry(0, keyed));
  CHECK(ckpt::criu::read_mounts(edited)[0].ext_key == "/key");
  CHECK(edited.with_entry(0, ckpt::criu::set_string(keyed, 18, std::nullopt, {})) == image.bytes());
}

TEST_CASE("strings need not be UTF-8 and may hold zero bytes") {
  auto odd = mount(2, 1, std::string("/\xff\xfe\0\n", 5));
  odd.ext_key = std::string("\x80", 1);
  const auto mounts = ckpt::criu::read_mounts(parse(mountpoints_image({odd})));
  CHECK(mounts[0].mountpoint == odd.mountpoint);
  CHECK(mounts[0].ext_key == odd.ext_key);
}

TEST_CASE("nothing is printed about strings that are not UTF-8") {
  auto odd = mount(2, 1, "/\xff");
  CHECK(printed_by([&] { ckpt::criu::read_mounts(parse(mountpoints_image({odd}))); }).empty());
}

TEST_CASE("the last of two values counts, and parts of a message are merged") {
  const std::string twice = mount_message(0) + varint_field(2, 77) + bytes_field(7, "/last");
  const auto mounts = ckpt::criu::read_mounts(parse(image_of("MNTS", {twice})));
  CHECK(mounts[0].mnt_id == 77);
  CHECK(mounts[0].mountpoint == "/last");
  const std::string merged =
      varint_field(1, 2) + bytes_field(12, bytes_field(12, "a")) + bytes_field(12, bytes_field(12, "b"));
  CHECK(ckpt::criu::read_inventory(parse(image_of("INVENTORY", {merged}))).plugins ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("a view refuses images of another kind") {
  const Image image = parse(image_of("FS", {""}));
  const Error error = failure_of([&] { ckpt::criu::read_mounts(image); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(error.detail() == "is a FS image where a MNTS image is expected");
  CHECK(failure_of([&] { ckpt::criu::read_files(image); }).code() == ErrorCode::invalid_argument);
  CHECK(failure_of([&] { ckpt::criu::read_mm(image); }).code() == ErrorCode::invalid_argument);
  CHECK(failure_of([&] { ckpt::criu::pagemap_has_nr_pages(image); }).code() == ErrorCode::invalid_argument);
}

TEST_CASE("an image that must have an entry and has none is corrupt") {
  const Error error = failure_of([&] { ckpt::criu::read_fs(parse(image_head("FS"))); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.detail() == "the image has no entry");
  CHECK(says(failure_of([&] { ckpt::criu::read_inventory(parse(image_head("INVENTORY"))); }), "no entry"));
  CHECK(ckpt::criu::read_pstree(parse(image_head("PSTREE"))).empty());
}

TEST_CASE("an inventory tells absent from empty") {
  ckpt::criu::Inventory given;
  given.img_version = 2;
  const auto plain = ckpt::criu::read_inventory(parse(inventory_image(given)));
  CHECK(plain.img_version == 2);
  CHECK_FALSE(plain.plugins.has_value());
  CHECK_FALSE(plain.lsmtype.has_value());
  CHECK_FALSE(plain.tcp_close.has_value());
  given.plugins.emplace();
  CHECK(ckpt::criu::read_inventory(parse(inventory_image(given))).plugins == std::vector<std::string>{});
  given.plugins = {"cuda_plugin", "amdgpu_plugin"};
  given.lsmtype = 2;
  given.pre_dump_mode = 1;
  given.tcp_close = false;
  given.network_lock_method = 1;
  given.dump_criu_run_id = "id";
  given.allow_uprobes = true;
  const auto full = ckpt::criu::read_inventory(parse(inventory_image(given)));
  CHECK(full.plugins == given.plugins);
  CHECK(full.lsmtype == 2);
  CHECK(full.pre_dump_mode == 1);
  CHECK(full.tcp_close == false);
  CHECK(full.network_lock_method == 1);
  CHECK(full.dump_criu_run_id == "id");
  CHECK(full.allow_uprobes == true);
}

TEST_CASE("numbers of enums that are not listed stay numbers") {
  const std::string inventory = varint_field(1, 2) + varint_field(6, 9);
  CHECK(ckpt::criu::read_inventory(parse(image_of("INVENTORY", {inventory}))).lsmtype == 9);
  CHECK(ckpt::criu::read_core(parse(image_of("CORE", {varint_field(1, 77)}))).mtype == 77);
  const auto fds = ckpt::criu::read_fdinfo(parse(fdinfo_image({{5, 1, 999, 3}})));
  CHECK(fds[0].type == 999);
  const auto files = ckpt::criu::read_files(parse(image_of("FILES", {varint_field(1, 21) + varint_field(2, 8)})));
  CHECK(files[0].type == 21);
  CHECK(files[0].id == 8);
  const Image untyped = parse(image_of("FILES", {varint_field(2, 8)}));
  CHECK(says(failure_of([&] { ckpt::criu::read_files(untyped); }), "file_entry lacks required fields: type"));
}

TEST_CASE("threads are read packed and unpacked") {
  const std::string head = varint_field(1, 1) + varint_field(2, 0) + varint_field(3, 1) + varint_field(4, 1);
  const std::string unpacked = head + varint_field(5, 1) + varint_field(5, 300);
  const std::string packed = head + bytes_field(5, "\x01\xac\x02");
  const auto tree = ckpt::criu::read_pstree(parse(image_of("PSTREE", {unpacked, packed})));
  CHECK(tree[0].threads == std::vector<std::uint32_t>{1, 300});
  CHECK(tree[1].threads == tree[0].threads);
  CHECK(pstree_image({tree[0]}) == image_of("PSTREE", {unpacked}));
}

TEST_CASE("a core names its task, or its thread") {
  ckpt::criu::Core given;
  given.mtype = 1;
  given.comm = "worker";
  const auto thread = ckpt::criu::read_core(parse(core_image(given)));
  CHECK(thread.comm == "worker");
  CHECK_FALSE(thread.task_state.has_value());
  given.task_state = 6;
  given.has_stop_signo = true;
  const auto task = ckpt::criu::read_core(parse(core_image(given)));
  CHECK(task.comm == "worker");
  CHECK(task.task_state == 6);
  CHECK(task.has_stop_signo);
  const Image broken = parse(image_of("CORE", {varint_field(1, 1) + bytes_field(3, varint_field(1, 1))}));
  CHECK(says(failure_of([&] { ckpt::criu::read_core(broken); }),
             "core_entry lacks required fields: tc.exit_code, tc.personality, tc.flags, tc.blk_sigset, tc.comm"));
}

TEST_CASE("ids, descriptors and directories come back") {
  ckpt::criu::KobjIds ids{1, 2, 3, {}};
  CHECK_FALSE(ckpt::criu::read_ids(parse(ids_image(ids))).mnt_ns_id.has_value());
  ids.mnt_ns_id = 13;
  const auto back = ckpt::criu::read_ids(parse(ids_image(ids)));
  CHECK(back.vm_id == 1);
  CHECK(back.files_id == 2);
  CHECK(back.fs_id == 3);
  CHECK(back.mnt_ns_id == 13);
  const auto fs = ckpt::criu::read_fs(parse(fs_image({30, 31})));
  CHECK(fs.cwd_id == 30);
  CHECK(fs.root_id == 31);
  const auto fds = ckpt::criu::read_fdinfo(parse(fdinfo_image({{5, 1, 1, 0}, {6, 0, 5, 4000000000}})));
  CHECK(fds.size() == 2);
  CHECK(fds[1].fd == 4000000000);
}

TEST_CASE("regular files keep what validates them") {
  FileEntry file = regular(10, "/usr/lib/libcuda.so.580.159.04");
  file.reg->mnt_id = -5;
  file.reg->size = 1ULL << 40;
  file.reg->mode = 0100755;
  file.reg->build_id = {0x6f289c7e, 0xfee58ac3};
  file.reg->flags = 0100000;
  const auto files = ckpt::criu::read_files(parse(files_image({file, regular(11, "/x")})));
  REQUIRE(files.size() == 2);
  const auto& reg = files[0].reg.value();
  CHECK(reg.id == 10);
  CHECK(reg.name == "/usr/lib/libcuda.so.580.159.04");
  CHECK(reg.mnt_id == -5);
  CHECK(reg.size == 1ULL << 40);
  CHECK(reg.mode == 0100755);
  CHECK(reg.build_id == file.reg->build_id);
  CHECK_FALSE(files[1].reg->size.has_value());
  CHECK_FALSE(files[0].unix_name.has_value());
}

TEST_CASE("mount ids of files are zigzag and default to -1") {
  const std::string message = varint_field(1, 4) + varint_field(2, 0) + varint_field(3, 0) +
                              bytes_field(5, kFown.substr(2)) + bytes_field(6, "/f");
  const Image image =
      parse(image_of("REG_FILES", {message, message + varint_field(7, 184), message + varint_field(7, 1),
                                   message + varint_field(7, 0xffffffff)}));
  const auto files = ckpt::criu::read_files(image);
  CHECK(files[0].reg->mnt_id == -1);
  CHECK(files[1].reg->mnt_id == 92);
  CHECK(files[2].reg->mnt_id == -1);
  CHECK(files[3].reg->mnt_id == INT32_MIN);
  CHECK(files[0].type == 1);
  CHECK(files[0].id == 4);
}

TEST_CASE("a build id is read packed and unpacked") {
  FileEntry file = regular(1, "/f");
  file.reg->build_id = {1, 0xffffffff};
  const std::string unpacked = varint_field(11, 1) + varint_field(11, 0xffffffff);
  std::string image = files_image({file});
  const std::size_t at = image.find(unpacked);
  REQUIRE(at != std::string::npos);
  image.replace(at, unpacked.size(), bytes_field(11, "\x01\xff\xff\xff\xff\x0f"));
  CHECK(ckpt::criu::read_files(parse(image)).at(0).reg->build_id == file.reg->build_id);
}

TEST_CASE("sockets and plugins' files are recognised") {
  FileEntry socket;
  socket.type = 5;
  socket.id = 3;
  FileEntry named = socket;
  named.unix_name = std::string("\0abstract", 9);
  named.unix_mnt_id = 70;
  FileEntry external;
  external.type = 16;
  external.id = 9;
  const auto files = ckpt::criu::read_files(parse(files_image({socket, named, external})));
  CHECK_FALSE(files[0].unix_name.has_value());
  CHECK_FALSE(files[0].unix_mnt_id.has_value());
  CHECK(files[1].unix_name == named.unix_name);
  CHECK(files[1].unix_mnt_id == 70);
  CHECK_FALSE(files[1].external);
  CHECK(files[2].external);
}

TEST_CASE("a file's type and its message agree, as CRIU assumes") {
  const Image missing = parse(image_of("FILES", {varint_field(1, 1) + varint_field(2, 8)}));
  const Error error = failure_of([&] { ckpt::criu::read_files(missing); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.detail() == "the file has type 1 and no reg");
  for (std::uint32_t type = 1; type <= 20; ++type) {
    const Image image = parse(image_of("FILES", {varint_field(1, type) + varint_field(2, 8)}));
    CHECK(says(failure_of([&] { ckpt::criu::read_files(image); }), "and no "));
  }
  const std::string other =
      varint_field(1, 14) + varint_field(2, 8) +
      bytes_field(5, varint_field(1, 9) + varint_field(2, 0) + varint_field(3, 0) + varint_field(4, 0));
  const Image mismatch = parse(image_of("FILES", {other}));
  CHECK(failure_of([&] { ckpt::criu::read_files(mismatch); }).detail() == "the file has id 8, its nsf id 9");
}

TEST_CASE("mappings come back and know whether they map a file") {
  ckpt::criu::Mm given;
  given.exe_file_id = 1;
  given.vmas = {{0x1000, 0x2000, 3, 10, 5, 2, 0x41}, {0x7fff00000000, 0xffffffffff600000, 0, 0, 3, 0x22, 0x201}};
  const auto mm = ckpt::criu::read_mm(parse(mm_image(given)));
  CHECK(mm.exe_file_id == 1);
  REQUIRE(mm.vmas.size() == 2);
  CHECK(mm.vmas[0].start == 0x1000);
  CHECK(mm.vmas[0].end == 0x2000);
  CHECK(mm.vmas[0].pgoff == 3);
  CHECK(mm.vmas[0].shmid == 10);
  CHECK(mm.vmas[0].prot == 5);
  CHECK(mm.vmas[0].flags == 2);
  CHECK(mm.vmas[0].maps_file());
  CHECK(mm.vmas[1].end == 0xffffffffff600000);
  CHECK_FALSE(mm.vmas[1].maps_file());
}

TEST_CASE("a broken mapping and a broken address space are told apart") {
  std::string message;
  for (std::uint32_t number = 1; number <= 11; ++number) message += varint_field(number, 0);
  const Image image = parse(image_of("MM", {message + bytes_field(14, varint_field(1, 0))}));
  const Error vma = failure_of([&] { ckpt::criu::read_mm(image); });
  CHECK(vma.detail() == "vma_entry lacks required fields: end, pgoff, shmid, prot, flags, status, fd");
  CHECK(vma.where().entry == 0);
  const Error mm = failure_of([&] { ckpt::criu::read_mm(parse(image_of("MM", {message}))); });
  CHECK(mm.detail() == "mm_entry lacks required fields: exe_file_id");
}

TEST_CASE("many mappings are read, but no message grows without bound") {
  ckpt::criu::Mm given;
  given.vmas.resize(200'000);
  CHECK(ckpt::criu::read_mm(parse(mm_image(given))).vmas.size() == 200'000);
  std::string empty_timers;
  const std::string one = bytes_field(16, "");
  for (int i = 0; i < 1'500'000; ++i) empty_timers += one;
  const Image image = parse(image_of("MM", {empty_timers}));
  const Error error = failure_of([&] { ckpt::criu::read_mm(image); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(says(error, "a mm_entry of 4500000 bytes is not decoded"));
}

TEST_CASE("statistics of a dump, and of something else") {
  const auto stats = ckpt::criu::read_dump_stats(parse(stats_dump_image({1, 2, 3, 4, 5, 6})));
  REQUIRE(stats.has_value());
  CHECK(stats->freezing_time == 1);
  CHECK(stats->frozen_time == 2);
  CHECK(stats->memdump_time == 3);
  CHECK(stats->memwrite_time == 4);
  CHECK(stats->pages_scanned == 5);
  CHECK(stats->pages_written == 6);
  CHECK_FALSE(ckpt::criu::read_dump_stats(parse(image_of("STATS", {""}))).has_value());
}

TEST_CASE("a pagemap shows which CRIU wrote it") {
  CHECK(ckpt::criu::pagemap_has_nr_pages(parse(pagemap_image(1, {{0x1000, 2}}))));
  const std::string old = varint_field(1, 0x1000) + varint_field(2, 2) + varint_field(4, 4);
  CHECK_FALSE(ckpt::criu::pagemap_has_nr_pages(parse(image_of("PAGEMAP", {varint_field(1, 1), old}))));
  CHECK_FALSE(ckpt::criu::pagemap_has_nr_pages(parse(image_of("PAGEMAP", {varint_field(5, 1)}))));
  const Image broken = parse(image_of("PAGEMAP", {varint_field(1, 1), old, "\x08"}));
  const Error error = failure_of([&] { ckpt::criu::pagemap_has_nr_pages(broken); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.where().entry == 2);
}
