// SPDX-License-Identifier: Apache-2.0
#include "ckpt/target.h"

#include <doctest/doctest.h>

#include "ckpt/error.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using testing::TempDir;

namespace {

std::string cdi(const std::string& kind, const std::string& devices) {
  return R"({"cdiVersion":"0.5.0","kind":")" + kind + R"(","devices":[)" + devices + "]}";
}

std::string device(const std::string& name) {
  return R"({"name":")" + name + R"(","containerEdits":{"deviceNodes":[{"path":"/dev/)" + name + R"("}]}})";
}

}  // namespace

TEST_CASE("the archive's own request chooses the devices") {
  const TempDir directory;
  TargetOptions options;
  options.cdi_paths = {directory.write("a.json", cdi("nvidia.com/gpu", device("gpu0") + "," + device("gpu1")))};
  options.requested = {"nvidia.com/gpu=gpu1"};
  CHECK(Target::load(options).devices() == std::vector<std::string>{"nvidia.com/gpu=gpu1"});
  options.requested = {"nvidia.com/gpu=GPU-of-another-node"};
  const Target other = Target::load(options);
  CHECK(other.devices() == std::vector<std::string>{"nvidia.com/gpu=gpu0", "nvidia.com/gpu=gpu1"});
  REQUIRE(other.problems().size() == 1);
  CHECK_FALSE(other.problems()[0].fatal);
}

TEST_CASE("without a request the vendor's kind is taken, its device all alone if there is one") {
  const TempDir directory;
  directory.write("cdi/n.json", cdi("nvidia.com/gpu", device("gpu0") + "," + device("all")));
  directory.write("cdi/m.json", cdi("management.nvidia.com/gpu", device("all")));
  directory.write("cdi/a.json", cdi("amd.com/gpu", device("gpu0")));
  TargetOptions options;
  options.cdi_paths = {directory.file("cdi")};
  options.vendor = "nvidia";
  CHECK(Target::load(options).devices() == std::vector<std::string>{"nvidia.com/gpu=all"});
  options.vendor = "amd";
  CHECK(Target::load(options).devices() == std::vector<std::string>{"amd.com/gpu=gpu0"});
  options.vendor = "intel";
  CHECK(Target::load(options).devices().size() == 3);
}

TEST_CASE("a device that the user names must be there") {
  const TempDir directory;
  TargetOptions options;
  options.cdi_paths = {directory.write("a.json", cdi("nvidia.com/gpu", device("gpu0")))};
  options.devices = {"nvidia.com/gpu=gpu7"};
  try {
    Target::load(options);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(error.detail().find("gpu7") != std::string::npos);
    CHECK(error.hint().find("nvidia.com/gpu=gpu0") != std::string::npos);
  }
}

TEST_CASE("files and driver version of a real node") {
  TargetOptions options;
  options.cdi_paths = {testing::testdata("cdi/h200-moved-root.yaml")};
  options.vendor = "nvidia";
  const Target target = Target::load(options);
  CHECK(target.driver_version() == "580.159.04");
  bool cuda = false;
  for (const TargetFile& file : target.files())
    if (file.host_path == "/opt/nv/lib64/libcuda.so.580.159.04") cuda = file.mount_class == MountClass::library;
  CHECK(cuda);
  CHECK_FALSE(target.has_root());
  CHECK_FALSE(target.look("/"));
}

TEST_CASE("a list of nvidia-container-cli stands in for CDI files") {
  const TempDir directory;
  TargetOptions options;
  options.files_list = directory.write("list", "/dev/nvidiactl\n/usr/lib/libcuda.so.570.86.10\n");
  const Target target = Target::load(options);
  REQUIRE(target.files().size() == 2);
  CHECK(target.driver_version() == "570.86.10");
  options.files_list = directory.write("bad", "usr/lib\n");
  CHECK_THROWS_WITH_AS(Target::load(options), doctest::Contains("line 1"), Error);
}
