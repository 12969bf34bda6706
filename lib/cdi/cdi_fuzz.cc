// SPDX-License-Identifier: Apache-2.0
// Any bytes either are a CDI file, whose devices then can be asked for by name, or are refused with an Error.
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

void read_file(const std::string& text) {
  ckpt::Limits limits;
  limits.max_document_nodes = 10'000;
  const ckpt::CdiSpec spec = ckpt::parse_cdi(text, "file", limits);
  require(!spec.devices.empty());
  for (const ckpt::CdiDevice& device : spec.devices) {
    const auto name = ckpt::parse_cdi_name(spec.kind() + "=" + device.name);
    require(name && name->vendor == spec.vendor && name->klass == spec.klass && name->name == device.name);
    for (const ckpt::CdiDeviceNode& node : device.edits.device_nodes) require(!node.host_path.empty());
  }
}

void read_list(const std::string& text) {
  const auto paths = ckpt::parse_container_cli_list(text, "file");
  const ckpt::CdiEdits edits = ckpt::edits_from_list(paths);
  require(edits.device_nodes.size() + edits.mounts.size() == paths.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {read_file, read_list}) {
    try {
      read(text);
    } catch (const ckpt::Error&) {
    }
  }
  return 0;
}
