// SPDX-License-Identifier: Apache-2.0
#include "oci/image_writer.h"

#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "archive/sha256.h"
#include "archive/tar_header.h"
#include "ckpt/error.h"
#include "ckpt/file.h"

namespace ckpt {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLayout = "{\"imageLayoutVersion\":\"1.0.0\"}";
constexpr const char* kRefName = "org.opencontainers.image.ref.name";

/// Passes bytes on and takes their digest.
class DigestSink final : public ByteSink {
 public:
  explicit DigestSink(ByteSink& out) : out_(out) {}
  void write(std::string_view bytes) override {
    out_.write(bytes);
    digest_.add(bytes);
    size_ += bytes.size();
  }
  Blob finish() { return {"sha256:" + hex_of(digest_.finish()), size_}; }

 private:
  ByteSink& out_;
  Sha256 digest_;
  std::uint64_t size_ = 0;
};

std::string hex_part(const Blob& blob) { return blob.digest.substr(blob.digest.find(':') + 1); }

class LayoutWriter final : public ImageWriter {
 public:
  explicit LayoutWriter(std::string path) : path_(std::move(path)) {
    std::error_code failure;
    const bool there = fs::exists(path_, failure);
    const bool layout = fs::exists(path_ + "/oci-layout", failure) && fs::exists(path_ + "/index.json", failure);
    if (there && !layout && !(fs::is_directory(path_, failure) && fs::is_empty(path_, failure)))
      throw Error(ErrorCode::invalid_argument, Where{path_, {}, {}, {}}, "exists and is no OCI layout");
    if (layout) index_ = Json::parse(read_text_file(path_ + "/index.json"), path_, "index.json");
    for (const char* part : {"", "/blobs", "/blobs/sha256"}) make_directory(path_ + part);
  }

  LayoutWriter(const LayoutWriter&) = delete;
  LayoutWriter& operator=(const LayoutWriter&) = delete;
  ~LayoutWriter() override {
    if (committed_) return;
    std::error_code ignored;
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) fs::remove(*made, ignored);
  }

  Blob add(const std::function<void(ByteSink&)>& produce) override {
    AtomicFile file(blobs() + "/new");
    DigestSink sink(file);
    produce(sink);
    Blob blob = sink.finish();
    const std::string place = blobs() + "/" + hex_part(blob);
    std::error_code ignored;
    if (fs::exists(place, ignored)) return blob;
    file.rename_target(hex_part(blob));
    file.commit();
    made_.push_back(place);
    return blob;
  }

  Archive open_blob(const Blob& blob, const ArchiveOptions& options) const override {
    return Archive::open(blobs() + "/" + hex_part(blob), options);
  }

  void seal(const Json& descriptor) override {
    Json manifests = Json::array();
    const Json& name = descriptor["annotations"][kRefName];
    for (const Json& other : index_["manifests"].items())
      if (other["annotations"][kRefName] != name) manifests.push(other);
    manifests.push(descriptor);
    if (!index_.is_object()) index_ = index_of_one(descriptor);
    index_.set("manifests", std::move(manifests));
  }

  void commit() override {
    write_file(path_ + "/oci-layout", kLayout);
    write_file(path_ + "/index.json", index_.dump(-1));
    committed_ = true;
  }

 private:
  std::string blobs() const { return path_ + "/blobs/sha256"; }

  void make_directory(const std::string& directory) {
    std::error_code failure;
    if (fs::create_directory(directory, failure)) made_.push_back(directory);
    if (failure) throw Error(ErrorCode::io, Where{directory, {}, {}, {}}, "cannot create: " + failure.message());
  }

  std::string path_;
  Json index_;
  std::vector<std::string> made_;
  bool committed_ = false;
};

class ArchiveWriter final : public ImageWriter {
 public:
  explicit ArchiveWriter(const std::string& path) : file_(path) { add_file("oci-layout", kLayout); }

  // A blob is named after its content, so its header comes last: into the room kept for it.
  Blob add(const std::function<void(ByteSink&)>& produce) override {
    const std::uint64_t begin = end_;
    write(std::string(kTarBlock, '\0'));
    DigestSink sink(file_);
    produce(sink);
    Blob blob = sink.finish();
    end_ += blob.size;
    pad();
    const std::string block = header("blobs/sha256/" + hex_part(blob), blob.size);
    file_.write_at(begin, block);
    return blob;
  }

  Archive open_blob(const Blob& blob, const ArchiveOptions& options) const override {
    const Archive outer = Archive::open(file_.temporary_path(), options);
    return outer.open_member(*outer.find("blobs/sha256/" + hex_part(blob)), options);
  }

  void seal(const Json& descriptor) override {
    add_file("index.json", index_of_one(descriptor).dump(-1));
    write(std::string(2 * kTarBlock, '\0'));
  }

  void commit() override { file_.commit(); }

 private:
  // Always one block: names are short, and a size beyond octal goes in base-256, which Go's reader knows.
  static std::string header(const std::string& name, std::uint64_t size) {
    Member member;
    member.name = name;
    member.mode = 0644;
    std::string block = make_header(entry_for(member, 0).get());
    set_tar_number(block, 0, kTarSize, size);
    set_tar_checksum(block, 0);
    return block;
  }

  void write(std::string_view bytes) {
    file_.write(bytes);
    end_ += bytes.size();
  }

  void pad() { write(std::string((kTarBlock - end_ % kTarBlock) % kTarBlock, '\0')); }

  void add_file(const std::string& name, std::string_view bytes) {
    write(header(name, bytes.size()));
    write(bytes);
    pad();
  }

  AtomicFile file_;
  std::uint64_t end_ = 0;
};

}  // namespace

Blob ImageWriter::add_text(std::string_view text) {
  return add([&](ByteSink& sink) { sink.write(text); });
}

std::unique_ptr<ImageWriter> write_layout(const std::string& path) { return std::make_unique<LayoutWriter>(path); }

std::unique_ptr<ImageWriter> write_image_archive(const std::string& path) {
  return std::make_unique<ArchiveWriter>(path);
}

Json descriptor_of(const std::string& media_type, const Blob& blob) {
  Json json = Json::object();
  return json.set("mediaType", media_type).set("digest", blob.digest).set("size", blob.size);
}

Json index_of_one(const Json& descriptor) {
  Json json = Json::object();
  json.set("schemaVersion", 2).set("mediaType", "application/vnd.oci.image.index.v1+json");
  return json.set("manifests", Json(Json::Array{descriptor}));
}

}  // namespace ckpt
