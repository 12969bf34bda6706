// SPDX-License-Identifier: Apache-2.0
// Lines as users have met and reported them, with what other programs put around CRIU's own text.
#include <doctest/doctest.h>

#include "ckpt/explain.h"

using namespace ckpt;

namespace {

struct Report {
  const char* line;
  const char* code;
  const char* path;  ///< as explained; "" for none
};

const Report kReports[] = {
    {"runc: create criu restore mount for /usr/lib64/libEGL_nvidia.so.560.35.03 mount: bind mount source stat: stat "
     "/usr/lib64/libEGL_nvidia.so.560.35.03: no such file or directory",
     "runtime.mount_source_old", "/usr/lib64/libEGL_nvidia.so.560.35.03"},
    {"Error: crun: cannot stat `/usr/lib64/libEGL_nvidia.so.550.135`: No such file or directory: OCI runtime attempted "
     "to invoke a command that was not found",
     "runtime.stat", ""},
    {"crun: error stat'ing file /lib/x86_64-linux-gnu/libEGL_nvidia.so.535.161.07: No such file or directory",
     "runtime.stat", ""},
    {"nvidia-container-cli: mount error: file creation failed: /merged/proc/driver/nvidia/params/version/registry: no "
     "such file or directory",
     "runtime.nvidia_hook", ""},
    {"Failed to initialize NVML: Driver/library version mismatch", "gpu.library_mismatch", ""},
    {"(00.117) 1: Error (criu/mount-v2.c:634): mnt-v2: Can't stat mountpoint "
     "/tmp/.criu.mntns.ab12CD/mnt-0000000099/dev/nvidia1: No such file or directory",
     "mount.no_mountpoint", "/tmp/.criu.mntns.ab12CD/mnt-0000000099/dev/nvidia1"},
    {"Could not restore on process ID 12: \"invalid argument\" RESUME_DEVICES RESTORE failed with invalid argument",
     "cuda.restore", ""},
    {"(00.1) Error (amdgpu_plugin_util.c:110): amdgpu_plugin: Failed to open /dev/dri/renderD144: No such file or "
     "directory",
     "amd.render_node", "/dev/dri/renderD144"},
    {"(00.080) 1: Error (criu/mount.c:3141): mnt: No mapping for 3730:(null) mountpoint", "mount.no_mapping", ""},
    {"(00.05) Error (criu/mount.c:1092): mnt: Mount 251 ./proc/driver/nvidia/gpus/0000:00:04.0 (master_id: 15 "
     "shared_id: 0) has unreachable sharing. Try --enable-external-masters.",
     "mount.unreachable_sharing", "/proc/driver/nvidia/gpus/0000:00:04.0"},
    {"(00.03) Error (criu/proc_parse.c:116): handle_device_vma plugin failed: No such file or directory",
     "device.mapped", ""},
    {"(00.09) 1: Error (criu/mount-v2.c:888): mnt-v2: Failed to copy sharing from 12 to 14: Invalid argument",
     "mount.copy_sharing", ""},
    {"(00.06) Error (criu/mount.c:1070): mnt: 716:./proc/timer_list doesn't have a proper root mount",
     "mount.no_root_mount", "/proc/timer_list"},
    {"Error: OCI runtime error: CRIU restoring failed -52. Please check CRIU logfile restore.log", "runtime.differs",
     ""},
    {"(00.09) 1: Error (criu/mount.c:2005): mnt: No mapping for /proc/sched_debug mountpoint", "mount.no_mapping",
     "/proc/sched_debug"},
    {"Error: the container to restore (/out/crio.tar) expects following bind mounts defined (/data,/data2)",
     "crio.missing_mounts", ""},
    {"E0101 10:00:00.000000 1 kubelet_pods.go:1] \"Path does not exist\" path=\"/var/lib/kubelet/pods/UID/volumes\"",
     "kubelet.volumes", ""},
    {"Error: (00.009) 1: Error (criu/mount.c:1): mnt: Can't mount at ./etc/resolv.conf: No such file or directory",
     "mount.no_mountpoint", "/etc/resolv.conf"},
    {"(00.01) 1: Error (criu/files-reg.c:2153): File usr/lib/x86_64-linux-gnu/libpthread-2.31.so has bad build-ID",
     "file.build_id_differs", "/usr/lib/x86_64-linux-gnu/libpthread-2.31.so"},
    {"(00.01) 1: Error (criu/files-reg.c:1): File usr/lib/libc.so has bad size 25195 (expect 16965)",
     "file.size_differs", "/usr/lib/libc.so"},
    {"(00.01) 1: Error (criu/files-reg.c:1): Can't link dev/shm/link_remap.383 -> dev/shm/sem.Y4fh4N: No such file or "
     "directory",
     "file.link_remap_lost", "/dev/shm/link_remap.383"},
    {"(00.01) 1: Error (criu/files-reg.c:1): Can't open file gatk/data/tmp/a on restore: No such file or directory",
     "file.missing", "/gatk/data/tmp/a"},
    {"pie: 1: Error (criu/pie/restorer.c:168): can't write lsm profile -13", "lsm.mismatch", ""},
    {"docker: Error response from daemon: CDI device injection failed: unresolvable CDI devices "
     "management.nvidia.com/gpu=GPU-1",
     "cdi.unresolvable", ""},
    {"error opening binary file: open /tmp/xxx/pstree.img: no such file or directory", "runtime.images_dir",
     "/tmp/xxx/pstree.img"},
    {"Error: no command specified", "crio.no_command", ""},
    {"Error: ProcessLabel and Mountlabel must either not be specified or both specified", "engine.terminal", ""},
    {"Error: open descriptors.json: no such file or directory", "runtime.no_descriptors", ""},
    {"{\"level\":\"error\",\"msg\":\"mount src=/srv/a, dst=/a, flags=MS_BIND: no such file or directory\"}",
     "runtime.mount_source", ""},
};

}  // namespace

TEST_CASE("what users reported is explained") {
  for (const Report& report : kReports) {
    CAPTURE(report.line);
    LogExplainer explainer("report");
    explainer.feed(report.line);
    const Explanation explanation = explainer.finish();
    REQUIRE(explanation.cause);
    CHECK(explanation.cause->code == report.code);
    CHECK(explanation.cause->path == report.path);
  }
}
