// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cuda/abi.h"

namespace ckpt::cuda {

namespace {

constexpr unsigned kMostGpus = 1024;
constexpr unsigned kMostProcesses = 4096;
constexpr std::uint64_t kNotAvailable = ~std::uint64_t{0};

struct Nvml {
  NvmlInitFn init = nullptr;
  NvmlVersionFn version = nullptr;
  NvmlCountFn count = nullptr;
  NvmlHandleFn handle = nullptr;
  NvmlTextFn uuid = nullptr;
  NvmlTextFn name = nullptr;
  NvmlMemoryFn memory = nullptr;
  NvmlMinorFn minor = nullptr;
  NvmlMigFn mig = nullptr;
  NvmlProcessesFn processes = nullptr;
};

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

// Beside a libcuda that was named by path first: a driver outside the linker's directories keeps both together.
void* open_nvml(const std::string& libcuda, const std::string& libnvml) {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  if (!libnvml.empty()) return ::dlopen(libnvml.c_str(), kFlags);
  const std::size_t slash = libcuda.rfind('/');
  if (slash != std::string::npos)
    if (void* beside = ::dlopen((libcuda.substr(0, slash) + "/libnvidia-ml.so.1").c_str(), kFlags)) return beside;
  return ::dlopen("libnvidia-ml.so.1", kFlags);
}

Nvml load(void* library) {
  Nvml nvml;
  look_up(library, "nvmlInit_v2", nvml.init);
  look_up(library, "nvmlSystemGetDriverVersion", nvml.version);
  look_up(library, "nvmlDeviceGetCount_v2", nvml.count);
  look_up(library, "nvmlDeviceGetHandleByIndex_v2", nvml.handle);
  look_up(library, "nvmlDeviceGetUUID", nvml.uuid);
  look_up(library, "nvmlDeviceGetName", nvml.name);
  look_up(library, "nvmlDeviceGetMemoryInfo", nvml.memory);
  look_up(library, "nvmlDeviceGetMinorNumber", nvml.minor);
  look_up(library, "nvmlDeviceGetMigMode", nvml.mig);
  look_up(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes);
  return nvml;
}

std::string text_of(NvmlTextFn function, void* device) {
  std::array<char, 128> text{};
  if (function == nullptr || function(device, text.data(), static_cast<unsigned>(text.size())) != 0) return "-";
  text.back() = '\0';
  std::string line = text.data();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line.empty() ? "-" : line;
}

std::string uses_of(const Nvml& nvml, void* device) {
  std::vector<NvmlProcess> processes(kMostProcesses);
  unsigned count = kMostProcesses;
  if (nvml.processes == nullptr || nvml.processes(device, &count, processes.data()) != 0) return {};
  std::string lines;
  for (unsigned index = 0; index < std::min(count, kMostProcesses); ++index)
    if (processes[index].used_bytes != kNotAvailable)
      lines += "use " + std::to_string(processes[index].pid) + ' ' + std::to_string(processes[index].used_bytes) + '\n';
  return lines;
}

std::string device_lines(const Nvml& nvml, void* device) {
  NvmlMemory memory;
  const bool has_memory = nvml.memory != nullptr && nvml.memory(device, &memory) == 0;
  unsigned mig = 0;
  unsigned pending = 0;
  if (nvml.mig == nullptr || nvml.mig(device, &mig, &pending) != 0) mig = 0;
  unsigned minor = 0;
  const bool has_minor = nvml.minor != nullptr && nvml.minor(device, &minor) == 0;
  return "gpu " + text_of(nvml.uuid, device) + ' ' + (has_memory ? std::to_string(memory.total) : "-") + ' ' +
         (has_memory ? std::to_string(memory.free) : "-") + ' ' + std::to_string(mig) + ' ' +
         (has_minor ? std::to_string(minor) : "-") + ' ' + text_of(nvml.name, device) + '\n' + uses_of(nvml, device);
}

}  // namespace

std::string read_nvml(const std::string& libcuda, const std::string& libnvml) {
  void* library = open_nvml(libcuda, libnvml);
  if (library == nullptr) return {};
  const Nvml nvml = load(library);
  unsigned count = 0;
  if (nvml.init == nullptr || nvml.count == nullptr || nvml.handle == nullptr || nvml.init() != 0) return {};
  std::array<char, 96> version{};
  std::string text = "driver -\n";
  if (nvml.version != nullptr && nvml.version(version.data(), static_cast<unsigned>(version.size() - 1)) == 0)
    text = "driver " + std::string(version.data()) + '\n';
  if (nvml.count(&count) != 0) return text;
  for (unsigned index = 0; index < std::min(count, kMostGpus); ++index) {
    void* device = nullptr;
    if (nvml.handle(index, &device) == 0) text += device_lines(nvml, device);
  }
  return text;
}

}  // namespace ckpt::cuda
