// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ckpt/json.h"

namespace ckpt {

/// Reads the first YAML document (JSON is YAML too) the way the container engines do: sigs.k8s.io/yaml 1.4, which
/// resolves scalars first and then turns the tree into JSON. Plain scalars become null, booleans (yes, no, on, off,
/// y, n, true, false), integers (decimal, 0x, 0o, leading 0 = octal, _ allowed), floats or text; quoted ones stay text.
/// Exact duplicate keys are an error; anchors, aliases and merge keys work within limits.
/// Throws Error(corrupt | limit_exceeded) with file and offset. An empty document gives null.
Json parse_yaml(const std::string& text, const std::string& file, const Limits& limits = {});

}  // namespace ckpt
