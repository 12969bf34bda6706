// SPDX-License-Identifier: Apache-2.0
#include "document/json_text.h"

#include <doctest/doctest.h>

#include "testing/failure.h"

using namespace ckpt;

namespace {

// As Go's MarshalIndent and Marshal write a runtime specification, with spellings that a re-encoder would lose.
const char* const kPretty = R"({
  "ociVersion": "1.2.1",
  "mounts": [
    {
      "destination": "/proc",
      "source": "proc"
    },
    {
      "destination": "/usr/lib/libcuda.so.1",
      "source": "/old/libcuda.so.1",
      "options": [
        "ro",
        "bind"
      ]
    }
  ],
  "x": [1e3, 1.0, 18446744073709551615, 123456789012345678901234, "\u003c\/\ud83d\ude00"],
  "empty": [],
  "a/b": {"~": 1},
  "a/b": {"~": 2}
}
)";
const char* const kCompact =
    R"({"mounts":[{"destination":"/a","source":"/old"},{"destination":"/b"}],"n":1e3,"e":[],"o":{"only":1}})";

JsonText document(const std::string& text) { return JsonText::parse(text, "file", "member"); }

std::string with(std::string text, const std::string& old, const std::string& fresh) {
  return text.replace(text.find(old), old.size(), fresh);
}

template <typename Action>
void check_conflict(Action action, const std::string& reason) {
  const Error error = testing::failure_of(action);
  CHECK(error.code() == ErrorCode::conflict);
  CHECK(error.where().file == "file");
  CHECK(error.where().member == "member");
  CHECK_MESSAGE(error.detail() == reason, error.detail());
}

}  // namespace

TEST_CASE("a replaced value changes its own bytes only, and back") {
  const JsonText pretty = document(kPretty);
  const JsonText moved = pretty.replace("/mounts/1/source", Json("/new/libcuda.so.1"));
  CHECK(moved.text() == with(kPretty, "/old/", "/new/"));
  CHECK(moved.value()["mounts"][1]["source"] == Json("/new/libcuda.so.1"));
  CHECK(moved.replace("/mounts/1/source", Json("/old/libcuda.so.1")).text() == kPretty);
  CHECK(document(kCompact).replace("/n", Json(true)).text() == with(kCompact, "1e3", "true"));
}

TEST_CASE("of duplicate members the last is edited, and escaped pointers are followed") {
  CHECK(document(kPretty).replace("/a~1b/~0", Json(3)).text() == with(kPretty, "{\"~\": 2}", "{\"~\": 3}"));
}

TEST_CASE("a new value is laid out like its surroundings") {
  const Json value = Json::parse(R"({"k":[1,{}]})");
  CHECK(document(kPretty).replace("/ociVersion", value).text() ==
        with(kPretty, "\"1.2.1\"", "{\n    \"k\": [\n      1,\n      {}\n    ]\n  }"));
  CHECK(document(kCompact).replace("/n", value).text() == with(kCompact, "1e3", R"({"k":[1,{}]})"));
  CHECK(document("{\n\t\"a\": 1\n}").replace("/a", value).text() ==
        "{\n\t\"a\": {\n\t\t\"k\": [\n\t\t\t1,\n\t\t\t{}\n\t\t]\n\t}\n}");
  CHECK(document("{\r\n    \"a\": 1\r\n}").replace("/a", Json::parse("[1]")).text() ==
        "{\r\n    \"a\": [\r\n        1\r\n    ]\r\n}");
  CHECK(document("\n{\"a\":1}\n").replace("/a", value).text() == "\n{\"a\":{\"k\":[1,{}]}}\n");
  CHECK(document(" [1] ").replace("", value).text() == " {\"k\":[1,{}]} ");
}

TEST_CASE("an appended item is laid out like its siblings, and its removal restores the text") {
  const Json mount = Json::parse(R"({"destination":"/c","options":["ro"]})");
  const JsonText pretty = document(kPretty).append("/mounts", mount);
  CHECK(pretty.text() ==
        with(kPretty, "      ]\n    }\n  ],",
             "      ]\n    },\n    {\n      \"destination\": \"/c\",\n      \"options\": [\n        \"ro\"\n"
             "      ]\n    }\n  ],"));
  CHECK(pretty.remove("/mounts/2").text() == kPretty);
  const JsonText compact = document(kCompact).append("/mounts", mount);
  CHECK(compact.text() == with(kCompact, "\"/b\"}]", R"("/b"},{"destination":"/c","options":["ro"]}])"));
  CHECK(compact.remove("/mounts/2").text() == kCompact);
  CHECK(document(kPretty).append("/x", Json("y")).text() == with(kPretty, "\\ude00\"]", "\\ude00\", \"y\"]"));
}

TEST_CASE("siblings of one line each get one more line") {
  const std::string text = "{\n  \"a\": [\n    {\"x\": 1},\n    {\"x\": 2}\n  ]\n}";
  CHECK(document(text).append("/a", Json::parse(R"({"x":3})")).text() == with(text, "2}", "2},\n    {\"x\":3}"));
}

TEST_CASE("an empty array opens and closes") {
  const JsonText pretty = document(kPretty).append("/empty", Json::parse("{\"k\":1}"));
  CHECK(pretty.text() == with(kPretty, "\"empty\": []", "\"empty\": [\n    {\n      \"k\": 1\n    }\n  ]"));
  CHECK(pretty.remove("/empty/0").text() == kPretty);
  const JsonText compact = document(kCompact).append("/e", Json(1));
  CHECK(compact.text() == with(kCompact, "\"e\":[]", "\"e\":[1]"));
  CHECK(compact.remove("/e/0").text() == kCompact);
  CHECK(document("{\n  \"a\": [ \n ]\n}").append("/a", Json(1)).text() == "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST_CASE("a removed item takes its comma along") {
  const std::string text = "{\n  \"a\": 1,\n  \"b\": [1, 2,3],\n  \"c\": {\"only\": 1}\n}";
  CHECK(document(text).remove("/a").text() == with(text, "\"a\": 1,\n  ", ""));
  CHECK(document(text).remove("/b/0").text() == with(text, "1, 2,3", "2,3"));
  CHECK(document(text).remove("/b/1").text() == with(text, "1, 2,3", "1, 3"));
  CHECK(document(text).remove("/b/2").text() == with(text, "1, 2,3", "1, 2"));
  CHECK(document(text).remove("/c").text() == with(text, ",\n  \"c\": {\"only\": 1}", ""));
  CHECK(document(text).remove("/c/only").text() == with(text, "{\"only\": 1}", "{}"));
  CHECK(document("{\n  \"a\": [\n    1\n  ]\n}").remove("/a/0").text() == "{\n  \"a\": []\n}");
}

TEST_CASE("strings with brackets, quotes and commas do not mislead") {
  const std::string text = R"({"a,}]\\":"[{\"\\","b":[ "]" , "\\\"," ,{"x":"}"} ]})";
  CHECK(document(text).remove("/b/0").text() == with(text, "\"]\" , ", ""));
  CHECK(document(text).replace("/b/2/x", Json(1)).text() == with(text, "\"}\"", "1"));
  CHECK(document(text).replace("/a,}]\\", Json(1)).text() == with(text, R"("[{\"\\")", "1"));
  CHECK(document(text).append("/b", Json(1)).text() == with(text, "\"}\"} ]", "\"}\"},1 ]"));
}

TEST_CASE("a place that is not there is a conflict that names it") {
  const JsonText json = document(kCompact);
  check_conflict([&] { json.replace("/mounts/2", Json()); }, "there is nothing at /mounts/2");
  check_conflict([&] { json.replace("mounts", Json()); }, "there is nothing at mounts");
  check_conflict([&] { json.append("/n", Json()); }, "there is no array at /n");
  check_conflict([&] { json.append("/nope", Json()); }, "there is no array at /nope");
  check_conflict([&] { json.append("", Json()); }, "there is no array at the top");
  check_conflict([&] { json.remove("/o/other"); }, "there is nothing to remove at /o/other");
  check_conflict([&] { json.remove(""); }, "there is nothing to remove at the top");
}

TEST_CASE("bytes that are not UTF-8 are not written as something else") {
  const JsonText json = document(kCompact);
  const auto check = [](const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(error.detail().find("not UTF-8") != std::string::npos);
  };
  check(testing::failure_of([&] { json.replace("/n", Json("/a\xff")); }));
  check(testing::failure_of([&] { json.append("/e", Json::array().push("\xc3")); }));
  check(testing::failure_of([&] { json.append("/e", Json::object().set("\xed\xa0\x80", 1)); }));
  CHECK(json.replace("/n", Json("/\xc3\xa9")).value()["n"] == Json("/\xc3\xa9"));
}

TEST_CASE("what the engines refuse is refused") {
  const auto refuse = [](const std::string& text, const std::string& reason) {
    const Error error = testing::failure_of([&] { document(text); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK_MESSAGE(error.detail().find(reason) != std::string::npos, error.detail());
  };
  refuse("\xef\xbb\xbf{}", "byte order mark");
  refuse("{} {}", "expected end of input");
  refuse(std::string("{}\0{}", 5), "text behind its end");
  Limits limits;
  limits.max_nesting = 2;
  const JsonText json = JsonText::parse("[[]]", {}, {}, limits);
  const Error error = testing::failure_of([&] { json.append("/0", Json::parse("[1]")); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_nesting") != std::string::npos);
}
