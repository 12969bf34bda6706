// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "ckpt/criu_conf.h"
#include "ckpt/error.h"
#include "ckpt/plan.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;

namespace {

Target seed_node() {
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/seed-node-b.json")};
  return Target::load(options);
}

ExternalList list_of(const std::string& name) {
  const Checkpoint checkpoint = Checkpoint::open(testing::testdata("archives/" + name));
  RestoreRules rules;
  rules.maps = {{"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10", "/nv/libnvidia-ml.so"}};
  return external_list(checkpoint, compare(checkpoint, seed_node(), rules));
}

}  // namespace

TEST_CASE("hidden mounts with a key can be listed, detected ones cannot") {
  const ExternalList keyed = list_of("podman-seed-keys.tar.zst");
  CHECK(keyed.not_listable.empty());
  REQUIRE(keyed.lines.size() == 5);
  for (const External& line : keyed.lines) {
    CHECK(line.key == line.mountpoint);
    CHECK(line.mnt_id >= 120);
    CHECK(line.value.find("570.86.10") == std::string::npos);
  }
  const ExternalList detected = list_of("podman-seed-auto.tar.zst");
  CHECK(detected.lines.empty());
  REQUIRE(detected.not_listable.size() == 5);
  CHECK(detected.not_listable[0].message.find("autodetected") != std::string::npos);
}

TEST_CASE("a moved source of spec.dump cannot be listed: the runtime looks first") {
  const Checkpoint checkpoint = Checkpoint::open(testing::testdata("archives/podman-h200-runc.tar.zst"));
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/h200-moved-root.yaml")};
  const ExternalList list = external_list(checkpoint, compare(checkpoint, Target::load(options), {}));
  CHECK(list.lines.empty());
  CHECK(list.not_listable.size() == 33);
}

TEST_CASE("a node's list names both spellings of a path below /lib") {
  std::vector<std::string> keys;
  for (const External& line : node_external_list(seed_node(), NodeListFor::restore))
    keys.push_back(line.key + ">" + line.value);
  CHECK(std::find(keys.begin(), keys.end(),
                  "/usr/lib/firmware/nvidia/570.133.20/gsp_ga10x.bin>/lib/firmware/nvidia/570.133.20/gsp_ga10x.bin") !=
        keys.end());
  for (const External& line : node_external_list(seed_node(), NodeListFor::dump)) CHECK(line.key == line.value);
}

TEST_CASE("formats") {
  const std::vector<External> lines = {{"/k", "/v", 7, "/m"}};
  CHECK(format_externals(lines, ExternalFormat::conf) == "external=mnt[/k]:/v\n");
  CHECK(format_externals(lines, ExternalFormat::args) == "--external 'mnt[/k]:/v'\n");
  const Json json = Json::parse(format_externals(lines, ExternalFormat::json));
  CHECK(json["schema"] == Json("ckpt.externals/1"));
  CHECK(json["externals"][0]["mnt_id"] == Json(7));
  CHECK_THROWS_WITH_AS(format_externals({{"a\nb", "/v", 1, "/m"}}, ExternalFormat::conf),
                       doctest::Contains("line feed"), Error);
}

TEST_CASE("a configuration is checked against the archive and the target's files") {
  const testing::TempDir directory;
  const std::string path = directory.write(
      "runc.conf", "external mnt[/dev/nvidiactl]:/nodes/ctl\nexternal mnt[dev/nvidiactl]:/x\nexternal mnt[/u]:rel\n");
  const Checkpoint checkpoint = Checkpoint::open(testing::testdata("archives/podman-seed-keys.tar.zst"));
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/seed-node-b.json")};
  options.root = directory.path();
  std::vector<std::string> codes;
  for (const Finding& finding : lint_criu_conf(load_criu_conf(path), checkpoint, Target::load(options)))
    codes.push_back(finding.code);
  CHECK(codes == std::vector<std::string>{"conf.missing", "conf.unused", "conf.slash", "conf.missing", "conf.unused",
                                          "conf.value", "conf.missing"});
}
