// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"device.nvidia", LogStage::dump, cause,
     "Can't dump file %n of that type [%n] (chr 195:%s\n"
     "Can't dump file %n of that type [20666] (chr 195:%s",
     "A process has an NVIDIA device open, and nothing took it over: CRIU's CUDA plugin is missing or "
     "gave up, or the driver is too old.",
     "Install CRIU's CUDA plugin and cuda-checkpoint (driver 555 or newer, 570 for programs that use "
     "NVML), or suspend the GPU state before the dump.",
     "", ""},
    {"device.drm", LogStage::dump, cause, "Can't dump file %n of that type [%n] (chr 226:%s",
     "A process has a graphics device (/dev/dri) open, and no plugin took it over.",
     "For AMD install CRIU's AMD GPU plugin; else close the device before the dump.", "", ""},
    {"device.open", LogStage::dump, cause, "Can't dump file %n of that type [%n] (%s",
     "A process has a device or another special file open that CRIU cannot dump: {text}",
     "Close it before the dump. For nvidia-uvm (a dynamic major) see to CRIU's CUDA plugin, for /dev/kfd "
     "to the AMD GPU plugin.",
     "", ""},
    {"device.mapped", LogStage::dump, cause,
     "handle_device_vma plugin failed\n"
     "Can't handle non-regular mapping on %n's map %s",
     "A process has device memory mapped, and no CRIU plugin took it over.",
     "For NVIDIA see that the CUDA plugin is loaded and cuda-checkpoint is in PATH, for AMD the AMD GPU "
     "plugin.",
     "", ""},
    {"plugin.missing", LogStage::restore, cause, "Missing required plugin: %s",
     "The checkpoint was made with the CRIU plugin {text}, which this node's CRIU does not load.",
     "Install it (criu-cuda-plugin, criu-amdgpu-plugin), or point CRIU at its directory with libdir.",
     "libdir=/usr/lib/criu", ""},
    {"cuda.lock", LogStage::dump, cause, "PAUSE_DEVICES failed with %s",
     "The GPU work of a process could not be halted. cuda-checkpoint says: {text}",
     "If it timed out raise CRIU's timeout; MPS, MIG and memory shared between processes are not "
     "supported.",
     "timeout=60", ""},
    {"cuda.checkpoint", LogStage::dump, cause, "CHECKPOINT_DEVICES failed with %s",
     "GPU memory could not be copied to the host. cuda-checkpoint says: {text}",
     "Check that the host has as much free memory as the GPU memory in use; managed memory, IPC memory, "
     "MIG and MPS are not supported by all drivers.",
     "", ""},
    {"cuda.restore", LogStage::restore, cause, "RESUME_DEVICES RESTORE failed with %s",
     "GPU memory could not be put back. cuda-checkpoint says: {text}",
     "The target needs GPUs of the same model, number and order, free memory on them and the same driver.", "",
     "ckpt-inspect gpu {archive}"},
    {"cuda.unlock", LogStage::restore, cause, "RESUME_DEVICES UNLOCK failed with %s",
     "GPU work could not be resumed. cuda-checkpoint says: {text}",
     "Check the driver of this node with nvidia-smi, then try cuda-checkpoint by hand.", "",
     "ckpt-inspect gpu {archive}"},
    {"cuda.state", LogStage::any, cause,
     "Failed to launch cuda-checkpoint to retrieve\n"
     "Unknown CUDA state\n"
     "cuda-checkpoint unexpectedly signaled\n"
     "cuda-checkpoint unexpectedly exited",
     "cuda-checkpoint did not answer as CRIU's plugin expects.",
     "Run cuda-checkpoint by hand on such a process; install the one that belongs to the driver.", "", ""},
    {"cuda.no_tool", LogStage::any, warning, "check that cuda-checkpoint is present in $PATH",
     "CRIU's CUDA plugin did not find cuda-checkpoint and left GPU state alone.",
     "Put cuda-checkpoint into a directory of the PATH that the engine's daemon has.", "", ""},
    {"cuda.old_driver", LogStage::any, warning,
     "--action flag not supported, an r555 or higher version driver is required",
     "cuda-checkpoint here is too old for CRIU's CUDA plugin, which left GPU state alone.",
     "Use driver 555 or newer with its own cuda-checkpoint.", "", ""},
    {"cuda.no_gpu", LogStage::any, warning, "No GPU device found; CUDA plugin is disabled",
     "CRIU's CUDA plugin saw no NVIDIA GPU on this node (/proc/driver/nvidia/gpus) and left GPU state "
     "alone.",
     "Load the driver on this node; where it lives in a container, make its files visible to the host.", "",
     "ckpt-inspect gpu {archive}"},
    {"amd.topology", LogStage::restore, cause,
     "Number of devices mismatch (checkpointed:%n local:%s\n"
     "Failed to match all GPU groups\n"
     "Failed to match remaining nodes\n"
     "Failed to map GPUs",
     "The AMD GPUs here do not match those of the dump in number, model or links.",
     "Restore on a node with the same GPUs; the KFD_*_CHECK=0 variables of the plugin relax firmware, "
     "cache and memory checks.",
     "", "ckpt-inspect gpu {archive}"},
    {"amd.kernel", LogStage::any, cause, "CR not supported on current kernel (current:%s",
     "The kernel's AMD GPU driver is too old to checkpoint.", "Use a newer kernel (kfd 1.8 or newer).", "", ""},
    {"amd.render_node", LogStage::restore, cause,
     "Failed to open render device (minor:%n)\n"
     "amdgpu_plugin: Failed to open %p: No such file or directory",
     "The render device of the dump's GPU is not in the restored container, or has another number here.",
     "Give the container the device of this node.", "", "ckpt-inspect devices {archive}"},
    {"amd.permission", LogStage::any, cause,
     "Check user is in \"video\" group\n"
     "Check user is in \\\"video\\\" group",
     "The AMD GPU devices cannot be opened with these permissions.",
     "Run as root, or add the user to the groups video and render.", "", ""},
    {"amd.image", LogStage::restore, cause, "amdgpu_plugin: %s size mismatch",
     "The plugin's image was written by another CRIU version.", "Use the CRIU version of the dump.", "",
     "ckpt-inspect show {archive}"},
};

}  // namespace

std::vector<FailureKind> device_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
