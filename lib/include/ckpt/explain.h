// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/checkpoint.h"
#include "ckpt/export.h"
#include "ckpt/limits.h"

namespace ckpt {

enum class LogStage { any, dump, restore };
/// "any", "dump", "restore".
CKPT_API const char* to_string(LogStage stage) noexcept;

enum class LogOutcome { unknown, succeeded, failed };
/// "unknown", "succeeded", "failed".
CKPT_API const char* to_string(LogOutcome outcome) noexcept;

/// What a line that a kind describes is worth when the reason of a failure is looked for, least first.
enum class FailureWeight {
  noise,    ///< printed by successful runs too
  fallout,  ///< follows from an error further up
  wrapper,  ///< a runtime or an engine says that CRIU failed, not why
  warning,  ///< does not fail by itself, but explains an error further down
  cause,    ///< the reason
};
/// "noise", "fallout", "wrapper", "warning", "cause".
CKPT_API const char* to_string(FailureWeight weight) noexcept;

/// One row of the catalogue. Texts may hold {path}, {mnt_id}, {key}, {source}, {text}, {number}, {archive} and {conf}
/// (the configuration file of the runtime), which a Diagnosis has filled in.
struct FailureKind {
  std::string_view code;  ///< stable, "mount.no_mapping"
  LogStage stage = LogStage::any;
  FailureWeight weight = FailureWeight::cause;
  /// What a line must hold, one alternative a line. `%m` a mount id, `%n` a number, `%p` a path in the
  /// container, `%h` one on the host, `%s` any text.
  std::string_view patterns;
  std::string_view cause;
  std::string_view remedy;
  std::string_view conf;      ///< lines for the CRIU configuration file; may be empty
  std::string_view commands;  ///< commands to run next, one a line; may be empty
};
/// The whole catalogue, in the order in which a line is compared with it.
CKPT_API const std::vector<FailureKind>& failure_kinds();

struct LogLine {
  std::uint64_t number = 0;  ///< counted from 1
  std::string text;          ///< without its end; cut after LogExplainer::kMaxLineBytes
};

/// One line that the catalogue knows, with its texts filled in.
struct Diagnosis {
  std::string code;
  FailureWeight weight = FailureWeight::cause;
  LogLine line;
  std::optional<std::uint32_t> mnt_id;
  std::string path;    ///< the path that the line names, as the container sees it where that is known
  std::string text;    ///< other text that the pattern caught
  std::string number;  ///< a number that the pattern caught
  std::string key;     ///< the mount's key in the image; known once located in a checkpoint
  std::string source;  ///< the mount's host path; known once located in a checkpoint
  std::string cause;
  std::string remedy;
  std::vector<std::string> conf_lines;
  std::vector<std::string> commands;
};

struct Explanation {
  std::string log;  ///< what the caller named it
  LogStage stage = LogStage::any;
  LogOutcome outcome = LogOutcome::unknown;
  std::string criu_version;  ///< "4.2.1"; empty when the log does not say
  std::string kernel;        ///< "6.1.0-18-amd64"
  std::optional<Diagnosis> cause;
  std::vector<Diagnosis> related;      ///< warnings and further causes, in the log's order, one of a kind
  std::optional<LogLine> first_error;  ///< the first error line that is neither noise nor fallout
  std::vector<LogLine> last_errors;    ///< at most LogExplainer::kLastErrors
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::uint64_t noise = 0;  ///< error lines set aside as harmless
};

/// Reads a log of CRIU, or what runtimes and engines print about it, piece by piece. Memory stays bounded whatever the
/// log holds; the time is linear in its length.
class CKPT_API LogExplainer {
 public:
  static constexpr std::size_t kMaxLineBytes = 8192;
  static constexpr std::size_t kLastErrors = 10;

  /// `name` is for errors and reports.
  explicit LogExplainer(std::string name);
  ~LogExplainer();
  LogExplainer(const LogExplainer&) = delete;
  LogExplainer& operator=(const LogExplainer&) = delete;

  void feed(std::string_view bytes);
  /// What is known after the last piece; nothing may be fed afterwards.
  Explanation finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Explains a file, compressed or not (told by content), or the restore.log, else the dump.log in a directory.
/// Throws Error(io | corrupt | limit_exceeded), Error(invalid_argument) for a tar.
CKPT_API Explanation explain_log(const std::string& path, const Limits& limits = {});
/// The same from a descriptor that cannot be rewound. It is not closed.
CKPT_API Explanation explain_log_stream(int fd, const std::string& name, const Limits& limits = {});
/// Explains the log inside a checkpoint: restore.log, else dump.log; absent when it has none.
CKPT_API std::optional<Explanation> explain_log_of(const Checkpoint& checkpoint);

/// Fills in what the checkpoint knows: container paths for mount ids and CRIU's temporary paths, keys, sources, and the
/// lines and commands with these in them.
CKPT_API void locate(Explanation& explanation, const Checkpoint& checkpoint);

}  // namespace ckpt
