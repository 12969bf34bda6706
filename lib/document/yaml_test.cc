// SPDX-License-Identifier: Apache-2.0
#include "document/yaml.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "document/yaml_scalar.h"
#include "testing/failure.h"

using namespace ckpt;

namespace {

Json value_of(const std::string& scalar) { return parse_yaml("a: " + scalar + "\n", "file")["a"]; }

std::string as_json(const std::string& text) { return parse_yaml(text, "file").dump(-1); }

Error refusal(const std::string& text, const Limits& limits = {}) {
  CAPTURE(text);
  const Error error = testing::failure_of([&] { parse_yaml(text, "file", limits); });
  CHECK(error.where().file == "file");
  return error;
}

void check_refused(const std::string& text, std::uint64_t offset, const std::string& reason) {
  const Error error = refusal(text);
  CAPTURE(text);
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.where().offset == offset);
  CHECK_MESSAGE(error.detail().find(reason) != std::string::npos, error.detail());
}

}  // namespace

TEST_CASE("plain scalars mean what they mean to the engines' reader") {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) CHECK(value_of(text).is_null());
  for (const char* text : {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"})
    CHECK(value_of(text) == Json(true));
  for (const char* text : {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"})
    CHECK(value_of(text) == Json(false));
  for (const char* text : {"yEs", "oN",   "nULL", "tRUE",  "1:0", "1:30", "2001-01-01", "2001-01-01T00:00:00Z",
                           "0x",  "0xg",  "0o8",  "1e",    "--5", "+",    "-x",         "1,000",
                           "._5", ".5_0", ".e1",  "1e400", "Inf", "nan",  "-.nan",      "0.5.0",
                           "a"})
    CHECK_MESSAGE(value_of(text) == Json(text), text);
}

TEST_CASE("plain numbers") {
  const auto integer = [](const char* text, std::int64_t value) { CHECK_MESSAGE(value_of(text) == Json(value), text); };
  integer("0755", 493);
  integer("0o666", 438);
  integer("007", 7);
  integer("0x10", 16);
  integer("-0x10", -16);
  integer("0b11", 3);
  integer("1_000", 1000);
  integer("+5", 5);
  integer("-0", 0);
  integer("-9223372036854775808", std::numeric_limits<std::int64_t>::min());
  CHECK(value_of("18446744073709551615") == Json(std::numeric_limits<std::uint64_t>::max()));
  const auto real = [](const char* text, double value) { CHECK_MESSAGE(value_of(text) == Json(value), text); };
  real("1e3", 1000);
  real("1.50", 1.5);
  real(".5", 0.5);
  real("1.", 1);
  real("08", 8);
  real("1_0.5_0", 10.5);
  real("18446744073709551616", 18446744073709551616.0);
  real("+9223372036854775808", 9223372036854775808.0);
  real("-9223372036854775809", -9223372036854775808.0);
  real("1e-400", 0);
  real(".inf", std::numeric_limits<double>::infinity());
  real("+.Inf", std::numeric_limits<double>::infinity());
  real("-.INF", -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(value_of(".NaN").as_double()));
}

TEST_CASE("quoted scalars and blocks are text") {
  for (const char* text : {"\"0755\"", "'0755'", "|-\n  0755", ">-\n  0755", "!!str 0755", "! 0755", "!local 0755"})
    CHECK_MESSAGE(value_of(text) == Json("0755"), text);
  CHECK(value_of("\"\"") == Json(""));
  CHECK(value_of("'it''s'") == Json("it's"));
  CHECK(value_of("\"\\u003c\\n\\x41\\U0001F600\"") == Json("<\nA\xf0\x9f\x98\x80"));
}

TEST_CASE("explicit tags say what the text is to be") {
  CHECK(value_of("!!int \"5\"") == Json(5));
  CHECK(value_of("!!int 0755") == Json(493));
  CHECK(value_of("!!float 5") == Json(5.0));
  CHECK(value_of("!!bool yes") == Json(true));
  CHECK(value_of("!!null ''").is_null());
  CHECK(value_of("!<tag:yaml.org,2002:int> 5") == Json(5));
  check_refused("a: !!int x", 3, "\"x\" is no !!int");
  check_refused("a: !!int 1.5", 3, "is no !!int");
  check_refused("a: !!bool 5", 3, "is no !!bool");
  CHECK(refusal("a: !!binary aGk=").code() == ErrorCode::unsupported);
}

TEST_CASE("floats become text as the engines' reader writes them") {
  CHECK(float_text(1.5) == "1.5");
  CHECK(float_text(1000) == "1000");
  CHECK(float_text(123456) == "123456");
  CHECK(float_text(1e6) == "1e+06");
  CHECK(float_text(16777217) == "1.6777216e+07");
  CHECK(float_text(0.0001) == "0.0001");
  CHECK(float_text(0.00001) == "1e-05");
  CHECK(float_text(12345678901234567000000.0) == "1.2345679e+22");
  CHECK(float_text(-0.0) == "-0");
  CHECK(float_text(1e39) == "+Inf");
  CHECK(float_text(-1e39) == "-Inf");
  CHECK(float_text(std::nan("")) == "NaN");
}

TEST_CASE("keys of other kinds become text") {
  CHECK(as_json("true: 1\n1: 2\n1.50: 3\n-1: 4\n0x10: 5\n16777217.0: 6\n.inf: 7\n") ==
        R"({"true":1,"1":2,"1.5":3,"-1":4,"16":5,"1.6777216e+07":6,".inf":7})");
  check_refused("~: 1\n", 0, "cannot be a mapping's key");
  check_refused(": 1\n", 0, "cannot be a mapping's key");
  check_refused("18446744073709551615: 1\n", 0, "cannot be a mapping's key");
  check_refused("? [a]\n: 1\n", 2, "a mapping's key is no scalar");
  check_refused("a: &x {}\n*x : 1\n", 9, "cannot be a mapping's key");
}

TEST_CASE("JSON is read as YAML: tabs, a trailing comma, a byte order mark, CRLF") {
  CHECK(as_json("{\n\t\"a\": [\n\t\t1,\n\t\t2,\n\t],\n\t\"b\":null,\n}\n") == R"({"a":[1,2],"b":null})");
  CHECK(as_json("\xef\xbb\xbf{\"a\":\"b\"}") == R"({"a":"b"})");
  CHECK(as_json("\xef\xbb\xbf"
                "a: b\n") == R"({"a":"b"})");
  CHECK(as_json("{\r\n\"a\":1\r\n}\r\n") == R"({"a":1})");
  CHECK(as_json("a:\r\n  - x\r\n  - 'y'\r\n") == R"({"a":["x","y"]})");
  CHECK(as_json("{\"a\":0,\"b\":\"c:d\",\"e\":[0:0,--mode]}") == R"({"a":0,"b":"c:d","e":["0:0","--mode"]})");
  check_refused("{\n\"a\":1,\n// c\n\"b\":2\n}", 9, "cannot be a mapping's key");
  check_refused("[1,,2]", 3, "an empty item");
  check_refused("[,]", 1, "an empty item");
  check_refused("a: \"x\\/y\"", 3, "\\/");
}

TEST_CASE("only the first document counts") {
  CHECK(as_json("---\na: 1\n---\nb: 2\n") == R"({"a":1})");
  CHECK(as_json("a: 1\n---\nb: [\n") == R"({"a":1})");
  CHECK(as_json("---\na: 1\n...\ngarbage: [\n") == R"({"a":1})");
  CHECK(as_json("{\"a\":1} rest") == R"({"a":1})");
  CHECK(as_json("---\n---\na: 1\n") == "null");
  for (const char* empty : {"", "\n\n", "# comment\n", "---\n", "null\n"}) CHECK(as_json(empty) == "null");
}

TEST_CASE("a block cut off within a key is not taken for a shorter document") {
  check_refused("a: 1\nb:\n  - c: 2\n    majo", 21, "a key without a colon");
  check_refused("a: 1\nmajo\n", 5, "a key without a colon");
  check_refused("- a\nb: 1\n", 4, "text behind the end");
  CHECK(as_json("- a\n--- b") == R"(["a"])");
}

TEST_CASE("directives") {
  CHECK(as_json("%YAML 1.1\n---\na: 1\n") == R"({"a":1})");
  CHECK(as_json("# c\n%TAG !e! tag:e,2000:\n---\na: !e!x 1\n") == R"({"a":"1"})");
  check_refused("%YAML 1.2\n---\na: 1\n", 0, "directive");
  check_refused("\n%FOO\n---\na: 1\n", 1, "directive");
  check_refused("%: x", 0, "directive");
}

TEST_CASE("duplicate keys are an error, keys that differ in case are not") {
  check_refused("a: 1\na: 2\n", 8, "\"a\" occurs twice");
  check_refused("{\"a\":1,\"a\":2}", 11, "occurs twice");
  check_refused("a: 1\n\"a\": 2\n", 10, "occurs twice");
  check_refused("1: a\n01: b\n", 9, "\"1\" occurs twice");
  CHECK(as_json("a: 1\nA: 2\n") == R"({"a":1,"A":2})");
}

TEST_CASE("anchors, aliases and merge keys") {
  CHECK(as_json("a: &x {p: 1}\nb: *x\n") == R"({"a":{"p":1},"b":{"p":1}})");
  CHECK(as_json("a: &x {p: 1}\nc: &y {q: 2}\nb: {<<: [*x, *y], r: 3}\n") ==
        R"({"a":{"p":1},"c":{"q":2},"b":{"p":1,"q":2,"r":3}})");
  CHECK(as_json("b: {'<<': {p: 1}}\n") == R"({"b":{"<<":{"p":1}}})");
  check_refused("a: &x {p: 1}\nb: {<<: *x, p: 2}\n", 28, "\"p\" occurs twice");
  check_refused("a: &x {p: 1}\nb: {p: 2, <<: *x}\n", 27, "\"p\" occurs twice");
  check_refused("b: {<<: 1}\n", 8, "no mapping");
  check_refused("b: {<<: [[{p: 1}]]}\n", 8, "no mapping");
  check_refused("a: &x [*x]\n", 7, "refers to what contains it");
  check_refused("a: *nope\n", 3, "anchor is not defined");
}

TEST_CASE("bytes that no YAML holds are refused where they stand") {
  check_refused("a: \xff\n", 3, "not UTF-8");
  check_refused("a: \xc0\x80\n", 3, "not UTF-8");
  check_refused("a: \xed\xa0\x80\n", 3, "not UTF-8");
  check_refused("a: \xf4\x90\x80\x80\n", 3, "not UTF-8");
  check_refused("a: \xe2\x82", 3, "not UTF-8");
  check_refused(
      "a: 1\x04"
      "b: [\n",
      4, "control character");
  check_refused(std::string("a: 1\0b", 6), 4, "control character");
  check_refused(
      "\xef\xbb\xbf"
      "a: \x7f",
      6, "control character");
  check_refused("a: \"\\U1F600\"", 12, "not valid YAML");  // yaml-cpp reads past the end and says so
  check_refused("a: \"5", 5, "not valid YAML");
  check_refused("a: b: c\n", 4, "line 1: not valid YAML");
}

TEST_CASE("every truncation is refused or read, and nothing else happens") {
  const std::string text = "---\na: &x {p: [1, \"two\"]}\nb:\n  - <<: *x\n    c: |\n      d\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const Error error = testing::failure_of([&] { parse_yaml(text.substr(0, size), "file"); });
    CHECK((error.code() == ErrorCode::corrupt || error.detail() == "nothing was thrown"));
  }
}

TEST_CASE("aliases that multiply, deep nesting and many keys stay within limits") {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int k = 0; k < 7; ++k) laughs += ", " + alias;
    laughs += "]\n";
  }
  Limits limits;
  limits.max_document_nodes = 10000;
  Error error = refusal(laughs, limits);
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_document_nodes, 10000") != std::string::npos);

  std::string nested;
  for (int i = 0; i < 100; ++i) nested += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 1000; ++i) nested += "1,";
  error = refusal(nested + std::string(100, ']'), limits);  // each anchor would hold the thousand
  CHECK(error.code() == ErrorCode::limit_exceeded);

  std::string deep;
  for (int i = 0; i < 200; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  error = refusal(deep);
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_nesting, 128") != std::string::npos);

  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  CHECK(parse_yaml(keys, "file").size() == 20000);
}
