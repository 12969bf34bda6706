// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "archive/codec.h"
#include "archive/sha256.h"
#include "base/paths.h"
#include "checkpoint/impl.h"
#include "ckpt/rewrite.h"
#include "oci/image_writer.h"
#include "oci/layout.h"
#include "rewrite/apply_plan.h"

namespace ckpt {

namespace {

constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* kConfigType = "application/vnd.oci.image.config.v1+json";
constexpr const char* kLayerType = "application/vnd.oci.image.layer.v1.tar";
constexpr const char* kRefName = "org.opencontainers.image.ref.name";
constexpr const char* kImageName = "io.containerd.image.name";

std::string layer_type(Compression compression) {
  return compression == Compression::none ? kLayerType : kLayerType + std::string("+") + to_string(compression);
}

// GOARCH names; the numbers are core_entry.march of CRIU's core.proto.
std::string architecture_of(const Checkpoint& checkpoint) {
  static constexpr std::array<std::pair<std::uint32_t, const char*>, 8> kNames = {{{1, "amd64"},
                                                                                   {2, "arm"},
                                                                                   {3, "arm64"},
                                                                                   {4, "ppc64le"},
                                                                                   {5, "s390x"},
                                                                                   {6, "mips64le"},
                                                                                   {7, "loong64"},
                                                                                   {8, "riscv64"}}};
  for (const auto& [machine, name] : kNames)
    if (machine == checkpoint.impl().machine) return name;
  return "amd64";
}

std::string annotation(const Checkpoint& checkpoint, const std::string& key) {
  const auto& spec = checkpoint.impl().spec;
  if (!spec) return {};
  const auto found = spec->annotations.find(key);
  return found == spec->annotations.end() ? std::string() : found->second;
}

// The container's name in its pod where there is one, not the engine's own long one.
std::string container_name(const Checkpoint& checkpoint) {
  for (const char* key : {"io.kubernetes.container.name", "io.kubernetes.cri.container-name"})
    if (std::string name = annotation(checkpoint, key); !name.empty()) return name;
  return checkpoint.facts().name.empty() ? "checkpoint" : checkpoint.facts().name;
}

std::string image_name(const Checkpoint& checkpoint, const ImageOptions& options) {
  if (!options.name.empty()) return options.name;
  std::string name;
  for (const char c : container_name(checkpoint)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (plain || (!name.empty() && name.back() != '-')) name += plain ? lower : '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return "localhost/checkpoint-" + (name.empty() ? "container" : name) + ":latest";
}

/// What CRI-O, containerd and Podman look for in a manifest; what the input image said stays.
Json annotations_for(const Checkpoint& checkpoint, const Plan& plan) {
  std::map<std::string, std::string> all = checkpoint.impl().image_annotations;
  all.erase(kRefName);
  all.erase(kImageName);
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) all.emplace(key, value);
  };
  const std::string name = container_name(checkpoint);
  add("io.kubernetes.cri-o.annotations.checkpoint.name", name);
  add("org.criu.checkpoint.container.name", name);
  add("io.podman.annotations.checkpoint.name", name);
  all["io.podman.annotations.checkpoint.runtime.name"] = to_string(plan.runtime);
  const Json config = checkpoint.config_text() ? Json::parse(*checkpoint.config_text()) : Json();
  for (const char* prefix : {"io.kubernetes.cri-o.annotations.checkpoint.", "io.podman.annotations.checkpoint."}) {
    add(prefix + std::string("rootfsImageName"), config["rootfsImageName"].as_string());
    add(prefix + std::string("rootfsImageID"), config["rootfsImageID"].as_string());
    add(prefix + std::string("rawImageName"), config["RawImageName"].as_string());
  }
  add("org.criu.checkpoint.engine.name", to_string(checkpoint.engine()));
  add("org.criu.checkpoint.pod.name", checkpoint.facts().pod);
  add("org.criu.checkpoint.pod.namespace", checkpoint.facts().pod_namespace);
  add("org.criu.checkpoint.rootfsImageName", config["rootfsImageName"].as_string());
  Json json = Json::object();
  for (const auto& [key, value] : all) json.set(key, value);
  return json;
}

Json config_for(const Checkpoint& checkpoint, const std::string& diff_id) {
  Json rootfs = Json::object();
  rootfs.set("type", "layers").set("diff_ids", Json(Json::Array{Json(diff_id)}));
  Json made = Json::object();
  made.set("created_by", "ckpt-patch");
  Json config = Json::object();
  config.set("architecture", architecture_of(checkpoint)).set("os", "linux").set("config", Json::object());
  return config.set("rootfs", std::move(rootfs)).set("history", Json(Json::Array{std::move(made)}));
}

Json manifest_for(const Json& config, Json layers, Json annotations) {
  Json manifest = Json::object();
  manifest.set("schemaVersion", 2).set("mediaType", kManifestType).set("config", config);
  return manifest.set("layers", std::move(layers)).set("annotations", std::move(annotations));
}

void require_plain_names(const Checkpoint& checkpoint) {
  for (const Member& member : checkpoint.archive().members())
    if (base_name(member.name).substr(0, 4) == ".wh.")
      throw Error(ErrorCode::unsupported, Where{checkpoint.name(), member.name, {}, {}},
                  "a layer would take that name for a deletion");
}

/// Writes one image.
class ImageMaker {
 public:
  ImageMaker(const Checkpoint& checkpoint, const Plan& plan, const ImageOptions& options)
      : checkpoint_(checkpoint), plan_(plan), options_(options) {
    report_.name = image_name(checkpoint, options);
  }

  ImageReport run() {
    const bool delta = options_.layers == ImageOptions::Layers::delta;
    if (delta) require_image();
    if (!delta && checkpoint_.layers().size() > 1)
      throw Error(ErrorCode::unsupported, Where{checkpoint_.name(), {}, {}, {}},
                  "a checkpoint image of several layers cannot become one of a single layer",
                  "--delta adds a layer to it");
    require_plain_names(checkpoint_);
    writer_ = options_.form == ImageOptions::Form::layout ? write_layout(options_.path)
                                                          : write_image_archive(options_.path);
    const Json manifest = delta ? make_delta() : make_whole();
    const Blob blob = writer_->add_text(manifest.dump(-1));
    report_.digest = blob.digest;
    writer_->seal(named(descriptor_of(kManifestType, blob)));
    if (!delta) verify_layer();
    writer_->commit();
    return std::move(report_);
  }

 private:
  void require_image() const {
    if (!checkpoint_.impl().outer || !checkpoint_.impl().image_manifest.is_object() ||
        !checkpoint_.impl().image_config.is_object())
      throw Error(ErrorCode::invalid_argument, Where{checkpoint_.name(), {}, {}, {}},
                  "a delta needs a checkpoint image with an OCI manifest under it", "leave --delta out");
  }

  Json named(Json descriptor) const {
    Json platform = Json::object();
    platform.set("architecture", architecture_of(checkpoint_)).set("os", "linux");
    Json annotations = Json::object();
    annotations.set(kImageName, report_.name).set(kRefName, report_.name);
    return descriptor.set("platform", std::move(platform)).set("annotations", std::move(annotations));
  }

  Json make_whole() {
    edits_ = apply_plan(checkpoint_, plan_);
    const Compression input = checkpoint_.archive().compression();
    WriteOptions write;
    write.compression = options_.rewrite.compression.value_or(
        input == Compression::gzip || input == Compression::zstd ? input : Compression::none);
    write.level = options_.rewrite.level;
    write.progress = options_.rewrite.progress;
    Sha256 plain;
    write.tap = [&](std::string_view bytes) { plain.add(bytes); };
    layer_ = writer_->add(
        [&](ByteSink& sink) { written_ = rewrite_archive(checkpoint_.archive(), edits_, write, sink); });
    report_.layer_bytes = layer_.size;
    report_.members_changed = edits_.replaced.size() + edits_.added.size() + edits_.prefixed.size();
    const Blob config =
        writer_->add_text(config_for(checkpoint_, "sha256:" + hex_of(plain.finish())).dump(-1));
    return manifest_for(descriptor_of(kConfigType, config),
                        Json(Json::Array{descriptor_of(layer_type(write.compression), layer_)}),
                        annotations_for(checkpoint_, plan_));
  }

  void verify_layer() const {
    ArchiveOptions open;
    open.limits = checkpoint_.impl().limits;
    verify_archive(writer_->open_blob(layer_, open), written_, checkpoint_.archive(), edits_,
                   options_.rewrite.verify == VerifyLevel::full ? Verify::full : Verify::edited);
  }

  // Directories above the changed members come with the layer, or unpacking would make them anew.
  std::vector<const Member*> directories_of(const std::vector<ChangedMember>& members) const {
    std::set<std::string> names;
    for (const ChangedMember& member : members)
      for (std::size_t slash = member.name.find('/'); slash != std::string::npos;
           slash = member.name.find('/', slash + 1))
        names.insert(member.name.substr(0, slash));
    std::vector<const Member*> directories;
    for (const std::string& name : names)
      if (const Located found = checkpoint_.impl().find(name); found && found.member->type == MemberType::directory)
        directories.push_back(found.member);
    return directories;
  }

  Json make_delta() {
    const std::vector<ChangedMember> members = changed_members(checkpoint_, plan_);
    report_.members_changed = members.size();
    Json manifest = checkpoint_.impl().image_manifest;
    Json layers = manifest["layers"];
    for (const Json& layer : layers.items()) carry_over(layer);
    Json config = checkpoint_.impl().image_config;
    if (!members.empty()) {
      layer_ = writer_->add_text(write_changes(members, directories_of(members)));
      report_.layer_bytes = layer_.size;
      layers.push(descriptor_of(kLayerType, layer_));
      config = with_layer(std::move(config), layer_.digest);
    }
    const Blob config_blob = writer_->add_text(config.dump(-1));
    const std::string& type = manifest["config"]["mediaType"].as_string();
    return manifest_for(descriptor_of(type.empty() ? kConfigType : type, config_blob), std::move(layers),
                        annotations_for(checkpoint_, plan_));
  }

  static Json with_layer(Json config, const std::string& diff_id) {
    Json rootfs = config["rootfs"];
    Json ids = rootfs["diff_ids"];
    ids.push(diff_id);
    rootfs.set("diff_ids", std::move(ids));
    config.set("rootfs", std::move(rootfs));
    Json made = Json::object();
    made.set("created_by", "ckpt-patch");
    Json history = config["history"];
    history.push(std::move(made));
    return config.set("history", std::move(history));
  }

  bool grows_its_own_layout() const {
    std::error_code ignored;
    return options_.form == ImageOptions::Form::layout &&
           std::filesystem::equivalent(options_.path, checkpoint_.name(), ignored);
  }

  // A tar has to hold all of its image; a layout elsewhere names what a registry has already.
  void carry_over(const Json& layer) {
    if (options_.form == ImageOptions::Form::layout) {
      if (!grows_its_own_layout()) ++report_.layers_elsewhere;
      return;
    }
    const Archive& outer = *checkpoint_.impl().outer;
    const Member& blob = blob_member(outer, layer);
    const Blob copy = writer_->add(
        [&](ByteSink& sink) { outer.stream(blob, [&](std::string_view piece) { sink.write(piece); }); });
    if (copy.digest != layer["digest"].as_string())
      throw Error(ErrorCode::corrupt, Where{outer.name(), blob.name, {}, {}}, "its content does not have its digest");
  }

  const Checkpoint& checkpoint_;
  const Plan& plan_;
  const ImageOptions& options_;
  ImageReport report_;
  std::unique_ptr<ImageWriter> writer_;
  ArchiveEdits edits_;
  std::vector<WrittenMember> written_;
  Blob layer_;
};

}  // namespace

ImageReport rewrite_to_image(const Checkpoint& checkpoint, const Plan& plan, const ImageOptions& options) {
  if (checkpoint.form() == "ctr-index")
    throw Error(ErrorCode::unsupported, Where{checkpoint.name(), {}, {}, {}},
                "a checkpoint index of `ctr` stays one: no other image can be made of it",
                "-o OUT writes the patched index");
  return ImageMaker(checkpoint, plan, options).run();
}

}  // namespace ckpt
