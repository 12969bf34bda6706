// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include <memory>
#include <set>

#include "commands.h"

namespace ckpt::tool {

namespace {

struct Filter {
  bool gpu = false;
  bool hidden = false;
  std::vector<std::uint32_t> ids;
};

bool is_gpu(MountClass mount_class) {
  return is_driver_class(mount_class) || mount_class == MountClass::procfs || mount_class == MountClass::hook_scratch ||
         mount_class == MountClass::request;
}

bool passes(const Mount& mount, const Filter& filter) {
  if (filter.gpu && !is_gpu(mount.mount_class)) return false;
  if (filter.hidden && !mount.hidden) return false;
  return filter.ids.empty() || std::find(filter.ids.begin(), filter.ids.end(), mount.mnt_id) != filter.ids.end();
}

std::vector<std::uint32_t> pids_of(const Mount& mount) {
  std::set<std::uint32_t> pids;
  for (const MountUse& use : mount.uses) pids.insert(use.pid);
  return {pids.begin(), pids.end()};
}

std::string uses_of(const Mount& mount) {
  std::set<std::string> uses;
  for (const MountUse& use : mount.uses) uses.insert(fmt::format("{} {}", use.pid, use.how));
  return fmt::format("{}", fmt::join(uses, ", "));
}

std::string key_of(const Mount& mount) {
  if (mount.key_kind != KeyKind::keyed) return to_string(mount.key_kind);
  return *mount.ext_key == mount.mountpoint ? "keyed" : "keyed: " + *mount.ext_key;
}

std::string mounts_text(const Checkpoint& checkpoint, const Filter& filter) {
  Table table({"ID", "PARENT", "CLASS", "KNOWN FROM", "KEY", "MOUNTPOINT", "SOURCE", "USED BY"});
  for (const Mount& mount : checkpoint.mounts())
    if (passes(mount, filter))
      table.row({std::to_string(mount.mnt_id), std::to_string(mount.parent_mnt_id), to_string(mount.mount_class),
                 mount.hidden ? "image only" : mount.known_from, key_of(mount), mount.mountpoint, mount.source,
                 uses_of(mount)});
  return table.empty() ? "No such mounts.\n" : table.text();
}

Json uses_json(const Mount& mount) {
  Json uses = Json::array();
  for (const MountUse& use : mount.uses) {
    Json json = Json::object();
    json.set("pid", use.pid).set("how", use.how).set("file", use.file);
    if (use.size) json.set("size", *use.size);
    uses.push(std::move(json));
  }
  return uses;
}

Json mount_json(const Mount& mount) {
  Json pids = Json::array();
  for (const std::uint32_t pid : pids_of(mount)) pids.push(pid);
  Json json = Json::object();
  json.set("mnt_id", mount.mnt_id).set("parent_mnt_id", mount.parent_mnt_id).set("mountpoint", mount.mountpoint);
  json.set("source", mount.source).set("ext_key", mount.ext_key ? Json(*mount.ext_key) : Json());
  json.set("key_kind", to_string(mount.key_kind)).set("class", to_string(mount.mount_class));
  json.set("hidden", mount.hidden).set("pids", std::move(pids));
  json.set("known_from", optional_text(mount.known_from)).set("root", mount.root).set("fstype", mount.fstype);
  json.set("shared_id", mount.shared_id).set("master_id", mount.master_id).set("uses", uses_json(mount));
  return json;
}

Json mounts_json(const Checkpoint& checkpoint, const Filter& filter) {
  Json list = Json::array();
  for (const Mount& mount : checkpoint.mounts())
    if (passes(mount, filter)) list.push(mount_json(mount));
  Json json = Json::object();
  return json.set("archive", checkpoint.name()).set("mounts", std::move(list));
}

}  // namespace

Action add_mounts(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("mounts", "List every mount of the CRIU image, joined with spec.dump");
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto filter = std::make_shared<Filter>();
  command->add_option("ARCHIVE", *paths, "Checkpoint archives; - is standard input")->required();
  command->add_flag("--gpu", filter->gpu, "Only what belongs to a GPU driver");
  command->add_flag("--hidden", filter->hidden, "Only what spec.dump does not know");
  command->add_option("--mnt-id", filter->ids, "Only the mount of that id (the number in CRIU's messages)")
      ->type_name("N")
      ->allow_extra_args(false);
  return [paths, filter, context] {
    return report_archives(context, *paths,
                           {"ckpt.mounts/1", [&](const Checkpoint& one) { return mounts_json(one, *filter); },
                            [&](const Checkpoint& one) { return mounts_text(one, *filter); }});
  };
}

}  // namespace ckpt::tool
