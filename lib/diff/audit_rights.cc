// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include "checkpoint/impl.h"
#include "diff/auditor.h"

namespace ckpt {

namespace {

bool is_disk(const SpecDevice& device) {
  static constexpr std::array<std::int64_t, 6> kDisks = {3, 8, 179, 252, 253, 259};
  return device.type == "b" ||
         (device.type != "c" && std::find(kDisks.begin(), kDisks.end(), device.major) != kDisks.end());
}

// Memory, ports and the kernel's log: character major 1, minors 1, 2, 4 and 11.
bool is_memory(const SpecDevice& device) {
  return device.type == "c" && device.major == 1 &&
         (device.minor == 1 || device.minor == 2 || device.minor == 4 || device.minor == 11);
}

void audit_devices(Auditor& auditor) {
  const RuntimeSpec& spec = *auditor.checkpoint.impl().spec;
  for (const SpecDevice& device : spec.devices)
    if (is_disk(device) || is_memory(device))
      auditor.add(Danger::high, "device.host", device.path,
                  "spec.dump gives the container the host's device " + device.type + " " +
                      std::to_string(device.major) + ":" + std::to_string(device.minor),
                  "import it only where that is meant to be");
  for (const SpecDeviceRule& rule : spec.device_rules)
    if (rule.allow && !rule.major && (rule.type.empty() || rule.type == "a" || rule.type == "b") &&
        rule.access.find_first_of("rw") != std::string::npos)
      auditor.add(Danger::high, "device.all", "linux.resources.devices",
                  "a rule allows " + std::string(rule.type == "b" ? "every block device" : "every device") +
                      ": the container was privileged",
                  "import it only where privileged containers may run");
}

void audit_capabilities(Auditor& auditor, const Json& spec) {
  static constexpr std::array<std::string_view, 10> kHost = {
      "CAP_SYS_ADMIN", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH",
      "CAP_BPF",       "CAP_SYS_BOOT",   "CAP_NET_ADMIN", "CAP_MAC_ADMIN",  "CAP_PERFMON"};
  std::string found;
  for (const Json& item : spec["process"]["capabilities"]["bounding"].items())
    if (std::find(kHost.begin(), kHost.end(), item.as_string()) != kHost.end())
      found += (found.empty() ? "" : ", ") + item.as_string();
  if (!found.empty())
    auditor.add(Danger::medium, "right.capabilities", "process.capabilities", "the container may use " + found,
                "import it only where that is meant to be");
}

void audit_namespaces(Auditor& auditor, const Json& spec) {
  const Json& namespaces = spec["linux"]["namespaces"];
  if (!namespaces.is_array()) return;
  for (const char* kind : {"pid", "network", "ipc", "mount"}) {
    const auto& items = namespaces.items();
    const bool own =
        std::any_of(items.begin(), items.end(), [&](const Json& item) { return item["type"].as_string() == kind; });
    if (!own)
      auditor.add(Danger::medium, "right.host_namespace", kind,
                  std::string("the container shares the host's ") + kind + " namespace",
                  "import it only where that is meant to be");
  }
}

bool sounds_secret(std::string name) {
  static constexpr std::array<std::string_view, 11> kWords = {"SECRET",      "TOKEN",      "PASSWORD", "PASSWD",
                                                              "PASSPHRASE",  "API_KEY",    "APIKEY",   "ACCESS_KEY",
                                                              "PRIVATE_KEY", "CREDENTIAL", "AUTH_KEY"};
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

void audit_environment(Auditor& auditor) {
  for (const std::string& variable : auditor.checkpoint.impl().spec->env) {
    const std::string name = variable.substr(0, variable.find('='));
    if (sounds_secret(name))
      auditor.add(Danger::low, "env.secret", name, "by its name a secret, in plain text in the archive",
                  "keep the archive like a secret; change what leaked");
  }
}

}  // namespace

void audit_rights(Auditor& auditor) {
  const Checkpoint::Impl& impl = auditor.checkpoint.impl();
  if (!impl.spec || !impl.spec_text) return;
  audit_devices(auditor);
  auditor.guard([&] {
    const Json spec = Json::parse(*impl.spec_text, impl.name, "spec.dump", impl.limits);
    audit_capabilities(auditor, spec);
    audit_namespaces(auditor, spec);
  });
  audit_environment(auditor);
}

}  // namespace ckpt
