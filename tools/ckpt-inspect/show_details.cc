// SPDX-License-Identifier: Apache-2.0
#include "show_details.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace ckpt::tool {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 8> kNamespaces = {{{"pid", "pid_ns_id"},
                                                                             {"net", "net_ns_id"},
                                                                             {"ipc", "ipc_ns_id"},
                                                                             {"uts", "uts_ns_id"},
                                                                             {"mnt", "mnt_ns_id"},
                                                                             {"user", "user_ns_id"},
                                                                             {"cgroup", "cgroup_ns_id"},
                                                                             {"time", "time_ns_id"}}};

struct Found {
  const Archive* archive = nullptr;
  const Member* member = nullptr;
};

Found find(const Checkpoint& checkpoint, const std::string& name) {
  for (const Archive& layer : checkpoint.layers())
    if (const Member* member = layer.find(name); member != nullptr && member->type == MemberType::file)
      return {&layer, member};
  return {};
}

// The names and outside ties of the first process's namespaces; the others are the same or nested.
Json namespaces(Images& images) {
  Json list = Json::array();
  const auto& processes = images.checkpoint().processes();
  if (processes.empty()) return list;
  const Json& ids = images.only(fmt::format("ids-{}.img", processes.front().pid));
  for (const auto& [type, field] : kNamespaces) {
    if (ids.find(field) == nullptr) continue;
    const std::uint64_t id = ids[field].as_uint();
    Json json = Json::object();
    json.set("type", type).set("id", id);
    const std::string_view kind = type;
    if (kind == "uts") json.set("detail", images.optional_entries(fmt::format("utsns-{}.img", id))[0]["nodename"]);
    if (kind == "net") json.set("detail", images.optional_entries(fmt::format("netns-{}.img", id))[0]["ext_key"]);
    if (kind == "pid") json.set("detail", images.optional_entries(fmt::format("pidns-{}.img", id))[0]["ext_key"]);
    list.push(std::move(json));
  }
  return list;
}

Json cgroups(Images& images) {
  Json list = Json::array();
  for (const Json& set : images.optional_entries("cgroup.img")[0]["sets"].items())
    for (const Json& member : set["ctls"].items()) {
      Json json = Json::object();
      json.set("set", set["id"]).set("controller", member["name"]);
      list.push(std::move(json.set("path", member["path"])));
    }
  return list;
}

Json changed_files(Images& images) {
  Json list = Json::array();
  const Found diff = find(images.checkpoint(), "rootfs-diff.tar");
  if (diff.member == nullptr) return list;
  images.guard([&] {
    const Archive inner = diff.archive->open_member(*diff.member);
    for (const Member& member : inner.members()) {
      Json json = Json::object();
      json.set("path", member.name).set("type", to_string(member.type)).set("size", member.size);
      list.push(std::move(json));
    }
  });
  return list;
}

Json deleted_files(Images& images) {
  const Found deleted = find(images.checkpoint(), "deleted.files");
  Json list = Json::array();
  if (deleted.member == nullptr) return list;
  images.guard(
      [&] { list = Json::parse(deleted.archive->read(*deleted.member), deleted.archive->name(), "deleted.files"); });
  return list;
}

Json volumes(Images& images) {
  Json list = Json::array();
  for (const Archive& layer : images.checkpoint().layers())
    for (const Member& member : layer.members()) {
      if (member.type != MemberType::file || member.name.rfind("volumes/", 0) != 0) continue;
      Json json = Json::object();
      list.push(std::move(json.set("member", member.name).set("size", member.size)));
    }
  return list;
}

std::string words(const Json& value) {
  if (value.is_string()) return value.as_string();
  return value.is_null() ? std::string() : value.dump(-1);
}

std::string section(const char* title, const Json& list) {
  if (list.size() == 0) return {};
  std::string text = fmt::format("\n{}:\n", title);
  for (const Json& item : list.items()) {
    std::string line = item.is_object() ? std::string() : words(item);
    for (const auto& [key, value] : item.members()) line += (line.empty() ? "" : "  ") + words(value);
    text += "  " + safe(line) + "\n";
  }
  return text;
}

}  // namespace

Json details_json(Images& images) {
  Json json = Json::object();
  json.set("namespaces", namespaces(images)).set("cgroups", cgroups(images));
  json.set("root_fs_diff", changed_files(images)).set("deleted_files", deleted_files(images));
  return json.set("volumes", volumes(images));
}

std::string details_text(Images& images) {
  const Json json = details_json(images);
  return section("Namespaces", json["namespaces"]) + section("Cgroups", json["cgroups"]) +
         section("Changed in the root file system", json["root_fs_diff"]) +
         section("Deleted files", json["deleted_files"]) + section("Volumes", json["volumes"]);
}

}  // namespace ckpt::tool
