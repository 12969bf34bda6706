// SPDX-License-Identifier: Apache-2.0
#include "archive/inner_tar.h"
#include "base/paths.h"
#include "checkpoint/classify.h"
#include "checkpoint/impl.h"

namespace ckpt {

namespace {

using Impl = Checkpoint::Impl;

constexpr std::uint32_t kTmpfs = 5;

void add_spec_devices(Impl& checkpoint) {
  for (const SpecDevice& device : checkpoint.spec->devices) {
    DeviceEntry entry;
    entry.place = DeviceEntry::Place::spec;
    entry.path = device.path;
    entry.type = device.type;
    entry.major = device.major;
    entry.minor = device.minor;
    entry.index = device.index;
    entry.member = "spec.dump";
    entry.device_class = device_class_of(device.path);
    checkpoint.devices.push_back(std::move(entry));
  }
}

// A rule has numbers only; the node of linux.devices with the same ones tells what it is about.
std::string path_of_rule(const RuntimeSpec& spec, const SpecDeviceRule& rule) {
  for (const SpecDevice& device : spec.devices)
    if (rule.major == device.major && rule.minor == device.minor && rule.type == device.type) return device.path;
  return {};
}

void add_rules(Impl& checkpoint) {
  for (const SpecDeviceRule& rule : checkpoint.spec->device_rules) {
    DeviceEntry entry;
    entry.place = DeviceEntry::Place::rule;
    entry.path = path_of_rule(*checkpoint.spec, rule);
    entry.type = rule.type.empty() ? "a" : rule.type;
    entry.major = rule.major;
    entry.minor = rule.minor;
    entry.access = rule.access;
    entry.allow = rule.allow;
    entry.index = rule.index;
    entry.member = "spec.dump";
    entry.device_class = device_class_of(entry.path);
    checkpoint.devices.push_back(std::move(entry));
  }
}

// CRIU names the content of a tmpfs by device; CRIU before 3.x by mount.
std::string tmpfs_member(const Impl& checkpoint, const Mount& mount) {
  std::string by_device = checkpoint.image_prefix + "tmpfs-dev-" + std::to_string(mount.root_dev) + ".tar.gz.img";
  if (checkpoint.find(by_device)) return by_device;
  const std::string by_mount = checkpoint.image_prefix + "tmpfs-" + std::to_string(mount.mnt_id) + ".tar.gz.img";
  return checkpoint.find(by_mount) ? by_mount : std::string();
}

void add_tmpfs_nodes(Impl& checkpoint, const Mount& mount) {
  const std::string member = tmpfs_member(checkpoint, mount);
  if (member.empty()) return;
  const auto bytes = checkpoint.read(member);
  if (!bytes) return;
  for (const Member& node : list_inner_tar(*bytes, checkpoint.where(member), checkpoint.limits)) {
    if (node.type != MemberType::char_device && node.type != MemberType::block_device) continue;
    DeviceEntry entry;
    entry.place = DeviceEntry::Place::tmpfs;
    entry.path = mount.mountpoint + "/" + node.name;
    entry.type = node.type == MemberType::char_device ? "c" : "b";
    entry.major = node.dev_major;
    entry.minor = node.dev_minor;
    entry.member = member;
    entry.node_name = node.name;
    entry.device_class = device_class_of(entry.path);
    checkpoint.devices.push_back(std::move(entry));
  }
}

void add_mounted_node(Impl& checkpoint, const Mount& mount) {
  DeviceEntry entry;
  entry.place = DeviceEntry::Place::mount;
  entry.path = mount.mountpoint;
  entry.member = mount.image_member;
  entry.device_class = device_class_of(mount.mountpoint);
  checkpoint.devices.push_back(std::move(entry));
}

}  // namespace

void collect_devices(Impl& checkpoint) {
  if (checkpoint.spec) {
    add_spec_devices(checkpoint);
    add_rules(checkpoint);
  }
  for (const Mount& mount : checkpoint.mounts) {
    const bool holds_nodes = mount.fstype == kTmpfs && mount.key_kind == KeyKind::internal && mount.root == "/" &&
                             mount.mountpoint == "/dev";
    if (holds_nodes) checkpoint.guard([&] { add_tmpfs_nodes(checkpoint, mount); });
    if (mount.mount_class == MountClass::device) add_mounted_node(checkpoint, mount);
  }
}

}  // namespace ckpt
