// SPDX-License-Identifier: Apache-2.0
#include "ckpt/cdi.h"

#include "cdi/decode.h"
#include "cdi/validate.h"
#include "document/yaml.h"

namespace ckpt {

namespace {

using cdi::Object;

CdiDeviceNode read_node(Object object) {
  CdiDeviceNode node;
  node.path = object.text("path");
  node.host_path = object.text("hostPath");
  node.type = object.text("type");
  const auto major = object.integer("major");
  const auto minor = object.integer("minor");
  if (major.value_or(0) < 0) object.fail(object.path_to("major"), "is negative");
  if (minor.value_or(0) < 0) object.fail(object.path_to("minor"), "is negative");
  // A minor without a major means nothing, a major without a minor means minor 0 (zero values are left out on write).
  if (major.value_or(0) != 0) {
    node.major = major;
    node.minor = minor.value_or(0);
  }
  node.file_mode = object.unsigned_integer("fileMode");
  node.permissions = object.text("permissions");
  node.uid = object.unsigned_integer("uid");
  node.gid = object.unsigned_integer("gid");
  object.finish();
  return node;
}

CdiMount read_mount(Object object) {
  CdiMount mount;
  mount.host_path = object.text("hostPath");
  mount.container_path = object.text("containerPath");
  mount.options = object.texts("options");
  mount.type = object.text("type");
  object.finish();
  return mount;
}

CdiHook read_hook(Object object) {
  CdiHook hook;
  hook.hook_name = object.text("hookName");
  hook.path = object.text("path");
  hook.args = object.texts("args");
  hook.env = object.texts("env");
  hook.timeout = object.integer("timeout");
  object.finish();
  return hook;
}

CdiNetDevice read_net_device(Object object) {
  CdiNetDevice device;
  device.host_interface_name = object.text("hostInterfaceName");
  device.name = object.text("name");
  object.finish();
  return device;
}

CdiIntelRdt read_rdt(Object object) {
  CdiIntelRdt rdt;
  rdt.clos_id = object.text("closID");
  rdt.l3_cache_schema = object.text("l3CacheSchema");
  rdt.mem_bw_schema = object.text("memBwSchema");
  rdt.schemata = object.texts("schemata");
  rdt.enable_cmt = object.flag("enableCMT");
  rdt.enable_mbm = object.flag("enableMBM");
  rdt.enable_monitoring = object.flag("enableMonitoring");
  object.finish();
  return rdt;
}

CdiEdits read_edits(std::optional<Object> object) {
  CdiEdits edits;
  if (!object) return edits;
  edits.env = object->texts("env");
  object->each("deviceNodes", [&](Object item) { edits.device_nodes.push_back(read_node(std::move(item))); });
  object->each("netDevices", [&](Object item) { edits.net_devices.push_back(read_net_device(std::move(item))); });
  object->each("hooks", [&](Object item) { edits.hooks.push_back(read_hook(std::move(item))); });
  object->each("mounts", [&](Object item) { edits.mounts.push_back(read_mount(std::move(item))); });
  if (auto rdt = object->child("intelRdt")) edits.intel_rdt = read_rdt(std::move(*rdt));
  edits.additional_gids = object->unsigned_integers("additionalGids");
  object->finish();
  return edits;
}

CdiDevice read_device(Object object) {
  CdiDevice device;
  device.name = object.text("name");
  device.annotations = object.text_map("annotations");
  device.edits = read_edits(object.child("containerEdits"));
  object.finish();
  return device;
}

void split_kind(const std::string& kind, CdiSpec& spec) {
  const std::size_t slash = kind.find('/');
  spec.vendor = kind.substr(0, slash);
  spec.klass = slash == std::string::npos ? std::string() : kind.substr(slash + 1);
}

// An absent hostPath means the path in the container; only then can the version a file needs be told from its text.
void fill_host_paths(CdiEdits& edits) {
  for (CdiDeviceNode& node : edits.device_nodes)
    if (node.host_path.empty()) node.host_path = node.path;
}

}  // namespace

CdiSpec parse_cdi(const std::string& text, const std::string& file, const Limits& limits) {
  const Json document = parse_yaml(text, file, limits);
  if (document.is_null()) throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, "no CDI data in it");
  CdiSpec spec;
  Object top(document, {}, file, spec.unknown_fields);
  spec.file = file;
  spec.version = top.text("cdiVersion");
  if (!spec.version.empty() && spec.version.front() == 'v') spec.version.erase(0, 1);
  split_kind(top.text("kind"), spec);
  spec.annotations = top.text_map("annotations");
  top.each("devices", [&](Object item) { spec.devices.push_back(read_device(std::move(item))); });
  spec.edits = read_edits(top.child("containerEdits"));
  top.finish();
  cdi::validate(spec, file);
  fill_host_paths(spec.edits);
  for (CdiDevice& device : spec.devices) fill_host_paths(device.edits);
  return spec;
}

std::optional<CdiQualifiedName> parse_cdi_name(const std::string& text) {
  if (text.empty() || text.front() == '/') return std::nullopt;
  const std::size_t sign = text.find('=');
  const std::size_t slash = text.find('/');
  if (sign == std::string::npos || slash == std::string::npos || slash > sign) return std::nullopt;
  CdiQualifiedName name{text.substr(0, slash), text.substr(slash + 1, sign - slash - 1), text.substr(sign + 1)};
  if (!cdi::is_vendor_or_class(name.vendor) || !cdi::is_vendor_or_class(name.klass) || !cdi::is_device_name(name.name))
    return std::nullopt;
  return name;
}

}  // namespace ckpt
