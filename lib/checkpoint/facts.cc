// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include "base/paths.h"
#include "checkpoint/impl.h"

namespace ckpt {

namespace {

using Impl = Checkpoint::Impl;

std::string annotation(const Impl& checkpoint, const std::string& key) {
  if (!checkpoint.spec) return {};
  const auto found = checkpoint.spec->annotations.find(key);
  return found == checkpoint.spec->annotations.end() ? std::string() : found->second;
}

Engine engine_of(const Impl& checkpoint) {
  const std::string manager = annotation(checkpoint, "io.container.manager");
  if (manager == "libpod") return Engine::podman;
  if (manager == "cri-o") return Engine::cri_o;
  if (checkpoint.form == "ctr-index" || checkpoint.find("status.dump")) return Engine::containerd;
  if (checkpoint.find("bind.mounts") || checkpoint.find("io.kubernetes.cri-o.LogPath")) return Engine::cri_o;
  if (checkpoint.find("network.status")) return Engine::podman;
  if (checkpoint.spec || checkpoint.config_text) return Engine::unknown;
  return Engine::runc;
}

// runc registers every masked file under the one key "/dev/null", crun under the file's own path (engines.md 6.2).
Runtime runtime_by_keys(const Impl& checkpoint) {
  for (const Mount& mount : checkpoint.mounts) {
    if (mount.key_kind != KeyKind::keyed || mount.mountpoint.rfind("/proc/", 0) != 0) continue;
    if (*mount.ext_key == "/dev/null") return Runtime::runc;
    if (*mount.ext_key == mount.mountpoint) return Runtime::crun;
  }
  return Runtime::unknown;
}

Runtime runtime_by_name(const std::string& name) {
  const std::string_view base = base_name(name);
  if (base == "runc" || base == "io.containerd.runc.v2") return Runtime::runc;
  return base == "crun" ? Runtime::crun : Runtime::unknown;
}

bool is_image(std::string_view name, std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; }

void measure(Impl& checkpoint) {
  for (const Archive& layer : checkpoint.layers)
    for (const Member& member : layer.members()) {
      if (member.type != MemberType::file || layer.find(member.name) != &member) continue;
      if (member.name == "rootfs-diff.tar") checkpoint.sizes.rootfs_diff += member.size;
      if (member.name.compare(0, checkpoint.image_prefix.size(), checkpoint.image_prefix) != 0) continue;
      checkpoint.sizes.checkpoint += member.size;
      if (is_image(std::string_view(member.name).substr(checkpoint.image_prefix.size()), "pages-"))
        checkpoint.sizes.memory_pages += member.size;
    }
}

std::string rfc3339(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (seconds <= 0 || ::gmtime_r(&time, &parts) == nullptr) return {};
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// Each later sign overrides an earlier, weaker one (criu.md 2, version history of fields).
std::string criu_bound(const Impl& checkpoint) {
  std::string bound = checkpoint.criu_at_least;
  if (!checkpoint.inventory) return bound;
  const criu::Inventory& inventory = *checkpoint.inventory;
  if (bound.empty() && inventory.tcp_close) bound = "3.15";
  if ((bound.empty() || bound == "3.15") && inventory.network_lock_method) bound = "3.16";
  if (inventory.plugins || inventory.dump_criu_run_id) bound = "4.1";
  if (inventory.allow_uprobes || checkpoint.pagemaps_have_nr_pages) bound = "4.2";
  return bound;
}

std::string version_in_log(const std::optional<std::string>& log) {
  constexpr std::string_view kMark = "Version: ";
  const std::size_t at = log ? log->find(kMark) : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kMark.size();
  return log->substr(begin, log->find_first_of(" \n", begin) - begin);
}

void collect_names(Impl& checkpoint) {
  ContainerFacts& facts = checkpoint.facts;
  facts.id = checkpoint.config.id;
  facts.name = checkpoint.config.name;
  facts.image = checkpoint.config.image;
  facts.created = checkpoint.config.created;
  facts.checkpointed = checkpoint.config.checkpointed;
  facts.pod = annotation(checkpoint, "io.kubernetes.pod.name");
  facts.pod_namespace = annotation(checkpoint, "io.kubernetes.pod.namespace");
  if (checkpoint.engine == Engine::containerd) {
    const std::string name = annotation(checkpoint, "io.kubernetes.cri.container-name");
    if (!name.empty()) facts.name = name;
    facts.pod = annotation(checkpoint, "io.kubernetes.cri.sandbox-name");
    facts.pod_namespace = annotation(checkpoint, "io.kubernetes.cri.sandbox-namespace");
  }
  if (facts.checkpointed.empty())
    if (const Located inventory = checkpoint.find(checkpoint.image_prefix + "inventory.img"))
      facts.checkpointed = rfc3339(inventory.member->mtime);
  facts.ip = annotation(checkpoint, "io.kubernetes.cri-o.IP.0");
  if (!facts.ip.empty()) return;
  checkpoint.guard([&] {
    if (const auto status = checkpoint.read("network.status"))
      facts.ip = read_network_address(Json::parse(*status, checkpoint.name, "network.status", checkpoint.limits));
  });
}

void collect_requests(Impl& checkpoint) {
  checkpoint.requested_devices = checkpoint.config.cdi_devices;
  if (checkpoint.spec)
    for (std::string& name : cdi_names_in_annotations(checkpoint.spec->annotations))
      checkpoint.requested_devices.push_back(std::move(name));
}

}  // namespace

void detect_engine(Impl& checkpoint) {
  checkpoint.engine = engine_of(checkpoint);
  if (checkpoint.inventory) checkpoint.criu_plugins = checkpoint.inventory->plugins;
  collect_requests(checkpoint);
}

void collect_facts(Impl& checkpoint) {
  std::string runtime_name = checkpoint.config.runtime;
  if (const auto found = checkpoint.image_annotations.find("io.containerd.checkpoint.runtime");
      found != checkpoint.image_annotations.end() && runtime_name.empty())
    runtime_name = found->second;
  checkpoint.runtime = runtime_by_name(runtime_name);
  if (checkpoint.runtime == Runtime::unknown) checkpoint.runtime = runtime_by_keys(checkpoint);
  if (checkpoint.engine == Engine::runc && checkpoint.runtime == Runtime::crun) checkpoint.engine = Engine::crun;
  measure(checkpoint);
  collect_names(checkpoint);
  checkpoint.criu_at_least = criu_bound(checkpoint);
  checkpoint.guard([&] {
    const Located log = checkpoint.find("dump.log");
    if (log && log.member->size <= (1U << 20)) checkpoint.criu_version = version_in_log(checkpoint.read("dump.log"));
  });
}

}  // namespace ckpt
