// SPDX-License-Identifier: Apache-2.0
#include "ckpt/cdi.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "cdi/driver_files.h"
#include "ckpt/error.h"
#include "ckpt/file.h"
#include "testing/failure.h"
#include "testing/paths.h"

using namespace ckpt;

namespace {

// A file with one device; `edits` are its containerEdits, `more` further members of the top.
std::string spec_with(const std::string& version, const std::string& edits, const std::string& more = {}) {
  return "cdiVersion: " + version + "\nkind: vendor.com/gpu\ndevices:\n- name: d\n  containerEdits: " + edits + "\n" +
         more;
}

CdiEdits edits_of(const std::string& edits) { return parse_cdi(spec_with("1.1.0", edits), "f").devices[0].edits; }

void check_refused(const std::string& text, const std::string& reason, ErrorCode code = ErrorCode::corrupt) {
  CAPTURE(text);
  const Error error = testing::failure_of([&] { parse_cdi(text, "node.yaml"); });
  CHECK(error.code() == code);
  CHECK(error.where().file == "node.yaml");
  CHECK_MESSAGE(error.detail() == reason, error.detail());
}

void check_edits_refused(const std::string& edits, const std::string& reason) {
  check_refused(spec_with("1.1.0", edits), "devices[0].containerEdits" + reason);
}

const char* const kEnv = "{env: [A=b]}";

}  // namespace

TEST_CASE("every field is read") {
  const CdiSpec spec = parse_cdi(R"({
    "cdiVersion": "v1.1.0", "kind": "vendor.com/gpu", "annotations": {"a": "b"},
    "devices": [{"name": "0:0", "annotations": {"x": true}, "containerEdits": {
      "env": ["A=b"],
      "deviceNodes": [{"path": "/dev/a", "hostPath": "/h/a", "type": "c", "major": 195, "minor": 3, "fileMode": 438,
                       "permissions": "rwm", "uid": 0, "gid": 44}],
      "netDevices": [{"hostInterfaceName": "eth0", "name": "n0"}],
      "hooks": [{"hookName": "createContainer", "path": "/h", "args": ["h", "x"], "env": ["B=c"], "timeout": 5}],
      "mounts": [{"hostPath": "/h/l", "containerPath": "/l", "options": ["ro", "bind"], "type": "none"}],
      "intelRdt": {"closID": "c", "l3CacheSchema": "l", "memBwSchema": "m", "schemata": ["s"], "enableMonitoring": true},
      "additionalGids": [44, 0]}}],
    "containerEdits": {"env": ["C=d"]}})",
                                 "node.json");
  CHECK(spec.file == "node.json");
  CHECK(spec.version == "1.1.0");
  CHECK(spec.kind() == "vendor.com/gpu");
  CHECK(spec.annotations.at("a") == "b");
  CHECK(spec.edits.env == std::vector<std::string>{"C=d"});
  REQUIRE(spec.devices.size() == 1);
  CHECK(spec.devices[0].name == "0:0");
  CHECK(spec.devices[0].annotations.at("x") == "true");
  const CdiEdits& edits = spec.devices[0].edits;
  CHECK(edits.env == std::vector<std::string>{"A=b"});
  REQUIRE(edits.device_nodes.size() == 1);
  const CdiDeviceNode& node = edits.device_nodes[0];
  CHECK((node.path == "/dev/a" && node.host_path == "/h/a" && node.type == "c" && node.permissions == "rwm"));
  CHECK((node.major == 195 && node.minor == 3 && node.file_mode == 0666u && node.uid == 0u && node.gid == 44u));
  CHECK((edits.net_devices[0].host_interface_name == "eth0" && edits.net_devices[0].name == "n0"));
  const CdiHook& hook = edits.hooks[0];
  CHECK((hook.hook_name == "createContainer" && hook.path == "/h" && hook.timeout == 5));
  CHECK((hook.args == std::vector<std::string>{"h", "x"} && hook.env == std::vector<std::string>{"B=c"}));
  const CdiMount& mount = edits.mounts[0];
  CHECK((mount.host_path == "/h/l" && mount.container_path == "/l" && mount.type == "none"));
  CHECK(mount.options == std::vector<std::string>{"ro", "bind"});
  REQUIRE(edits.intel_rdt);
  CHECK((edits.intel_rdt->clos_id == "c" && edits.intel_rdt->l3_cache_schema == "l" &&
         edits.intel_rdt->mem_bw_schema == "m"));
  CHECK((edits.intel_rdt->schemata == std::vector<std::string>{"s"} && edits.intel_rdt->enable_monitoring));
  CHECK(edits.additional_gids == std::vector<std::uint32_t>{44, 0});
}

TEST_CASE("a major alone means minor 0, a minor alone means nothing, and the host path defaults") {
  const auto nodes =
      edits_of(
          "{deviceNodes: [{path: /dev/a, major: 195}, {path: /dev/b, minor: 3}, {path: /dev/c, major: 0, minor: 3},"
          " {path: /dev/d, hostPath: /x}]}")
          .device_nodes;
  CHECK((nodes[0].major == 195 && nodes[0].minor == 0));
  for (const int i : {1, 2, 3}) CHECK((!nodes[i].major && !nodes[i].minor));
  CHECK(nodes[0].host_path == "/dev/a");
  CHECK(nodes[3].host_path == "/x");
}

TEST_CASE("keys are matched without regard to case, the last in sorted order wins") {
  CHECK(edits_of("{MOUNTS: [{HOSTPATH: /a, containerpath: /b}], additionalGIDs: [44]}").additional_gids.size() == 1);
  CHECK(edits_of("{mounts: [{hostPath: /lower, HOSTPATH: /upper, containerPath: /b}]}").mounts[0].host_path ==
        "/lower");
  CHECK(edits_of("{mounts: [{HOSTPATH: /upper, hostpath: /x, hostPath: /mixed, containerPath: /b}]}")
            .mounts[0]
            .host_path == "/x");
}

TEST_CASE("text fields take scalars of any kind") {
  const auto args =
      edits_of(
          "{hooks: [{hookName: prestart, path: /h, args: [0, 007, 0755, 0o666, 0x10, 1_000, 1e3, yes, off, ~, "
          "1.50, 1:30, 2001-01-01, 123456789012345678901234, '0755', .inf, .nan]}]}")
          .hooks[0]
          .args;
  CHECK(args == std::vector<std::string>{"0", "7", "493", "438", "16", "1000", "1000", "true", "false", "", "1.5",
                                         "1:30", "2001-01-01", "1.2345679e+23", "0755", "+Inf", "NaN"});
  check_edits_refused("{env: [[A=b]]}", ".env[0] is not text");
  check_edits_refused("{mounts: [{hostPath: {}, containerPath: /b}]}", ".mounts[0].hostPath is not text");
}

TEST_CASE("number fields take numbers only, octal and whole floats too") {
  const auto mode = [](const std::string& text) {
    return edits_of("{deviceNodes: [{path: /dev/a, fileMode: " + text + "}]}").device_nodes[0].file_mode;
  };
  CHECK(mode("0666") == 0666u);
  CHECK(mode("0o666") == 0666u);
  CHECK(mode("438") == 0666u);
  CHECK_FALSE(mode("~"));
  const auto refused = [](const std::string& field, const std::string& reason) {
    check_edits_refused("{deviceNodes: [{path: /dev/a, " + field + "}]}", ".deviceNodes[0]." + reason);
  };
  CHECK(edits_of("{deviceNodes: [{path: /dev/a, major: 195.0}]}").device_nodes[0].major == 195);
  refused("major: '195'", "major is not a number");
  refused("major: 195.5", "major is not a whole number");
  refused("major: 1e19", "major is out of range");
  refused("major: .inf", "major is out of range");
  refused("major: 18446744073709551615", "major is out of range");
  refused("major: -1", "major is negative");
  refused("minor: -1", "minor is negative");
  refused("uid: -1", "uid is out of range");
  refused("gid: 4294967296", "gid is out of range");
  refused("fileMode: yes", "fileMode is not a number");
  check_edits_refused("{additionalGids: [1, x]}", ".additionalGids[1] is not a number");
  CHECK(edits_of("{additionalGids: [~, 7]}").additional_gids == std::vector<std::uint32_t>{0, 7});
}

TEST_CASE("unknown fields are noted at every level, with their path") {
  const auto unknown = [](const std::string& text) { return parse_cdi(text, "node.yaml").unknown_fields; };
  const auto in_edits = [&](const std::string& edits) {
    return unknown("cdiVersion: 1.1.0\nkind: a/b\ndevices: [{name: d, containerEdits: " + edits + "}]");
  };
  using Fields = std::vector<std::string>;
  CHECK(unknown(spec_with("0.6.0", kEnv)).empty());
  CHECK(unknown(spec_with("0.6.0", kEnv, "x-holder: 1\n")) == Fields{"x-holder"});
  CHECK(unknown("cdiVersion: 0.6.0\nkind: a/b\ndevices: [{name: d, nam: e, containerEdits: {env: [A=b]}}]") ==
        Fields{"devices[0].nam"});
  CHECK(in_edits("{env: [A=b], devicenode: []}") == Fields{"devices[0].containerEdits.devicenode"});
  CHECK(in_edits("{mounts: [{hostPath: /a, containerPath: /b}, {hostPath: /a, containerPath: /b, option: [ro]}]}") ==
        Fields{"devices[0].containerEdits.mounts[1].option"});
  CHECK(in_edits("{intelRdt: {enable: ~}}") == Fields{"devices[0].containerEdits.intelRdt.enable"});
}

TEST_CASE("shapes: null counts as absent, a list where an object belongs does not pass") {
  CHECK(edits_of("{env: [A=b], mounts: ~, hooks: null, intelRdt: ~}").mounts.empty());
  CHECK(parse_cdi(spec_with("0.3.0", kEnv, "containerEdits: {}\n"), "f").edits.env.empty());
  check_refused(spec_with("0.3.0", kEnv, "containerEdits: [{env: [A=b]}]\n"), "containerEdits is not an object");
  check_edits_refused("{mounts: {}}", ".mounts is not a list");
  check_edits_refused("{mounts: [x]}", ".mounts[0] is not an object");
  check_edits_refused("{env: A=b}", ".env is not a list");
  check_refused("", "no CDI data in it");
  check_refused("---\n---\nkind: a/b\n", "no CDI data in it");
  check_refused("[]", "the document is not an object");
  check_refused("text", "the document is not an object");
}

TEST_CASE("versions come from a fixed list, one leading v allowed") {
  for (const char* version : {"0.3.0", "v0.5.0", "0.8.0", "1.0.0", "'1.1.0'"})
    CHECK_NOTHROW(parse_cdi(spec_with(version, kEnv), "f"));
  for (const auto& [version, text] : std::vector<std::pair<std::string, std::string>>{{"1.0", "1"},
                                                                                      {"'1.0'", "1.0"},
                                                                                      {"0.9.0", "0.9.0"},
                                                                                      {"1.2.0", "1.2.0"},
                                                                                      {"vv1.0.0", "v1.0.0"},
                                                                                      {"V1.0.0", "V1.0.0"},
                                                                                      {"~", ""}})
    check_refused(spec_with(version, kEnv), "cdiVersion \"" + text + "\" is unknown", ErrorCode::unsupported);
  for (const char* version : {"0.1.0", "0.2.0"})
    check_refused(spec_with(version, kEnv),
                  std::string("cdiVersion is ") + version + ", but the file's fields need 0.3.0");
}

TEST_CASE("each feature needs its version") {
  const auto needs = [](const std::string& needed, const std::string& edits, const std::string& more = {}) {
    static const std::vector<std::string> kVersions = {"0.3.0", "0.4.0", "0.5.0", "0.6.0",
                                                       "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
    for (const std::string& version : kVersions) {
      if (version < needed)
        check_refused(spec_with(version, edits, more),
                      "cdiVersion is " + version + ", but the file's fields need " + needed);
      else
        CHECK_NOTHROW(parse_cdi(spec_with(version, edits, more), "f"));
    }
  };
  needs("0.3.0", kEnv);
  needs("0.4.0", "{mounts: [{hostPath: /a, containerPath: /b, type: bind}]}");
  needs("0.5.0", "{deviceNodes: [{path: /dev/a, hostPath: /dev/a}]}");
  needs("0.5.0", kEnv, "- name: 0d\n  containerEdits: {env: [A=b]}\n");
  needs("0.6.0", kEnv, "  annotations: {a: b}\n");
  needs("0.6.0", kEnv, "annotations: {a: b}\n");
  needs("0.7.0", "{intelRdt: {}}");
  needs("0.7.0", kEnv, "containerEdits: {additionalGids: [0]}\n");
  needs("1.1.0", "{netDevices: [{hostInterfaceName: a, name: b}]}");
  needs("1.1.0", "{intelRdt: {schemata: [x]}}");
  needs("1.1.0", "{intelRdt: {enableMonitoring: yes}}");
  std::string dotted = spec_with("0.5.0", kEnv);
  check_refused(dotted.replace(dotted.find("/gpu"), 4, "/g.u"),
                "cdiVersion is 0.5.0, but the file's fields need 0.6.0");
}

TEST_CASE("enableCMT and enableMBM ended with 1.1.0") {
  for (const char* field : {"enableCMT", "enableMBM"}) {
    const std::string edits = std::string("{intelRdt: {") + field + ": true}}";
    CHECK_NOTHROW(parse_cdi(spec_with("0.7.0", edits), "f"));
    CHECK_NOTHROW(parse_cdi(spec_with("1.0.0", edits), "f"));
    check_refused(spec_with("1.1.0", edits), "intelRdt has enableCMT or enableMBM, which 1.1.0 no longer knows");
  }
}

TEST_CASE("kinds and names") {
  const auto kind = [](const std::string& text) {
    return "cdiVersion: 1.1.0\nkind: " + text + "\ndevices: [{name: d, containerEdits: {env: [A=b]}}]";
  };
  for (const char* good : {"a/b", "vendor.com/gpu", "a_b-c.d/e.f", "a1/b2"}) CHECK_NOTHROW(parse_cdi(kind(good), "f"));
  for (const char* bad : {"a", "a/", "/b", "1/b", "a/1", "a-/b", "a/b.", "a/b/c", "a/b c", "\xc3\xa9/b"})
    CHECK(testing::failure_of([&] { parse_cdi(kind(bad), "f"); }).detail().find("is not vendor/class") !=
          std::string::npos);
  const auto named = [](const std::string& names) { return "cdiVersion: 1.1.0\nkind: a/b\ndevices: [" + names + "]"; };
  const auto device = [](const std::string& name) { return "{name: " + name + ", containerEdits: {env: [A=b]}}"; };
  for (const char* good : {"'0'", "0:0", "GPU-1", "a.b_c", "all", "true"})
    CHECK_NOTHROW(parse_cdi(named(device(good)), "f"));
  for (const char* bad : {"-a", "a-", "a/b", "a=b", "''", "~", "a b", ":0"})
    CHECK(testing::failure_of([&] { parse_cdi(named(device(bad)), "f"); }).detail().find("devices[0].name") == 0);
  check_refused(named(device("d") + ", " + device("e") + ", " + device("d")), "devices[2].name \"d\" occurs twice");
  check_refused(named(""), "devices is empty");
  check_refused(named("~"), "devices[0].name \"\" is not a device name");
  check_refused(named("{name: d}"), "devices[0].containerEdits is empty");
  check_refused(named("{name: d, containerEdits: {env: []}}"), "devices[0].containerEdits is empty");
}

TEST_CASE("edits are validated") {
  check_edits_refused("{env: [A=b, A]}", ".env[1] is not NAME=VALUE");
  check_edits_refused("{env: [=b]}", ".env[0] is not NAME=VALUE");
  check_edits_refused("{deviceNodes: [{hostPath: /a}]}", ".deviceNodes[0].path is empty");
  check_edits_refused("{deviceNodes: [{path: /a, type: x}]}", ".deviceNodes[0].type is \"x\", not one of b, c, u, p");
  check_edits_refused("{deviceNodes: [{path: /a, permissions: rx}]}",
                      ".deviceNodes[0].permissions is \"rx\", not made of r, w and m");
  CHECK(edits_of("{deviceNodes: [{path: /a, permissions: none}]}").device_nodes.size() == 1);
  check_edits_refused("{hooks: [{hookName: createcontainer, path: /h}]}",
                      ".hooks[0].hookName is \"createcontainer\", which is no stage of a hook");
  check_edits_refused("{hooks: [{hookName: poststop}]}", ".hooks[0].path is empty");
  check_edits_refused("{hooks: [{hookName: poststop, path: h, env: [A]}]}", ".hooks[0].env[0] is not NAME=VALUE");
  CHECK(edits_of("{hooks: [{hookName: poststop, path: h, timeout: -1}]}").hooks[0].timeout == -1);
  check_edits_refused("{mounts: [{hostPath: /a}]}", ".mounts[0].containerPath is empty");
  check_edits_refused("{mounts: [{containerPath: /a}]}", ".mounts[0].hostPath is empty");
  check_edits_refused("{netDevices: [{name: a}]}", ".netDevices has a device without a name");
  check_edits_refused("{netDevices: [{hostInterfaceName: a, name: a}, {hostInterfaceName: b, name: a}]}",
                      ".netDevices names a device twice");
  for (const char* bad : {".", "..", "a/b", "\"a\\nb\""})
    check_edits_refused(std::string("{intelRdt: {closID: ") + bad + "}}",
                        ".intelRdt.closID cannot be a directory's name");
  check_edits_refused("{intelRdt: {closID: " + std::string(4096, 'a') + "}}",
                      ".intelRdt.closID cannot be a directory's name");
  CHECK(edits_of("{intelRdt: {closID: /}}").intel_rdt->clos_id == "/");
  check_refused(spec_with("0.3.0", kEnv, "containerEdits: {env: [A]}\n"), "containerEdits.env[0] is not NAME=VALUE");
}

TEST_CASE("anchors in the file's own fields work, broken YAML keeps its place") {
  CHECK(parse_cdi(spec_with("0.3.0", "&e {env: [A=b]}", "containerEdits: *e\n"), "f").edits.env.size() == 1);
  const Error error = testing::failure_of([] { parse_cdi("cdiVersion: 0.3.0\nkind: [", "f"); });
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(error.where().offset.has_value());
  CHECK(error.detail().find("line 2: not valid YAML") == 0);
  CHECK(testing::failure_of([] { parse_cdi("kind: a/b\nkind: a/b\n", "f"); }).detail().find("occurs twice") !=
        std::string::npos);
}

TEST_CASE("qualified names") {
  const auto name = parse_cdi_name("vendor.com/gpu=0:0");
  REQUIRE(name);
  CHECK((name->vendor == "vendor.com" && name->klass == "gpu" && name->name == "0:0" &&
         name->kind() == "vendor.com/gpu"));
  for (const char* bad : {"", "/dev/nvidia0", "gpu=0", "vendor.com/gpu", "vendor.com/gpu=", "v/c=a=b", "v/c/d=a",
                          "v=c/d=a", "/c=a", "v/=a", "1/c=a"})
    CHECK_MESSAGE(!parse_cdi_name(bad), bad);
}

TEST_CASE("every real file loads") {
  for (const char* file : {"h200-source.yaml", "h200-moved-root.yaml", "h200-debian-layout.yaml",
                           "h200-other-driver.yaml", "h200-uvm-major.yaml", "seed-node-a.json", "seed-node-b.json"}) {
    const std::string path = testing::testdata(std::string("cdi/") + file);
    CAPTURE(path);
    const CdiSpec spec = parse_cdi(read_text_file(path), path);
    CHECK(spec.kind() == "nvidia.com/gpu");
    CHECK_FALSE(spec.edits.mounts.empty());
  }
  const std::string samples = testing::collection_file("../cdi-samples");
  if (samples.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator(samples)) {
    if (entry.path().extension() == ".md") continue;
    CAPTURE(entry.path());
    CHECK_NOTHROW(parse_cdi(read_text_file(entry.path().string()), entry.path().string()));
  }
}

TEST_CASE("a list of driver files becomes nodes and mounts at one place") {
  const auto paths = parse_container_cli_list(
      "/dev/nvidiactl\n/dev/nvidia-caps/nvidia-cap1\r\n\n/usr/bin/nvidia-smi\n/usr/lib/a b.so", "list");
  REQUIRE(paths.size() == 4);
  const CdiEdits edits = edits_from_list(paths);
  REQUIRE(edits.device_nodes.size() == 2);
  CHECK((edits.device_nodes[1].path == "/dev/nvidia-caps/nvidia-cap1" &&
         edits.device_nodes[1].host_path == edits.device_nodes[1].path));
  REQUIRE(edits.mounts.size() == 2);
  CHECK((edits.mounts[1].host_path == "/usr/lib/a b.so" && edits.mounts[1].container_path == "/usr/lib/a b.so"));
}

TEST_CASE("what is no list of driver files is refused with its line") {
  const auto refused = [](const std::string& text, const std::string& reason) {
    CAPTURE(text);
    const Error error = testing::failure_of([&] { parse_container_cli_list(text, "list"); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(error.where().file == "list");
    CHECK_MESSAGE(error.detail().find(reason) == 0, error.detail());
  };
  refused("", "the list of driver files is empty");
  refused("\n\r\n", "the list of driver files is empty");
  refused("/dev/nvidiactl\nusr/bin/nvidia-smi\n", "line 2 is not an absolute path");
  refused("NVRM version:   580.159.04\n", "line 1 is not an absolute path");
  refused("/a\tb\n", "line 1 is not an absolute path");
  refused(std::string("/a\n/b\0c\n", 8), "line 2 is not an absolute path");
  refused("/a\n\n /b\n", "line 3 is not an absolute path");
  refused("/dev/../etc/shadow\n", "line 1 has a .. in its path");
}
