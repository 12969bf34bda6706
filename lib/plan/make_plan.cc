// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "ckpt/plan.h"

namespace ckpt {

namespace {

constexpr const char* kSpec = "spec.dump";
constexpr const char* kBindMounts = "bind.mounts";
constexpr const char* kRootfsDiff = "rootfs-diff.tar";
constexpr const char* kDevices = "/linux/devices";
constexpr const char* kRules = "/linux/resources/devices";

// MS_* bits of mount(2) that a bind can carry, as words of an OCI mount.
std::vector<std::string> bind_options(std::uint32_t flags) {
  std::vector<std::string> options;
  options.emplace_back((flags & 1U) != 0 ? "ro" : "rw");
  if ((flags & 2U) != 0) options.emplace_back("nosuid");
  if ((flags & 4U) != 0) options.emplace_back("nodev");
  if ((flags & 8U) != 0) options.emplace_back("noexec");
  options.emplace_back("rbind");
  options.emplace_back("rprivate");
  return options;
}

Json bind_of(const Mount& mount, const std::string& source) {
  Json options = Json::array();
  for (const std::string& option : bind_options(mount.flags)) options.push(option);
  Json bind = Json::object();
  bind.set("destination", mount.mountpoint).set("type", "bind").set("source", source);
  return bind.set("options", std::move(options));
}

std::string numbers(std::int64_t major, std::int64_t minor) {
  return std::to_string(major) + ":" + std::to_string(minor);
}

/// Collects edits in an order in which every JSON pointer stays true: values first, then removals from the highest
/// index down, then new items.
class Planner {
 public:
  Planner(const Checkpoint& checkpoint, const Comparison& comparison)
      : checkpoint_(checkpoint), comparison_(comparison), spec_(document(kSpec)) {}

  Plan run(Provenance provenance) {
    plan_.engine = comparison_.engine;
    plan_.runtime = comparison_.runtime;
    for (const MountChange& change : comparison_.mounts) repoint(change);
    for (const DeviceChange& change : comparison_.devices) renumber(change);
    for (const DocumentChange& change : comparison_.documents) edit_document(change);
    remove_spec_mounts();
    remove_hooks();
    for (const MountChange& change : comparison_.mounts) add(change);
    for (const DeviceAddition& addition : comparison_.added_devices) add_device(addition);
    if (comparison_.engine == Engine::cri_o) remove_bind_mounts();
    for (const MountChange& change : comparison_.mounts) edit_image(change);
    for (const FileChange& change : comparison_.files) rename_file(change);
    add_placeholders();
    if (provenance == Provenance::record && !plan_.edits.empty()) record();
    return std::move(plan_);
  }

 private:
  Json document(const std::string& member) const {
    const auto text = member == kSpec ? checkpoint_.spec_text() : checkpoint_.impl().read(member);
    return text ? Json::parse(*text, checkpoint_.name(), member, checkpoint_.impl().limits) : Json();
  }

  Edit& push(Edit::Op op, std::string member) {
    plan_.edits.emplace_back();
    plan_.edits.back().op = op;
    plan_.edits.back().member = std::move(member);
    return plan_.edits.back();
  }

  void replace(const std::string& pointer, Json after) {
    const Json* before = spec_.at_pointer(pointer);
    if (before != nullptr && *before == after) return;
    Edit& edit = push(Edit::Op::replace, kSpec);
    edit.pointer = pointer;
    edit.before = before == nullptr ? Json() : *before;
    edit.after = std::move(after);
  }

  void remove(const std::string& pointer) {
    Edit& edit = push(Edit::Op::remove, kSpec);
    edit.pointer = pointer;
    if (const Json* before = spec_.at_pointer(pointer)) edit.before = *before;
  }

  void edit_document(const DocumentChange& change) {
    const Json whole = document(change.member);
    const Json* before = whole.at_pointer(change.pointer);
    if (before == nullptr || (change.after && *before == *change.after)) return;
    Edit& edit = push(change.after ? Edit::Op::replace : Edit::Op::remove, change.member);
    edit.pointer = change.pointer;
    edit.before = *before;
    if (change.after) edit.after = *change.after;
  }

  void repoint(const MountChange& change) {
    if (change.action == MountChange::Action::repoint)
      replace("/mounts/" + std::to_string(*change.spec_index) + "/source", change.new_source);
  }

  void renumber(const DeviceChange& change) {
    const DeviceEntry& device = checkpoint_.devices()[change.device];
    if (device.place == DeviceEntry::Place::tmpfs) {
      Edit& edit = push(Edit::Op::renumber, device.member);
      edit.node = device.node_name;
      edit.before = numbers(change.old_major, *change.old_minor);
      edit.after = numbers(change.new_major, *change.new_minor);
      return;
    }
    const std::string list = device.place == DeviceEntry::Place::rule ? kRules : kDevices;
    const std::string entry = list + "/" + std::to_string(device.index);
    replace(entry + "/major", change.new_major);
    if (change.new_minor && change.old_minor != change.new_minor) replace_or_add_minor(entry, *change.new_minor);
  }

  // Minor 0 may be left out of a device; then there is nothing to replace, and the whole entry gets new text.
  void replace_or_add_minor(const std::string& entry, std::int64_t minor) {
    if (spec_.at_pointer(entry + "/minor") != nullptr) return replace(entry + "/minor", minor);
    Json whole = *spec_.at_pointer(entry);
    whole.set("minor", minor);
    if (!plan_.edits.empty() && plan_.edits.back().pointer == entry + "/major") {
      whole.set("major", plan_.edits.back().after);
      plan_.edits.pop_back();
    }
    replace(entry, std::move(whole));
  }

  static bool leaves_spec(const MountChange& change) {
    using Action = MountChange::Action;
    return change.spec_index && (change.action == Action::drop || change.action == Action::list ||
                                 change.action == Action::in_image || change.action == Action::unspec);
  }

  void remove_spec_mounts() {
    std::vector<std::size_t> indexes;
    for (const MountChange& change : comparison_.mounts)
      if (leaves_spec(change)) indexes.push_back(*change.spec_index);
    std::sort(indexes.begin(), indexes.end(), std::greater<>());
    for (const std::size_t index : indexes) remove("/mounts/" + std::to_string(index));
    removed_mounts_ = indexes.size();
  }

  // CRI-O makes missing sources on the host for what stands there (engines.md 9, trap 5).
  void remove_bind_mounts() {
    std::set<std::string> gone;
    for (const MountChange& change : comparison_.mounts)
      if (leaves_spec(change) || change.action == MountChange::Action::drop) gone.insert(change.mountpoint);
    const Json list = document(kBindMounts);
    for (std::size_t i = list.size(); i-- > 0;) {
      if (gone.count(clean_path(list[i]["destination"].as_string())) == 0) continue;
      Edit& edit = push(Edit::Op::remove, kBindMounts);
      edit.pointer = "/" + std::to_string(i);
      edit.before = list[i];
    }
  }

  // A stage that loses all its hooks goes as a whole, and so does an object of stages.
  void remove_hooks() {
    std::map<std::string, std::vector<std::size_t>> by_stage;
    for (const HookChange& hook : comparison_.hooks) by_stage[hook.stage].push_back(hook.index);
    if (by_stage.empty()) return;
    const Json& hooks = spec_["hooks"];
    const bool all = by_stage.size() == hooks.size() &&
                     std::all_of(by_stage.begin(), by_stage.end(),
                                 [&](const auto& stage) { return stage.second.size() == hooks[stage.first].size(); });
    if (all) return remove("/hooks");
    for (auto& [stage, indexes] : by_stage) {
      if (indexes.size() == hooks[stage].size()) {
        remove("/hooks/" + stage);
        continue;
      }
      std::sort(indexes.begin(), indexes.end(), std::greater<>());
      for (const std::size_t index : indexes) remove("/hooks/" + stage + "/" + std::to_string(index));
    }
  }

  void append(const std::string& list, std::size_t length, Json item) {
    Edit& edit = push(Edit::Op::append, kSpec);
    edit.pointer = list;
    edit.before = static_cast<std::uint64_t>(length + added_[list]++);
    edit.after = std::move(item);
  }

  void add(const MountChange& change) {
    if (change.action != MountChange::Action::add) return;
    append("/mounts", spec_["mounts"].size() - removed_mounts_,
           bind_of(checkpoint_.mounts()[*change.mount], change.new_source));
  }

  void add_device(const DeviceAddition& addition) {
    const DeviceEntry& like = checkpoint_.devices()[addition.like];
    if (like.place == DeviceEntry::Place::tmpfs) {
      Edit& edit = push(Edit::Op::add_node, like.member);
      edit.node = addition.path.substr(like.path.size() - like.node_name.size());
      edit.before = like.node_name;
      edit.after = numbers(addition.major, addition.minor);
      return;
    }
    Json device = *spec_.at_pointer(kDevices + std::string("/") + std::to_string(like.index));
    device.set("path", addition.path).set("major", addition.major).set("minor", addition.minor);
    append(kDevices, spec_["linux"]["devices"].size(), std::move(device));
    if (!will_allow(like.type, addition)) append_rule(like.type, addition);
  }

  void append_rule(const std::string& type, const DeviceAddition& addition) {
    Json rule = Json::object();
    rule.set("allow", true).set("type", type).set("major", addition.major).set("minor", addition.minor);
    const Json& rules = spec_["linux"]["resources"]["devices"];
    if (rules.is_array()) append(kRules, rules.size(), std::move(rule.set("access", "rwm")));
  }

  // Whether a rule of the archive has those numbers once the plan is carried out.
  bool will_allow(const std::string& type, const DeviceAddition& addition) const {
    const auto& devices = checkpoint_.devices();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const DeviceEntry& rule = devices[i];
      if (rule.place != DeviceEntry::Place::rule || !rule.allow || rule.type != type) continue;
      auto major = rule.major;
      auto minor = rule.minor;
      for (const DeviceChange& change : comparison_.devices)
        if (change.device == i) {
          major = change.new_major;
          minor = change.new_minor;
        }
      if (major == addition.major && (!minor || minor == addition.minor)) return true;
    }
    return false;
  }

  void edit_image(const MountChange& change) {
    if (!change.mount || change.action == MountChange::Action::unspec) return;
    const Mount& mount = checkpoint_.mounts()[*change.mount];
    if (change.action == MountChange::Action::drop) {
      Edit& edit = push(Edit::Op::remove_mount, mount.image_member);
      edit.mnt_id = mount.mnt_id;
      edit.before = mount.mountpoint;
      return;
    }
    if (change.action == MountChange::Action::rename)
      set_field(mount, "mountpoint", mount.mountpoint, change.new_mountpoint);
    if (change.action == MountChange::Action::in_image) return name_in_image(mount, change);
    if (change.new_key) set_key(mount, *change.new_key);
    if (change.action == MountChange::Action::list)
      plan_.externals.push_back({change.new_key.value_or(mount.ext_key.value_or("")), change.new_source, mount.mnt_id,
                                 mount.mountpoint});
  }

  void set_key(const Mount& mount, const std::string& key) {
    if (mount.key_kind == KeyKind::legacy) set_field(mount, "ext_mount", true, Json());
    set_field(mount, "ext_key", mount.key_kind == KeyKind::legacy ? Json() : Json(*mount.ext_key), key);
  }

  // The image's own source: for a mount that spec.dump knows the model has spec.dump's.
  void name_in_image(const Mount& mount, const MountChange& change) {
    if (mount.key_kind != KeyKind::autogenerated) set_key(mount, "CRIU:AUTOGENERATED");
    const std::string source = image_source(mount);
    if (source != change.new_source) set_field(mount, "source", source, change.new_source);
  }

  std::string image_source(const Mount& mount) const {
    for (const MountNamespace& space : checkpoint_.impl().namespaces)
      for (const criu::MountEntry& entry : space.mounts)
        if (space.member == mount.image_member && entry.mnt_id == mount.mnt_id) return entry.source;
    return mount.source;
  }

  void set_field(const Mount& mount, const char* field, Json before, Json after) {
    Edit& edit = push(Edit::Op::set_field, mount.image_member);
    edit.mnt_id = mount.mnt_id;
    edit.field = field;
    edit.before = std::move(before);
    edit.after = std::move(after);
  }

  void rename_file(const FileChange& change) {
    const std::string& prefix = checkpoint_.image_prefix();
    Edit& edit = push(Edit::Op::rename_file,
                      prefix + (checkpoint_.impl().find(prefix + "files.img") ? "files.img" : "reg-files.img"));
    edit.file_id = change.id;
    edit.before = change.old_name;
    edit.after = change.new_name;
  }

  // A runtime makes the mountpoints of what its configuration names; the others have to come with the root file system.
  void add_placeholders() {
    std::set<std::string> have;
    bool listed = false;
    for (const MountChange& change : comparison_.mounts) {
      if (change.placeholder == MountChange::Placeholder::none) continue;
      if (!listed) have = rootfs_names();
      listed = true;
      const std::string name = clean_path(change.mountpoint).substr(1);
      if (!have.insert(name).second) continue;
      Edit& edit = push(Edit::Op::placeholder, kRootfsDiff);
      edit.node = name;
      edit.after = change.placeholder == MountChange::Placeholder::directory ? "directory" : "file";
    }
  }

  std::set<std::string> rootfs_names() const {
    std::set<std::string> names;
    const Located found = checkpoint_.impl().find(kRootfsDiff);
    if (!found) return names;
    ArchiveOptions options;
    options.limits = checkpoint_.impl().limits;
    const Archive inner = found.archive->open_member(*found.member, options);
    for (const Member& member : inner.members()) names.insert(member.name);
    return names;
  }

  void record() {
    if (checkpoint_.has_record() || !checkpoint_.spec_text()) return;
    Edit& edit = push(Edit::Op::copy_member, kSpec);
    edit.after = "spec.dump.orig";
  }

  const Checkpoint& checkpoint_;
  const Comparison& comparison_;
  Json spec_;
  Plan plan_;
  std::size_t removed_mounts_ = 0;
  std::map<std::string, std::uint64_t> added_;  ///< items appended so far, by list
};

}  // namespace

Plan make_plan(const Checkpoint& checkpoint, const Comparison& comparison, Provenance provenance) {
  return Planner(checkpoint, comparison).run(provenance);
}

}  // namespace ckpt
