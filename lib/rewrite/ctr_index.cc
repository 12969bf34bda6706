// SPDX-License-Identifier: Apache-2.0
#include "rewrite/ctr_index.h"

#include <map>

#include "archive/rewrite_archive.h"
#include "checkpoint/impl.h"
#include "oci/image_writer.h"
#include "oci/layout.h"
#include "rewrite/apply_plan.h"

namespace ckpt {

namespace {

/// Copies an image layout blob by blob, with some of them new.
class CtrRewriter {
 public:
  CtrRewriter(const Checkpoint& checkpoint, const Plan& plan, const std::string& output)
      : checkpoint_(checkpoint), outer_(*checkpoint.impl().outer), plan_(plan), writer_(write_image_archive(output)) {}

  RewriteReport run() {
    edits_ = apply_plan(checkpoint_, plan_);
    const Json top = Json::parse(outer_.read(*outer_.find("index.json")), outer_.name(), "index.json");
    for (const Json& descriptor : checkpoint_.impl().image_manifest["manifests"].items()) renew(descriptor);
    const Json nested = with_new_digests(checkpoint_.impl().image_manifest);
    const Json* entry = nullptr;
    for (const Json& descriptor : top["manifests"].items()) {
      const Json document = Json::parse(outer_.read(blob_member(outer_, descriptor)), outer_.name(), "index.json");
      if (document != checkpoint_.impl().image_manifest) continue;
      entry = &descriptor;
      replaced_[descriptor["digest"].as_string()] = writer_->add_text(nested.dump(-1));
    }
    if (entry == nullptr)
      throw Error(ErrorCode::unsupported, Where{outer_.name(), "index.json", {}, {}},
                  "the checkpoint's index is not one of the layout's own");
    copy_blobs();
    writer_->seal(with_new_digest(*entry));
    verify();
    writer_->commit();
    return report();
  }

 private:
  void renew(const Json& descriptor) {
    const std::string& type = descriptor["mediaType"].as_string();
    const std::string& digest = descriptor["digest"].as_string();
    if (type == kCtrConfigType) {
      const auto spec = edited_spec_blob(checkpoint_, plan_);
      if (!spec) return;
      const Member& blob = blob_member(outer_, descriptor);
      replaced_[digest] =
          writer_->add_text(any_with_value(outer_.read(blob), *spec, Where{outer_.name(), blob.name, {}, {}}));
      ++changed_;
    } else if (type == kCriuTarType && !edits_.replaced.empty()) {
      criu_ = writer_->add(
          [&](ByteSink& sink) { written_ = rewrite_archive(checkpoint_.archive(), edits_, {}, sink); });
      replaced_[digest] = criu_;
    }
  }

  Json with_new_digest(const Json& descriptor) const {
    const auto found = replaced_.find(descriptor["digest"].as_string());
    if (found == replaced_.end()) return descriptor;
    Json copy = descriptor;
    return copy.set("digest", found->second.digest).set("size", found->second.size);
  }

  Json with_new_digests(const Json& index) const {
    Json manifests = Json::array();
    for (const Json& descriptor : index["manifests"].items()) manifests.push(with_new_digest(descriptor));
    Json copy = index;
    return copy.set("manifests", std::move(manifests));
  }

  void copy_blobs() {
    for (const Member& member : outer_.members()) {
      constexpr std::string_view kBlobs = "blobs/sha256/";
      if (member.type != MemberType::file || member.name.compare(0, kBlobs.size(), kBlobs) != 0) continue;
      const std::string digest = "sha256:" + member.name.substr(kBlobs.size());
      if (replaced_.count(digest) != 0) continue;
      const Blob copy = writer_->add(
          [&](ByteSink& sink) { outer_.stream(member, [&](std::string_view piece) { sink.write(piece); }); });
      if (copy.digest != digest)
        throw Error(ErrorCode::corrupt, Where{outer_.name(), member.name, {}, {}}, "its content does not have its digest");
    }
  }

  void verify() const {
    if (written_.empty()) return;
    ArchiveOptions open;
    open.limits = checkpoint_.impl().limits;
    verify_archive(writer_->open_blob(criu_, open), written_, checkpoint_.archive(), edits_, Verify::edited);
  }

  RewriteReport report() const {
    RewriteReport report;
    report.compression_changed = outer_.compression() != Compression::none;
    report.members = checkpoint_.archive().members().size();
    report.members_changed = changed_ + edits_.replaced.size();
    return report;
  }

  const Checkpoint& checkpoint_;
  const Archive& outer_;
  const Plan& plan_;
  std::unique_ptr<ImageWriter> writer_;
  ArchiveEdits edits_;
  std::map<std::string, Blob> replaced_;
  std::vector<WrittenMember> written_;
  Blob criu_;
  std::uint64_t changed_ = 0;
};

}  // namespace

RewriteReport rewrite_ctr_index(const Checkpoint& checkpoint, const Plan& plan, const std::string& output) {
  return CtrRewriter(checkpoint, plan, output).run();
}

}  // namespace ckpt
