// SPDX-License-Identifier: Apache-2.0
#include "diff/match.h"

#include <doctest/doctest.h>

using ckpt::FileMatch;
using ckpt::match_file;
using ckpt::MountClass;
using ckpt::TargetFile;

namespace {

TargetFile library(const std::string& path, const std::string& host) { return {path, host, MountClass::library}; }

}  // namespace

TEST_CASE("the container path decides before anything else") {
  const std::vector<TargetFile> files = {library("/usr/lib64/libcuda.so.570.86.10", "/opt/a"),
                                         library("/usr/lib/libcuda.so.570.86.10", "/opt/b")};
  const auto match = match_file("/usr/lib/libcuda.so.570.86.10", MountClass::library, files);
  REQUIRE(match);
  CHECK(match->file->host_path == "/opt/b");
  CHECK(match->by == FileMatch::By::container_path);
}

TEST_CASE("a merged /usr and /var/run are the same place") {
  const std::vector<TargetFile> files = {
      {"/lib/firmware/nvidia/570.86.10/gsp_ga10x.bin", "/nv/gsp", MountClass::firmware},
      {"/var/run/nvidia-persistenced/socket", "/nv/socket", MountClass::socket}};
  const auto firmware = match_file("/usr/lib/firmware/nvidia/570.86.10/gsp_ga10x.bin", MountClass::firmware, files);
  REQUIRE(firmware);
  CHECK(firmware->by == FileMatch::By::container_path);
  const auto socket = match_file("/run/nvidia-persistenced/socket", MountClass::socket, files);
  REQUIRE(socket);
  CHECK(socket->file->host_path == "/nv/socket");
}

TEST_CASE("of two mounts on one container path the later one counts, as in CDI") {
  const std::vector<TargetFile> files = {library("/usr/lib/libcuda.so.1", "/first"),
                                         library("/usr/lib/libcuda.so.1", "/second")};
  const auto match = match_file("/usr/lib/libcuda.so.1", MountClass::library, files);
  REQUIRE(match);
  CHECK(match->file->host_path == "/second");
}

TEST_CASE("a library matches by stem across directories and versions") {
  const std::vector<TargetFile> files = {library("/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20", "/b/libcuda"),
                                         library("/usr/lib/x86_64-linux-gnu/libcudadebugger.so.570.133.20", "/b/dbg")};
  const auto match = match_file("/usr/local/nvidia/lib64/libcuda.so.570.86.10", MountClass::library, files);
  REQUIRE(match);
  CHECK(match->file->host_path == "/b/libcuda");
  CHECK(match->by == FileMatch::By::library_stem);
  CHECK(match->rivals.empty());
}

TEST_CASE("the same version and word size are preferred") {
  const std::vector<TargetFile> files = {library("/usr/lib/i386-linux-gnu/libcuda.so.570.86.10", "/32"),
                                         library("/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15", "/old"),
                                         library("/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10", "/64")};
  const auto match = match_file("/usr/local/nvidia/lib64/libcuda.so.570.86.10", MountClass::library, files);
  REQUIRE(match);
  CHECK(match->file->host_path == "/64");
  const auto narrow = match_file("/usr/lib32/libcuda.so.570.86.10", MountClass::library, files);
  REQUIRE(narrow);
  CHECK(narrow->file->host_path == "/32");
}

TEST_CASE("equally good files are rivals, not a guess") {
  const std::vector<TargetFile> files = {library("/a/libcuda.so.570.86.10", "/one"),
                                         library("/b/libcuda.so.570.86.10", "/two")};
  const auto match = match_file("/usr/local/nvidia/lib64/libcuda.so.570.86.10", MountClass::library, files);
  REQUIRE(match);
  CHECK(match->rivals.size() == 1);
}

TEST_CASE("a file of another kind or name is no counterpart") {
  const std::vector<TargetFile> files = {
      {"/usr/bin/nvidia-smi", "/usr/bin/nvidia-smi", MountClass::binary},
      {"/run/nvidia-fabricmanager/socket", "/run/nvidia-fabricmanager/socket", MountClass::socket},
      {"/dev/nvidia0", "/dev/nvidia0", MountClass::device}};
  CHECK_FALSE(match_file("/usr/lib/libnvidia-smi.so.1", MountClass::library, files));
  CHECK_FALSE(match_file("/run/nvidia-persistenced/socket", MountClass::socket, files));
  CHECK_FALSE(match_file("/dev/nvidia1", MountClass::device, files));
  CHECK_FALSE(match_file("/data/nvidia-smi", MountClass::user, files));
  const auto moved = match_file("/usr/local/nvidia/bin/nvidia-smi", MountClass::binary, files);
  REQUIRE(moved);
  CHECK(moved->by == FileMatch::By::name);
}
