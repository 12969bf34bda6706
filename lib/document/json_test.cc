// SPDX-License-Identifier: Apache-2.0
#include "ckpt/json.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "ckpt/error.h"
#include "testing/failure.h"

using namespace ckpt;

namespace {

void check_refused(const std::string& text, std::uint64_t offset, const std::string& reason) {
  CAPTURE(text);
  const Error error = testing::failure_of([&] { Json::parse(text, "file", "member"); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.where().file == "file");
  CHECK(error.where().member == "member");
  CHECK(error.where().offset == offset);
  CHECK_MESSAGE(error.detail().find(reason) != std::string::npos, error.detail());
}

Json random_json(std::mt19937& random, int depth) {
  static const std::vector<Json> kLeaves = {Json(),
                                            Json(true),
                                            Json(-1),
                                            Json(std::numeric_limits<std::int64_t>::min()),
                                            Json(std::numeric_limits<std::uint64_t>::max()),
                                            Json(0.1),
                                            Json(1.0),
                                            Json(-2e300),
                                            Json(5e-324),
                                            Json("\"\\/\b\f\n\r\t\x01 \xc3\xa9 \xf0\x9f\x98\x80"),
                                            Json("")};
  const auto kind = depth == 0 ? 9 : random() % 10;
  if (kind > 3) return kLeaves[random() % kLeaves.size()];
  Json value = kind < 2 ? Json::array() : Json::object();
  for (auto i = random() % 4; i > 0; --i) {
    if (kind < 2)
      value.push(random_json(random, depth - 1));
    else
      value.append_member("k" + std::to_string(random() % 3), random_json(random, depth - 1));
  }
  return value;
}

}  // namespace

TEST_CASE("order, duplicates and whole numbers survive parsing") {
  const Json json = Json::parse(R"({"z":1,"a":-9223372036854775808,"m":18446744073709551615,"a":2})");
  REQUIRE(json.size() == 4);
  CHECK(json.members()[0].first == "z");
  CHECK(json.members()[1].second.as_int() == std::numeric_limits<std::int64_t>::min());
  CHECK(json["m"].as_uint() == std::numeric_limits<std::uint64_t>::max());
  CHECK(json["m"].as_int(-7) == -7);
  CHECK(json["a"].as_int() == 2);  // the last one counts
  CHECK(json.dump(-1) == R"({"z":1,"a":-9223372036854775808,"m":18446744073709551615,"a":2})");
}

TEST_CASE("set replaces the duplicate that find sees") {
  Json json = Json::parse(R"({"a":1,"a":2})");
  json.set("a", 3).set("b", Json::array().push(1));
  CHECK(json["a"] == Json(3));
  CHECK(json.dump(-1) == R"({"a":1,"a":3,"b":[1]})");
}

TEST_CASE("what is dumped is read back as the same value") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Json value = random_json(random, 4);
    for (const int indent : {-1, 0, 2}) {
      const std::string text = value.dump(indent);
      CAPTURE(text);
      CHECK(Json::parse(text) == value);
      CHECK(Json::parse(text).dump(indent) == text);
    }
  }
}

TEST_CASE("numbers are written so that their kind is kept") {
  CHECK(Json(1.0).dump() == "1.0");
  CHECK(Json(-0.0).dump() == "-0.0");
  CHECK(Json(1e22).dump() == "1e+22");
  CHECK(Json(0.1).dump() == "0.1");
  CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
  CHECK_FALSE(Json(1.0) == Json(1));
  CHECK(Json(1) == Json(std::uint64_t{1}));
  CHECK_FALSE(Json(-1) == Json(std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("layout of what is dumped") {
  const Json json = Json::parse(R"({"a":[],"b":{},"c":[1,{"d":null}]})");
  CHECK(json.dump(2) == "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": null\n    }\n  ]\n}");
  CHECK(json.dump(-1) == R"({"a":[],"b":{},"c":[1,{"d":null}]})");
  CHECK(Json("a\xff"
             "b")
            .dump() ==
        "\"a\xef\xbf\xbd"
        "b\"");
}

TEST_CASE("pointers") {
  const Json json = Json::parse(R"({"a/b":[10,{"~":1}],"":{"":2},"01":3})");
  REQUIRE(json.at_pointer("/a~1b/1/~0") != nullptr);
  CHECK(*json.at_pointer("/a~1b/1/~0") == Json(1));
  CHECK(*json.at_pointer("//") == Json(2));
  CHECK(*json.at_pointer("/01") == Json(3));
  CHECK(json.at_pointer("") == &json);
  for (const char* absent : {"a", "/a~1b/2", "/a~1b/01", "/a~1b/-", "/a~1b/+0", "/a~1b/", "/a~1b/18446744073709551616",
                             "/x", "/a/b", "/01/0"})
    CHECK_MESSAGE(json.at_pointer(absent) == nullptr, absent);
  CHECK(json_pointer_token("~/a") == "~0~1a");
}

TEST_CASE("absent and mistyped values give the fallback") {
  const Json json = Json::parse(R"({"t":"x","n":-1,"f":1.5})");
  CHECK(json["nope"]["deeper"][3].is_null());
  CHECK(json["t"].as_int(4) == 4);
  CHECK(json["n"].as_uint(4) == 4);
  CHECK(json["f"].as_int(4) == 4);
  CHECK(json["n"].as_double() == -1.0);
  CHECK(json["n"].as_string().empty());
  CHECK(json["t"].items().empty());
  CHECK(json["t"].size() == 0);
}

TEST_CASE("broken text is refused with its offset") {
  check_refused("", 0, "unexpected end of input");
  check_refused("{\"a\":1,}", 7, "expected string literal");
  check_refused("[1,2", 4, "unexpected end of input");
  check_refused("[01]", 2, "unexpected number literal");
  check_refused("[1] x", 4, "invalid literal");
  check_refused("[1]]", 3, "expected end of input");
  check_refused("\"a\nb\"", 2, "U+000A");
  check_refused("\"\xff\"", 1, "ill-formed UTF-8");
  check_refused("\"\xed\xa0\x80\"", 2, "ill-formed UTF-8");
  check_refused("\"\\ud800\"", 7, "surrogate");
  check_refused("[1e999]", 5, "overflow");
  check_refused("// c\n1", 0, "invalid literal");
  check_refused(std::string("{}\0x", 4), 2, "text behind its end");
  check_refused(std::string("{}\0", 3), 2, "text behind its end");
  check_refused("\xef\xbb\xbf{}", 0, "byte order mark");
}

TEST_CASE("every truncation of a document is refused") {
  const std::string text = R"({"a":[1,"x\u00e9",{"b":null}],"c":true,"d":-1.5e3})";
  CHECK_NOTHROW(Json::parse(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Error error = testing::failure_of([&] { Json::parse(text.substr(0, size)); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.detail().find("not valid JSON") == 0);
  }
}

TEST_CASE("limits are named") {
  Limits limits;
  limits.max_nesting = 3;
  CHECK_NOTHROW(Json::parse("[[[1]]]", {}, {}, limits));
  Error error = testing::failure_of([&] { Json::parse("[[[[1]]]]", {}, {}, limits); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_nesting, 3") != std::string::npos);
  CHECK(error.where().offset == 3);
  limits.max_document_nodes = 4;
  CHECK_NOTHROW(Json::parse("[1,2,3]", {}, {}, limits));
  error = testing::failure_of([&] { Json::parse("[1,2,3,4]", {}, {}, limits); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_document_nodes, 4") != std::string::npos);
  CHECK(testing::failure_of([] { Json::parse(std::string(1 << 20, '[')); }).code() == ErrorCode::limit_exceeded);
}
