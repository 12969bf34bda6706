// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/paths.h"
#include "diff/differ.h"
#include "spec/runtime_spec.h"

namespace ckpt {

namespace {

using Items = std::vector<Keyed>;

// Documents by hand may hold anything: what is no text becomes its JSON.
std::string text_of(const Json& value) { return value.is_string() ? value.as_string() : value.dump(-1); }

Json sorted_texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list.items()) texts.push_back(text_of(item));
  std::sort(texts.begin(), texts.end());
  Json sorted = Json::array();
  for (std::string& text : texts) sorted.push(std::move(text));
  return sorted;
}

// CDI binds come without a type or with "none"; what makes a bind are the options (engines.md 3.2).
std::string type_of(const Json& mount) {
  SpecMount typed;
  typed.type = text_of(mount["type"]);
  if (mount["type"].is_null()) typed.type.clear();
  for (const Json& option : mount["options"].items()) typed.options.push_back(text_of(option));
  return typed.is_bind() ? "bind" : typed.type;
}

Items mounts_of(const Json& spec) {
  Items items;
  for (const Json& mount : spec["mounts"].items()) {
    const std::string destination = clean_path(mount["destination"].as_string());
    Json value = Json::object();
    value.set("type", type_of(mount)).set("source", mount["source"]).set("options", sorted_texts(mount["options"]));
    items.push_back({destination, std::move(value), who_mounts(destination)});
  }
  return items;
}

Items devices_of(const Json& spec) {
  Items items;
  for (const Json& device : spec["linux"]["devices"].items()) {
    Json value = Json::object();
    for (const char* key : {"type", "major", "minor", "fileMode", "uid", "gid"}) value.set(key, device[key]);
    const std::string path = text_of(device["path"]);
    items.push_back({path, std::move(value), who_makes_node(path)});
  }
  return items;
}

std::string number_or_star(const Json& number) {
  return number.is_integer() && number.as_int() >= 0 ? std::to_string(number.as_int()) : "*";
}

Items rules_of(const Json& spec) {
  Items items;
  for (const Json& rule : spec["linux"]["resources"]["devices"].items()) {
    const std::string type = rule["type"].is_null() ? "a" : text_of(rule["type"]);
    items.push_back({std::string(rule["allow"].as_bool() ? "allow " : "deny ") + type + " " +
                         number_or_star(rule["major"]) + ":" + number_or_star(rule["minor"]),
                     rule["access"], ""});
  }
  return items;
}

Items hooks_of(const Json& spec) {
  Items items;
  for (const auto& [stage, hooks] : spec["hooks"].members())
    for (const Json& hook : hooks.items()) {
      const std::string path = text_of(hook["path"]);
      Json value = Json::object();
      value.set("args", hook["args"]).set("timeout", hook["timeout"]);
      std::string name = stage;
      name.append(" ").append(path);
      items.push_back({std::move(name), std::move(value), who_hooks(path)});
    }
  return items;
}

Items environment_of(const Json& spec) {
  Items items;
  for (const Json& item : spec["process"]["env"].items()) {
    const std::string& variable = item.as_string();
    const std::size_t sign = std::min(variable.find('='), variable.size());
    const std::string name = variable.substr(0, sign);
    const std::string value = variable.substr(std::min(sign + 1, variable.size()));
    items.push_back({name, value, who_sets(name, value)});
  }
  return items;
}

Items annotations_of(const Json& spec) {
  Items items;
  for (const auto& [key, value] : spec["annotations"].members()) items.push_back({key, value, who_annotates(key)});
  return items;
}

Items capabilities_of(const Json& spec) {
  std::map<std::string, Json> sets;
  for (const auto& [set, names] : spec["process"]["capabilities"].members())
    for (const Json& name : names.items()) sets[text_of(name)].push(set);
  Items items;
  for (auto& [name, in] : sets) items.push_back({name, sorted_texts(in), ""});
  return items;
}

/// Items of a list named by one member, compared by the others.
Items by_member(const Json& list, const char* name, const std::vector<const char*>& others) {
  Items items;
  for (const Json& item : list.items()) {
    Json value = Json::object();
    for (const char* key : others) value.set(key, item[key]);
    items.push_back({text_of(item[name]), std::move(value), ""});
  }
  return items;
}

Items names_in(const Json& list) {
  Items items;
  for (const Json& item : list.items()) items.push_back({text_of(item), true, "engine"});
  return items;
}

// What has a section of its own.
bool has_section(const std::string& pointer) {
  static const std::set<std::string> kPointers = {"/mounts",
                                                  "/hooks",
                                                  "/annotations",
                                                  "/process/env",
                                                  "/process/capabilities",
                                                  "/process/rlimits",
                                                  "/linux/devices",
                                                  "/linux/resources/devices",
                                                  "/linux/namespaces",
                                                  "/linux/maskedPaths",
                                                  "/linux/readonlyPaths"};
  return kPointers.count(pointer) != 0;
}

// Every value that is no object, by its pointer; a list is one value.
void flatten(const Json& value, const std::string& pointer, Items& items) {
  if (!value.is_object()) {
    if (!value.is_null()) items.push_back({pointer, value, ""});
    return;
  }
  for (const auto& [key, member] : value.members()) {
    const std::string below = pointer + "/" + json_pointer_token(key);
    if (!has_section(below)) flatten(member, below, items);
  }
}

Items rest_of(const Json& spec) {
  Items items;
  flatten(spec, "", items);
  return items;
}

}  // namespace

void diff_specs(std::vector<Difference>& out, const Json& a, const Json& b) {
  pair_up(out, "mounts", mounts_of(a), mounts_of(b));
  pair_up(out, "devices", devices_of(a), devices_of(b));
  pair_up(out, "device_rules", rules_of(a), rules_of(b));
  pair_up(out, "hooks", hooks_of(a), hooks_of(b));
  pair_up(out, "environment", environment_of(a), environment_of(b), Confidence::confidential);
  pair_up(out, "annotations", annotations_of(a), annotations_of(b), Confidence::confidential);
  const auto namespaces = [](const Json& spec) { return by_member(spec["linux"]["namespaces"], "type", {"path"}); };
  pair_up(out, "namespaces", namespaces(a), namespaces(b));
  const auto rlimits = [](const Json& spec) { return by_member(spec["process"]["rlimits"], "type", {"hard", "soft"}); };
  pair_up(out, "rlimits", rlimits(a), rlimits(b));
  pair_up(out, "capabilities", capabilities_of(a), capabilities_of(b));
  pair_up(out, "masked_paths", names_in(a["linux"]["maskedPaths"]), names_in(b["linux"]["maskedPaths"]));
  pair_up(out, "readonly_paths", names_in(a["linux"]["readonlyPaths"]), names_in(b["linux"]["readonlyPaths"]));
  pair_up(out, "spec", rest_of(a), rest_of(b));
}

}  // namespace ckpt
