// SPDX-License-Identifier: Apache-2.0
#include "target/root.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

TEST_CASE("files are looked at inside the root and never outside it") {
  const TempDir directory;
  directory.write("root/usr/lib/libcuda.so.1.2", "library");
  directory.write("secret", "outside");
  REQUIRE(::symlink("libcuda.so.1.2", directory.file("root/usr/lib/libcuda.so.1").c_str()) == 0);
  REQUIRE(::symlink("/usr/lib", directory.file("root/lib").c_str()) == 0);
  REQUIRE(::symlink("../../../secret", directory.file("root/escape").c_str()) == 0);
  REQUIRE(::symlink("nowhere", directory.file("root/dangling").c_str()) == 0);
  const RootDirectory root(directory.file("root"));
  const auto library = root.look("/lib/libcuda.so.1.2");
  REQUIRE(library);
  CHECK(library->kind == RootedFile::Kind::file);
  CHECK(library->size == 7);
  CHECK(library->resolved == "/usr/lib/libcuda.so.1.2");
  const auto link = root.look("/usr/lib/libcuda.so.1");
  REQUIRE(link);
  CHECK(link->kind == RootedFile::Kind::symlink);
  CHECK(link->resolved == "/usr/lib/libcuda.so.1.2");
  const auto escape = root.look("/escape");
  REQUIRE(escape);
  CHECK(escape->resolved.empty());
  CHECK(root.look("/dangling")->resolved.empty());
  CHECK_FALSE(root.look("/none"));
  CHECK(root.look("/usr")->kind == RootedFile::Kind::directory);
}

TEST_CASE("a root that is no directory is refused") {
  const TempDir directory;
  CHECK_THROWS_WITH_AS(RootDirectory(directory.write("file", "x")), doctest::Contains("cannot open as a root"), Error);
}

TEST_CASE("the build-ID of an ELF file is read as CRIU packs it") {
  const int self = ::open("/proc/self/exe", O_RDONLY);
  REQUIRE(self >= 0);
  const auto words = read_build_id(self);
  ::close(self);
  CHECK((words.empty() || words.size() == 5));  // a linker may leave it out; else it is a SHA-1
}

TEST_CASE("files that only look like ELF have no build-ID") {
  const TempDir directory;
  std::string elf = std::string(
                        "\x7f"
                        "ELF\x02\x01\x01",
                        7) +
                    std::string(57, '\xff');
  for (std::size_t size = 0; size <= elf.size(); ++size) {
    const int fd = ::open(directory.write("elf", elf.substr(0, size)).c_str(), O_RDONLY);
    CHECK(read_build_id(fd).empty());
    ::close(fd);
  }
}
