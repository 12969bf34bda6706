// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "ckpt/error.h"
#include "ckpt/node.h"
#include "spec/typed.h"

namespace ckpt {

namespace {

constexpr const char* kSchema = "ckpt.node/1";

constexpr std::array<std::pair<RootedFile::Kind, const char*>, 7> kKinds = {{
    {RootedFile::Kind::file, "file"},
    {RootedFile::Kind::directory, "directory"},
    {RootedFile::Kind::symlink, "symlink"},
    {RootedFile::Kind::socket, "socket"},
    {RootedFile::Kind::char_device, "char"},
    {RootedFile::Kind::block_device, "block"},
    {RootedFile::Kind::other, "other"},
}};

const char* name_of(RootedFile::Kind kind) {
  for (const auto& [value, name] : kKinds)
    if (value == kind) return name;
  return "other";
}

Json file_json(const NodeFile& node) {
  Json json = Json::object();
  json.set("path", node.path);
  if (!node.file) return json.set("kind", Json());
  json.set("kind", name_of(node.file->kind)).set("resolved", node.file->resolved).set("size", node.file->size);
  if (node.file->kind == RootedFile::Kind::char_device || node.file->kind == RootedFile::Kind::block_device) {
    json.set("major", static_cast<std::uint64_t>(node.file->dev_major));
    json.set("minor", static_cast<std::uint64_t>(node.file->dev_minor));
  }
  Json words = Json::array();
  for (const std::uint32_t word : node.file->build_id) words.push(static_cast<std::uint64_t>(word));
  return json.set("build_id", std::move(words));
}

Json gpu_json(const NodeGpu& gpu) {
  Json json = Json::object();
  json.set("uuid", gpu.uuid).set("minor", gpu.minor ? Json(static_cast<std::uint64_t>(*gpu.minor)) : Json());
  return json.set("pci_address", gpu.pci_address).set("model", gpu.model);
}

std::uint32_t u32(const typed::Reader& item, const char* key, const std::string& file) {
  const std::int64_t value = item.integer(key).value_or(0);
  if (value < 0 || value > 0xffffffffLL)
    throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, std::string(key) + " is out of range");
  return static_cast<std::uint32_t>(value);
}

NodeFile file_from(const typed::Reader& item, const std::string& file) {
  NodeFile node{item.text("path"), std::nullopt};
  const std::string kind = item.text("kind");
  if (kind.empty()) return node;
  RootedFile found;
  found.resolved = item.text("resolved");
  const std::int64_t size = item.integer("size").value_or(0);
  if (size < 0) throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, "size is negative");
  found.size = static_cast<std::uint64_t>(size);
  found.dev_major = u32(item, "major", file);
  found.dev_minor = u32(item, "minor", file);
  for (const auto& [value, name] : kKinds)
    if (kind == name) found.kind = value;
  for (const Json& word : item.value()["build_id"].items())
    found.build_id.push_back(static_cast<std::uint32_t>(word.as_uint()));
  node.file = std::move(found);
  return node;
}

}  // namespace

const NodeFile* NodeFacts::find_file(const std::string& path) const noexcept {
  const auto found = std::lower_bound(files.begin(), files.end(), path,
                                      [](const NodeFile& file, const std::string& wanted) { return file.path < wanted; });
  return found == files.end() || found->path != path ? nullptr : &*found;
}

Json NodeFacts::to_json() const {
  Json gpu_list = Json::array();
  for (const NodeGpu& gpu : gpus) gpu_list.push(gpu_json(gpu));
  Json major_map = Json::object();
  for (const auto& [name, major] : majors) major_map.set(name, major);
  Json file_list = Json::array();
  for (const NodeFile& file : files) file_list.push(file_json(file));
  Json cdi_list = Json::array();
  for (const CdiText& text : cdi) {
    Json json = Json::object();
    json.set("file", text.file).set("priority", text.priority);
    cdi_list.push(std::move(json.set("text", text.text)));
  }
  Json version_map = Json::object();
  for (const auto& [name, version] : versions) version_map.set(name, version);
  Json conf_list = Json::array();
  for (const NodeConf& conf : criu_conf) {
    Json json = Json::object();
    conf_list.push(std::move(json.set("file", conf.file).set("text", conf.text)));
  }
  Json json = Json::object();
  json.set("schema", kSchema).set("kernel", kernel).set("nvidia_driver", nvidia_driver).set("gpus", std::move(gpu_list));
  json.set("majors", std::move(major_map)).set("versions", std::move(version_map)).set("cdi", std::move(cdi_list));
  return json.set("criu_conf", std::move(conf_list)).set("files", std::move(file_list));
}

NodeFacts NodeFacts::from_json(const Json& document, const std::string& file) {
  const typed::Reader top(document, Where{file, {}, {}, {}});
  top.require_object();
  if (top.text("schema") != kSchema)
    throw Error(ErrorCode::unsupported, Where{file, {}, {}, {}},
                "not facts of a node: the schema is \"" + top.text("schema") + "\", wanted \"" + kSchema + "\"",
                "`ckpt-inspect node` writes them");
  NodeFacts facts;
  facts.kernel = top.text("kernel");
  facts.nvidia_driver = top.text("nvidia_driver");
  top.each("gpus", [&](const typed::Reader& item, std::size_t) {
    const auto minor = item.integer("minor");
    facts.gpus.push_back({item.text("uuid"), minor ? std::optional(u32(item, "minor", file)) : std::nullopt,
                          item.text("pci_address"), item.text("model")});
  });
  for (const auto& [name, major] : document["majors"].members()) facts.majors[name] = major.as_int();
  facts.versions = top.text_map("versions");
  top.each("cdi", [&](const typed::Reader& item, std::size_t) {
    facts.cdi.push_back({item.text("file"), item.text("text"), static_cast<int>(u32(item, "priority", file) & 0xffff)});
  });
  top.each("criu_conf", [&](const typed::Reader& item, std::size_t) {
    facts.criu_conf.push_back({item.text("file"), item.text("text")});
  });
  top.each("files", [&](const typed::Reader& item, std::size_t) { facts.files.push_back(file_from(item, file)); });
  std::sort(facts.files.begin(), facts.files.end(),
            [](const NodeFile& a, const NodeFile& b) { return a.path < b.path; });
  return facts;
}

}  // namespace ckpt
