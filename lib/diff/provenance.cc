// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/paths.h"
#include "checkpoint/classify.h"
#include "diff/differ.h"

namespace ckpt {

namespace {

constexpr const char* kEngine = "engine";
constexpr const char* kRuntime = "runtime";
constexpr const char* kCdi = "cdi";
constexpr const char* kHook = "nvidia hook";
constexpr const char* kShim = "hook or shim";

template <std::size_t Count>
bool is_one_of(std::string_view word, const std::array<std::string_view, Count>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool starts(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

}  // namespace

std::string who_mounts(const std::string& destination) {
  static constexpr std::array<std::string_view, 17> kOwn = {"/",
                                                            "/proc",
                                                            "/dev",
                                                            "/dev/pts",
                                                            "/dev/mqueue",
                                                            "/dev/shm",
                                                            "/sys",
                                                            "/sys/fs/cgroup",
                                                            "/run",
                                                            "/etc/hostname",
                                                            "/etc/hosts",
                                                            "/etc/mtab",
                                                            "/etc/resolv.conf",
                                                            "/run/secrets",
                                                            "/run/.containerenv",
                                                            "/dev/termination-log",
                                                            "/var/run/secrets/kubernetes.io/serviceaccount"};
  if (is_one_of(destination, kOwn)) return kEngine;
  const auto driver = classify_driver_path(destination);
  if (!driver) return "";
  return is_driver_class(*driver) ? kCdi : kHook;
}

// What the spec does not know came after it was written.
std::string who_mounts(const Mount& mount) {
  if (mount.mount_class == MountClass::masked) return kRuntime;
  if (mount.mount_class == MountClass::root) return kEngine;
  if (!mount.hidden) return mount.known_from == "mounts" ? who_mounts(mount.mountpoint) : std::string();
  const bool driver = is_driver_class(mount.mount_class) || mount.mount_class == MountClass::procfs ||
                      mount.mount_class == MountClass::hook_scratch;
  return driver ? kHook : kShim;
}

std::string who_makes_node(const std::string& path) {
  static constexpr std::array<std::string_view, 9> kDefault = {"/dev/null", "/dev/zero",    "/dev/full",
                                                               "/dev/tty",  "/dev/random",  "/dev/urandom",
                                                               "/dev/ptmx", "/dev/console", "/dev/pts/ptmx"};
  if (is_one_of(path, kDefault)) return kRuntime;
  return starts(path, "/dev/nvidia") || path == "/dev/kfd" || starts(path, "/dev/dri/") ? kCdi : "";
}

std::string who_hooks(const std::string& program) {
  const std::string_view base = base_name(program);
  if (base == "nvidia-cdi-hook" || base == "nvidia-ctk") return kCdi;
  return base == "nvidia-container-runtime-hook" || base == "nvidia-container-toolkit" ? "nvidia runtime" : "";
}

std::string who_sets(const std::string& variable, const std::string& value) {
  static constexpr std::array<std::string_view, 4> kEngines = {"HOSTNAME", "TERM", "container", "HOME"};
  if (is_one_of(variable, kEngines)) return kEngine;
  // nvidia-ctk's files turn the legacy hook off that way.
  if (variable == "NVIDIA_VISIBLE_DEVICES" && value == "void") return kCdi;
  return starts(variable, "KUBERNETES_") ? kEngine : "";
}

std::string who_annotates(const std::string& key) {
  static constexpr std::array<std::string_view, 6> kEngines = {
      "io.container.manager", "io.kubernetes.", "io.podman.", "io.containerd.", "kubernetes.io/", "org.systemd."};
  if (starts(key, "cdi.k8s.io/")) return kCdi;
  const bool engine =
      std::any_of(kEngines.begin(), kEngines.end(), [&](std::string_view start) { return starts(key, start); });
  return engine ? kEngine : "";
}

}  // namespace ckpt
