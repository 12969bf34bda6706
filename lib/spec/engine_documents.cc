// SPDX-License-Identifier: Apache-2.0
#include "spec/engine_documents.h"

#include <sstream>

#include "spec/typed.h"

namespace ckpt {

namespace {

constexpr std::string_view kCdiPrefix = "cdi.k8s.io/";
constexpr const char* kCrioAnnotations = "io.kubernetes.cri-o.Annotations";
constexpr const char* kCrioVolumes = "io.kubernetes.cri-o.Volumes";

// Go writes its zero time instead of leaving the key out.
std::string time_or_empty(const std::string& time) { return time.rfind("0001-01-01", 0) == 0 ? std::string() : time; }

RequestedMount requested_mount(const typed::Reader& item) {
  return {item.text("container_path"), item.text("host_path"), item.flag("readonly")};
}

void append_names(const std::string& list, std::vector<std::string>& names) {
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
}

}  // namespace

ContainerConfig read_container_config(const Json& document, const Where& where) {
  const typed::Reader top(document, where);
  top.require_object();
  ContainerConfig config;
  config.id = top.text("id");
  config.name = top.text("name");
  config.image = top.text("rootfsImageName");
  if (config.image.empty()) config.image = top.text("rootfsImage");
  config.runtime = top.text("runtime");
  config.created = time_or_empty(top.text("createdTime"));
  config.checkpointed = time_or_empty(top.text("checkpointedTime"));
  config.cdi_devices = top.texts("cdiDevices");
  return config;
}

std::vector<RequestedMount> read_cri_o_volumes(const std::map<std::string, std::string>& annotations,
                                               const Where& where) {
  std::vector<RequestedMount> mounts;
  const auto found = annotations.find(kCrioVolumes);
  if (found == annotations.end() || found->second.empty()) return mounts;
  Json holder = Json::object();
  holder.set("mounts", Json::parse(found->second, where.file, where.member + ": annotation " + kCrioVolumes));
  typed::Reader(holder, where).each("mounts", [&](const typed::Reader& item, std::size_t) {
    mounts.push_back(requested_mount(item));
  });
  return mounts;
}

std::vector<RequestedMount> read_cri_status_mounts(const Json& document, const Where& where) {
  const typed::Reader top(document, where);
  top.require_object();
  std::vector<RequestedMount> mounts;
  top.each("mounts", [&](const typed::Reader& item, std::size_t) { mounts.push_back(requested_mount(item)); });
  return mounts;
}

std::string read_network_address(const Json& document) {
  for (const auto& [network, status] : document.members())
    for (const auto& [name, interface] : status["interfaces"].members())
      for (const Json& subnet : interface["subnets"].items()) {
        const std::string& address = subnet["ipnet"].as_string();
        if (!address.empty()) return address.substr(0, address.find('/'));
      }
  return {};
}

std::vector<std::string> cdi_names_in_annotations(const std::map<std::string, std::string>& annotations) {
  std::vector<std::string> names;
  for (const auto& [key, value] : annotations)
    if (key.rfind(kCdiPrefix, 0) == 0) append_names(value, names);
  if (const auto nested = annotations.find(kCrioAnnotations); nested != annotations.end()) {
    try {
      const Json inner = Json::parse(nested->second);
      for (const auto& [key, value] : inner.members())
        if (key.rfind(kCdiPrefix, 0) == 0) append_names(value.as_string(), names);
    } catch (const Error&) {
      // Text that is not JSON asks for nothing; CRI-O itself refuses it at restore, which the comparison reports.
    }
  }
  return names;
}

}  // namespace ckpt
