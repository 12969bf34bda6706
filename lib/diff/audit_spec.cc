// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/auditor.h"

namespace ckpt {

namespace {

bool has_dot_dot(std::string_view path) {
  const std::string slashed = "/" + std::string(path) + "/";
  return slashed.find("/../") != std::string::npos;
}

void audit_deleted_files(Auditor& auditor) {
  const Json list = auditor.document("deleted.files");
  for (const Json& item : list.items()) {
    const std::string& path = item.as_string();
    if (path.empty() || has_dot_dot(path) || clean_path(path) == "/")
      auditor.add(
          Danger::high, "deleted.escapes", path,
          "deleted.files names a path that leads out of the container; CRI-O and older Podman delete it as root",
          "do not import this archive");
  }
}

void audit_bind_mounts(Auditor& auditor) {
  std::set<std::string> destinations;
  if (const auto& spec = auditor.checkpoint.impl().spec)
    for (const SpecMount& mount : spec->mounts) destinations.insert(mount.destination);
  const Json list = auditor.document("bind.mounts");
  for (const Json& item : list.items()) {
    const std::string& source = item["source"].as_string();
    const std::string& destination = item["destination"].as_string();
    if (source.rfind('/', 0) != 0 || has_dot_dot(source)) {
      auditor.add(Danger::high, "bind.escapes", destination,
                  "bind.mounts has the source \"" + source + "\", which is no plain absolute path",
                  "do not import this archive");
      continue;
    }
    const bool known = destinations.count(destination) != 0;
    auditor.add(known ? Danger::low : Danger::medium, known ? "bind.creates" : "bind.unknown", destination,
                "CRI-O creates " + source + " on the host when it is not there" +
                    (known ? "" : ", though spec.dump has no such mount"),
                known ? "have it there before the restore" : "take it out of bind.mounts");
  }
}

bool runs_again(const SpecHook& hook, Runtime runtime) {
  return runtime != Runtime::crun && (hook.stage == "prestart" || hook.stage == "createRuntime");
}

void audit_hooks(Auditor& auditor) {
  const Runtime runtime = auditor.checkpoint.runtime();
  for (const SpecHook& hook : auditor.checkpoint.impl().spec->hooks) {
    const bool again = runs_again(hook, runtime);
    const bool stops = hook.stage == "poststop" || hook.stage == "poststart";
    auditor.add(again || stops ? Danger::high : Danger::low, again || stops ? "hook.runs" : "hook.kept", hook.path,
                "a " + hook.stage + " hook of spec.dump" +
                    (again || stops ? " that the runtime runs on the host as root" : ", not run at a restore"),
                again ? "ckpt-patch --drop-hooks drops it" : "see that the program is one that you know");
  }
}

std::map<std::string, std::string> all_annotations(const Checkpoint::Impl& impl) {
  std::map<std::string, std::string> all = impl.spec->annotations;
  const auto embedded = all.find("io.kubernetes.cri-o.Annotations");
  if (embedded == all.end()) return all;
  try {
    const Json document = Json::parse(embedded->second, impl.name, "spec.dump", impl.limits);
    for (const auto& [key, value] : document.members()) all.emplace(key, value.as_string());
  } catch (const Error&) {
    // CRI-O refuses the archive for it; nothing in there can do harm.
  }
  return all;
}

void audit_annotations(Auditor& auditor) {
  for (const auto& [key, value] : all_annotations(auditor.checkpoint.impl())) {
    if (key.rfind("cdi.k8s.io/", 0) == 0)
      auditor.add(Danger::high, "annotation.cdi", key,
                  "asks for the devices of a CDI file, which engines without the fix of CVE-2026-53492 give it "
                  "whatever the pod may have: " +
                      value,
                  "ckpt-patch --strip-cdi-annotations takes it out; let the pod ask for devices");
    if (key == "org.criu.config" && !value.empty())
      auditor.add(Danger::high, "annotation.criu_config", key,
                  "makes the runtime give CRIU the configuration file " + value + ", whose scripts run as root",
                  "take the annotation out");
    if (key == "run.oci.handler" || key.rfind("run.oci.hooks.", 0) == 0)
      auditor.add(Danger::medium, "annotation.runtime", key, "changes what crun does: " + value,
                  "take the annotation out");
  }
}

// "host:5000/a/b" of "host:5000/a/b:tag" or "host:5000/a/b@sha256:...".
std::string repository_of(const std::string& reference) {
  const std::string name = reference.substr(0, reference.find('@'));
  const std::size_t slash = name.rfind('/');
  return name.substr(0, name.find(':', slash == std::string::npos ? 0 : slash));
}

void audit_base_image(Auditor& auditor) {
  if (auditor.checkpoint.engine() != Engine::containerd) return;
  const Json config = auditor.document("config.dump");
  const std::string& reference = config["rootfsImageRef"].as_string();
  const std::string& name = config["rootfsImageName"].as_string();
  if (reference.find('@') == std::string::npos || name.empty() || repository_of(reference) == repository_of(name))
    return;
  auditor.add(Danger::medium, "image.retag", name,
              "containerd without the fix of CVE-2026-50195 pulls " + reference + " and gives it this name",
              "see that the two are the same image, or update containerd");
}

// Places of a host that give whoever has them the host.
bool is_sensitive(const std::string& source) {
  static constexpr std::array<std::string_view, 16> kBelow = {"/etc",
                                                              "/root",
                                                              "/boot",
                                                              "/proc",
                                                              "/sys",
                                                              "/dev/mem",
                                                              "/dev/kmem",
                                                              "/dev/disk",
                                                              "/var/lib/docker",
                                                              "/var/lib/containerd",
                                                              "/var/lib/etcd",
                                                              "/run/docker.sock",
                                                              "/run/containerd",
                                                              "/run/crio",
                                                              "/run/podman",
                                                              "/run/systemd"};
  if (source == "/" || source == "/dev" || source == "/var/lib/kubelet" || source == "/run" || source == "/var" ||
      source == "/usr" || source == "/home")
    return true;
  return std::any_of(kBelow.begin(), kBelow.end(), [&](std::string_view top) { return is_within(source, top); });
}

// Files that the engines themselves put into every container.
bool is_engines_own(const std::string& source, const std::string& destination) {
  static constexpr std::array<std::string_view, 8> kOwn = {"/etc/hosts",           "/etc/hostname", "/etc/resolv.conf",
                                                           "/run/.containerenv",   "/run/secrets",  "/dev/shm",
                                                           "/dev/termination-log", "/etc/mtab"};
  return destination == "/sys/fs/cgroup" || source == "/etc/localtime" ||
         std::any_of(kOwn.begin(), kOwn.end(), [&](std::string_view own) { return destination == own; });
}

void audit_spec_mounts(Auditor& auditor) {
  for (const SpecMount& mount : auditor.checkpoint.impl().spec->mounts) {
    if (!mount.is_bind() || is_engines_own(mount.source, mount.destination)) continue;
    const std::string source = canonical_path(mount.source);
    if (mount.source.rfind('/', 0) != 0 || has_dot_dot(mount.source))
      auditor.add(Danger::high, "mount.escapes", mount.destination,
                  "comes from \"" + mount.source + "\", which is no plain absolute path", "do not import this archive");
    else if (is_sensitive(source))
      auditor.add(Danger::high, "mount.sensitive", mount.destination,
                  "comes from " + mount.source + " of the host, which gives the container a hold of the host",
                  "leave it out with ckpt-patch --drop-mount, or import where that is meant to be");
    else
      auditor.add(Danger::low, "mount.host_path", mount.destination, "comes from " + mount.source + " of the host",
                  "see that it is a path that this container may have");
  }
}

// Mounts that no document of the engine knows: CRIU takes their host path from the image.
void audit_hidden_mounts(Auditor& auditor) {
  for (const Mount& mount : auditor.checkpoint.mounts())
    if (mount.hidden && mount.key_kind == KeyKind::autogenerated)
      auditor.add(
          is_sensitive(canonical_path(mount.source)) ? Danger::high : Danger::medium, "mount.in_image_only",
          mount.mountpoint,
          "only the CRIU image knows it; with external=mnt[] CRIU binds " + clean_path(mount.source) +
              " of the host, past every check of the engine",
          "do not set external=mnt[] for archives that you do not trust; ckpt-patch makes it an ordinary mount");
}

}  // namespace

void audit_lists(Auditor& auditor) {
  auditor.guard([&] { audit_deleted_files(auditor); });
  auditor.guard([&] { audit_bind_mounts(auditor); });
}

void audit_spec(Auditor& auditor) {
  audit_hidden_mounts(auditor);
  auditor.guard([&] { audit_base_image(auditor); });
  if (!auditor.checkpoint.impl().spec) return;
  audit_hooks(auditor);
  audit_annotations(auditor);
  audit_spec_mounts(auditor);
}

}  // namespace ckpt
