// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/paths.h"
#include "checkpoint/impl.h"
#include "ckpt/text.h"
#include "diff/auditor.h"

namespace ckpt {

namespace {

constexpr std::uint64_t kMaxInnerTar = 16ULL << 30;  // it may have to be copied to a temporary file
constexpr std::size_t kMaxOfAKind = 1000;            // findings of one kind about one tar

const char* const kDoNotImport = "do not import this archive; ask for one from a source that you trust";

bool is_device(MemberType type) { return type == MemberType::char_device || type == MemberType::block_device; }

std::string numbers(const Member& member) {
  return std::to_string(member.dev_major) + ":" + std::to_string(member.dev_minor);
}

// How far above its start a relative path climbs at some point, symlinks aside.
bool climbs_out(std::string_view directory, std::string_view target) {
  int depth = 0;
  const auto walk = [&](std::string_view path) {
    bool inside = true;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find('/'), path.size());
      const std::string_view part = path.substr(0, end);
      if (part == "..")
        --depth;
      else if (!part.empty() && part != ".")
        ++depth;
      inside = inside && depth >= 0;
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    return inside;
  };
  return !walk(directory) || !walk(target);
}

/// One tar's members, outer or inner.
class TarAudit {
 public:
  TarAudit(Auditor& auditor, std::string prefix) : auditor_(auditor), prefix_(std::move(prefix)) {}

  void name(const Member& member) {
    if (!is_safe_name(member.raw_name))
      add(Danger::high, "name.escapes", member.raw_name, "the name leads out of the directory that it is unpacked into",
          kDoNotImport);
    else if (escape_text(member.raw_name) != member.raw_name)
      add(Danger::low, "name.odd", member.raw_name, "the name holds control or invisible characters",
          "quote it wherever you use it");
  }

  /// Something is unpacked below what the same tar made a symlink before.
  void through_link(const Member& member) {
    if (const std::string link = link_above(member.name); !link.empty())
      return add(Danger::high, "name.through_link", member.name,
                 "lies below " + link + ", which the same tar makes a symlink", kDoNotImport);
    if (member.type == MemberType::symlink)
      symlinks_.insert(member.name);
    else
      symlinks_.erase(member.name);
  }

  void hardlink(const Member& member) {
    if (member.type == MemberType::hardlink && !is_safe_name(member.link_target))
      add(Danger::high, "link.escapes", member.name, "is a hard link to " + member.link_target + ", outside",
          kDoNotImport);
  }

  void add(Danger danger, const char* code, const std::string& subject, std::string message, std::string remedy) {
    std::size_t& count = counts_[code];
    if (++count <= kMaxOfAKind)
      auditor_.add(danger, code, prefix_ + subject, std::move(message), std::move(remedy));
    else if (count == kMaxOfAKind + 1)
      auditor_.add(danger, code, prefix_ + subject, "and more of the kind", std::move(remedy));
  }

 private:
  // Longer paths than the kernel takes are not unpacked.
  std::string link_above(std::string_view name) const {
    constexpr std::size_t kPathMax = 4096;
    if (symlinks_.empty()) return {};
    for (std::size_t slash = name.find('/'); slash < kPathMax; slash = name.find('/', slash + 1))
      if (symlinks_.find(name.substr(0, slash)) != symlinks_.end()) return std::string(name.substr(0, slash));
    return {};
  }

  Auditor& auditor_;
  std::string prefix_;
  std::set<std::string, std::less<>> symlinks_;
  std::map<std::string, std::size_t> counts_;
};

// Engines write plain files and directories only; the one link is that from a checkpoint to the one before it.
void outer_member(TarAudit& tar, const Member& member) {
  tar.name(member);
  tar.through_link(member);
  if (member.type == MemberType::symlink && base_name(member.name) == "parent" && member.name != "parent")
    tar.add(Danger::medium, "link.parent", member.name,
            "leads to an earlier checkpoint, " + member.link_target + ", that CRIU reads pages from",
            "import a full checkpoint, or see that the link stays inside the archive");
  else if (member.type == MemberType::symlink || member.type == MemberType::hardlink)
    tar.add(Danger::high, "member.link", member.name,
            std::string("is a ") + to_string(member.type) + " to " + member.link_target +
                "; an engine that follows it reads or writes that file of the host (CVE-2026-53489)",
            kDoNotImport);
  if (is_device(member.type) || member.type == MemberType::fifo || member.type == MemberType::other)
    tar.add(
        Danger::high, "member.device", member.name,
        std::string("is a ") + to_string(member.type) + (is_device(member.type) ? " device " + numbers(member) : ""),
        kDoNotImport);
}

// A difference to a root file system: links may lead anywhere in the container, not above it.
void inner_member(TarAudit& tar, const Member& member) {
  tar.name(member);
  tar.through_link(member);
  tar.hardlink(member);
  if (member.type == MemberType::symlink && member.link_target.rfind('/', 0) != 0 &&
      climbs_out(directory_name(member.name), member.link_target))
    tar.add(Danger::medium, "link.climbs", member.name, "is a symlink to " + member.link_target + ", above its root",
            "import it with an engine that unpacks inside the container's root only");
  if (is_device(member.type) && (member.dev_major != 0 || member.dev_minor != 0))
    tar.add(Danger::medium, "member.device", member.name,
            std::string("is a ") + to_string(member.type) + " device " + numbers(member) + " for the container's disk",
            "import it without the right to make devices, or on nodev");
  if (member.type == MemberType::file && (member.mode & 06000U) != 0)
    tar.add(Danger::low, "member.setuid", member.name, "is set-user-ID or set-group-ID", "compare it with the image's");
}

bool is_inner_tar(const Member& member) {
  if (member.type != MemberType::file || member.size == 0) return false;
  const std::string_view base = base_name(member.name);
  return base == "rootfs-diff.tar" || base == "devshm-checkpoint.tar" ||
         (is_within(member.name, "volumes") && base.size() > 4 && base.substr(base.size() - 4) == ".tar");
}

// Deleting "/a/b" where the difference has made "a" a symlink deletes behind the link, on the host if it leads there.
void deleted_through_link(Auditor& auditor, const std::vector<Member>& difference) {
  std::set<std::string> symlinks;
  for (const Member& member : difference)
    if (member.type == MemberType::symlink) symlinks.insert("/" + member.name);
  const Json list = auditor.document("deleted.files");
  for (const Json& item : list.items()) {
    const std::string path = clean_path(item.as_string());
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
      if (symlinks.count(path.substr(0, slash)) != 0)
        auditor.add(
            Danger::high, "deleted.through_link", path,
            "deleted.files names a path below " + path.substr(0, slash) + ", which rootfs-diff.tar makes a symlink",
            kDoNotImport);
  }
}

void audit_inner_tar(Auditor& auditor, const Archive& layer, const Member& member) {
  const Limits& limits = auditor.checkpoint.impl().limits;
  if (member.size > kMaxInnerTar)
    throw Error(ErrorCode::limit_exceeded, Where{layer.name(), member.name, {}, {}}, "too large to be looked into");
  ArchiveOptions options;
  options.limits = limits;
  options.unsafe_names = UnsafeNames::keep;
  TarAudit tar(auditor, member.name + ": ");
  const Archive inner_tar = layer.open_member(member, options);
  for (const Member& inner : inner_tar.members())
    if (inner.name != ".") inner_member(tar, inner);
  if (base_name(member.name) == "rootfs-diff.tar") deleted_through_link(auditor, inner_tar.members());
}

}  // namespace

void audit_members(Auditor& auditor) {
  for (const Archive& layer : auditor.checkpoint.layers()) {
    TarAudit tar(auditor, "");
    for (const Member& member : layer.members()) outer_member(tar, member);
    for (const std::string& name : layer.duplicates())
      tar.add(Danger::medium, "name.twice", name, "occurs more than once; what is checked may not be what is imported",
              "rewrite the archive with ckpt-patch, or ask for another");
  }
}

void audit_inner_tars(Auditor& auditor) {
  for (const Archive& layer : auditor.checkpoint.layers())
    for (const Member& member : layer.members())
      if (is_inner_tar(member)) auditor.guard([&] { audit_inner_tar(auditor, layer, member); });
}

}  // namespace ckpt
