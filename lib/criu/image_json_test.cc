// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "ckpt/image.h"
#include "criu/base64.h"
#include "testing/failure.h"
#include "testing/image_builder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using ckpt::testing::bytes_field;
using ckpt::testing::failure_of;
using ckpt::testing::framed;
using ckpt::testing::image_head;
using ckpt::testing::image_of;
using ckpt::testing::varint_field;

namespace {

Json decoded(const std::string& bytes, ImageStyle style = ImageStyle::plain) {
  return decode_image(bytes, Where{"a.img", {}, {}, {}}, style);
}

// Through JSON text, as users do.
std::string through_text(const std::string& bytes, ImageStyle style) {
  Limits limits;
  limits.max_nesting = 400;
  return encode_image(Json::parse(decoded(bytes, style).dump(-1), {}, {}, limits));
}

void check_round_trip(const std::string& bytes) {
  CHECK(through_text(bytes, ImageStyle::plain) == bytes);
  CHECK(through_text(bytes, ImageStyle::pretty) == bytes);
}

}  // namespace

TEST_CASE("base64 and quoted-printable go there and back") {
  for (const std::string bytes : {"", "a", "ab", "abc", "\xff\x01\xfe"}) {
    CHECK(criu::from_base64(criu::to_base64(bytes)) == bytes);
    CHECK(criu::from_quoted_printable(criu::to_quoted_printable(bytes)) == bytes);
  }
  CHECK(criu::to_base64("abcd") == "YWJjZA==");
  CHECK(criu::from_base64("YWJj\nZA==\n") == "abcd");
  CHECK_FALSE(criu::from_base64("YWJ").has_value());
  CHECK_FALSE(criu::from_base64("YW=j").has_value());
  CHECK_FALSE(criu::from_base64("====").has_value());
  CHECK(criu::to_quoted_printable(std::string("\0x =", 4)) == "=00x=20=3D");
  CHECK(criu::from_quoted_printable("a=\nb") == "ab");
  CHECK_FALSE(criu::from_quoted_printable("a=4").has_value());
}

TEST_CASE("real images come back as they were, in both styles") {
  std::size_t images = 0;
  for (const auto& file : std::filesystem::directory_iterator(testing::testdata("images"))) {
    const std::string name = file.path().filename().string();
    if (name.find("tmpfs-dev") != std::string::npos) continue;
    CAPTURE(name);
    check_round_trip(testing::read_file(file.path().string()));
    ++images;
  }
  CHECK(images == 18);
}

TEST_CASE("an entry looks as crit shows it") {
  const Json fds = decoded(testing::read_file(testing::testdata("images/h200-runc-fdinfo-2.img")));
  CHECK(fds["magic"].as_string() == "FDINFO");
  CHECK(fds["entries"].size() == 24);
  CHECK(fds["entries"][10].dump(-1) == R"({"id":25,"flags":1,"type":"UNIXSK","fd":15})");
  const Json mounts =
      decoded(testing::read_file(testing::testdata("images/h200-runc-mountpoints-13.img")), ImageStyle::pretty);
  bool found = false;
  for (const Json& mount : mounts["entries"].items())
    if (mount["mnt_id"].as_int() == 92) {
      found = true;
      CHECK(mount["root_dev"].as_string() == "254:16");
      CHECK(mount["flags"].as_string() == "0x200007");
    }
  CHECK(found);
  const Json mm = decoded(testing::read_file(testing::testdata("images/h200-runc-mm-1.img")), ImageStyle::pretty);
  CHECK(mm["entries"][0]["vmas"][0]["prot"].as_string().empty());
  CHECK(mm["entries"][0]["vmas"][1]["prot"].is_string());
}

TEST_CASE("unknown fields and unusual encodings are kept") {
  const std::string known = varint_field(1, 5) + varint_field(2, 1) + varint_field(3, 5) + varint_field(4, 9);
  check_round_trip(image_of("PSTREE", {known + bytes_field(100, "new")}));
  const Json plain = decoded(image_of("PSTREE", {known + bytes_field(100, "new")}));
  CHECK(plain["entries"][0].find("_unknown") != nullptr);
  CHECK(plain["entries"][0].find("_wire") == nullptr);
  const std::string odd[] = {
      varint_field(2, 1) + varint_field(1, 5) + varint_field(3, 5) + varint_field(4, 9),  // another order
      varint_field(1, 4) + known,                                                         // one of them twice
      std::string("\x08\x85\x00", 3) + known.substr(2),                                   // a long varint
      bytes_field(100, "new") + known,                                                    // an unknown one first
      known + bytes_field(5, std::string("\x01\x02", 2)),                                 // packed threads
      bytes_field(1, "x") + known,                                                        // a wrong wire type
  };
  for (const std::string& message : odd) {
    check_round_trip(image_of("PSTREE", {message}));
    CHECK(decoded(image_of("PSTREE", {message}))["entries"][0].find("_wire") != nullptr);
  }
  CHECK(decoded(image_of("PSTREE", {odd[4]}))["entries"][0]["threads"].dump(-1) == "[1,2]");
}

TEST_CASE("an edit wins over the kept bytes") {
  const std::string message = varint_field(2, 1) + varint_field(1, 5) + varint_field(3, 5) + varint_field(4, 9);
  Json document = decoded(image_of("PSTREE", {message}));
  Json entry = document["entries"][0];
  entry.set("pid", 77);
  Json entries = Json::array();
  document.set("entries", entries.push(entry));
  const Json edited = decoded(encode_image(document));
  CHECK(edited["entries"][0]["pid"].as_int() == 77);
  CHECK(edited["entries"][0]["sid"].as_int() == 9);
}

TEST_CASE("names that are no UTF-8, and enum numbers nobody knows") {
  const std::string fd = varint_field(1, 5) + varint_field(2, 0) + varint_field(3, 999) + varint_field(4, 9);
  check_round_trip(image_of("FDINFO", {fd + bytes_field(5, "\xff/x")}));
  const Json document = decoded(image_of("FDINFO", {fd + bytes_field(5, "\xff/x")}));
  CHECK(document["entries"][0]["type"].as_int() == 999);
  CHECK(document["entries"][0]["xattr_security_selinux"]["_base64"].as_string() == criu::to_base64("\xff/x"));
}

TEST_CASE("extras") {
  const std::string pipe = image_head("PIPES_DATA") + framed(varint_field(1, 7) + varint_field(2, 3)) + "abc";
  check_round_trip(pipe);
  CHECK(decoded(pipe)["entries"][0]["extra"].as_string() == "YWJj");
  const std::string tcp = image_head("TCP_STREAM") + framed(varint_field(1, 2) + varint_field(3, 1)) + "inO";
  check_round_trip(tcp);
  CHECK(decoded(tcp)["entries"][0]["extra"].dump(-1) == R"({"inq":"aW4=","outq":"Tw=="})");
  const std::string desc = bytes_field(1, "");
  check_round_trip(image_head("IPCNS_SEM") + framed(desc + varint_field(2, 1)) +
                   std::string("\x05\x01\0\0\0\0\0\0", 8));
  const std::string dirty =
      image_head("IPCNS_SEM") + framed(desc + varint_field(2, 1)) + std::string("\x05\x01\0\0\0\0\0\x09", 8);
  check_round_trip(dirty);
  CHECK(decoded(dirty)["entries"][0]["extra"].dump(-1) == "[261]");
  const std::string queue = framed(desc + varint_field(2, 3) + varint_field(3, 1)) +
                            framed(varint_field(1, 4) + varint_field(2, 3)) + std::string("abc\0\0\0\0\0", 8);
  check_round_trip(image_head("IPCNS_MSG") + queue);
  CHECK(decoded(image_head("IPCNS_MSG") + queue)["entries"][0]["extra"][1].as_string() == "YWJj");
  check_round_trip(image_head("IPCNS_SHM") + framed(desc + varint_field(2, 5)) + std::string("abcde\0\0\0", 8));
  check_round_trip(image_head("IPCNS_SHM") + framed(desc + varint_field(2, 5) + varint_field(3, 1)));
}

TEST_CASE("a ghost file in chunks is several entries") {
  const std::string head = varint_field(1, 0) + varint_field(2, 0) + varint_field(3, 0100644);
  const std::string chunk = framed(varint_field(1, 2) + varint_field(2, 0)) + "xy";
  const std::string chunks = image_head("GHOST_FILE") + framed(head + varint_field(9, 1)) + chunk + chunk;
  check_round_trip(chunks);
  CHECK(decoded(chunks)["entries"].size() == 3);
  CHECK(decoded(chunks)["entries"][2]["extra"].as_string() == "eHk=");
  check_round_trip(image_head("GHOST_FILE") + framed(head) + "content");
}

TEST_CASE("bytes behind the only entry and images without a head stay") {
  const std::string utsns = image_of("UTSNS", {bytes_field(1, "a") + bytes_field(2, "b")});
  check_round_trip(utsns + "tail");
  check_round_trip(utsns.substr(4));
  CHECK(decoded(utsns.substr(4))["_head"].as_string() == "none");
}

TEST_CASE("what is cut off is refused with its place") {
  const std::string whole = image_of("PSTREE", {varint_field(1, 5) + bytes_field(100, "new")});
  for (std::size_t size = 9; size < whole.size(); ++size) {
    const Error error = failure_of([&] { decoded(whole.substr(0, size)); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().entry == 0);
  }
}

TEST_CASE("documents that are no image") {
  const auto detail = [](const char* text) { return failure_of([&] { encode_image(Json::parse(text)); }).detail(); };
  CHECK(detail("[]") == "an object with magic and entries is wanted");
  CHECK(detail(R"({"entries":[]})") == "magic: the name of an image type is wanted");
  CHECK(detail(R"({"magic":"NONE","entries":[]})") == "magic: no image type NONE");
  CHECK(detail(R"({"magic":"PSTREE","entries":[{"pit":1}]})") == "entries[0].pit: no field of pstree_entry");
  CHECK(detail(R"({"magic":"PSTREE","entries":[{"pid":-1}]})") == "entries[0].pid: an unsigned number is wanted");
  CHECK(detail(R"({"magic":"PSTREE","entries":[{"pid":4294967296}]})") == "entries[0].pid: larger than 4294967295");
  CHECK(detail(R"({"magic":"FDINFO","entries":[{"type":"XX"}]})") == "entries[0].type: no value of fd_types");
  CHECK(detail(R"({"magic":"PIPES_DATA","entries":[{"pipe_id":1,"bytes":1,"extra":"?"}]})") ==
        "entries[0].extra: no base64 text");
  CHECK(detail(R"({"magic":"PIPES_DATA","entries":[{"pipe_id":1,"bytes":9,"extra":"YQ=="}]})").find("9 bytes") !=
        std::string::npos);
}

TEST_CASE("files without entries are called by their name") {
  const auto refusal = [](const char* name) {
    return failure_of([&] { decode_image(std::string("\x1f\x8b\x08\x00rest", 8), Where{"a.tar", name, {}, {}}); });
  };
  CHECK(refusal("checkpoint/pages-1.img").detail().find("memory pages") != std::string::npos);
  CHECK(refusal("checkpoint/tmpfs-dev-9.tar.gz.img").detail().find("gzipped tar") != std::string::npos);
  CHECK(refusal("checkpoint/amdgpu-kfd-1.img").code() == ErrorCode::unsupported);
  CHECK(refusal("checkpoint/other.img").detail().find("magic 0x") != std::string::npos);
}

TEST_CASE("nested deeper than anybody does") {
  std::string message;
  for (int i = 0; i < 200; ++i) message = bytes_field(1, "n") + bytes_field(3, message);
  const Error error = failure_of([&] { decoded(image_of("APPARMOR", {bytes_field(1, message)})); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
}
