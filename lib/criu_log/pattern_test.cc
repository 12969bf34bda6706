// SPDX-License-Identifier: Apache-2.0
#include "criu_log/pattern.h"

#include <doctest/doctest.h>

#include "criu_log/line.h"
#include "testing/failure.h"

using namespace ckpt::criu_log;
using ckpt::testing::failure_of;

TEST_CASE("a pattern catches ids, numbers, paths and texts") {
  const auto caught = Pattern("No mapping for %m:%p mountpoint").match("mnt: No mapping for 125:(null) mountpoint");
  REQUIRE(caught);
  CHECK(caught->mnt_id == "125");
  CHECK(caught->path == "(null)");
  const auto size = Pattern("File %p has bad size %n (expect %s)").match("File a b has bad size 23 (expect 19)");
  REQUIRE(size);
  CHECK(size->path == "a b");
  CHECK(size->number == "23");
  CHECK(size->text == "19");
  const auto last = Pattern("exit status %n").match("exit status 12: more");
  REQUIRE(last);
  CHECK(last->number == "12");
  const auto host = Pattern("from %h to %p: no").match("from `/a` to /b: no");
  REQUIRE(host);
  CHECK(host->source == "/a");
  CHECK(host->path == "/b");
}

TEST_CASE("a pattern refuses what only looks alike") {
  const Pattern pattern("No mapping for %m:%s mountpoint");
  CHECK_FALSE(pattern.match("No mapping for 12x:(null) mountpoint"));
  CHECK_FALSE(pattern.match("No mapping for :(null) mountpoint"));
  CHECK_FALSE(pattern.match("No mapping for 125:(null)"));
  CHECK_FALSE(pattern.match("No mapping"));
  CHECK_FALSE(Pattern("at %p end").match("at   end"));
  CHECK_FALSE(Pattern("status=%n").match("status=x"));
}

TEST_CASE("what is no pattern is refused") {
  CHECK(failure_of([] { Pattern("%m first"); }).detail() == "no pattern: %m first");
  CHECK(failure_of([] { Pattern("a %x"); }).detail() == "no pattern: a %x");
  CHECK(failure_of([] { Pattern("a %m%n"); }).detail() == "no pattern: a %m%n");
  CHECK(failure_of([] { Pattern("ends %"); }).detail() == "no pattern: ends %");
  CHECK(failure_of([] { Pattern(""); }).detail() == "an empty pattern");
}

TEST_CASE("the finder finds overlapping and nested words") {
  const WordFinder finder({"he", "she", "his", "hers", "he"});
  CHECK(finder.find("ushers") == std::vector<std::size_t>{0, 1, 3, 4});
  CHECK(finder.find("his") == std::vector<std::size_t>{2});
  CHECK(finder.find("hhh").empty());
  CHECK(finder.find("").empty());
  CHECK(WordFinder({"\xff\x80"}).find("a\xff\x80").size() == 1);
}

TEST_CASE("the level of a line is told by its tag") {
  CHECK(level_of("(00.044386)      1: Error (criu/files-reg.c:2175): File") == Level::error);
  CHECK(level_of("Error (cuda_plugin.c:33): cuda_plugin: x") == Level::error);
  CHECK(level_of("pie: 1: Error (criu/pie/restorer.c:1): x") == Level::error);
  CHECK(level_of("Dec 01 node criu[7]: Error (criu/mount.c:3141): mnt: x") == Level::error);
  CHECK(level_of("(00.1) Error (not a place): Error (criu/a.c:1): y") == Level::error);
  CHECK(level_of("Warn  (criu/kerndat.c:1): x") == Level::warning);
  CHECK(level_of("(00.000027) Version: 4.2.1 (gitid 0)") == Level::quiet);
  CHECK(level_of("(123.45678) text") == Level::quiet);
  CHECK(level_of("pie: 1: text") == Level::quiet);
  CHECK(level_of("Error: OCI runtime error: runc: criu failed") == Level::foreign);
  CHECK(level_of("Error (criu/mount.c): x") == Level::foreign);
  CHECK(level_of("Error (criu/mount.c:12) x") == Level::foreign);
  CHECK(level_of("Error (") == Level::foreign);
  CHECK(level_of("(00.00.027) x") == Level::foreign);
  CHECK(level_of("") == Level::foreign);
}
