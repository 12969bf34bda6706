// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "diff/differ.h"

namespace ckpt {

namespace {

using Items = std::vector<Keyed>;

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list) json.push(text);
  return json;
}

Json number(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

// Names that are empty when unknown are left out, so that they come and go as added and removed.
void add_text(Items& items, const char* name, const std::string& text) {
  if (!text.empty()) items.push_back({name, text, ""});
}

Items facts_of(const Checkpoint& checkpoint) {
  const ContainerFacts& facts = checkpoint.facts();
  Items items;
  add_text(items, "engine", to_string(checkpoint.engine()));
  add_text(items, "runtime", to_string(checkpoint.runtime()));
  add_text(items, "form", checkpoint.form());
  add_text(items, "compression", to_string(checkpoint.archive().compression()));
  add_text(items, "container_name", facts.name);
  add_text(items, "id", facts.id);
  add_text(items, "image", facts.image);
  add_text(items, "pod_name", facts.pod);
  add_text(items, "pod_namespace", facts.pod_namespace);
  add_text(items, "created", facts.created);
  add_text(items, "checkpointed", facts.checkpointed);
  add_text(items, "ip", facts.ip);
  add_text(items, "criu_version", checkpoint.criu_version());
  add_text(items, "criu_at_least", checkpoint.criu_at_least());
  if (checkpoint.criu_plugins()) items.push_back({"criu_plugins", texts(*checkpoint.criu_plugins()), ""});
  items.push_back({"requested_devices", texts(checkpoint.requested_devices()), ""});
  return items;
}

Items mounts_of(const Checkpoint& checkpoint) {
  std::map<std::uint32_t, std::string> mountpoints;
  for (const Mount& mount : checkpoint.mounts()) mountpoints.emplace(mount.mnt_id, mount.mountpoint);
  Items items;
  for (const Mount& mount : checkpoint.mounts()) {
    Json value = Json::object();
    value.set("source", mount.source).set("ext_key", mount.ext_key ? Json(*mount.ext_key) : Json());
    value.set("parent", mountpoints[mount.parent_mnt_id]).set("flags", mount.flags);
    value.set("fstype", mount.fstype).set("shared", mount.shared_id != 0).set("slave", mount.master_id != 0);
    value.set("hidden", mount.hidden);
    items.push_back({mount.mountpoint, std::move(value), who_mounts(mount)});
  }
  return items;
}

Items nodes_of(const Checkpoint& checkpoint) {
  Items items;
  for (const DeviceEntry& device : checkpoint.devices()) {
    if (device.place != DeviceEntry::Place::tmpfs) continue;
    Json value = Json::object();
    value.set("type", device.type).set("major", number(device.major)).set("minor", number(device.minor));
    items.push_back({device.path, std::move(value), who_makes_node(device.path)});
  }
  return items;
}

Items processes_of(const Checkpoint& checkpoint) {
  Items items;
  for (const Process& process : checkpoint.processes()) {
    Json value = Json::object();
    value.set("comm", process.comm).set("ppid", process.ppid);
    value.set("threads", static_cast<std::uint64_t>(process.threads.size()));
    value.set("state", process.state ? Json(*process.state) : Json());
    items.push_back({std::to_string(process.pid), std::move(value), ""});
  }
  return items;
}

std::string hexadecimal(const std::vector<std::uint32_t>& words) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : words)
    for (unsigned shift = 0; shift < 32; shift += 8) {
      text += kDigits[(word >> (shift + 4)) & 15U];
      text += kDigits[(word >> shift) & 15U];
    }
  return text;
}

// One file may be open many times; what CRIU checks of it is the same each time.
Items files_of(const Checkpoint& checkpoint) {
  std::map<std::string, Json> files;
  for (const auto& [id, file] : checkpoint.impl().files) {
    if (!file.reg) continue;
    Json value = Json::object();
    value.set("size", file.reg->size ? Json(*file.reg->size) : Json());
    value.set("mode", file.reg->mode ? Json(*file.reg->mode) : Json());
    value.set("build_id", file.reg->build_id.empty() ? Json() : Json(hexadecimal(file.reg->build_id)));
    files.emplace(file.reg->name, std::move(value));
  }
  Items items;
  for (auto& [name, value] : files) items.push_back({name, std::move(value), ""});
  return items;
}

Items gpu_of(const Checkpoint& checkpoint) {
  const GpuReport& gpu = checkpoint.gpu();
  Items items;
  add_text(items, "vendor", gpu.vendor);
  add_text(items, "capture", gpu.capture);
  if (!gpu.driver_versions.empty()) items.push_back({"driver_versions", texts(gpu.driver_versions), ""});
  Json pids = Json::array();
  for (const std::uint32_t pid : gpu.pids) pids.push(pid);
  items.push_back({"pids", std::move(pids), ""});
  return items;
}

Items sizes_of(const Checkpoint& checkpoint) {
  const CheckpointSizes& sizes = checkpoint.sizes();
  return {{"checkpoint", sizes.checkpoint, ""},
          {"memory_pages", sizes.memory_pages, ""},
          {"root_fs_diff", sizes.rootfs_diff, ""}};
}

// Images have sections of their own; of the other members the size shows that something is different in them.
Items members_of(const Checkpoint& checkpoint) {
  Items items;
  const std::string& prefix = checkpoint.image_prefix();
  const Archive& archive = checkpoint.archive();
  for (const Member& member : archive.members()) {
    if (archive.find(member.name) != &member) continue;
    const bool image = prefix.empty() || member.name.rfind(prefix, 0) == 0;
    Json value = Json::object();
    value.set("type", to_string(member.type));
    if (!image) value.set("size", member.size);
    if (!member.link_target.empty()) value.set("link_target", member.link_target);
    items.push_back({member.name, std::move(value), ""});
  }
  return items;
}

}  // namespace

void diff_checkpoints(std::vector<Difference>& out, const Checkpoint& a, const Checkpoint& b) {
  pair_up(out, "checkpoint", facts_of(a), facts_of(b));
  pair_up(out, "image_mounts", mounts_of(a), mounts_of(b));
  pair_up(out, "device_nodes", nodes_of(a), nodes_of(b));
  pair_up(out, "processes", processes_of(a), processes_of(b));
  pair_up(out, "files", files_of(a), files_of(b));
  pair_up(out, "gpu", gpu_of(a), gpu_of(b));
  pair_up(out, "sizes", sizes_of(a), sizes_of(b));
  pair_up(out, "members", members_of(a), members_of(b));
}

}  // namespace ckpt
