// SPDX-License-Identifier: Apache-2.0
#include "ckpt/cdi.h"

#include <doctest/doctest.h>

#include "cdi/driver_files.h"
#include "ckpt/error.h"
#include "testing/failure.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;

namespace {

// A file of one device; `edits` are flow style, without the braces.
std::string file_of(const std::string& version, const std::string& edits, const std::string& name = "gpu0",
                    const std::string& kind = "example.com/gpu") {
  return "cdiVersion: " + version + "\nkind: " + kind + "\ndevices:\n- name: " + name + "\n  containerEdits: {" +
         edits + "}\n";
}

CdiEdits edits_of(const std::string& edits) {
  return parse_cdi(file_of("1.1.0", edits), "a.yaml").devices.front().edits;
}

void check_refused(const std::string& text, const std::string& reason, ErrorCode code = ErrorCode::corrupt) {
  CAPTURE(text);
  const Error error = testing::failure_of([&] { parse_cdi(text, "a.yaml"); });
  CHECK(error.code() == code);
  CHECK(error.where().file == "a.yaml");
  CHECK_MESSAGE(error.detail().find(reason) != std::string::npos, error.detail());
}

}  // namespace

TEST_CASE("known versions, with and without a v, and no others") {
  for (const char* version : {"0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"}) {
    CHECK(parse_cdi(file_of(version, "env: [A=B]"), "a.yaml").version == version);
    CHECK(parse_cdi(file_of(std::string("v") + version, "env: [A=B]"), "a.yaml").version == version);
  }
  for (const char* version : {"0.9.0", "0.5.4", "1.2.0", "\"1.0\"", "vv0.5.0", "V0.5.0", "\"0.5.0 \"", "\"\""})
    check_refused(file_of(version, "env: [A=B]"), "is unknown", ErrorCode::unsupported);
  check_refused(file_of("1.0", "env: [A=B]"), "cdiVersion \"1\" is unknown", ErrorCode::unsupported);
  check_refused(file_of("0.2.0", "env: [A=B]"), "cdiVersion is 0.2.0, but the file's fields need 0.3.0");
}

TEST_CASE("each field has the version it came with") {
  const auto since = [](const std::string& before, const std::string& version, const std::string& edits,
                        const std::string& name = "gpu0", const std::string& kind = "example.com/gpu") {
    check_refused(file_of(before, edits, name, kind),
                  "cdiVersion is " + before + ", but the file's fields need " + version);
    CHECK_NOTHROW(parse_cdi(file_of(version, edits, name, kind), "a.yaml"));
  };
  since("0.3.0", "0.4.0", "mounts: [{hostPath: /a, containerPath: /a, type: tmpfs}]");
  since("0.4.0", "0.5.0", "deviceNodes: [{path: /dev/a, hostPath: /dev/a}]");
  since("0.4.0", "0.5.0", "env: [A=B]", "\"0\"");
  since("0.5.0", "0.6.0", "env: [A=B]", "gpu0", "example.com/gpu.x");
  since("0.5.0", "0.6.0", "env: [A=B]", "gpu0\n  annotations: {a: b}");
  since("0.5.0", "0.6.0", "env: [A=B]", "gpu0", "example.com/gpu\nannotations: {x: true}");
  since("0.6.0", "0.7.0", "intelRdt: {closID: a}");
  since("0.6.0", "0.7.0", "intelRdt: {}");
  since("0.6.0", "0.7.0", "additionalGids: [44]");
  since("1.0.0", "1.1.0", "netDevices: [{hostInterfaceName: eth1, name: eth0}]");
  since("1.0.0", "1.1.0", "intelRdt: {schemata: [\"L3:0=f\"]}");
  since("1.0.0", "1.1.0", "intelRdt: {enableMonitoring: true}");
  CHECK_NOTHROW(parse_cdi(file_of("0.3.0", "deviceNodes: [{path: /dev/a}], env: [A=B]"), "a.yaml"));
}

TEST_CASE("the oldest monitoring fields end with 1.0.0") {
  const CdiSpec spec = parse_cdi(file_of("1.0.0", "intelRdt: {enableCMT: true, enableMBM: yes}"), "a.yaml");
  CHECK(spec.devices[0].edits.intel_rdt->enable_mbm);
  check_refused(file_of("1.1.0", "intelRdt: {enableCMT: true}"), "which 1.1.0 no longer knows");
}

TEST_CASE("a field that is not in the specification is named by its path") {
  const std::string reason = " is not a field of the CDI specification";
  check_refused("x-anchors: 1\n" + file_of("0.5.0", "env: [A=B]"), "x-anchors" + reason);
  check_refused(file_of("0.5.0", "env: [A=B]", "a\n  id: b"), "devices[0].id" + reason);
  check_refused(file_of("0.5.0", "enw: [A=B]"), "devices[0].containerEdits.enw" + reason);
  check_refused(file_of("0.5.0", "deviceNodes: [{path: /a}, {path: /b, mode: 1}]"),
                "devices[0].containerEdits.deviceNodes[1].mode" + reason);
  check_refused(file_of("0.5.0", "mounts: [{hostPath: /a, containerPath: /a, readonly: true}]"),
                "devices[0].containerEdits.mounts[0].readonly" + reason);
  check_refused(file_of("0.5.0", "env: [A=B]") + "containerEdits: {hooks: [{hookName: prestart, path: /a, when: x}]}",
                "containerEdits.hooks[0].when" + reason);
}

TEST_CASE("keys match without regard to case") {
  const CdiSpec spec = parse_cdi(
      "CDIVERSION: 0.7.0\nKind: a/b\nDEVICES: [{NAME: c, containeredits: {DeviceNodes: [{PATH: /a, HOSTPATH: /b}], "
      "additionalGIDs: [44]}}]\n",
      "a.yaml");
  CHECK(spec.kind() == "a/b");
  CHECK(spec.devices[0].edits.device_nodes[0].host_path == "/b");
  CHECK(spec.devices[0].edits.additional_gids == std::vector<std::uint32_t>{44});
  // Of keys that differ in case only, the last in sorted order counts, wherever it stands.
  CHECK(edits_of("deviceNodes: [{path: /lower, Path: /upper}]").device_nodes[0].path == "/lower");
  check_refused(file_of("0.5.0", "env: [A=B], env: [C=D]"), "\"env\" occurs twice");
}

TEST_CASE("scalars become text where text is wanted") {
  const CdiEdits edits = edits_of(
      "hooks: [{hookName: createContainer, path: /h, args: [--mode, 0755, \"0755\", 0, 007, 0o666, 0x10, 1_000, 1e3, "
      "yes, ~, 1.50, 0:0, 12345678901234567890123]}]");
  CHECK(edits.hooks[0].args == std::vector<std::string>{"--mode", "493", "0755", "0", "7", "438", "16", "1000", "1000",
                                                        "true", "", "1.5", "0:0", "1.2345679e+22"});
  CHECK(parse_cdi(file_of("0.5.0", "env: [A=B]", "0"), "a.yaml").devices[0].name == "0");
  const CdiSpec spec = parse_cdi(file_of("0.6.0", "env: [A=B]", "a\n  annotations: {x: true, z: 07}"), "a.yaml");
  CHECK(spec.devices[0].annotations == std::map<std::string, std::string>{{"x", "true"}, {"z", "7"}});
  check_refused(file_of("0.5.0", "env: [[A=B]]"), "devices[0].containerEdits.env[0] is not text");
  check_refused(file_of("0.5.0", "env: A=B"), "devices[0].containerEdits.env is not a list");
}

TEST_CASE("numbers are numbers, in any spelling, and within range") {
  const auto node = [](const std::string& fields) {
    return edits_of("deviceNodes: [{path: /dev/a, " + fields + "}]").device_nodes[0];
  };
  const auto refused = [](const std::string& fields, const std::string& reason) {
    check_refused(file_of("1.1.0", "deviceNodes: [{path: /dev/a, " + fields + "}]"),
                  "devices[0].containerEdits.deviceNodes[0]." + reason);
  };
  CHECK(node("fileMode: 0666").file_mode == 438U);
  CHECK(node("fileMode: 0o666").file_mode == 438U);
  CHECK(node("fileMode: 438").file_mode == 438U);
  CHECK(node("major: 195.0").major == 195);
  CHECK(node("gid: 4294967295").gid == 4294967295U);
  CHECK_FALSE(node("uid: null").uid.has_value());
  refused("major: \"195\"", "major is not a number");
  refused("major: 195.5", "major is not a whole number");
  refused("major: 1e300", "major is ");
  refused("major: 18446744073709551615", "major is out of range");
  refused("uid: -1", "uid is out of range");
  refused("gid: 4294967296", "gid is out of range");
  check_refused(file_of("1.1.0", "additionalGids: [1, -1]"), "additionalGids[1] is out of range");
  check_refused(file_of("1.1.0", "intelRdt: {enableMonitoring: 1}"), "enableMonitoring is not true or false");
}

TEST_CASE("zero values are left out of files, and read as what they were") {
  const auto node = [](const std::string& fields) {
    return edits_of("deviceNodes: [{" + fields + "}]").device_nodes[0];
  };
  const CdiDeviceNode first = node("path: /dev/nvidia0, major: 195");
  CHECK(first.major == 195);
  CHECK(first.minor == 0);
  CHECK(first.host_path == "/dev/nvidia0");
  const CdiDeviceNode alone = node("path: /dev/a, hostPath: /dev/b, minor: 7");
  CHECK_FALSE(alone.major.has_value());
  CHECK_FALSE(alone.minor.has_value());
  CHECK(alone.host_path == "/dev/b");
  CHECK_FALSE(node("path: /dev/a, major: 0, minor: 7").minor.has_value());
}

TEST_CASE("kinds and names of devices") {
  for (const char* name : {"\"0\"", "\"0:0\"", "all", "GPU-1b2c", "a_b.c-d:e", "x"})
    CHECK_NOTHROW(parse_cdi(file_of("0.5.0", "env: [A=B]", name), "a.yaml"));
  for (const char* name : {"\"\"", "a/b", "a=b", "-a", "a-", "a b", "\"a\\nb\"", "\xc3\xa9"})
    check_refused(file_of("0.5.0", "env: [A=B]", name), "is not a device name");
  for (const char* kind : {"gpu", "/gpu", "a/", "1a/gpu", "a/gpu-", "a/b/c", "a_/b", "\"\""})
    check_refused(file_of("0.6.0", "env: [A=B]", "x", kind), "is not vendor/class");
  CHECK_NOTHROW(parse_cdi(file_of("0.5.0", "env: [A=B]", "x", "a/b"), "a.yaml"));
}

TEST_CASE("qualified names") {
  const auto name = parse_cdi_name("nvidia.com/gpu=0:0");
  REQUIRE(name.has_value());
  CHECK(name->kind() == "nvidia.com/gpu");
  CHECK(name->name == "0:0");
  for (const char* other : {"", "/dev/nvidia0", "/a=b", "gpu=0", "a/b", "a/b=", "a=b/c", "a/b=c=d", "a/b/c=d", "1/b=c"})
    CHECK_MESSAGE(!parse_cdi_name(other).has_value(), other);
}

TEST_CASE("a file defines devices, each once and each with something in it") {
  const std::string head = "cdiVersion: 0.5.0\nkind: a/b\n";
  check_refused(head, "devices is empty");
  check_refused(head + "devices: []\n", "devices is empty");
  check_refused(head + "devices: null\n", "devices is empty");
  check_refused(head + "devices: {}\n", "devices is not a list");
  check_refused(head + "devices: [{name: a}]\n", "devices[0].containerEdits is empty");
  check_refused(file_of("0.5.0", ""), "devices[0].containerEdits is empty");
  check_refused(file_of("0.5.0", "env: [A=B]") + "- {name: gpu0, containerEdits: {env: [A=B]}}\n",
                "devices[1].name \"gpu0\" occurs twice");
  check_refused(head + "devices: [{name: a, containerEdits: [{env: [A=B]}]}]\n",
                "devices[0].containerEdits is not an object");
  CHECK_NOTHROW(parse_cdi(file_of("0.5.0", "env: [A=B]") + "containerEdits: {}\n", "a.yaml"));
}

TEST_CASE("what edits may hold") {
  const auto refused = [](const std::string& edits, const std::string& reason) {
    check_refused(file_of("1.1.0", edits), "devices[0].containerEdits." + reason);
  };
  for (const char* stage : {"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"})
    CHECK(edits_of(std::string("hooks: [{path: relative, timeout: -1, hookName: ") + stage + "}]").hooks[0].timeout ==
          -1);
  refused("hooks: [{hookName: preStart, path: /h}]", "hooks[0].hookName is \"preStart\", which is no stage");
  refused("hooks: [{hookName: prestart}]", "hooks[0].path is empty");
  refused("hooks: [{hookName: prestart, path: /h, env: [=x]}]", "hooks[0].env[0] is not NAME=VALUE");
  refused("env: [A=B, A]", "env[1] is not NAME=VALUE");
  refused("deviceNodes: [{hostPath: /a}]", "deviceNodes[0].path is empty");
  refused("deviceNodes: [{path: /a, type: d}]", "deviceNodes[0].type is \"d\"");
  refused("deviceNodes: [{path: /a, permissions: rwx}]", "deviceNodes[0].permissions is \"rwx\"");
  refused("mounts: [{containerPath: /a}]", "mounts[0].hostPath is empty");
  refused("mounts: [{hostPath: /a}]", "mounts[0].containerPath is empty");
  refused("netDevices: [{name: a}]", "netDevices has a device without a name");
  refused("netDevices: [{hostInterfaceName: a, name: x}, {hostInterfaceName: b, name: x}]",
          "netDevices names a device");
  refused("intelRdt: {closID: ..}", "intelRdt.closID cannot be");
  refused("intelRdt: {closID: a/b}", "intelRdt.closID cannot be");
}

TEST_CASE("JSON and YAML go through one reader, and what is no object is refused") {
  const std::string json =
      "\xef\xbb\xbf{\r\n\t\"cdiVersion\": \"0.5.0\", \"kind\": \"a/b\",\r\n\t\"devices\": [{\"name\": \"0\", "
      "\"containerEdits\": {\"env\": [\"A=B\",]},},],}\r\n";
  CHECK(parse_cdi(json, "a.json").devices[0].edits.env == std::vector<std::string>{"A=B"});
  check_refused("", "no CDI data");
  check_refused("---\n---\n" + file_of("0.5.0", "env: [A=B]"), "no CDI data");
  check_refused("[]", "the document is not an object");
  check_refused("text", "the document is not an object");
  CHECK_NOTHROW(parse_cdi(file_of("0.5.0", "env: [A=B]") + "---\nmore: [\n", "a.yaml"));
}

TEST_CASE("every truncation of a file is refused") {
  const std::string text =
      R"({"cdiVersion":"0.5.0","kind":"a/b","devices":[{"name":"0","containerEdits":{"env":["A=B"]}}]})";
  CHECK_NOTHROW(parse_cdi(text, "a.json"));
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Error error = testing::failure_of([&] { parse_cdi(text.substr(0, size), "a.json"); });
    CAPTURE(size);
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().file == "a.json");
  }
}

TEST_CASE("limits hold for CDI files too") {
  Limits limits;
  limits.max_document_nodes = 5;
  const Error error = testing::failure_of([&] { parse_cdi(file_of("0.5.0", "env: [A=B]"), "a.yaml", limits); });
  CHECK(error.code() == ErrorCode::limit_exceeded);
  CHECK(error.detail().find("max_document_nodes, 5") != std::string::npos);
}

TEST_CASE("files as generators write them") {
  for (const char* name : {"h200-debian-layout.yaml", "h200-moved-root.yaml", "h200-other-driver.yaml",
                           "h200-source.yaml", "h200-uvm-major.yaml", "seed-node-a.json", "seed-node-b.json"}) {
    CAPTURE(name);
    const CdiSpec spec = parse_cdi(testing::read_file(testing::testdata(std::string("cdi/") + name)), name);
    CHECK(spec.kind() == "nvidia.com/gpu");
    CHECK(spec.version == "0.5.0");
    CHECK_FALSE(spec.devices.empty());
    CHECK_FALSE(spec.edits.mounts.empty());
    for (const CdiDevice& device : spec.devices) {
      REQUIRE_FALSE(device.edits.device_nodes.empty());
      CHECK_FALSE(device.edits.device_nodes.front().host_path.empty());
    }
  }
}

TEST_CASE("a driver's list of files, one a line") {
  CHECK(parse_container_cli_list("/dev/nvidiactl\r\n\n/usr/bin/nvidia-smi", "list") ==
        std::vector<std::string>{"/dev/nvidiactl", "/usr/bin/nvidia-smi"});
  const auto refused = [](const std::string& text, const std::string& reason) {
    const Error error = testing::failure_of([&] { parse_container_cli_list(text, "list"); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().file == "list");
    CHECK_MESSAGE(error.detail().find(reason) != std::string::npos, error.detail());
  };
  refused("", "is empty");
  refused("\n\n", "is empty");
  refused("/a\n\nb\n", "line 3 is not an absolute path: b");
  refused("/a\n/b\x01\n", "line 2 is not an absolute path");
  refused(std::string("/a\0b", 4), "line 1 is not an absolute path");
  refused(" /a", "line 1 is not an absolute path");
  const CdiEdits edits = edits_from_list({"/dev/nvidia0", "/devices", "/lib/firmware/x"});
  REQUIRE(edits.device_nodes.size() == 1);
  CHECK(edits.device_nodes[0].host_path == "/dev/nvidia0");
  REQUIRE(edits.mounts.size() == 2);
  CHECK(edits.mounts[1].host_path == edits.mounts[1].container_path);
}
