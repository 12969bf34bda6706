// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "ckpt/plan.h"

namespace ckpt {

namespace {

constexpr const char* kSpec = "spec.dump";

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
      : checkpoint_(checkpoint),
        comparison_(comparison),
        spec_(checkpoint.spec_text() ? Json::parse(*checkpoint.spec_text(), checkpoint.name(), kSpec) : Json()) {}

  Plan run(Provenance provenance) {
    plan_.engine = comparison_.engine;
    plan_.runtime = comparison_.runtime;
    for (const MountChange& change : comparison_.mounts) repoint(change);
    for (const DeviceChange& change : comparison_.devices) renumber(change);
    remove_spec_mounts();
    remove_hooks();
    for (const MountChange& change : comparison_.mounts) add(change);
    for (const MountChange& change : comparison_.mounts) edit_image(change);
    if (provenance == Provenance::record && !plan_.edits.empty()) record();
    return std::move(plan_);
  }

 private:
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
    const std::string list = device.place == DeviceEntry::Place::rule ? "/linux/resources/devices/" : "/linux/devices/";
    replace(list + std::to_string(device.index) + "/major", change.new_major);
    if (change.new_minor && change.old_minor != change.new_minor)
      replace_or_add_minor(list + std::to_string(device.index), *change.new_minor);
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

  void remove_spec_mounts() {
    std::vector<std::size_t> indexes;
    for (const MountChange& change : comparison_.mounts)
      if (change.action == MountChange::Action::drop && change.spec_index) indexes.push_back(*change.spec_index);
    std::sort(indexes.begin(), indexes.end(), std::greater<>());
    for (const std::size_t index : indexes) remove("/mounts/" + std::to_string(index));
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

  void add(const MountChange& change) {
    if (change.action != MountChange::Action::add) return;
    const std::size_t removed =
        static_cast<std::size_t>(std::count_if(plan_.edits.begin(), plan_.edits.end(), [](const Edit& edit) {
          return edit.op == Edit::Op::remove && edit.pointer.rfind("/mounts/", 0) == 0;
        }));
    Edit& edit = push(Edit::Op::append, kSpec);
    edit.pointer = "/mounts";
    edit.before = static_cast<std::uint64_t>(spec_["mounts"].size() - removed + added_++);
    edit.after = bind_of(checkpoint_.mounts()[*change.mount], change.new_source);
  }

  void edit_image(const MountChange& change) {
    if (!change.mount) return;
    const Mount& mount = checkpoint_.mounts()[*change.mount];
    if (change.action == MountChange::Action::drop) {
      Edit& edit = push(Edit::Op::remove_mount, mount.image_member);
      edit.mnt_id = mount.mnt_id;
      edit.before = mount.mountpoint;
    } else if (change.rekey) {
      if (mount.key_kind == KeyKind::legacy) set_field(mount, "ext_mount", true, Json());
      set_field(mount, "ext_key", mount.key_kind == KeyKind::legacy ? Json() : Json(*mount.ext_key), mount.mountpoint);
    }
    if (change.action == MountChange::Action::list)
      plan_.externals.push_back(
          {change.rekey ? mount.mountpoint : *mount.ext_key, change.new_source, mount.mnt_id, mount.mountpoint});
  }

  void set_field(const Mount& mount, const char* field, Json before, Json after) {
    Edit& edit = push(Edit::Op::set_field, mount.image_member);
    edit.mnt_id = mount.mnt_id;
    edit.field = field;
    edit.before = std::move(before);
    edit.after = std::move(after);
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
  std::uint64_t added_ = 0;
};

}  // namespace

Plan make_plan(const Checkpoint& checkpoint, const Comparison& comparison, Provenance provenance) {
  return Planner(checkpoint, comparison).run(provenance);
}

}  // namespace ckpt
