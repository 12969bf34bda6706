// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ckpt/cdi.h"
#include "ckpt/error.h"
#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;

namespace {

using Names = std::vector<std::string>;

// Devices of kind v/c whose edits are one variable each, `NAME=mark`; the file's own are FILE=mark.
std::string file_of(const Names& devices, const std::string& mark) {
  std::string text = "cdiVersion: 0.5.0\nkind: v/c\ncontainerEdits: {env: [FILE=" + mark + "]}\ndevices:\n";
  for (const std::string& name : devices)
    text += "- {name: " + name + ", containerEdits: {env: [" + name + "=" + mark + "]}}\n";
  return text;
}

Names env_of(const CdiRegistry& registry, const Names& names) { return registry.resolve(names).env; }

bool has_problem(const CdiRegistry& registry, const std::string& file, const std::string& message) {
  for (const CdiProblem& problem : registry.problems())
    if (problem.file == file && problem.message.find(message) != std::string::npos && problem.fatal) return true;
  return false;
}

}  // namespace

TEST_CASE("the standard directories, the later one stronger, may be missing") {
  CHECK(CdiRegistry::default_directories() == Names{"/etc/cdi", "/var/run/cdi"});
  CHECK_NOTHROW(CdiRegistry::load(CdiRegistry::default_directories()));
}

TEST_CASE("a later directory wins, whatever the names of the files") {
  const testing::TempDir dir;
  dir.write("low/z.yaml", file_of({"a", "b"}, "low"));
  dir.write("high/a.json", file_of({"b", "c"}, "high"));
  const CdiRegistry registry = CdiRegistry::load({dir.file("low"), dir.file("high")});
  CHECK(registry.problems().empty());
  CHECK(registry.device_names() == Names{"v/c=a", "v/c=b", "v/c=c"});
  CHECK(env_of(registry, {"v/c=b"}) == Names{"FILE=high", "b=high"});
  const CdiRegistry other = CdiRegistry::load({dir.file("high"), dir.file("low")});
  CHECK(env_of(other, {"v/c=b"}) == Names{"FILE=low", "b=low"});
  CHECK(other.specs()[0].priority < other.specs()[1].priority);
}

TEST_CASE("two files of one directory take a device from each other") {
  const testing::TempDir dir;
  dir.write("low/x.yaml", file_of({"b"}, "low"));
  const std::string first = dir.write("high/1.yaml", file_of({"a", "b"}, "first"));
  const std::string second = dir.write("high/2.yaml", file_of({"b", "c"}, "second"));
  const CdiRegistry registry = CdiRegistry::load({dir.file("low"), dir.file("high")});
  CHECK(registry.device_names() == Names{"v/c=a", "v/c=c"});  // the weaker definition of b does not come back
  CHECK_FALSE(registry.has("v/c=b"));
  CHECK(registry.problems().size() == 2);
  CHECK(has_problem(registry, first, "v/c=b is also defined in " + second));
  CHECK(has_problem(registry, second, "v/c=b is also defined in " + first));
}

TEST_CASE("a conflict of a weaker directory removes the stronger definition as well") {
  const testing::TempDir dir;
  dir.write("low/1.yaml", file_of({"a"}, "1"));
  dir.write("low/2.yaml", file_of({"a"}, "2"));
  dir.write("high/3.yaml", file_of({"a", "b"}, "3"));
  CHECK(CdiRegistry::load({dir.file("low"), dir.file("high")}).device_names() == Names{"v/c=b"});
}

TEST_CASE("only files directly in the directory, by the names that engines look for") {
  const testing::TempDir dir;
  dir.write("d/a.yaml", file_of({"a"}, "x"));
  dir.write("d/b.yml", file_of({"b"}, "x"));
  dir.write("d/c.json.tmp", "{");
  dir.write("d/D.YAML", file_of({"d"}, "x"));
  dir.write("d/sub.yaml/e.yaml", file_of({"e"}, "x"));
  const CdiRegistry registry = CdiRegistry::load({dir.file("d")});
  CHECK(registry.device_names() == Names{"v/c=a"});
  CHECK(registry.problems().empty());
}

TEST_CASE("a broken file in a directory loses only itself") {
  const testing::TempDir dir;
  dir.write("d/good.yaml", file_of({"a"}, "x"));
  const std::string bad = dir.write("d/bad.yaml", "cdiVersion: 0.5.0\nkind: v/c\nx: 1\n");
  const std::string worse = dir.write("d/worse.json", "{\"a\": [}");
  const std::string empty = dir.write("d/empty.yaml", "");
  const CdiRegistry registry = CdiRegistry::load({dir.file("d")});
  CHECK(registry.device_names() == Names{"v/c=a"});
  CHECK(registry.problems().size() == 3);
  CHECK(has_problem(registry, bad, "x is not a field"));
  CHECK(has_problem(registry, worse, "line 1: not valid YAML"));
  CHECK(has_problem(registry, empty, "no CDI data"));
}

TEST_CASE("a file that was named must be there and be whole") {
  const testing::TempDir dir;
  const std::string good = dir.write("good.yml", file_of({"a"}, "x"));
  CHECK(CdiRegistry::load({good}).device_names() == Names{"v/c=a"});  // a name given is taken, whatever its ending
  const std::string bad = dir.write("bad.yaml", "kind: v/c\n");
  Error error = testing::failure_of([&] { CdiRegistry::load({good, bad}); });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(error.where().file == bad);
  CHECK(error.detail() == "cdiVersion \"\" is unknown");
  error = testing::failure_of([&] { CdiRegistry::load({dir.file("absent.yaml")}); });
  CHECK(error.code() == ErrorCode::io);
  CHECK(error.where().file == dir.file("absent.yaml"));
}

TEST_CASE("files are counted") {
  const testing::TempDir dir;
  for (const char* name : {"a", "b", "c"}) dir.write(std::string("d/") + name + ".yaml", file_of({name}, "x"));
  Limits limits;
  limits.max_cdi_files = 3;
  CHECK(CdiRegistry::load({dir.file("d")}, limits).specs().size() == 3);
  limits.max_cdi_files = 2;
  const Error error = testing::failure_of([&] { CdiRegistry::load({dir.file("d")}, limits); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_cdi_files, 2") != std::string::npos);
}

TEST_CASE("devices are resolved in the order asked for, a file's own edits once and first") {
  const testing::TempDir dir;
  dir.write("d/1.yaml", file_of({"a", "b"}, "1"));
  dir.write("d/2.yaml", file_of({"c", "d"}, "2"));
  const CdiRegistry registry = CdiRegistry::load({dir.file("d")});
  CHECK(env_of(registry, {"v/c=d", "v/c=b", "v/c=c", "v/c=a"}) ==
        Names{"FILE=2", "d=2", "FILE=1", "b=1", "c=2", "a=1"});
  CHECK(env_of(registry, {"v/c=a"}) == Names{"FILE=1", "a=1"});
  CHECK(env_of(registry, {}).empty());
}

TEST_CASE("unresolved names are listed beside those that there are") {
  const testing::TempDir dir;
  dir.write("d/1.yaml", file_of({"a", "b"}, "1"));
  const CdiRegistry registry = CdiRegistry::load({dir.file("d")});
  Error error = testing::failure_of([&] { registry.resolve({"v/c=x", "v/c=a", "v/c=y"}); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(error.detail() == "unresolved CDI devices: v/c=x, v/c=y");
  CHECK(error.hint() == "there are: v/c=a, v/c=b");
  error = testing::failure_of([&] { CdiRegistry().resolve({"v/c=x"}); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(error.hint() == "no CDI device is defined");
}
