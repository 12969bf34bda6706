// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/error.h"
#include "ckpt/json.h"
#include "spec/runtime_spec.h"

namespace ckpt {

/// config.dump as far as it is alike between the engines (checkpointctl's ContainerConfig, libpod's ContainerConfig).
struct ContainerConfig {
  std::string id;
  std::string name;
  std::string image;                     ///< rootfsImageName, else rootfsImage
  std::string runtime;                   ///< a name ("runc"), a path or a containerd shim name
  std::string created;                   ///< RFC 3339; empty for Go's zero time
  std::string checkpointed;              ///< RFC 3339; libpod does not write it
  std::vector<std::string> cdi_devices;  ///< libpod: qualified names
};
ContainerConfig read_container_config(const Json& document, const Where& where);

/// First IPv4 or IPv6 address of Podman's network.status, without the prefix length; empty when there is none.
std::string read_network_address(const Json& document);

/// Qualified CDI names that annotations cdi.k8s.io/* ask for, in key order. CRI-O keeps the container's annotations as
/// JSON text in io.kubernetes.cri-o.Annotations; those are read too.
std::vector<std::string> cdi_names_in_annotations(const std::map<std::string, std::string>& annotations);

}  // namespace ckpt
