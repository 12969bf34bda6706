// SPDX-License-Identifier: Apache-2.0
#include "archive/rewrite_archive.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TarBuilder;
using testing::TempDir;

namespace {

class StringSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  std::string text;
};

class BrokenSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override {
    left_ -= std::min(left_, bytes.size());
    if (left_ == 0) throw Error(ErrorCode::io, {"out", {}, {}, {}}, "no space left");
  }

 private:
  std::size_t left_ = 3000;
};

std::string rewrite(const Archive& in, const ArchiveEdits& edits, Compression compression = Compression::none) {
  StringSink out;
  WriteOptions options;
  options.compression = compression;
  rewrite_archive(in, edits, options, out);
  return out.text;
}

std::string sample() {
  return TarBuilder()
      .pax("SCHILY.xattr.user.a", "b")
      .file("spec.dump", "{\"a\":1}")
      .directory("checkpoint/")
      .file("checkpoint/pages-1.img", std::string(100000, 'p'))
      .gnu_long_name("checkpoint/" + std::string(120, 'l'))
      .file("checkpoint/l", "long")
      .hardlink("again", "spec.dump")
      .finish();
}

}  // namespace

TEST_CASE("without edits a tar is copied byte for byte, whatever its dialect") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", sample());
  CHECK(rewrite(Archive::open(path), {}) == sample());
  REQUIRE(std::system(("zstd -qkf " + path).c_str()) == 0);
  CHECK(rewrite(Archive::open(path + ".zst"), {}) == sample());
}

TEST_CASE("random tars survive an empty rewrite member by member") {
  std::mt19937 random(20261201);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    TarBuilder builder;
    const int members = static_cast<int>(random() % 8);
    for (int i = 0; i < members; ++i) {
      const std::string name = "m" + std::to_string(i);
      switch (random() % 5) {
        case 0:
          builder.directory(name + "/");
          break;
        case 1:
          builder.pax("comment", std::string(random() % 900, 'c')).file(name, std::string(random() % 3000, 'x'));
          break;
        case 2:
          builder.gnu_long_name(name + std::string(random() % 300, 'n')).file(name, "g");
          break;
        case 3:
          builder.symlink(name, "t");
          break;
        default:
          builder.file(name, std::string(random() % 2000, 'y'));
      }
    }
    const std::string tar = builder.file("end", "e").finish();
    const TempDir directory;
    CHECK(rewrite(Archive::open(directory.write("a.tar", tar)), {}) == tar);
  }
}

TEST_CASE("a replaced member keeps its header but for size and checksum") {
  const TempDir directory;
  const Archive in = Archive::open(directory.write("a.tar", sample()));
  ArchiveEdits edits;
  edits.replaced[0] = std::string(600, 'n');
  const std::string out = rewrite(in, edits);
  const Archive back = Archive::open(directory.write("b.tar", out));
  CHECK(back.read(*back.find("spec.dump")) == std::string(600, 'n'));
  CHECK(out.substr(0, 1024 + 124) ==
        sample().substr(0, 1024 + 124));  // the PAX header and the ustar one up to its size
  CHECK(back.find("spec.dump")->mtime == in.find("spec.dump")->mtime);
  CHECK(out.find("SCHILY.xattr.user.a=b") != std::string::npos);
  CHECK(out.substr(1024 + 512 + 1024) == sample().substr(1024 + 512 + 512));  // everything behind it
  edits.replaced[0] = "{\"a\":1}";
  CHECK(rewrite(in, edits) == sample());
}

TEST_CASE("a PAX size would override a new header, so the header is made anew") {
  const TempDir directory;
  const std::string path =
      directory.write("a.tar", TarBuilder().pax("size", "3").file("spec.dump", "abc").file("b", "b").finish());
  ArchiveEdits edits;
  edits.replaced[0] = "longer than before";
  const Archive back = Archive::open(directory.write("b.tar", rewrite(Archive::open(path), edits)));
  CHECK(back.read(*back.find("spec.dump")) == "longer than before");
  CHECK(back.read(*back.find("b")) == "b");
}

TEST_CASE("a header that is made anew keeps what the old one said") {
  const TempDir directory;
  TarBuilder builder;
  builder.pax("size", "3").file("./spec.dump", "abc");
  builder.raw(TarBuilder().pax("SCHILY.xattr.user.a", "b").unfinished());
  const Archive plain = Archive::open(directory.write("a.tar", builder.file("./b", "b").finish()));
  ArchiveEdits edits;
  edits.replaced[0] = "longer than before";
  Archive back = Archive::open(directory.write("b.tar", rewrite(plain, edits)));
  CHECK(back.members()[0].raw_name == "./spec.dump");
  CHECK(back.members()[0].mtime == plain.members()[0].mtime);
  CHECK(back.members()[0].mode == plain.members()[0].mode);

  // Both records in one extension header: the size goes, the attribute stays.
  const std::string records =
      "9 size=3\n"
      "25 SCHILY.xattr.user.a=b\n";
  TarBuilder::Header extension;
  extension.name = "PaxHeaders/x";
  extension.type = 'x';
  extension.size = records.size();
  TarBuilder one;
  one.header(extension).raw(records + std::string(512 - records.size(), '\0')).file("spec.dump", "abc");
  const std::string out = rewrite(Archive::open(directory.write("c.tar", one.finish())), edits);
  CHECK(out == rewrite(Archive::open(directory.write("c.tar", one.finish())), edits));
  CHECK(out.find("SCHILY.xattr.user.a=b") != std::string::npos);
  CHECK(out.find("size=3") == std::string::npos);
  back = Archive::open(directory.write("d.tar", out));
  CHECK(back.read(*back.find("spec.dump")) == "longer than before");
}

TEST_CASE("sizes beyond octal, and names beyond ASCII, are replaced too") {
  const TempDir directory;
  TarBuilder::Header base256;
  base256.name = "spec.dump";
  base256.size = 3;
  base256.base256_size = true;
  TarBuilder builder;
  builder.header(base256).raw("abc" + std::string(509, '\0'));
  builder.pax("path", "sch\xc3\xb6n").file("short", "x");
  builder.raw(TarBuilder().gnu_sparse("sparse", 5000, 1024, "data").unfinished());
  const Archive in = Archive::open(directory.write("a.tar", builder.finish()));
  ArchiveEdits edits;
  edits.replaced = {{0, "first"}, {1, "second"}, {2, "third"}};
  const Archive back = Archive::open(directory.write("b.tar", rewrite(in, edits)));
  CHECK(back.read(*back.find("spec.dump")) == "first");
  CHECK(back.read(*back.find("sch\xc3\xb6n")) == "second");
  CHECK(back.read(*back.find("sparse")) == "third");
  CHECK_FALSE(back.find("sparse")->sparse);
}

TEST_CASE("GNU sparse members, which the engines cannot read, are written out") {
  const TempDir directory;
  const std::string path =
      directory.write("a.tar", TarBuilder().gnu_sparse("pages", 5000, 1024, "data").file("b", "b").finish());
  const Archive back = Archive::open(directory.write("b.tar", rewrite(Archive::open(path), {})));
  CHECK_FALSE(back.find("pages")->sparse);
  CHECK(back.read(*back.find("pages")).substr(1020, 12) == std::string(4, '\0') + "data" + std::string(4, '\0'));
  CHECK(back.read(*back.find("b")) == "b");
}

TEST_CASE("members are dropped and added where asked") {
  const TempDir directory;
  const Archive in = Archive::open(directory.write("a.tar", sample()));
  ArchiveEdits edits;
  edits.removed.insert(2);
  edits.added.push_back({"spec.dump.orig", "original", 0});
  const Archive back = Archive::open(directory.write("b.tar", rewrite(in, edits)));
  CHECK(back.find("checkpoint/pages-1.img") == nullptr);
  REQUIRE(back.members().size() == 5);
  CHECK(back.members()[1].name == "spec.dump.orig");
  CHECK(back.members()[1].mode == 0600);
  CHECK(back.read(back.members()[1]) == "original");
}

TEST_CASE("the same input and edits give the same bytes in every codec") {
  const TempDir directory;
  const Archive in = Archive::open(directory.write("a.tar", sample()));
  for (const Compression compression : {Compression::gzip, Compression::zstd}) {
    const std::string once = rewrite(in, {}, compression);
    CHECK(once == rewrite(in, {}, compression));
    CHECK(rewrite(Archive::open(directory.write("c", once)), {}) == sample());
  }
  StringSink out;
  WriteOptions options;
  options.compression = Compression::xz;
  CHECK_THROWS_WITH_AS(rewrite_archive(in, {}, options, out), doctest::Contains("xz is read but not written"), Error);
}

TEST_CASE("a directory becomes a tar that the engines read") {
  const TempDir directory;
  directory.write("d/checkpoint/a.img", "a");
  directory.write("d/spec.dump", "{}");
  const Archive back = Archive::open(directory.write("b.tar", rewrite(Archive::open(directory.file("d")), {})));
  REQUIRE(back.members().size() == 3);
  CHECK(back.members()[0].name == "checkpoint");
  CHECK(back.members()[0].type == MemberType::directory);
  CHECK(back.read(*back.find("checkpoint/a.img")) == "a");
}

TEST_CASE("a sink that fails stops the rewrite with its own error") {
  const TempDir directory;
  std::mt19937 random(1);
  std::string noise(200000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const Archive in = Archive::open(directory.write("a.tar", TarBuilder().file("noise", noise).finish()));
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    BrokenSink sink;
    WriteOptions options;
    options.compression = compression;
    CHECK_THROWS_WITH_AS(rewrite_archive(in, {}, options, sink), doctest::Contains("no space left"), Error);
  }
}

TEST_CASE("a level that the codec does not have is refused") {
  const TempDir directory;
  const Archive in = Archive::open(directory.write("a.tar", sample()));
  StringSink out;
  WriteOptions options;
  options.compression = Compression::gzip;
  options.level = 10;
  CHECK_THROWS_WITH_AS(rewrite_archive(in, {}, options, out), doctest::Contains("gzip has no level 10"), Error);
  options.compression = Compression::zstd;
  options.level = 99;
  CHECK_THROWS_WITH_AS(rewrite_archive(in, {}, options, out), doctest::Contains("zstd has no level 99"), Error);
  CHECK(out.text.empty());
}

TEST_CASE("what cannot be edited is refused before the first byte") {
  const TempDir directory;
  const Archive in = Archive::open(directory.write("a.tar", sample()));
  StringSink out;
  const auto refused = [&](const ArchiveEdits& edits, ErrorCode code, const std::string& text) {
    try {
      rewrite_archive(in, edits, {}, out);
      FAIL("accepted, wanted: " << text);
    } catch (const Error& error) {
      CHECK(error.code() == code);
      CHECK_MESSAGE(error.detail().find(text) != std::string::npos, error.detail());
    }
  };
  refused({{{1, "x"}}, {}, {}, {}}, ErrorCode::unsupported, "a directory cannot be given other content");
  refused({{{4, "x"}}, {}, {}, {}}, ErrorCode::unsupported, "a hardlink cannot be given other content");
  refused({{{5, "x"}}, {}, {}, {}}, ErrorCode::internal, "member 5, which is not there");
  refused({{}, {7}, {}, {}}, ErrorCode::internal, "member 7, which is not there");
  refused({{}, {}, {{"new", "x", 9}}, {}}, ErrorCode::internal, "member 9, which is not there");
  refused({{}, {}, {{"../new", "x", 0}}, {}}, ErrorCode::invalid_argument, "not a name for a new member");
  refused({{}, {}, {}, {{1, "x"}}}, ErrorCode::unsupported, "cannot be given content before its own");
  CHECK(out.text.empty());
}

TEST_CASE("damaged input is never given checksums that fit") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", TarBuilder().file("spec.dump", "MARK").finish());
  REQUIRE(std::system(("zstd -q --check --fast=100 -kf " + path).c_str()) == 0);
  std::string bad = testing::read_file(path + ".zst");
  const Archive in = Archive::open(path + ".zst");
  REQUIRE(bad.find("MARK") != std::string::npos);
  bad[bad.find("MARK")] = 'X';
  StringSink out;
  CHECK_THROWS_WITH_AS(rewrite_archive(Archive::open(directory.write("bad.zst", bad)), {}, {}, out),
                       doctest::Contains("checksum"), Error);
}

TEST_CASE("the filling behind the end stays, what else stands there goes") {
  const TempDir directory;
  const std::string tar = TarBuilder().file("a", "x").finish();
  const std::string filled = tar + std::string(10240 - tar.size(), '\0');
  const std::string path = directory.write("a.tar", filled);
  CHECK(rewrite(Archive::open(path), {}) == filled);
  REQUIRE(std::system(("zstd -qkf " + path).c_str()) == 0);
  CHECK(rewrite(Archive::open(path + ".zst"), {}) == filled);
  CHECK(rewrite(Archive::open(directory.write("b.tar", tar + std::string(700, 'x'))), {}) == tar);
  const std::string unfinished = TarBuilder().file("a", "x").unfinished();
  CHECK(rewrite(Archive::open(directory.write("c.tar", unfinished)), {}) == tar);
}

TEST_CASE("an archive that changes while it is read is refused") {
  const TempDir directory;
  const std::string path = directory.write("a.tar", sample());
  const Archive in = Archive::open(path);
  directory.write("a.tar", sample() + "more");
  StringSink out;
  CHECK_THROWS_WITH_AS(rewrite_archive(in, {}, {}, out), doctest::Contains("changed while it was read"), Error);
}

TEST_CASE("verification finds what differs from what was written") {
  const TempDir directory;
  const Archive in = Archive::open(directory.write("a.tar", sample()));
  ArchiveEdits edits;
  edits.replaced[0] = "edited";
  StringSink out;
  const auto written = rewrite_archive(in, edits, {}, out);
  const std::string good = directory.write("good.tar", out.text);
  verify_archive(Archive::open(good), written, in, edits, Verify::edited);
  verify_archive(Archive::open(good), written, in, edits, Verify::full);
  std::string bad = out.text;
  bad[1024 + 512] ^= 1;  // content of the edited member
  CHECK_THROWS_WITH_AS(verify_archive(Archive::open(directory.write("bad.tar", bad)), written, in, edits, Verify::edited),
                       doctest::Contains("other content"), Error);
  bad = out.text;
  bad[bad.find("ppp") + 5000] = 'q';  // content that no edit touched
  const std::string touched = directory.write("touched.tar", bad);
  verify_archive(Archive::open(touched), written, in, edits, Verify::edited);
  CHECK_THROWS_WITH_AS(verify_archive(Archive::open(touched), written, in, edits, Verify::full), doctest::Contains("other content"),
                       Error);
}

TEST_CASE("every real archive is copied without a difference and verified") {
  const TempDir directory;
  for (const std::string& path : testing::real_archives()) {
    CAPTURE(path);
    const Archive in = Archive::open(path);
    const std::string copy = directory.file("copy");
    AtomicFile file(copy);
    const auto written = rewrite_archive(in, {}, {}, file);
    verify_archive(Archive::open(file.temporary_path()), written, in, {}, Verify::full);
    file.commit();
    const std::string unpack =
        in.compression() == Compression::none ? "cat" : to_string(in.compression()) + std::string(" -dc");
    CHECK(std::system((unpack + " < " + path + " | cmp - " + copy).c_str()) == 0);
  }
}
