// SPDX-License-Identifier: Apache-2.0
#include "ckpt/archive.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TarBuilder;
using testing::TempDir;

namespace {

ArchiveOptions keep_all() {
  ArchiveOptions options;
  options.keep = [](const Member&) { return true; };
  return options;
}

void check_error(const std::function<void()>& action, ErrorCode code, const std::string& text) {
  try {
    action();
    FAIL("accepted, wanted: " << text);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK_MESSAGE(std::string(error.what()).find(text) != std::string::npos, error.what());
  }
}

std::string sample() {
  return TarBuilder()
      .file("./spec.dump", "{}")
      .directory("checkpoint/")
      .file("checkpoint/inventory.img", std::string(1000, 'i'))
      .symlink("link", "target")
      .hardlink("again", "spec.dump")
      .node("dev", 195, 255)
      .file("spec.dump", "second")
      .finish();
}

}  // namespace

TEST_CASE("members are listed in order, and the last of a name counts") {
  const TempDir directory;
  const Archive archive = Archive::open(directory.write("a.tar", sample()));
  REQUIRE(archive.members().size() == 7);
  CHECK(archive.members()[0].name == "spec.dump");
  CHECK(archive.members()[0].raw_name == "./spec.dump");
  CHECK(archive.members()[1].type == MemberType::directory);
  CHECK(archive.members()[3].link_target == "target");
  CHECK(archive.members()[4].type == MemberType::hardlink);
  CHECK(archive.members()[5].dev_minor == 255);
  CHECK(archive.duplicates() == std::vector<std::string>{"spec.dump"});
  CHECK(archive.read(*archive.find("spec.dump")) == "second");
  CHECK(archive.read(archive.members()[0]) == "{}");
  CHECK(archive.find("nothing") == nullptr);
}

TEST_CASE("compression is told by content") {
  const TempDir directory;
  const std::string plain = directory.write("a.tar", sample());
  for (const std::string tool : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    CAPTURE(tool);
    const std::string path = directory.file("odd.name." + tool);
    REQUIRE(std::system((tool + " -c < " + plain + " > " + path + " 2>/dev/null").c_str()) == 0);
    const Archive archive = Archive::open(path, keep_all());
    CHECK(to_string(archive.compression()) == tool);
    CHECK(archive.read(*archive.find("checkpoint/inventory.img")) == std::string(1000, 'i'));
    const Archive unkept = Archive::open(path);
    CHECK(unkept.read(*unkept.find("checkpoint/inventory.img")) == std::string(1000, 'i'));
  }
  const std::string twice = directory.file("two.gz");
  REQUIRE(std::system(
              ("(head -c 700 " + plain + " | gzip -c; tail -c +701 " + plain + " | gzip -c) > " + twice).c_str()) == 0);
  CHECK(Archive::open(twice).members().size() == 7);
}

TEST_CASE("dialects: PAX and GNU names, base-256 sizes, sparse members") {
  const TempDir directory;
  const std::string long_name = "checkpoint/" + std::string(150, 'n');
  TarBuilder builder;
  builder.pax("path", long_name).file("short", "pax");
  builder.gnu_long_name(long_name + "g").file("short", "gnu");
  TarBuilder::Header base256;
  base256.name = "big";
  base256.size = 5;
  base256.base256_size = true;
  builder.header(base256).raw("12345" + std::string(507, '\0'));
  builder.gnu_sparse("sparse", 100000, 50000, "data");
  builder.file("last", "x");
  for (const bool compressed : {false, true}) {
    const std::string plain = directory.write("a.tar", builder.finish());
    if (compressed) REQUIRE(std::system(("gzip -kf " + plain).c_str()) == 0);
    const Archive archive = Archive::open(compressed ? plain + ".gz" : plain);
    CHECK(archive.read(*archive.find(long_name)) == "pax");
    CHECK(archive.read(*archive.find(long_name + "g")) == "gnu");
    CHECK(archive.read(*archive.find("big")) == "12345");
    const std::string sparse = archive.read(*archive.find("sparse"));
    CHECK(sparse.size() == 100000);
    CHECK(sparse.substr(50000, 4) == "data");
    CHECK(archive.find("sparse")->sparse);
    CHECK(archive.read(*archive.find("last")) == "x");
  }
}

TEST_CASE("payloads of a plain tar are not read to list it") {
  const TempDir directory;
  const std::string path = directory.file("big.tar");
  TarBuilder builder;
  builder.file("spec.dump", "{}");
  TarBuilder::Header pages;
  pages.name = "checkpoint/pages-1.img";
  pages.size = 2ULL << 30;
  builder.header(pages);
  testing::TempDir unused;
  directory.write("big.tar", builder.unfinished());
  REQUIRE(::truncate(path.c_str(), static_cast<off_t>(builder.unfinished().size() + (2ULL << 30))) == 0);
  {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND);
    const std::string tail = TarBuilder().file("config.dump", "{}").finish();
    REQUIRE(::write(fd, tail.data(), tail.size()) == static_cast<ssize_t>(tail.size()));
    ::close(fd);
  }
  const Archive archive = Archive::open(path);
  CHECK(archive.members().size() == 3);
  CHECK(archive.read(*archive.find("config.dump")) == "{}");
  CHECK(archive.bytes_read() < (1U << 16));
}

TEST_CASE("a truncated archive is named with the member it ends in") {
  const TempDir directory;
  const std::string whole = TarBuilder().file("a", std::string(2000, 'a')).file("b", "b").finish();
  for (std::size_t size = 1; size < 512 + 2000; size += 97) {
    CAPTURE(size);
    const std::string path = directory.write("t.tar", whole.substr(0, size));
    check_error([&] { Archive::open(path); }, ErrorCode::corrupt, "t.tar");
  }
  for (std::size_t size = 512 + 2048 + 1; size < whole.size() - 1024; ++size) {
    CAPTURE(size);
    check_error([&] { Archive::open(directory.write("t.tar", whole.substr(0, size))); }, ErrorCode::corrupt, "t.tar");
  }
  for (const std::size_t end : {1024U, 512U, 0U})
    CHECK(Archive::open(directory.write("t.tar", whole.substr(0, whole.size() - 1024 + end))).members().size() == 2);
  const std::string gz = directory.write("g.tar", whole);
  REQUIRE(std::system(("gzip -kf " + gz).c_str()) == 0);
  const std::string bytes = testing::read_file(gz + ".gz");
  for (std::size_t size = 2; size + 12 < bytes.size(); size += 11) {
    CAPTURE(size);
    check_error([&] { Archive::open(directory.write("t.gz", bytes.substr(0, size)), keep_all()); }, ErrorCode::corrupt,
                "t.gz");
  }
}

TEST_CASE("bytes behind the end of the archive are ignored") {
  const TempDir directory;
  CHECK(Archive::open(directory.write("a.tar", sample() + std::string(4096, 'x'))).members().size() == 7);
}

TEST_CASE("names that lead out of the archive are refused") {
  const TempDir directory;
  for (const std::string name : {"../x", "/etc/passwd", "a/../../b"}) {
    CAPTURE(name);
    const std::string path = directory.write("a.tar", TarBuilder().file(name, "x").finish());
    check_error([&] { Archive::open(path); }, ErrorCode::corrupt, "leads out of the archive");
  }
}

TEST_CASE("limits are named when they are met") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", sample());
  ArchiveOptions options;
  options.limits.max_members = 3;
  check_error([&] { Archive::open(path, options); }, ErrorCode::limit_exceeded, "max_members");
  options = {};
  options.limits.max_member_bytes = 10;
  check_error(
      [&] {
        const Archive archive = Archive::open(path, options);
        archive.read(*archive.find("checkpoint/inventory.img"));
      },
      ErrorCode::limit_exceeded, "max_member_bytes");
  options = {};
  options.limits.max_name_bytes = 8;
  check_error([&] { Archive::open(path, options); }, ErrorCode::limit_exceeded, "max_name_bytes");
}

TEST_CASE("what is no archive is said to be none") {
  const TempDir directory;
  check_error([&] { Archive::open(directory.file("none")); }, ErrorCode::io, "No such file");
  check_error([&] { Archive::open(directory.write("empty", "")); }, ErrorCode::corrupt, "empty");
  check_error([&] { Archive::open(directory.write("text", std::string(2000, 't'))); }, ErrorCode::corrupt,
              "not a readable tar");
  REQUIRE(::mkfifo(directory.file("fifo").c_str(), 0600) == 0);
  check_error([&] { Archive::open(directory.file("fifo")); }, ErrorCode::invalid_argument, "not a regular file");
}

TEST_CASE("a pipe is read once, a spooled one again") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", sample());
  int fd = ::open(path.c_str(), O_RDONLY);
  ArchiveOptions options;
  options.keep = [](const Member& member) { return member.name == "spec.dump"; };
  const Archive stream = Archive::open_stream(fd, "-", options);
  ::close(fd);
  CHECK(stream.read(*stream.find("spec.dump")) == "second");
  check_error([&] { stream.read(*stream.find("checkpoint/inventory.img")); }, ErrorCode::unsupported,
              "a pipe is read once");
  fd = ::open(path.c_str(), O_RDONLY);
  const Archive spooled = Archive::spool(fd, "-", directory.path());
  ::close(fd);
  CHECK(spooled.read(*spooled.find("checkpoint/inventory.img")).size() == 1000);
  CHECK(directory.list() == std::vector<std::string>{"a.tar"});
}

TEST_CASE("a directory is an archive too, and nothing outside it is") {
  const TempDir directory;
  directory.write("d/checkpoint/inventory.img", "img");
  directory.write("d/spec.dump", "{}");
  directory.write("secret", "s");
  REQUIRE(::symlink("../secret", directory.file("d/escape").c_str()) == 0);
  const Archive archive = Archive::open(directory.file("d"));
  CHECK(archive.is_directory());
  std::vector<std::string> names;
  for (const Member& member : archive.members()) names.push_back(member.name);
  CHECK(names == std::vector<std::string>{"checkpoint", "checkpoint/inventory.img", "escape", "spec.dump"});
  CHECK(archive.read(*archive.find("checkpoint/inventory.img")) == "img");
  CHECK(archive.find("escape")->type == MemberType::symlink);
  check_error(
      [&] {
        Member liar = *archive.find("spec.dump");
        liar.name = "escape";
        archive.read(liar);
      },
      ErrorCode::io, "escape");
}

TEST_CASE("a tar inside a member opens like any other") {
  const TempDir directory;
  const std::string inner = TarBuilder().file("spec.dump", "inner").finish();
  const std::string path = directory.write("o.tar", TarBuilder().file("blob", inner).finish());
  REQUIRE(std::system(("gzip -kf " + path).c_str()) == 0);
  for (const std::string& one : {path, path + ".gz"}) {
    const Archive outer = Archive::open(one);
    const Archive opened = outer.open_member(*outer.find("blob"));
    CHECK(opened.read(*opened.find("spec.dump")) == "inner");
  }
}

TEST_CASE("damage inside gzip or behind its tar is found when the archive is opened") {
  const TempDir directory;
  const std::string tar = directory.write("a.tar", TarBuilder().file("spec.dump", "MARK").finish() + "tail");
  REQUIRE(std::system(("python3 -c \"import gzip,sys; open('" + tar + ".gz','wb').write(gzip.compress(open('" + tar +
                       "','rb').read(), 0))\"")
                          .c_str()) == 0);
  const std::string good = testing::read_file(tar + ".gz");
  for (const std::string what : {"MARK", "tail"}) {
    std::string bad = good;
    bad[bad.find(what)] = 'X';
    check_error([&] { Archive::open(directory.write("bad.gz", bad)); }, ErrorCode::corrupt, "incorrect data check");
  }
  CHECK(Archive::open(directory.write("good.gz", good + "left over")).members().size() == 1);
}

TEST_CASE("compressed data that holds no tar is said to be none") {
  const TempDir directory;
  for (const std::string tool : {"gzip", "zstd", "xz"}) {
    for (const std::string text : {"", "hello"}) {
      const std::string path = directory.file("none." + tool);
      REQUIRE(std::system(("printf '" + text + "' | " + tool + " -c > " + path).c_str()) == 0);
      check_error([&] { Archive::open(path); }, ErrorCode::corrupt, "not a readable tar");
    }
  }
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[1]);
  check_error([&] { Archive::open_stream(ends[0], "-"); }, ErrorCode::corrupt, "-: not a readable tar");
  ::close(ends[0]);
}

TEST_CASE("a pipe that hands out its bytes in small pieces is read to its end") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", sample() + std::string(100000, '\0'));
  for (const std::string tool : {"cat", "gzip -c", "zstd -qc"}) {
    CAPTURE(tool);
    const std::string left = directory.file("left");
    // dd fails when its reader goes away before the end.
    FILE* pipe = ::popen((tool + " < " + path + " | dd bs=5 status=none && touch " + left).c_str(), "r");
    REQUIRE(pipe != nullptr);
    const Archive archive = Archive::open_stream(::fileno(pipe), "-", keep_all());
    CHECK(::pclose(pipe) == 0);
    CHECK(::unlink(left.c_str()) == 0);
    CHECK(archive.members().size() == 7);
    CHECK(archive.read(*archive.find("checkpoint/inventory.img")).size() == 1000);
    const Member copy = *archive.find("spec.dump");
    CHECK(archive.read(copy) == "second");
  }
}

TEST_CASE("links whose names only PAX can say stay links") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", TarBuilder()
                                                        .file("f", "x")
                                                        .pax("linkpath", "z\xc3\xa4hl")
                                                        .hardlink("hard", "short")
                                                        .pax("linkpath", "z\xc3\xa4hl")
                                                        .symlink("soft", "short")
                                                        .pax("path", "sch\xc3\xb6n")
                                                        .file("short", "y")
                                                        .finish());
  const Archive archive = Archive::open(path);
  REQUIRE(archive.find("hard") != nullptr);
  CHECK(archive.find("hard")->type == MemberType::hardlink);
  CHECK(archive.find("hard")->link_target == "z\xc3\xa4hl");
  CHECK(archive.find("soft")->link_target == "z\xc3\xa4hl");
  CHECK(archive.find("sch\xc3\xb6n") != nullptr);
}

TEST_CASE("what GNU tar stores with holes is read whole") {
  const TempDir directory;
  const std::string name = directory.file("pages");
  REQUIRE(std::system(("truncate -s 1M " + name + " && printf abc | dd conv=notrunc status=none of=" + name +
                       " bs=1 seek=500000 && truncate -s 1M " + directory.file("hole") + " && cp " + name + " " +
                       directory.file("last"))
                          .c_str()) == 0);
  const std::string whole = testing::read_file(name);
  for (const std::string how : {"gnu", "pax --sparse-version=0.1", "pax --sparse-version=1.0"}) {
    CAPTURE(how);
    const std::string tar = directory.file("s.tar");
    REQUIRE(std::system(("cd " + directory.path() + " && tar --sparse --format=" + how +
                         " -cf s.tar pages hole last && gzip -kf s.tar")
                            .c_str()) == 0);
    for (const std::string& path : {tar, tar + ".gz"}) {
      const Archive archive = Archive::open(path);
      CHECK(archive.find("pages")->sparse);
      CHECK(archive.read(*archive.find("pages")) == whole);
      CHECK(archive.read(*archive.find("hole")) == std::string(1U << 20, '\0'));
      CHECK(archive.read(*archive.find("last")) == whole);
    }
  }
}

TEST_CASE("a member that takes less room than its size is never read into the next") {
  const std::string records = "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n";
  const std::string map = "0\n";
  TarBuilder::Header extension;
  extension.name = "PaxHeaders/x";
  extension.type = 'x';
  extension.size = records.size();
  TarBuilder builder;
  builder.header(extension).raw(records + std::string(512 - records.size(), '\0'));
  builder.file("hole", map + std::string(512 - map.size(), '\0')).file("next", std::string(512, 'n'));
  const TempDir directory;
  const Archive archive = Archive::open(directory.write("a.tar", builder.finish()));
  REQUIRE(archive.find("hole") != nullptr);
  CHECK(archive.find("hole")->sparse);
  CHECK(archive.read(*archive.find("hole")).find('n') == std::string::npos);
}

TEST_CASE("only regular files of a directory have content") {
  const TempDir directory;
  directory.write("d/a/b/file", "content");
  REQUIRE(::mkfifo(directory.file("d/fifo").c_str(), 0600) == 0);
  const Archive archive = Archive::open(directory.file("d"));
  CHECK(archive.find("fifo")->type == MemberType::fifo);
  CHECK(archive.read(*archive.find("fifo")).empty());
  CHECK(archive.bytes_read() == 0);
  CHECK(archive.read(*archive.find("a/b/file")) == "content");
  CHECK(archive.bytes_read() == 7);
  Member liar = *archive.find("a/b/file");
  liar.name = "fifo";
  check_error([&] { archive.read(liar); }, ErrorCode::io, "not a regular file");
  liar.name = "../secret";
  check_error([&] { archive.read(liar); }, ErrorCode::invalid_argument, "not a name inside the directory");
  // A directory on the way that became a symlink is not followed.
  REQUIRE(std::system(("mv " + directory.file("d/a/b") + " " + directory.file("moved") + " && ln -s ../../moved " +
                       directory.file("d/a/b"))
                          .c_str()) == 0);
  check_error([&] { archive.read(*archive.find("a/b/file")); }, ErrorCode::io, "cannot open");
}

TEST_CASE("a file that changes behind the reader is refused") {
  const TempDir directory;
  directory.write("d/file", "content");
  const Archive files = Archive::open(directory.file("d"));
  directory.write("d/file", "longer content");
  check_error([&] { files.read(*files.find("file")); }, ErrorCode::io, "changed while it was read");
  const std::string path = directory.write("a.tar", TarBuilder().file("a", std::string(5000, 'a')).finish());
  const Archive archive = Archive::open(path);
  REQUIRE(::truncate(path.c_str(), 1000) == 0);
  check_error([&] { archive.read(*archive.find("a")); }, ErrorCode::corrupt, "the archive ends here");
}

TEST_CASE("every real archive opens, whole and cheaply") {
  for (const std::string& path : testing::real_archives()) {
    CAPTURE(path);
    const Archive archive = Archive::open(path);
    CHECK(archive.members().size() > 5);
    CHECK(archive.duplicates().empty());
    if (archive.compression() == Compression::none) CHECK(archive.bytes_read() < (1U << 16));
  }
}

TEST_CASE("one flipped bit in compressed data never passes for other content") {
  const TempDir directory;
  const std::string plain = directory.write("a.tar", sample());
  for (const std::string tool : {"gzip", "lz4", "zstd", "xz", "bzip2"}) {
    const std::string path = directory.file("p." + tool);
    REQUIRE(std::system((tool + " -c < " + plain + " > " + path + " 2>/dev/null").c_str()) == 0);
    const std::string good = testing::read_file(path);
    for (std::size_t at = 0; at < good.size(); ++at) {
      CAPTURE(tool);
      CAPTURE(at);
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      try {
        const Archive archive = Archive::open(directory.write("bad", bad), keep_all());
        CHECK(archive.read(*archive.find("checkpoint/inventory.img")) == std::string(1000, 'i'));
        CHECK(archive.read(*archive.find("spec.dump")) == "second");
        CHECK(archive.members().size() == 7);
      } catch (const Error& error) {
        CHECK((error.code() == ErrorCode::corrupt || error.code() == ErrorCode::unsupported ||
               error.code() == ErrorCode::limit_exceeded));
      }
    }
  }
}

TEST_CASE("a compressed archive without its last bytes is cut off") {
  const TempDir directory;
  const std::string plain = directory.write("a.tar", sample());
  for (const std::string tool : {"gzip", "lz4"}) {
    CAPTURE(tool);
    REQUIRE(std::system((tool + " -c < " + plain + " > " + directory.file("p") + " 2>/dev/null").c_str()) == 0);
    const std::string good = testing::read_file(directory.file("p"));
    for (const std::size_t cut : {1U, 4U})
      check_error([&] { Archive::open(directory.write("t", good.substr(0, good.size() - cut))); }, ErrorCode::corrupt,
                  "ends too early");
  }
}
