// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>

#include "ckpt/cdi.h"
#include "ckpt/error.h"
#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;

namespace {

using Names = std::vector<std::string>;

// Devices "name" whose edit says `mark`, and the file's own edit.
std::string spec(const Names& names, const std::string& mark, const std::string& kind = "v/c") {
  std::string text = "cdiVersion: 0.7.0\nkind: " + kind + "\ncontainerEdits: {env: [FILE=" + mark + "]}\ndevices:\n";
  for (const std::string& name : names)
    text += "- {name: " + name + ", containerEdits: {env: [" + name + "=" + mark + "]}}\n";
  return text;
}

Names env_of(const CdiRegistry& registry, const Names& names) { return registry.resolve(names).env; }

}  // namespace

TEST_CASE("a later path has the higher priority, per device") {
  const testing::TempDir directory;
  directory.write("etc/a.yaml", spec({"one", "two"}, "etc"));
  directory.write("run/b.json", spec({"one", "three"}, "run"));
  const auto registry = CdiRegistry::load({directory.file("etc"), directory.file("run")});
  CHECK(registry.problems().empty());
  CHECK(registry.device_names() == Names{"v/c=one", "v/c=three", "v/c=two"});
  CHECK(env_of(registry, {"v/c=one"}) == Names{"FILE=run", "one=run"});
  CHECK(env_of(registry, {"v/c=two"}) == Names{"FILE=etc", "two=etc"});  // stays, with its own file's edits
  const auto reversed = CdiRegistry::load({directory.file("run"), directory.file("etc")});
  CHECK(env_of(reversed, {"v/c=one"}) == Names{"FILE=etc", "one=etc"});
}

TEST_CASE("a file's own edits come once, before its first device") {
  const testing::TempDir directory;
  directory.write("a.yaml", spec({"one", "two"}, "a"));
  directory.write("b.yaml", spec({"three"}, "b"));
  const auto registry = CdiRegistry::load({directory.path()});
  CHECK(env_of(registry, {"v/c=two", "v/c=three", "v/c=one"}) ==
        Names{"FILE=a", "two=a", "FILE=b", "three=b", "one=a"});
  CHECK(env_of(registry, {"v/c=one", "v/c=one"}) == Names{"FILE=a", "one=a", "one=a"});
  CHECK(env_of(registry, {}).empty());
}

TEST_CASE("a conflict at one priority takes the device from both files, and from other priorities") {
  const testing::TempDir directory;
  directory.write("low/a.yaml", spec({"one"}, "low"));
  directory.write("mid/a.yaml", spec({"one", "two"}, "a"));
  directory.write("mid/b.yaml", spec({"one", "three"}, "b"));
  directory.write("high/a.yaml", spec({"one"}, "high"));
  const auto two = CdiRegistry::load({directory.file("low"), directory.file("mid")});
  CHECK(two.device_names() == Names{"v/c=three", "v/c=two"});
  REQUIRE(two.problems().size() == 2);
  CHECK(two.problems()[0].file == directory.file("mid/b.yaml"));
  CHECK(two.problems()[0].message == "v/c=one is also defined in " + directory.file("mid/a.yaml") + "; neither counts");
  CHECK(two.problems()[1].file == directory.file("mid/a.yaml"));
  CHECK_FALSE(CdiRegistry::load({directory.file("mid"), directory.file("high")}).has("v/c=one"));
  // What is no conflict in the end: the higher priority is met first.
  CHECK(env_of(CdiRegistry::load({directory.file("high"), directory.file("low")}), {"v/c=one"}) ==
        Names{"FILE=low", "one=low"});
}

TEST_CASE("only .json and .yaml directly in a directory are read") {
  const testing::TempDir directory;
  directory.write("a.yaml", spec({"one"}, "a"));
  directory.write("b.yml", "broken: [");
  directory.write("c.yaml.bak", "broken: [");
  directory.write("sub/d.yaml", spec({"deep"}, "d"));
  directory.write("e.json/x.json", spec({"deeper"}, "e"));
  directory.write("f.JSON", "broken: [");
  const auto registry = CdiRegistry::load({directory.path()});
  CHECK(registry.problems().empty());
  CHECK(registry.device_names() == Names{"v/c=one"});
  CHECK(registry.specs().size() == 1);
  directory.write("b.yml", spec({"two"}, "b"));
  CHECK(CdiRegistry::load({directory.file("b.yml")}).has("v/c=two"));  // named itself, any name will do
}

TEST_CASE("a broken file in a directory loses only itself, a named one throws") {
  const testing::TempDir directory;
  directory.write("a.yaml", spec({"one"}, "a"));
  directory.write("b.yaml", "cdiVersion: 9.9.9\nkind: v/c\ndevices: []\n");
  const auto registry = CdiRegistry::load({directory.path()});
  CHECK(registry.device_names() == Names{"v/c=one"});
  REQUIRE(registry.problems().size() == 1);
  CHECK(registry.problems()[0].file == directory.file("b.yaml"));
  CHECK(registry.problems()[0].message == "cdiVersion \"9.9.9\" is unknown");
  CHECK(registry.problems()[0].fatal);
  const Error error = testing::failure_of([&] { CdiRegistry::load({directory.file("b.yaml")}); });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(error.where().file == directory.file("b.yaml"));
}

TEST_CASE("a named path must exist") {
  const testing::TempDir directory;
  const Error error = testing::failure_of([&] { CdiRegistry::load({directory.file("nope.yaml")}); });
  CHECK(error.code() == ErrorCode::io);
  CHECK(error.where().file == directory.file("nope.yaml"));
  CHECK(error.detail().find("cannot open") == 0);
  CHECK(CdiRegistry::default_directories() == Names{"/etc/cdi", "/var/run/cdi"});
  CHECK_NOTHROW(CdiRegistry::load(CdiRegistry::default_directories()));
}

TEST_CASE("unresolved names are listed, with what there is and what is broken") {
  const testing::TempDir directory;
  directory.write("a.yaml", spec({"one", "two"}, "a"));
  directory.write("b.yaml", "{}");
  const auto registry = CdiRegistry::load({directory.path()});
  const Error error = testing::failure_of([&] { registry.resolve({"v/c=one", "v/c=nope", "/dev/x"}); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(error.detail() == "unresolved CDI devices: v/c=nope, /dev/x");
  CHECK(error.hint() == "there are: v/c=one, v/c=two; " + directory.file("b.yaml") + ": cdiVersion \"\" is unknown");
  directory.write("empty/x.txt", "");
  const Error none = testing::failure_of([&] { CdiRegistry::load({directory.file("empty")}).resolve({"v/c=one"}); });
  CHECK(none.hint() == "no CDI device is defined");
}

TEST_CASE("fields that newer readers refuse are a warning") {
  const testing::TempDir directory;
  const std::string path = directory.write(
      "a.yaml", "cdiVersion: 0.7.0\nkind: v/c\ndevices: [{name: d, containerEdits: {intelRdt: {enableCMT: true}}}]\n");
  const auto registry = CdiRegistry::load({path});
  CHECK(registry.has("v/c=d"));
  REQUIRE(registry.problems().size() == 1);
  CHECK_FALSE(registry.problems()[0].fatal);
  CHECK(registry.problems()[0].message.find("enableCMT") == 0);
}

TEST_CASE("edits of several kinds are concatenated, the last intelRdt stays") {
  const testing::TempDir directory;
  const std::string path = directory.write("a.yaml", R"(cdiVersion: 1.1.0
kind: v/c
containerEdits: {mounts: [{hostPath: /a, containerPath: /a}], intelRdt: {closID: file}, additionalGids: [1]}
devices:
- {name: d, containerEdits: {mounts: [{hostPath: /b, containerPath: /b}], intelRdt: {closID: device}, additionalGids: [2],
   deviceNodes: [{path: /dev/d}], netDevices: [{hostInterfaceName: h, name: n}], hooks: [{hookName: prestart, path: /h}]}}
)");
  const CdiEdits edits = CdiRegistry::load({path}).resolve({"v/c=d"});
  REQUIRE(edits.mounts.size() == 2);
  CHECK(edits.mounts[0].host_path == "/a");
  CHECK(edits.intel_rdt->clos_id == "device");
  CHECK(edits.additional_gids == std::vector<std::uint32_t>{1, 2});
  CHECK((edits.device_nodes.size() == 1 && edits.net_devices.size() == 1 && edits.hooks.size() == 1));
}

TEST_CASE("the number of files is limited") {
  const testing::TempDir directory;
  for (const char* name : {"a", "b", "c"}) directory.write(std::string(name) + ".yaml", spec({name}, name));
  Limits limits;
  limits.max_cdi_files = 2;
  const Error error = testing::failure_of([&] { CdiRegistry::load({directory.path()}, limits); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail() == "more than max_cdi_files, 2");
}

TEST_CASE("unknown fields: a warning, or the end of the file when asked for") {
  const std::string text =
      R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"d","containerEdits":{"env":["A=b"]}}],"x":1,"y":2})";
  const CdiRegistry lenient = CdiRegistry::parse({{"f.json", text, 1}});
  REQUIRE(lenient.problems().size() == 1);
  CHECK_FALSE(lenient.problems()[0].fatal);
  CHECK(lenient.problems()[0].message == "x, y are not fields of the CDI specification: engines refuse the file");
  CHECK(lenient.has("v/c=d"));
  const CdiRegistry strict = CdiRegistry::parse({{"f.json", text, 1}}, {}, CdiFields::strict);
  REQUIRE(strict.problems().size() == 1);
  CHECK(strict.problems()[0].fatal);
  CHECK_FALSE(strict.has("v/c=d"));
}
