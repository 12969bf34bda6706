// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/cursor.h"
#include "base/escape.h"
#include "base/paths.h"
#include "ckpt/error.h"
#include "ckpt/file.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

TEST_CASE("an error is one line that names its place") {
  const Error error(ErrorCode::corrupt, {"a.tar", "spec.dump", 3, 17}, "odd\nthing", "look");
  CHECK(std::string(error.what()) == "a.tar: spec.dump: entry 3: offset 17: odd\\x0athing");
  CHECK(error.hint() == "look");
  CHECK(std::string(to_string(ErrorCode::limit_exceeded)) == "limit_exceeded");
  CHECK(std::string(Error(ErrorCode::io, {}, "x").what()) == "x");
}

TEST_CASE("text from an archive cannot drive a terminal") {
  CHECK(escape_text("plain äöü €") == "plain äöü €");
  CHECK(escape_text("\x1b[31m") == "\\x1b[31m");
  CHECK(escape_text("a\nb\tc\x7f") == "a\\x0ab\\x09c\\x7f");
  CHECK(escape_text("\\") == "\\\\");
  CHECK(escape_text("\xff\xfe") == "\\xff\\xfe");
  CHECK(escape_text("\xc2\x9b"
                    "31m") == "\\xc2\\x9b31m");  // C1 control
  CHECK(escape_text("\xe2\x80\xae"
                    "gnp") == "\\xe2\\x80\\xaegnp");        // right-to-left override
  CHECK(escape_text("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(escape_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(escape_text("\xe2\x82") == "\\xe2\\x82");           // cut off
}

TEST_CASE("member names are cleaned and judged") {
  CHECK(clean_member_name("./a/b/") == "a/b");
  CHECK(clean_member_name("./") == ".");
  CHECK(is_safe_name("checkpoint/a..b"));
  for (const std::string_view name : {"", "/etc/passwd", "../x", "a/../b", "a/.."}) CHECK_FALSE(is_safe_name(name));
  CHECK_FALSE(is_safe_name(std::string_view("a\0b", 3)));
}

TEST_CASE("paths compare where well-known symlinks of images lead") {
  CHECK(clean_path("//usr/./lib//x/") == "/usr/lib/x");
  CHECK(clean_path("/") == "/");
  CHECK(canonical_path("/lib/firmware/x") == "/usr/lib/firmware/x");
  CHECK(canonical_path("/lib64") == "/usr/lib64");
  CHECK(canonical_path("/library/x") == "/library/x");
  CHECK(canonical_path("/var/run/x") == "/run/x");
  CHECK(is_within("/a/b", "/a"));
  CHECK(is_within("/a", "/a"));
  CHECK_FALSE(is_within("/ab", "/a"));
  CHECK(is_within("/x", "/"));
  CHECK(directory_name("/x") == "/");
  CHECK(base_name("/a/b") == "b");
}

TEST_CASE("a cursor never reads past the end") {
  Cursor cursor(std::string_view("\x01\x02\x03\x04\xac\x02", 6), {"f", "m", {}, {}});
  CHECK(cursor.u32() == 0x04030201);
  CHECK(cursor.varint() == 300);
  CHECK(cursor.at_end());
  try {
    cursor.bytes(1);
    FAIL("read past the end");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().offset == 6);
    CHECK(error.detail().find("needs 1 bytes, 0 are left") != std::string::npos);
  }
  Cursor huge(std::string_view("abc"), {});
  CHECK_THROWS_AS(huge.bytes(~0ULL), Error);
  Cursor endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), {});
  CHECK_THROWS_WITH_AS(endless.varint(), doctest::Contains("more than"), Error);
}

TEST_CASE("an output file appears whole or not at all") {
  const TempDir directory;
  const std::string path = directory.write("out", "old");
  {
    AtomicFile file(path);
    file.write("half");
    CHECK(testing::read_file(path) == "old");
  }
  CHECK(testing::read_file(path) == "old");
  CHECK(directory.list() == std::vector<std::string>{"out"});
  AtomicFile file(path);
  file.write("new");
  file.commit();
  CHECK(testing::read_file(path) == "new");
  CHECK(directory.list() == std::vector<std::string>{"out"});
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("an output that is no regular file is refused") {
  const TempDir directory;
  REQUIRE(::mkfifo(directory.file("fifo").c_str(), 0600) == 0);
  for (const std::string& path : {directory.path(), directory.file("fifo"), std::string("/dev/null")}) {
    try {
      AtomicFile file(path);
      FAIL(path);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      CHECK(error.where().file == path);
    }
  }
  CHECK_THROWS_WITH_AS(AtomicFile(directory.file("no/such/dir/x")), doctest::Contains("No such file"), Error);
}

TEST_CASE("a symlink as output is replaced, what it points to stays") {
  const TempDir directory;
  directory.write("real", "precious");
  REQUIRE(::symlink("real", directory.file("link").c_str()) == 0);
  write_file(directory.file("link"), "new");
  CHECK(testing::read_file(directory.file("real")) == "precious");
  CHECK(testing::read_file(directory.file("link")) == "new");
}

TEST_CASE("a write that fails is an io error that names the file") {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  FdSink sink(fd, "stdout");
  try {
    sink.write("bytes");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::io);
    CHECK(error.where().file == "stdout");
    CHECK(error.detail().find("No space left") != std::string::npos);
  }
  ::close(fd);
}

TEST_CASE("a cursor over every shorter form of its bytes says where they end") {
  const std::string whole("\x01\x02\x03\x04\xac\x02xyz", 9);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    Cursor cursor(std::string_view(whole).substr(0, size), {"f", {}, {}, {}});
    try {
      cursor.u32();
      cursor.varint();
      cursor.bytes(3);
      FAIL("read past the end");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::corrupt);
      REQUIRE(error.where().offset);
      CHECK(*error.where().offset <= size);
    }
  }
}

TEST_CASE("text files are read within their limit") {
  const TempDir directory;
  const std::string path = directory.write("f", "12345");
  CHECK(read_text_file(path) == "12345");
  Limits limits;
  limits.max_member_bytes = 4;
  CHECK_THROWS_WITH_AS(read_text_file(path, limits), doctest::Contains("max_member_bytes"), Error);
  CHECK_THROWS_WITH_AS(read_text_file(directory.file("none")), doctest::Contains("cannot open"), Error);
}

TEST_CASE("a run that is killed before it is done leaves nothing behind") {
  const TempDir directory;
  const std::string path = directory.write("out", "old");
  AtomicFile file(path);
  file.write("half of the new content");
  CHECK(directory.list() == std::vector<std::string>{"out"});  // the unfinished file has no name yet
  CHECK(testing::read_file(file.temporary_path()) == "half of the new content");
}
