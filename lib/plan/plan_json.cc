// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ckpt/plan.h"
#include "plan/criu_conf.h"
#include "spec/typed.h"

namespace ckpt {

namespace {

constexpr const char* kSchema = "ckpt.plan/1";

constexpr std::array<std::pair<Edit::Op, const char*>, 10> kOps = {{{Edit::Op::replace, "replace"},
                                                                   {Edit::Op::append, "append"},
                                                                   {Edit::Op::remove, "remove"},
                                                                   {Edit::Op::set_field, "set_field"},
                                                                   {Edit::Op::remove_mount, "remove_mount"},
                                                                   {Edit::Op::rename_file, "rename_file"},
                                                                   {Edit::Op::renumber, "renumber"},
                                                                   {Edit::Op::add_node, "add_node"},
                                                                   {Edit::Op::placeholder, "placeholder"},
                                                                   {Edit::Op::copy_member, "copy_member"}}};

bool is_json_edit(Edit::Op op) { return op == Edit::Op::replace || op == Edit::Op::append || op == Edit::Op::remove; }

Json edit_to_json(const Edit& edit) {
  Json json = Json::object();
  json.set("op", to_string(edit.op)).set("member", edit.member);
  if (is_json_edit(edit.op)) json.set("pointer", edit.pointer);
  if (edit.op == Edit::Op::set_field || edit.op == Edit::Op::remove_mount)
    json.set("mnt_id", static_cast<std::uint64_t>(edit.mnt_id));
  if (edit.op == Edit::Op::set_field) json.set("field", edit.field);
  if (edit.op == Edit::Op::rename_file) json.set("file_id", static_cast<std::uint64_t>(edit.file_id));
  if (edit.op == Edit::Op::renumber || edit.op == Edit::Op::add_node || edit.op == Edit::Op::placeholder)
    json.set("node", edit.node);
  json.set("before", edit.before);
  return json.set("after", edit.after);
}

[[noreturn]] void corrupt(const std::string& file, const std::string& detail) {
  throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, detail);
}

bool starts_with(const std::string& text, std::string_view prefix) { return text.compare(0, prefix.size(), prefix) == 0; }

bool is_spec_part(const Edit& edit) {
  static constexpr std::array<std::string_view, 4> kParts = {"/mounts", "/hooks", "/linux/devices",
                                                             "/linux/resources/devices"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return edit.pointer == part || starts_with(edit.pointer, std::string(part) + "/");
  });
}

// Annotations may go, never come: what CDI devices a container gets is nothing a plan decides.
bool strips_annotation(const Edit& edit) {
  if (edit.op == Edit::Op::remove) return starts_with(edit.pointer, "/annotations/cdi.k8s.io~1");
  if (edit.op != Edit::Op::replace || edit.pointer != "/annotations/io.kubernetes.cri-o.Annotations") return false;
  const Json before = Json::parse(edit.before.as_string());
  const Json after = Json::parse(edit.after.as_string());
  return after.is_object() &&
         std::all_of(after.members().begin(), after.members().end(), [&](const Json::Member& member) {
           const Json* old = before.find(member.first);
           return old != nullptr && *old == member.second && !starts_with(member.first, "cdi.k8s.io/");
         });
}

bool is_runtime_name(const Edit& edit) {
  return edit.op == Edit::Op::replace && edit.pointer == "/runtime" && (edit.after == "runc" || edit.after == "crun");
}

// A plan from a file may change what a comparison would change, and nothing else.
void require_known_part(const Edit& edit, const std::string& file) {
  const bool allowed = (edit.member == "spec.dump" && (is_spec_part(edit) || strips_annotation(edit))) ||
                       (edit.member == "config.dump" && is_runtime_name(edit)) ||
                       (edit.member == "status.dump" && edit.op == Edit::Op::remove && strips_annotation(edit)) ||
                       (edit.member == "bind.mounts" && edit.op == Edit::Op::remove);
  if (!allowed)
    throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}},
                "a plan edits mounts, hooks and devices of spec.dump and little else, not " + edit.member +
                    edit.pointer);
}

std::uint32_t number_from(const typed::Reader& item, const char* key, const std::string& file) {
  const std::int64_t number = item.integer(key).value_or(0);
  if (number < 0 || number > 0xffffffffLL) corrupt(file, std::string(key) + " is out of range");
  return static_cast<std::uint32_t>(number);
}

Edit edit_from_json(const typed::Reader& item, const std::string& file) {
  Edit edit;
  const std::string op = item.text("op");
  bool known = false;
  for (const auto& [value, name] : kOps)
    if (op == name) {
      edit.op = value;
      known = true;
    }
  if (!known) throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}}, "the plan has an unknown op \"" + op + "\"");
  edit.member = item.text("member");
  edit.pointer = item.text("pointer");
  edit.field = item.text("field");
  edit.node = item.text("node");
  edit.mnt_id = number_from(item, "mnt_id", file);
  edit.file_id = number_from(item, "file_id", file);
  edit.before = item.value()["before"];
  edit.after = item.value()["after"];
  if (edit.member.empty()) corrupt(file, "an edit names no member");
  if (is_json_edit(edit.op)) require_known_part(edit, file);
  return edit;
}

}  // namespace

const char* to_string(Edit::Op op) noexcept {
  for (const auto& [value, name] : kOps)
    if (value == op) return name;
  return "unknown";
}

Json Plan::to_json() const {
  Json list = Json::array();
  for (const Edit& edit : edits) list.push(edit_to_json(edit));
  Json lines = Json::array();
  for (const External& line : externals) {
    Json json = Json::object();
    json.set("key", line.key).set("value", line.value).set("mnt_id", static_cast<std::uint64_t>(line.mnt_id));
    lines.push(std::move(json.set("mountpoint", line.mountpoint)));
  }
  Json plan = Json::object();
  plan.set("schema", kSchema).set("engine", ckpt::to_string(engine)).set("runtime", ckpt::to_string(runtime));
  return plan.set("edits", std::move(list)).set("externals", std::move(lines));
}

Plan Plan::from_json(const Json& document, const std::string& file) {
  const typed::Reader top(document, Where{file, {}, {}, {}});
  top.require_object();
  if (top.text("schema") != kSchema)
    throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}},
                "not a plan of this version: the schema is \"" + top.text("schema") + "\", wanted \"" + kSchema + "\"");
  Plan plan;
  const auto engine = engine_from(top.text("engine"));
  const auto runtime = runtime_from(top.text("runtime"));
  if (!engine || !runtime) corrupt(file, "the plan names an unknown engine or runtime");
  if (*engine == Engine::unknown) corrupt(file, "the plan names no engine");
  if (!document["edits"].is_array()) corrupt(file, "the plan has no edits");
  plan.engine = *engine;
  plan.runtime = *runtime;
  top.each("edits", [&](const typed::Reader& item, std::size_t) { plan.edits.push_back(edit_from_json(item, file)); });
  top.each("externals", [&](const typed::Reader& item, std::size_t) {
    plan.externals.push_back({item.text("key"), item.text("value"),
                              static_cast<std::uint32_t>(item.integer("mnt_id").value_or(0)), item.text("mountpoint")});
    check_external_pair(plan.externals.back().key, plan.externals.back().value);
  });
  return plan;
}

}  // namespace ckpt
