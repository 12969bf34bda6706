// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused with an Error that names the file, or are a file whose devices have names and edits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cdi/driver_files.h"
#include "ckpt/cdi.h"
#include "ckpt/error.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_spec(const ckpt::CdiSpec& spec) {
  require(!spec.devices.empty());
  for (const ckpt::CdiDevice& device : spec.devices) {
    const auto name = ckpt::parse_cdi_name(spec.kind() + "=" + device.name);
    require(name && name->kind() == spec.kind() && name->name == device.name);
    for (const ckpt::CdiMount& mount : device.edits.mounts)
      require(!mount.host_path.empty() && !mount.container_path.empty());
    for (const ckpt::CdiDeviceNode& node : device.edits.device_nodes) {
      require(!node.path.empty() && !node.host_path.empty());
      require(node.major.has_value() == node.minor.has_value() && node.major.value_or(1) > 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ckpt::Limits limits;
  limits.max_document_nodes = 10000;
  try {
    check_spec(ckpt::parse_cdi(text, "fuzz", limits));
  } catch (const ckpt::Error& error) {
    require(error.where().file == "fuzz");
  }
  try {
    for (const std::string& path : ckpt::parse_container_cli_list(text, "fuzz")) require(path.front() == '/');
  } catch (const ckpt::Error& error) {
    require(error.where().file == "fuzz");
  }
  return 0;
}
