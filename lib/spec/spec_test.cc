// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "spec/engine_documents.h"
#include "spec/runtime_spec.h"

using ckpt::Error;
using ckpt::ErrorCode;
using ckpt::Json;

namespace {

ckpt::RuntimeSpec read(const std::string& text) {
  return ckpt::read_runtime_spec(Json::parse(text), {"a.tar", "spec.dump", {}, {}});
}

// The reason, not just the failure: the code and the pointer.
void check_refused(const std::string& text, const std::string& pointer) {
  CAPTURE(text);
  try {
    read(text);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().member == "spec.dump");
    CHECK(error.detail().find(pointer) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a spec is read as far as the comparison looks") {
  const auto spec = read(R"({"ociVersion":"1.2.1","annotations":{"a":"b"},
    "mounts":[{"destination":"/proc","type":"proc","source":"proc"},
              {"destination":"/x","source":"/y","options":["ro","rbind"]}],
    "hooks":{"createRuntime":[{"path":"/h","args":["h","x"]}],"prestart":[{"path":"/p"}]},
    "linux":{"maskedPaths":["/proc/kcore"],"devices":[{"path":"/dev/nvidia0","type":"c","major":195}],
      "resources":{"devices":[{"allow":false,"access":"rwm"},
                              {"allow":true,"type":"c","major":195,"minor":0,"access":"rw"},
                              {"allow":true,"type":"c","major":-1,"minor":-1}]}}})");
  REQUIRE(spec.mounts.size() == 2);
  CHECK_FALSE(spec.mounts[0].is_bind());
  CHECK(spec.mounts[1].is_bind());
  CHECK(spec.mounts[1].index == 1);
  REQUIRE(spec.hooks.size() == 2);
  CHECK(spec.hooks[0].stage == "prestart");
  CHECK(spec.hooks[1].path == "/h");
  REQUIRE(spec.devices.size() == 1);
  CHECK(spec.devices[0].minor == 0);
  REQUIRE(spec.device_rules.size() == 3);
  CHECK_FALSE(spec.device_rules[0].major);
  CHECK(spec.device_rules[1].minor == 0);
  CHECK_FALSE(spec.device_rules[2].major);
}

TEST_CASE("null and absent parts are empty, as in Go") {
  CHECK(read("{}").mounts.empty());
  CHECK(read(R"({"mounts":null,"linux":null,"hooks":{"prestart":null}})").mounts.empty());
}

TEST_CASE("a value of the wrong type is named by its pointer") {
  check_refused("[]", "not a JSON object");
  check_refused(R"({"mounts":{}})", "/mounts");
  check_refused(R"({"mounts":[{"destination":1}]})", "/mounts/0/destination");
  check_refused(R"({"mounts":[{"options":[1]}]})", "/mounts/0/options/0");
  check_refused(R"({"mounts":["x"]})", "/mounts/0");
  check_refused(R"({"linux":{"devices":[{"major":"195"}]}})", "/linux/devices/0/major");
  check_refused(R"({"annotations":{"a/b":1}})", "/annotations");
}

TEST_CASE("device requests are found in annotations, CRI-O's nested ones too") {
  const std::map<std::string, std::string> annotations = {
      {"cdi.k8s.io/x_1", "nvidia.com/gpu=0,nvidia.com/gpu=1"},
      {"io.kubernetes.cri-o.Annotations", R"({"cdi.k8s.io/y":"amd.com/gpu=all","other":"z"})"},
      {"unrelated", "nvidia.com/gpu=9"}};
  const auto names = ckpt::cdi_names_in_annotations(annotations);
  CHECK(names == std::vector<std::string>{"nvidia.com/gpu=0", "nvidia.com/gpu=1", "amd.com/gpu=all"});
  CHECK(ckpt::cdi_names_in_annotations({{"io.kubernetes.cri-o.Annotations", "not json"}}).empty());
}

TEST_CASE("config.dump gives names and times, Go's zero time is no time") {
  const auto config = ckpt::read_container_config(
      Json::parse(R"({"id":"1","name":"n","rootfsImage":"i","runtime":"runc","createdTime":"2026-01-01T00:00:00Z",
        "checkpointedTime":"0001-01-01T00:00:00Z","cdiDevices":["nvidia.com/gpu=all"]})"),
      {"a.tar", "config.dump", {}, {}});
  CHECK(config.image == "i");
  CHECK(config.checkpointed.empty());
  CHECK(config.cdi_devices.size() == 1);
  CHECK(ckpt::read_network_address(Json::parse(
            R"({"podman":{"interfaces":{"eth0":{"subnets":[{"ipnet":"10.88.0.9/16"}]}}}})")) == "10.88.0.9");
  CHECK(ckpt::read_network_address(Json::parse("null")).empty());
}
