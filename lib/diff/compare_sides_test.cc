// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "ckpt/compare.h"
#include "testing/failure.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using ckpt::testing::failure_of;
using ckpt::testing::TempDir;

namespace {

ComparedSide spec(const std::string& text) { return {"s", std::nullopt, Json::parse(text)}; }

std::vector<Difference> between(const std::string& a, const std::string& b) {
  return compare_sides(spec(a), spec(b)).differences;
}

/// The one difference of two specs.
Difference only(const std::string& a, const std::string& b) {
  const auto all = between(a, b);
  REQUIRE(all.size() == 1);
  return all[0];
}

std::string told(const Difference& difference) {
  return difference.section + " " + to_string(difference.change) + " " + difference.subject +
         (difference.field.empty() ? "" : " " + difference.field) + " " + difference.before.dump(-1) + " " +
         difference.after.dump(-1) + (difference.added_by.empty() ? "" : " by " + difference.added_by);
}

std::string mounts(const std::string& list) { return "{\"mounts\": [" + list + "]}"; }

const Difference* find(const DifferenceReport& report, const std::string& section, const std::string& subject,
                       const std::string& field = {}) {
  const auto found = std::find_if(report.differences.begin(), report.differences.end(), [&](const Difference& one) {
    return one.section == section && one.subject == subject && one.field == field;
  });
  return found == report.differences.end() ? nullptr : &*found;
}

ComparedSide archive(const std::string& name) { return open_side(testing::testdata("archives/" + name)); }

}  // namespace

TEST_CASE("mounts are paired by destination, not by position") {
  const std::string a = R"({"destination": "/a", "type": "bind", "source": "/x", "options": ["ro", "rbind"]})";
  const std::string b = R"({"destination": "/usr/lib/libcuda.so.570.86.10", "source": "/y", "options": ["bind"]})";
  CHECK(between(mounts(a + "," + b), mounts(b + "," + a)).empty());
  CHECK(told(only(mounts(a), mounts(a + "," + b))).find("mounts added /usr/lib/libcuda.so.570.86.10 null {") == 0);
  CHECK(only(mounts(a), mounts(a + "," + b)).added_by == "cdi");
  CHECK(told(only(mounts(a + "," + b), mounts(b))).find("mounts removed /a {") == 0);
  CHECK(told(only(mounts(a), mounts(R"({"destination": "//a/", "source": "/z", "options": ["rbind", "ro"]})"))) ==
        R"(mounts changed /a source "/x" "/z")");
}

TEST_CASE("a mount that stands twice is told apart") {
  const std::string a = R"({"destination": "/a", "source": "/x"})";
  const std::string b = R"({"destination": "/a", "source": "/y"})";
  CHECK(told(only(mounts(a), mounts(a + "," + b))).find("mounts added /a (2) ") == 0);
  CHECK(between(mounts(a + "," + b), mounts(a + "," + b)).empty());
}

TEST_CASE("every list of a spec has its names") {
  CHECK(told(only(R"({"linux": {"devices": [{"path": "/dev/nvidia-uvm", "type": "c", "major": 510, "minor": 0}]}})",
                  R"({"linux": {"devices": [{"path": "/dev/nvidia-uvm", "type": "c", "major": 509, "minor": 0}]}})")) ==
        "devices changed /dev/nvidia-uvm major 510 509 by cdi");
  CHECK(
      told(only(
          R"({"linux": {"resources": {"devices": []}}})",
          R"({"linux": {"resources": {"devices": [{"allow": true, "type": "c", "major": 195, "access": "rw"}]}}})")) ==
      R"(device_rules added allow c 195:* null "rw")");
  CHECK(told(only(R"({})", R"({"hooks": {"prestart": [{"path": "/usr/bin/nvidia-ctk", "args": ["a"]}]}})"))
            .find("hooks added prestart /usr/bin/nvidia-ctk null ") == 0);
  CHECK(only(R"({})", R"({"hooks": {"prestart": [{"path": "/usr/bin/nvidia-ctk"}]}})").added_by == "cdi");
  CHECK(told(only(R"({"linux": {"namespaces": [{"type": "network"}]}})",
                  R"({"linux": {"namespaces": [{"type": "network", "path": "/run/n"}]}})")) ==
        R"(namespaces changed network path null "/run/n")");
  CHECK(told(only(R"({"process": {"rlimits": [{"type": "RLIMIT_CORE", "hard": 1, "soft": 1}]}})",
                  R"({"process": {"rlimits": [{"type": "RLIMIT_CORE", "hard": 2, "soft": 1}]}})")) ==
        "rlimits changed RLIMIT_CORE hard 1 2");
  CHECK(told(only(R"({"process": {"capabilities": {"bounding": ["CAP_KILL"]}}})",
                  R"({"process": {"capabilities": {"bounding": ["CAP_KILL"], "effective": ["CAP_KILL"]}}})")) ==
        R"(capabilities changed CAP_KILL ["bounding"] ["bounding","effective"])");
  CHECK(told(only(R"({"linux": {"maskedPaths": ["/a", "/b"]}})", R"({"linux": {"maskedPaths": ["/b"]}})")) ==
        "masked_paths removed /a true null by engine");
  CHECK(told(only(R"({"linux": {"readonlyPaths": []}})", R"({"linux": {"readonlyPaths": ["/b"]}})")) ==
        "readonly_paths added /b null true by engine");
  CHECK(told(only(R"({"process": {"cwd": "/", "args": ["a"]}})", R"({"process": {"cwd": "/", "args": ["a", "b"]}})")) ==
        R"(spec changed /process/args ["a"] ["a","b"])");
  CHECK(told(only(R"({"linux": {"a/b": {"c": 1}}})", R"({"linux": {}})")) == "spec removed /linux/a~1b/c 1 null");
}

TEST_CASE("values of the environment and of annotations are confidential") {
  const Difference variable =
      only(R"({"process": {"env": ["A=1", "B=x=y"]}})", R"({"process": {"env": ["B=x=z", "A=1"]}})");
  CHECK(told(variable) == R"(environment changed B "x=y" "x=z")");
  CHECK(variable.confidential);
  CHECK(only(R"({})", R"({"process": {"env": ["NVIDIA_VISIBLE_DEVICES=void"]}})").added_by == "cdi");
  const Difference annotation = only(R"({"annotations": {"cdi.k8s.io/a": "b"}})", R"({})");
  CHECK(told(annotation) == R"(annotations removed cdi.k8s.io/a "b" null by cdi)");
  CHECK(annotation.confidential);
  CHECK_FALSE(only(R"({})", R"({"hostname": "h"})").confidential);
}

TEST_CASE("documents of a wrong shape are compared, not trusted") {
  const std::string odd =
      R"({"mounts": [1, {"destination": 2}], "hooks": [], "process": {"env": [3], "capabilities": 4},
    "linux": {"devices": {"a": 1}, "namespaces": [null], "resources": 5, "maskedPaths": "x"}, "annotations": ["y"]})";
  CHECK(between(odd, odd).empty());
  CHECK_FALSE(between(odd, "{}").empty());
  CHECK_FALSE(between("{}", odd).empty());
}

TEST_CASE("a checkpoint before and after a patch") {
  const DifferenceReport report =
      compare_sides(archive("podman-seed-auto.tar.zst"), archive("known-good-seed-auto.tar.zst"));
  const std::string library = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10";
  const Difference* key = find(report, "image_mounts", library, "ext_key");
  REQUIRE(key != nullptr);
  CHECK(key->before == Json("CRIU:AUTOGENERATED"));
  CHECK(key->after == Json(library));
  const Difference* mount = find(report, "mounts", library);
  REQUIRE(mount != nullptr);
  CHECK(mount->change == Difference::Change::added);
  CHECK(mount->added_by == "cdi");
  const Difference* hook = find(report, "hooks", "createRuntime /hooks/nvhook.sh");
  REQUIRE(hook != nullptr);
  CHECK(hook->change == Difference::Change::removed);
  CHECK(report.not_compared.empty());
  for (const char* same : {"processes", "files", "environment", "device_nodes", "namespaces"})
    for (const Difference& difference : report.differences) CHECK(difference.section != same);
}

TEST_CASE("a checkpoint is the same as itself and differs from another container's") {
  for (const std::string& path : testing::real_archives()) {
    CAPTURE(path);
    CHECK(compare_sides(open_side(path), open_side(path)).differences.empty());
  }
  const DifferenceReport report =
      compare_sides(archive("podman-seed-auto.tar.zst"), archive("podman-h200-runc.tar.zst"));
  CHECK(find(report, "checkpoint", "id") != nullptr);
  CHECK(find(report, "sizes", "memory_pages") != nullptr);
  CHECK(find(report, "gpu", "driver_versions") != nullptr);
  const Difference* hidden = find(report, "image_mounts", "/dev/nvidiactl");
  REQUIRE(hidden != nullptr);
  CHECK(hidden->change == Difference::Change::removed);
  CHECK(hidden->added_by == "nvidia hook");
  CHECK(find(report, "device_nodes", "/dev/nvidiactl") != nullptr);
}

TEST_CASE("sides are told by their content") {
  const TempDir directory;
  const ComparedSide seed = archive("podman-seed-auto.tar.zst");
  const std::string text = *seed.checkpoint->spec_text();
  directory.write("bundle/config.json", text);
  directory.write("x.tar", "\xef\xbb\xbf \n" + text);
  const ComparedSide bundle = open_side(directory.file("bundle"));
  CHECK_FALSE(bundle.checkpoint);
  const DifferenceReport report = compare_sides(seed, bundle);
  CHECK(report.differences.empty());
  CHECK(report.not_compared == std::vector<std::string>{"checkpoint"});

  directory.write("y", "{}");
  CHECK(failure_of([&] { open_side(directory.file("y")); }).detail() == "is JSON, but no runtime spec (config.json)");
  CHECK(failure_of([&] { open_side(directory.file("none")); }).code() == ErrorCode::io);
  directory.write("image/inventory.img", "");
  const DifferenceReport no_spec = compare_sides(open_side(directory.file("image")), bundle);
  CHECK(no_spec.not_compared == std::vector<std::string>{"spec", "checkpoint"});
}
