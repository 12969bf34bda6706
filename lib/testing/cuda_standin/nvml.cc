// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "testing/cuda_standin/standin.h"

namespace {

using namespace ckpt::standin;
using namespace ckpt::cuda;

constexpr int kNotFound = 6;

// A handle is an index and one, so that it is not null.
std::size_t index_of(void* device) { return reinterpret_cast<std::size_t>(device) - 1; }

Line* device_line(State& state, void* device) {
  const auto gpus = state.all("gpu");
  return index_of(device) < gpus.size() ? gpus[index_of(device)] : nullptr;
}

int copy_text(const std::string& text, char* out, unsigned size) {
  std::snprintf(out, size, "%s", text.c_str());
  return 0;
}

}  // namespace

extern "C" {
#define STANDIN_API __attribute__((visibility("default")))

STANDIN_API int nvmlInit_v2() { return 0; }

STANDIN_API int nvmlSystemGetDriverVersion(char* out, unsigned size) { return copy_text("0.0.standin", out, size); }

STANDIN_API int nvmlDeviceGetCount_v2(unsigned* count) {
  State state;
  *count = static_cast<unsigned>(state.all("gpu").size());
  return 0;
}

STANDIN_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(index) + 1);
  return 0;
}

STANDIN_API int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  State state;
  const Line* line = device_line(state, device);
  return line == nullptr ? kNotFound : copy_text(line->text("uuid"), out, size);
}

STANDIN_API int nvmlDeviceGetName(void* device, char* out, unsigned size) {
  State state;
  const Line* line = device_line(state, device);
  if (line == nullptr) return kNotFound;
  std::string name = line->text("name");
  std::replace(name.begin(), name.end(), '_', ' ');
  return copy_text(name, out, size);
}

STANDIN_API int nvmlDeviceGetMemoryInfo(void* device, NvmlMemory* memory) {
  State state;
  const Line* line = device_line(state, device);
  if (line == nullptr) return kNotFound;
  *memory = {line->number("total"), line->number("free"), line->number("total") - line->number("free")};
  return 0;
}

STANDIN_API int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
  State state;
  const Line* line = device_line(state, device);
  if (line == nullptr) return kNotFound;
  *minor = static_cast<unsigned>(line->number("minor"));
  return 0;
}

STANDIN_API int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  State state;
  const Line* line = device_line(state, device);
  if (line == nullptr) return kNotFound;
  *current = *pending = static_cast<unsigned>(line->number("mig"));
  return 0;
}

STANDIN_API int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, NvmlProcess* processes) {
  State state;
  const Line* gpu = device_line(state, device);
  if (gpu == nullptr) return kNotFound;
  unsigned found = 0;
  for (const Line* process : state.all("process"))
    if (process->text("gpu") == gpu->text("uuid") && process->text("state") != "checkpointed" && found < *count)
      processes[found++] = {static_cast<std::uint32_t>(process->number("pid")), process->number("bytes"), 0, 0};
  *count = found;
  return 0;
}
}
