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

constexpr std::array<std::pair<Edit::Op, const char*>, 7> kOps = {{{Edit::Op::replace, "replace"},
                                                                   {Edit::Op::append, "append"},
                                                                   {Edit::Op::remove, "remove"},
                                                                   {Edit::Op::set_field, "set_field"},
                                                                   {Edit::Op::remove_mount, "remove_mount"},
                                                                   {Edit::Op::renumber, "renumber"},
                                                                   {Edit::Op::copy_member, "copy_member"}}};

bool is_json_edit(Edit::Op op) { return op == Edit::Op::replace || op == Edit::Op::append || op == Edit::Op::remove; }

Json edit_to_json(const Edit& edit) {
  Json json = Json::object();
  json.set("op", to_string(edit.op)).set("member", edit.member);
  if (is_json_edit(edit.op)) json.set("pointer", edit.pointer);
  if (edit.op == Edit::Op::set_field || edit.op == Edit::Op::remove_mount)
    json.set("mnt_id", static_cast<std::uint64_t>(edit.mnt_id));
  if (edit.op == Edit::Op::set_field) json.set("field", edit.field);
  if (edit.op == Edit::Op::renumber) json.set("node", edit.node);
  json.set("before", edit.before);
  return json.set("after", edit.after);
}

[[noreturn]] void corrupt(const std::string& file, const std::string& detail) {
  throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, detail);
}

// A plan from a file may change what a comparison would change, and nothing else.
void require_spec_part(const Edit& edit, const std::string& file) {
  static constexpr std::array<std::string_view, 4> kParts = {"/mounts", "/hooks", "/linux/devices",
                                                             "/linux/resources/devices"};
  const bool allowed = std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return edit.pointer == part || edit.pointer.rfind(std::string(part) + "/", 0) == 0;
  });
  if (edit.member != "spec.dump" || !allowed)
    throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}},
                "a plan edits mounts, hooks and devices of spec.dump only, not " + edit.member + edit.pointer);
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
  const std::int64_t mnt_id = item.integer("mnt_id").value_or(0);
  if (mnt_id < 0 || mnt_id > 0xffffffffLL) corrupt(file, "mnt_id is out of range");
  edit.mnt_id = static_cast<std::uint32_t>(mnt_id);
  edit.before = item.value()["before"];
  edit.after = item.value()["after"];
  if (edit.member.empty()) corrupt(file, "an edit names no member");
  if (is_json_edit(edit.op)) require_spec_part(edit, file);
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
  if (*engine != Engine::podman && *engine != Engine::runc && *engine != Engine::crun)
    throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}},
                std::string("restoring under ") + ckpt::to_string(*engine) + " is not supported yet");
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
