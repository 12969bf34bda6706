// SPDX-License-Identifier: Apache-2.0
#include "ckpt/error.h"
#include "ckpt/gpu_map.h"
#include "ckpt/json.h"

namespace ckpt {

namespace {

constexpr const char* kSchema = "ckpt.gpu-record/1";

// A UUID is good when it could stand in a map.
std::string uuid_of(const Json& json, const std::string& file) {
  const std::string& uuid = json.as_string();
  try {
    return parse_device_map(uuid + "=" + uuid).front().old_uuid;
  } catch (const Error& error) {
    throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, error.detail());
  }
}

GpuDevice device_of(const Json& json, const std::string& file) {
  GpuDevice device;
  device.uuid = uuid_of(json["uuid"], file);
  device.name = json["name"].as_string();
  if (json["total_bytes"].is_integer()) device.total_bytes = json["total_bytes"].as_uint();
  return device;
}

}  // namespace

std::string to_json(const GpuRecord& record) {
  Json devices = Json::array();
  for (const GpuDevice& device : record.devices) {
    Json json = Json::object();
    json.set("uuid", device.uuid).set("name", device.name);
    devices.push(std::move(json.set("total_bytes", device.total_bytes ? Json(*device.total_bytes) : Json())));
  }
  Json processes = Json::array();
  for (const auto& [nspid, uses] : record.bytes) {
    Json gpus = Json::array();
    for (const auto& [uuid, bytes] : uses) {
      Json use = Json::object();
      gpus.push(std::move(use.set("uuid", uuid).set("bytes", bytes)));
    }
    Json process = Json::object();
    processes.push(std::move(process.set("nspid", nspid).set("gpus", std::move(gpus))));
  }
  Json document = Json::object();
  document.set("schema", kSchema).set("driver_version", record.driver);
  document.set("devices", std::move(devices)).set("processes", std::move(processes));
  return document.dump(2) + "\n";
}

GpuRecord parse_gpu_record(const std::string& text, const std::string& file) {
  const Json document = Json::parse(text, file);
  if (document["schema"].as_string() != kSchema)
    throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, std::string("no schema ") + kSchema,
                "ckpt-gpu suspend --record writes such files");
  GpuRecord record;
  record.driver = document["driver_version"].as_string();
  for (const Json& item : document["devices"].items()) record.devices.push_back(device_of(item, file));
  for (const Json& item : document["processes"].items()) {
    std::vector<std::pair<std::string, std::uint64_t>> uses;
    for (const Json& use : item["gpus"].items()) uses.emplace_back(uuid_of(use["uuid"], file), use["bytes"].as_uint());
    record.bytes.emplace_back(static_cast<std::uint32_t>(item["nspid"].as_uint()), std::move(uses));
  }
  return record;
}

}  // namespace ckpt
