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

/// A mount that the pod itself asked for, not the engine, its CDI files or a hook.
struct RequestedMount {
  std::string container_path;
  std::string host_path;
  bool read_only = false;
};

/// CRI-O's io.kubernetes.cri-o.Volumes (a JSON array in an annotation); empty without it.
/// Throws Error(corrupt) when the text is not JSON.
std::vector<RequestedMount> read_cri_o_volumes(const std::map<std::string, std::string>& annotations,
                                               const Where& where);
/// mounts[] of a CRI ContainerStatus (containerd's status.dump, snake_case keys).
std::vector<RequestedMount> read_cri_status_mounts(const Json& document, const Where& where);

/// First IPv4 or IPv6 address of Podman's network.status, without the prefix length; empty when there is none.
std::string read_network_address(const Json& document);

/// Qualified CDI names that annotations cdi.k8s.io/* ask for, in key order. CRI-O keeps the container's annotations as
/// JSON text in io.kubernetes.cri-o.Annotations; those are read too.
std::vector<std::string> cdi_names_in_annotations(const std::map<std::string, std::string>& annotations);

}  // namespace ckpt
