// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ckpt/memory.h"
#include "commands.h"

namespace ckpt::tool {

/// The decoded images of one checkpoint, each read once. What is missing or damaged is noted and reads as empty, so
/// that everything else is still shown.
class Images {
 public:
  explicit Images(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  const Checkpoint& checkpoint() const noexcept { return checkpoint_; }
  /// The entries of an image that must be there: absence is a problem.
  const Json& entries(const std::string& name);
  /// The entries of an image that CRIU writes only when there is something to say.
  const Json& optional_entries(const std::string& name);
  /// The first entry, or a null value.
  const Json& only(const std::string& name) { return entries(name)[0]; }
  /// The entry of files.img with that id, or a null value.
  const Json& file(std::uint64_t id);
  /// The path of a regular file by its id; empty when it is none.
  std::string path_of(std::uint64_t id) { return file(id)["reg"]["name"].as_string(); }
  /// Runs `step`; an Error is noted.
  void guard(const std::function<void()>& step);
  const std::vector<Error>& problems() const noexcept { return problems_; }

 private:
  const Json& load(const std::string& name, const std::function<void()>& absent);

  const Checkpoint& checkpoint_;
  std::map<std::string, Json> images_;
  std::map<std::uint64_t, const Json*> files_;
  std::vector<Error> problems_;
};

/// A report out of the images of each archive.
struct ImageReport {
  std::string schema;
  std::function<Json(Images&)> json;
  std::function<std::string(Images&)> text;
  Keep keep = Keep::images;
};
int report_images(Context context, const std::vector<std::string>& paths, const ImageReport& report);

/// One open descriptor of a process.
struct OpenFile {
  std::uint64_t fd = 0;
  std::string type;  ///< CRIU's name: "REG", "UNIXSK" ...
  std::string path;  ///< or what there is instead: "pipe:[3]"
  std::uint64_t flags = 0;
  std::optional<std::uint64_t> position;
  std::uint64_t id = 0;
};
/// The descriptors of a process in the order of the image.
std::vector<OpenFile> open_files(Images& images, std::uint32_t pid);
/// What a file is called; sockets, pipes and so on are described.
std::string describe_file(Images& images, const Json& file);
/// "O_RDWR | O_APPEND" as "rw,append".
std::string open_flags(std::uint64_t flags);
/// A unix socket's name for people: "@name" when abstract, empty when unbound.
std::string unix_name(const Json& socket);

/// -p, --pid: only these processes.
void add_pid_option(CLI::App& command, std::vector<std::uint32_t>& pids);
/// Processes with one of these ids, or all when there is none. Throws Error(invalid_argument) for an id nobody has.
std::vector<Process> chosen(const Checkpoint& checkpoint, const std::vector<std::uint32_t>& pids);

}  // namespace ckpt::tool
