// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/classify.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using ckpt::classify_driver_path;
using ckpt::MountClass;

TEST_CASE("driver files are recognised by their place in the container") {
  const std::vector<std::pair<const char*, MountClass>> cases = {
      {"/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10", MountClass::library},
      {"/usr/lib64/libnvidia-ml.so.1", MountClass::library},
      {"/usr/lib/aarch64-linux-gnu/tegra/libnvrm_gpu.so.35.5.0", MountClass::library},
      {"/usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.1.1.2", MountClass::library},
      {"/usr/lib/wsl/lib/libdxcore.so", MountClass::library},
      {"/usr/lib/x86_64-linux-gnu/nvidia/xorg/libglxserver_nvidia.so.570.86.10", MountClass::library},
      {"/usr/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.570.86.10", MountClass::library},
      {"/lib/firmware/nvidia/570.86.10/gsp_ga10x.bin", MountClass::firmware},
      {"/usr/bin/nvidia-smi", MountClass::binary},
      {"/usr/share/glvnd/egl_vendor.d/10_nvidia.json", MountClass::config},
      {"/etc/vulkan/icd.d/nvidia_icd.json", MountClass::config},
      {"/usr/share/nvidia/nvoptix.bin", MountClass::config},
      {"/run/nvidia-persistenced/socket", MountClass::socket},
      {"/var/run/nvidia-fabricmanager/socket", MountClass::socket},
      {"/tmp/nvidia-mps", MountClass::socket},
      {"/dev/nvidia0", MountClass::device},
      {"/dev/nvidia-caps/nvidia-cap1", MountClass::device},
      {"/dev/dri/renderD128", MountClass::device},
      {"/dev/kfd", MountClass::device},
      {"/proc/driver/nvidia/params", MountClass::procfs},
      {"/proc/driver", MountClass::procfs},
      {"/run/nvidia-ctk-hook3c191a75-edb9-4414-96e4-dbf38a7e2aaa", MountClass::hook_scratch},
      {"/var/run/nvidia-container-devices/GPU-1", MountClass::request},
  };
  for (const auto& [path, wanted] : cases) {
    CAPTURE(path);
    const auto found = classify_driver_path(path);
    REQUIRE(found);
    CHECK(*found == wanted);
  }
}

TEST_CASE("ordinary files are no driver files") {
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/libssl.so.1.1", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/data", "/etc/hosts",
        "/dev/shm", "/dev/null", "/dev/termination-log", "/srv/nvidia-notes.txt", "/usr/lib/libfoo.so.570.86.10",
        "/opt/libcuda.so.old", "/run/secrets", "/proc/sys", "/home/me/lib.so"}) {
    CAPTURE(path);
    CHECK_FALSE(classify_driver_path(path));
  }
}

TEST_CASE("library names come apart into stem and version") {
  const auto cuda = ckpt::parse_library_name("libcuda.so.570.86.10");
  REQUIRE(cuda);
  CHECK(cuda->stem == "cuda");
  CHECK(cuda->version == "570.86.10");
  CHECK(cuda->has_driver_version());
  const auto soname = ckpt::parse_library_name("libnvidia-ml.so.1");
  REQUIRE(soname);
  CHECK(soname->version == "1");
  CHECK_FALSE(soname->has_driver_version());
  REQUIRE(ckpt::parse_library_name("libdxcore.so"));
  CHECK(ckpt::parse_library_name("libdxcore.so")->version.empty());
  for (const char* name :
       {"lib.so.1", "libcuda.so.", "libcuda.so.1.", "libcuda.so.1..2", "libcuda.so.x", "cuda.so.1", "libcuda.a"}) {
    CAPTURE(name);
    CHECK_FALSE(ckpt::parse_library_name(name));
  }
}

TEST_CASE("a driver version stands in a library's name or a firmware's directory") {
  CHECK(ckpt::driver_version_in("/usr/lib/libcuda.so.580.159.04") == "580.159.04");
  CHECK(ckpt::driver_version_in("/usr/lib/libcuda.so.550.54") == "550.54");
  CHECK(ckpt::driver_version_in("/lib/firmware/nvidia/570.86.10/gsp_ga10x.bin") == "570.86.10");
  CHECK(ckpt::driver_version_in("/usr/lib/libcuda.so.1").empty());
  CHECK(ckpt::driver_version_in("/usr/lib/libnvidia-egl-gbm.so.1.1.2").empty());
  CHECK(ckpt::driver_version_in("/lib/firmware/nvidia/ga102/gsp.bin").empty());
  CHECK(ckpt::driver_version_in("/usr/bin/nvidia-smi").empty());
}
