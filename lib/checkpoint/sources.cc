// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "checkpoint/page_map.h"
#include "oci/layout.h"

namespace ckpt {

namespace {

constexpr std::uint64_t kSmallBlob = 1U << 20;

// A raw page dump, a container's log, a rootfs difference: large, and nothing the model is built from.
bool is_bulk(std::string_view base) {
  static constexpr std::array<std::string_view, 5> kNames = {"rootfs-diff.tar", "ctr.log", "container.log",
                                                             "devshm-checkpoint.tar", "io.kubernetes.cri-o.LogPath"};
  return base.substr(0, 6) == "pages-" || std::find(kNames.begin(), kNames.end(), base) != kNames.end();
}

// What a stream that is read once must not forget.
bool worth_keeping(const Member& member) {
  if (member.type != MemberType::file) return false;
  if (is_within(member.name, "blobs") || is_within(member.name, "volumes")) return member.size <= kSmallBlob;
  if (base_name(member.name) == "dump.log") return member.size <= kSmallBlob;
  return !is_bulk(base_name(member.name));
}

const char* form_name(ImageForm form) {
  switch (form) {
    case ImageForm::oci_layout:
      return "oci-layout";
    case ImageForm::oci_archive:
      return "oci-archive";
    case ImageForm::docker_archive:
      return "docker-archive";
    case ImageForm::ctr_index:
      return "ctr-index";
  }
  return "oci-layout";
}

ArchiveOptions options_for(const CheckpointOptions& options) {
  ArchiveOptions archive{options.limits, worth_keeping, options.unsafe_names, {}, {}};
  if (options.keep != Keep::arguments) return archive;
  const auto slicer = std::make_shared<ArgumentSlicer>(options.limits);
  archive.keep = [slicer](const Member& member) {
    slicer->note(member);
    return worth_keeping(member);
  };
  archive.slices = [slicer](const Member& member, const ArgumentSlicer::Kept& kept) {
    return slicer->slices(member, kept);
  };
  return archive;
}

Archive open_outer(const std::string& path, const CheckpointOptions& options, const ArchiveOptions& archive_options) {
  if (path != "-") return Archive::open(path, archive_options);
  if (options.spool_directory.empty()) return Archive::open_stream(0, "-", archive_options);
  return Archive::spool(0, "-", options.spool_directory, archive_options);
}

void open_image_layers(Checkpoint::Impl& checkpoint, const Archive& outer, const ArchiveOptions& options) {
  ImageCheckpoint image = open_image(outer, options);
  checkpoint.form = form_name(image.form);
  checkpoint.layers = std::move(image.layers);
  checkpoint.image_annotations = std::move(image.annotations);
  checkpoint.spec_text = std::move(image.spec_json);
  checkpoint.outer = std::make_shared<const Archive>(outer);
  checkpoint.image_manifest = std::move(image.manifest);
  checkpoint.image_config = std::move(image.config);
}

bool has_member_below(const Checkpoint::Impl& checkpoint, std::string_view directory) {
  for (const Archive& layer : checkpoint.layers)
    for (const Member& member : layer.members())
      if (is_within(member.name, directory)) return true;
  return false;
}

void find_image_prefix(Checkpoint::Impl& checkpoint) {
  if (has_member_below(checkpoint, "checkpoint")) {
    checkpoint.image_prefix = "checkpoint/";
  } else if (checkpoint.find("inventory.img") || checkpoint.find("pstree.img")) {
    if (checkpoint.form == "directory") checkpoint.form = "image-directory";
  } else if (has_member_below(checkpoint, "pre-checkpoint")) {
    checkpoint.image_prefix = "pre-checkpoint/";
  } else if (checkpoint.find("spec.dump") || checkpoint.find("config.dump")) {
    checkpoint.image_prefix = "checkpoint/";
    checkpoint.problems.emplace_back(ErrorCode::corrupt, Where{checkpoint.name, "checkpoint/", {}, {}},
                                     "missing: the archive has no CRIU images");
  } else {
    throw Error(ErrorCode::corrupt, Where{checkpoint.name, {}, {}, {}},
                "not a container checkpoint: no checkpoint/ directory, no inventory.img, no spec.dump");
  }
}

}  // namespace

void open_sources(Checkpoint::Impl& checkpoint, const std::string& path, const CheckpointOptions& options) {
  ArchiveOptions archive_options = options_for(options);
  if (options.damage == Damage::collect)
    archive_options.damaged = [&](const Error& error) { checkpoint.problems.push_back(error); };
  const Archive outer = open_outer(path, options, archive_options);
  if (is_image_layout(outer)) {
    open_image_layers(checkpoint, outer, archive_options);
  } else {
    checkpoint.form = outer.is_directory() ? "directory" : "tar";
    checkpoint.layers.push_back(outer);
  }
  find_image_prefix(checkpoint);
}

}  // namespace ckpt
