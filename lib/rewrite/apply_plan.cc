// SPDX-License-Identifier: Apache-2.0
#include "rewrite/apply_plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "archive/inner_tar.h"
#include "base/paths.h"
#include "checkpoint/impl.h"
#include "criu/image.h"
#include "criu/views.h"
#include "document/json_text.h"

namespace ckpt {

namespace {

bool is_spec_blob(const Checkpoint& checkpoint, const std::string& member) {
  return checkpoint.form() == "ctr-index" && member == "spec.dump";
}

/// One member's edits, applied in plan order.
class MemberEdits {
 public:
  MemberEdits(const Checkpoint& checkpoint, std::string member) : checkpoint_(checkpoint), member_(std::move(member)) {
    auto bytes = is_spec_blob(checkpoint_, member_) ? checkpoint_.spec_text() : checkpoint_.impl().read(member_);
    if (!bytes) conflict("the plan edits this member and the archive does not have it");
    original_ = std::move(*bytes);
  }

  std::string apply(const std::vector<const Edit*>& edits) {
    std::string bytes = original_;
    InnerTarEdits inner;
    std::optional<JsonText> json;
    for (const Edit* edit : edits) {
      switch (edit->op) {
        case Edit::Op::replace:
        case Edit::Op::append:
        case Edit::Op::remove:
          if (!json) json = JsonText::parse(bytes, checkpoint_.name(), member_, checkpoint_.impl().limits);
          json = edit_json(*json, *edit);
          break;
        case Edit::Op::set_field:
        case Edit::Op::remove_mount:
          bytes = edit_image(std::move(bytes), *edit);
          break;
        case Edit::Op::renumber:
          inner.renumbered.push_back(node_numbers(*edit));
          break;
        case Edit::Op::add_node:
          inner.added.push_back(node_addition(*edit));
          break;
        case Edit::Op::rename_file:
          bytes = rename_file(std::move(bytes), *edit);
          break;
        case Edit::Op::placeholder:
        case Edit::Op::copy_member:
          break;
      }
    }
    if (json) {
      bytes = json->text();
      if (member_ == "spec.dump") require_sound_spec(json->value());
    }
    if (!inner.renumbered.empty() || !inner.added.empty())
      bytes = edit_inner_tar(bytes, inner, where(), checkpoint_.impl().limits);
    return bytes;
  }

 private:
  Where where() const { return Where{checkpoint_.name(), member_, {}, {}}; }

  [[noreturn]] void conflict(const std::string& detail) const {
    throw Error(ErrorCode::conflict, where(), detail, "make a new plan for this archive");
  }

  // The engines have to be able to read the result, and no source that came with the plan may be anything but a path.
  void require_sound_spec(const Json& edited) const {
    const RuntimeSpec after = read_runtime_spec(edited, where());
    std::set<std::string> known;
    if (checkpoint_.impl().spec)
      for (const SpecMount& mount : checkpoint_.impl().spec->mounts) known.insert(mount.source);
    for (const SpecMount& mount : after.mounts) {
      if (!mount.is_bind() || known.count(mount.source) != 0) continue;
      const bool control =
          std::any_of(mount.source.begin(), mount.source.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
      if (control || mount.source.empty() || mount.source.front() != '/' ||
          (mount.source + "/").find("/../") != std::string::npos)
        throw Error(ErrorCode::invalid_argument, where(), "the plan's source is no absolute path: " + mount.source);
    }
  }

  // Values from an archive may be secrets or documents; what tells them apart is short.
  static std::string shown(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    const std::string text = value.dump(-1);
    return text.size() <= 200 ? text : text.substr(0, 200) + "...";
  }

  JsonText edit_json(const JsonText& json, const Edit& edit) const {
    const Json* found = json.value().at_pointer(edit.pointer);
    if (found == nullptr) conflict("stale plan: nothing at " + edit.pointer);
    if (edit.op == Edit::Op::append) {
      if (!found->is_array() || found->size() != edit.before.as_uint())
        conflict("stale plan: " + edit.pointer + " has " + std::to_string(found->size()) + " items, expected " +
                 std::to_string(edit.before.as_uint()));
      return json.append(edit.pointer, edit.after);
    }
    if (*found != edit.before)
      conflict("stale plan: " + edit.pointer + " is " + shown(*found) + ", expected " + shown(edit.before));
    return edit.op == Edit::Op::replace ? json.replace(edit.pointer, edit.after) : json.remove(edit.pointer);
  }

  std::string edit_image(std::string bytes, const Edit& edit) const {
    const criu::Image image = criu::Image::parse(std::move(bytes), where(), checkpoint_.impl().limits);
    for (const criu::MountEntry& mount : criu::read_mounts(image)) {
      if (mount.mnt_id != edit.mnt_id) continue;
      if (edit.op == Edit::Op::remove_mount) {
        expect(Json(mount.mountpoint), edit, "mountpoint");
        return image.without_entries({mount.entry});
      }
      return image.with_entry(mount.entry, edited_entry(image.entries()[mount.entry].payload, mount, edit));
    }
    conflict("stale plan: the image has no mount " + std::to_string(edit.mnt_id));
  }

  std::string edited_entry(std::string_view payload, const criu::MountEntry& mount, const Edit& edit) const {
    if (edit.field == "ext_key") {
      expect(mount.ext_key ? Json(*mount.ext_key) : Json(), edit, "ext_key");
      return set_text(payload, criu::kMountExtKeyField, edit);
    }
    if (edit.field == "source") {
      expect(Json(mount.source), edit, "source");
      return set_text(payload, criu::kMountSourceField, edit);
    }
    if (edit.field == "mountpoint") {
      expect(Json(mount.mountpoint), edit, "mountpoint");
      require_path(edit.after);
      return set_text(payload, criu::kMountMountpointField, edit);
    }
    if (edit.field == "ext_mount") {
      expect(Json(mount.ext_mount), edit, "ext_mount");
      return criu::set_varint(payload, criu::kMountExtMountField, std::nullopt, where());
    }
    throw Error(ErrorCode::unsupported, where(), "the plan sets a field that cannot be set: " + edit.field);
  }

  // CRIU makes a mount wherever the image says; a plan's word for it has to be a place in the container.
  void require_path(const Json& value) const {
    const std::string& path = value.as_string();
    const bool control = std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (path.size() < 2 || path.front() != '/' || control || (path + "/").find("/../") != std::string::npos)
      throw Error(ErrorCode::invalid_argument, where(), "the plan's path is no absolute path: " + path);
  }

  std::string rename_file(std::string bytes, const Edit& edit) const {
    const criu::Image image = criu::Image::parse(std::move(bytes), where(), checkpoint_.impl().limits);
    require_path(edit.after);
    for (const criu::FileEntry& file : criu::read_files(image)) {
      if (file.id != edit.file_id || !file.reg) continue;
      if (Json(file.reg->name) != edit.before)
        conflict("stale plan: file " + std::to_string(edit.file_id) + " is " + shown(file.reg->name) + ", expected " +
                 shown(edit.before));
      return criu::with_file_name(image, file.entry, edit.after.as_string());
    }
    conflict("stale plan: the image has no file " + std::to_string(edit.file_id));
  }

  std::string set_text(std::string_view payload, std::uint32_t field, const Edit& edit) const {
    if (edit.after.is_null()) return criu::set_string(payload, field, std::nullopt, where());
    if (!edit.after.is_string()) conflict("the plan's new " + edit.field + " is no text");
    return criu::set_string(payload, field, edit.after.as_string(), where());
  }

  void expect(const Json& found, const Edit& edit, const char* field) const {
    if (found != edit.before)
      conflict("stale plan: " + std::string(field) + " of mount " + std::to_string(edit.mnt_id) + " is " +
               shown(found) + ", expected " + shown(edit.before));
  }

  NodeNumbers node_numbers(const Edit& edit) const {
    const auto before = parse_numbers(edit.before.as_string());
    const auto after = parse_numbers(edit.after.as_string());
    if (!before || !after) conflict("the plan's device numbers are not MAJOR:MINOR");
    return {edit.node, before->first, before->second, after->first, after->second};
  }

  NodeAddition node_addition(const Edit& edit) const {
    const auto after = parse_numbers(edit.after.as_string());
    if (!after) conflict("the plan's device numbers are not MAJOR:MINOR");
    if (!is_safe_name(edit.node)) conflict("the plan's node is no name: " + edit.node);
    return {edit.node, edit.before.as_string(), after->first, after->second};
  }

  static std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_numbers(const std::string& text) {
    std::pair<std::uint32_t, std::uint32_t> numbers;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, numbers.first);
    if (major.ec != std::errc() || major.ptr == end || *major.ptr != ':') return std::nullopt;
    const auto minor = std::from_chars(major.ptr + 1, end, numbers.second);
    if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
    return numbers;
  }

  const Checkpoint& checkpoint_;
  std::string member_;
  std::string original_;
};

std::size_t index_of(const Checkpoint& checkpoint, const std::string& name) {
  const Archive& archive = checkpoint.archive();
  const Member* member = archive.find(name);
  if (member == nullptr)
    throw Error(ErrorCode::unsupported, Where{checkpoint.name(), name, {}, {}},
                "the member is in a lower layer of the image, which cannot be rewritten");
  return static_cast<std::size_t>(member - archive.members().data());
}

void add_copy(const Checkpoint& checkpoint, const Edit& edit, ArchiveEdits& into) {
  const std::string name = edit.after.as_string();
  if (name != "spec.dump.orig" || edit.member != "spec.dump")
    throw Error(ErrorCode::unsupported, Where{checkpoint.name(), edit.member, {}, {}},
                "a plan can add spec.dump.orig only, not \"" + name + "\"");
  if (checkpoint.archive().find(name) != nullptr)
    throw Error(ErrorCode::conflict, Where{checkpoint.name(), name, {}, {}}, "stale plan: the member is there already");
  const auto bytes = checkpoint.impl().read(edit.member);
  if (!bytes)
    throw Error(ErrorCode::conflict, Where{checkpoint.name(), edit.member, {}, {}}, "stale plan: no such member");
  into.added.push_back({name, *bytes, index_of(checkpoint, edit.member)});
}

constexpr std::size_t kTarEnd = 1024;  // the two zero blocks behind a tar's last member

using EditsByMember = std::map<std::string, std::vector<const Edit*>>;

EditsByMember by_member(const Plan& plan) {
  EditsByMember edits;
  for (const Edit& edit : plan.edits)
    if (edit.op != Edit::Op::copy_member) edits[edit.member].push_back(&edit);
  return edits;
}

bool adds_placeholders(const std::vector<const Edit*>& list) { return list.front()->op == Edit::Op::placeholder; }

/// What goes in front of a tar inside a member. CRI-O's rootfs-diff.tar is plain.
std::string placeholders_of(const Checkpoint& checkpoint, const std::vector<const Edit*>& list) {
  const std::string& member = list.front()->member;
  const Where where{checkpoint.name(), member, {}, {}};
  if (member != "rootfs-diff.tar")
    throw Error(ErrorCode::unsupported, where, "placeholders go to rootfs-diff.tar only");
  std::vector<Placeholder> placeholders;
  for (const Edit* edit : list) {
    if (!is_safe_name(edit->node))
      throw Error(ErrorCode::invalid_argument, where, "the plan's placeholder is no name: " + edit->node);
    placeholders.push_back({edit->node, edit->after == "directory" ? MemberType::directory : MemberType::file});
  }
  const Located found = checkpoint.impl().find(member);
  if (found && found.archive->open_member(*found.member).compression() != Compression::none)
    throw Error(ErrorCode::unsupported, where, "is compressed, so no mountpoint can be added to it");
  const Located like = found ? found : checkpoint.impl().find("spec.dump");
  return placeholder_blocks(placeholders, like ? like.member->mtime : 0);
}

void add_placeholders(const Checkpoint& checkpoint, const std::vector<const Edit*>& list, ArchiveEdits& into) {
  const std::string& member = list.front()->member;
  std::string blocks = placeholders_of(checkpoint, list);
  if (checkpoint.archive().find(member) != nullptr)
    into.prefixed[index_of(checkpoint, member)] = std::move(blocks);
  else
    into.added.push_back({member, blocks + std::string(kTarEnd, '\0'), index_of(checkpoint, "spec.dump")});
}

ChangedMember changed(const Checkpoint& checkpoint, const std::string& name, std::string bytes) {
  return {name, std::move(bytes), checkpoint.impl().find(name).member};
}

}  // namespace

ArchiveEdits apply_plan(const Checkpoint& checkpoint, const Plan& plan) {
  ArchiveEdits edits;
  for (const Edit& edit : plan.edits)
    if (edit.op == Edit::Op::copy_member) add_copy(checkpoint, edit, edits);
  for (const auto& [member, list] : by_member(plan)) {
    if (is_spec_blob(checkpoint, member)) continue;
    if (adds_placeholders(list))
      add_placeholders(checkpoint, list, edits);
    else
      edits.replaced[index_of(checkpoint, member)] = MemberEdits(checkpoint, member).apply(list);
  }
  return edits;
}

std::vector<ChangedMember> changed_members(const Checkpoint& checkpoint, const Plan& plan) {
  std::vector<ChangedMember> members;
  for (const auto& [member, list] : by_member(plan)) {
    if (!adds_placeholders(list)) {
      members.push_back(changed(checkpoint, member, MemberEdits(checkpoint, member).apply(list)));
      continue;
    }
    const auto old = checkpoint.impl().read(member);
    members.push_back(
        changed(checkpoint, member, placeholders_of(checkpoint, list) + old.value_or(std::string(kTarEnd, '\0'))));
  }
  for (const Edit& edit : plan.edits)
    if (edit.op == Edit::Op::copy_member)
      if (auto bytes = checkpoint.impl().read(edit.member))
        members.push_back({edit.after.as_string(), std::move(*bytes), nullptr});
  return members;
}

std::optional<std::string> edited_spec_blob(const Checkpoint& checkpoint, const Plan& plan) {
  const EditsByMember edits = by_member(plan);
  const auto found = edits.find("spec.dump");
  if (found == edits.end() || !is_spec_blob(checkpoint, "spec.dump")) return std::nullopt;
  return MemberEdits(checkpoint, "spec.dump").apply(found->second);
}

}  // namespace ckpt
