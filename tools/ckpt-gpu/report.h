// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ckpt/gpu.h"
#include "ckpt/json.h"
#include "common/console.h"

namespace ckpt::tool {

/// {"schema": "ckpt.gpu-<command>/1"}
Json gpu_document(const std::string& command);
Json process_json(const GpuProcess& process);
Json device_json(const GpuDevice& device);
Json driver_json(const GpuDriver& driver);
Json findings_json(const std::vector<GpuFinding>& findings);
Json report_json(const GpuResult& report);

std::string processes_text(const std::vector<GpuProcess>& processes);
std::string findings_text(const std::vector<GpuFinding>& findings, const Console& console);
std::string report_text(const GpuResult& report);

int status_of(GpuOutcome outcome) noexcept;

}  // namespace ckpt::tool
