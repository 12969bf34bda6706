// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_map.h"

#include <doctest/doctest.h>

#include "testing/failure.h"

using namespace ckpt;
using ckpt::testing::failure_of;

namespace {

const std::string kA = "GPU-aaaaaaaa-0000-0000-0000-000000000001";
const std::string kB = "GPU-bbbbbbbb-0000-0000-0000-000000000002";
const std::string kC = "GPU-cccccccc-0000-0000-0000-000000000003";

GpuDevice device(const std::string& uuid, const std::string& name) {
  GpuDevice device;
  device.uuid = uuid;
  device.name = name;
  return device;
}

std::string refusal(const std::string& map) {
  return failure_of([&] { parse_device_map(map); }).detail();
}

std::vector<std::string> codes(const std::vector<GpuFinding>& findings) {
  std::vector<std::string> codes;
  codes.reserve(findings.size());
  for (const GpuFinding& finding : findings) codes.push_back(finding.code);
  return codes;
}

}  // namespace

TEST_CASE("a device map is read in every spelling and written in one") {
  const std::string upper = "AAAAAAAA-0000-0000-0000-000000000001=gpu-BBBBBBBB-0000-0000-0000-000000000002";
  CHECK(to_string(parse_device_map(upper)) == kA + "=" + kB);
  const std::string swap = kA + "=" + kB + "," + kB + "=" + kA;
  CHECK(to_string(parse_device_map(swap)) == swap);
}

TEST_CASE("what is no device map is refused with the reason") {
  CHECK(refusal("") == "device map: \"\" has no \"=\"");
  CHECK(refusal(kA) == "device map: \"" + kA + "\" has no \"=\"");
  CHECK(refusal(kA + "=" + kB + ",") == "device map: \"\" has no \"=\"");
  CHECK(refusal("0=1") == "device map: \"0\" is no GPU UUID");
  CHECK(refusal(kA + "=" + kB.substr(0, 39)) == "device map: \"bbbbbbbb-0000-0000-0000-00000000000\" is no GPU UUID");
  CHECK(refusal("GPU-aaaaaaaa-0000-0000-0000-00000000000g=" + kB) ==
        "device map: \"aaaaaaaa-0000-0000-0000-00000000000g\" is no GPU UUID");
  CHECK(refusal(kA + "=" + kB + "," + kA + "=" + kC) == "device map: " + kA + " is mapped twice");
  CHECK(refusal(kA + "=" + kC + "," + kB + "=" + kC) == "device map: " + kC + " is the target of two GPUs");
  CHECK(refusal("MIG-aaaaaaaa-0000-0000-0000-000000000001=" + kB) ==
        "device map: mig-aaaaaaaa-0000-0000-0000-000000000001 is a MIG instance, which the driver cannot move");
  CHECK(refusal(std::string(100'000, ',')) == "device map: more than 1024 pairs");
}

TEST_CASE("the driver gets the bytes in the order of the text, and nothing for a map that moves nothing") {
  const auto pairs = cuda::driver_pairs(parse_device_map("01234567-89ab-cdef-0123-456789abcdef=" + kB));
  REQUIRE(pairs.size() == 1);
  const std::array<std::uint8_t, 16> wanted = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                               0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  CHECK(pairs[0].old_uuid.bytes == wanted);
  CHECK(pairs[0].new_uuid.bytes[0] == 0xbb);
  CHECK(cuda::driver_pairs(parse_device_map(kA + "=" + kA)).empty());
  // One that moves takes the others along: the driver wants every GPU named.
  CHECK(cuda::driver_pairs(parse_device_map(kA + "=" + kA + "," + kB + "=" + kC)).size() == 2);
}

TEST_CASE("a made map keeps GPUs that are here and gives the others unused ones of their model") {
  const std::vector<GpuDevice> here = {device(kA, "H200"), device(kB, "H200"), device(kC, "L4")};
  const std::string gone = "GPU-dddddddd-0000-0000-0000-000000000004";
  CHECK(to_string(make_device_map({device(gone, "H200"), device(kA, "H200")}, here)) ==
        gone + "=" + kB + "," + kA + "=" + kA);
  CHECK(to_string(make_device_map({device(gone, "L4")}, here)) == gone + "=" + kC);
  const Error none = failure_of([&] { make_device_map({device(gone, "A100")}, here); });
  CHECK(none.code() == ErrorCode::conflict);
  CHECK(none.detail() == "no GPU is left for " + gone + ", A100");
  std::vector<GpuDevice> split = {device(kB, "H200")};
  split[0].mig = true;
  CHECK(failure_of([&] { make_device_map({device(gone, "H200")}, split); }).code() == ErrorCode::conflict);
}

TEST_CASE("a map is judged against what was recorded and what is here") {
  GpuRecord record;
  record.devices = {device(kA, "H200"), device(kB, "H200")};
  std::vector<GpuDevice> here = {device(kA, "H200"), device(kB, "H200"), device(kC, "L4")};
  const auto judge = [&](const std::string& map) {
    return codes(cuda::check_device_map(map.empty() ? std::vector<GpuPair>{} : parse_device_map(map), record, here));
  };
  using Codes = std::vector<std::string>;
  CHECK(judge("") == Codes{});
  CHECK(judge(kA + "=" + kB + "," + kB + "=" + kA) == Codes{});
  CHECK(judge(kA + "=" + kB) == Codes{"map_incomplete"});
  CHECK(judge(kA + "=" + kC + "," + kB + "=" + kB) == Codes{"other_model"});
  here.pop_back();
  here.pop_back();
  CHECK(judge("") == Codes{"no_such_gpu"});
  here.clear();
  CHECK(judge(kA + "=" + kC) == Codes{});
}

TEST_CASE("a record comes back as it was written") {
  GpuRecord record;
  record.driver = "580.95.05";
  record.devices = {device(kA, "NVIDIA H200")};
  record.devices[0].total_bytes = 150'754'820'096;
  record.bytes = {{7, {{kA, 1 << 20}}}, {9, {}}};
  const GpuRecord read = parse_gpu_record(to_json(record), "r");
  CHECK(to_json(read) == to_json(record));
  CHECK(read.bytes[0].second[0].second == 1 << 20);
  const std::string text = to_json(record);
  for (std::size_t size = 0; size + 2 < text.size(); size += 7)
    CHECK(failure_of([&] { parse_gpu_record(text.substr(0, size), "r"); }).code() == ErrorCode::corrupt);
  CHECK(failure_of([] { parse_gpu_record("{}", "r"); }).detail() == "no schema ckpt.gpu-record/1");
  const std::string bad = R"({"schema": "ckpt.gpu-record/1", "devices": [{"uuid": "GPU-1"}]})";
  CHECK(failure_of([&] { parse_gpu_record(bad, "r"); }).detail() == "device map: \"1\" is no GPU UUID");
}
