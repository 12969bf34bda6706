// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/compare.h"
#include "ckpt/file.h"
#include "diff/differ.h"

namespace ckpt {

namespace {

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// A JSON object or a byte order mark before one; no archive begins like that.
bool begins_like_json(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char head[64];
  const ssize_t got = ::read(fd, head, sizeof head);
  ::close(fd);
  std::string_view text(head, got < 0 ? 0 : static_cast<std::size_t>(got));
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

ComparedSide spec_side(const std::string& name, const std::string& file, const Limits& limits) {
  Json spec = Json::parse(read_text_file(file, limits), file, {}, limits);
  if (!spec["ociVersion"].is_string() && !spec["process"].is_object() && !spec["mounts"].is_array())
    throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, "is JSON, but no runtime spec (config.json)");
  return {name, std::nullopt, std::move(spec)};
}

}  // namespace

ComparedSide open_side(const std::string& path, const CheckpointOptions& options) {
  if (path != "-") {
    const std::string bundle = path + "/config.json";
    const bool directory = is_directory(path);
    if (directory && exists(bundle) && !exists(path + "/checkpoint") && !exists(path + "/inventory.img"))
      return spec_side(path, bundle, options.limits);
    if (!directory && begins_like_json(path)) return spec_side(path, path, options.limits);
  }
  ComparedSide side{path, Checkpoint::open(path, options), std::nullopt};
  if (const auto& text = side.checkpoint->spec_text())
    side.spec = Json::parse(*text, path, "spec.dump", options.limits);
  return side;
}

DifferenceReport compare_sides(const ComparedSide& a, const ComparedSide& b) {
  DifferenceReport report;
  if (a.spec && b.spec)
    diff_specs(report.differences, *a.spec, *b.spec);
  else
    report.not_compared.emplace_back("spec");
  if (a.checkpoint && b.checkpoint)
    diff_checkpoints(report.differences, *a.checkpoint, *b.checkpoint);
  else if (a.checkpoint || b.checkpoint)
    report.not_compared.emplace_back("checkpoint");
  return report;
}

}  // namespace ckpt
