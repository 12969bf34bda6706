// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <array>
#include <functional>

#include "ckpt/explain.h"
#include "criu_log/fill.h"

namespace ckpt {

namespace {

// A restore that failed says more than the dump before it, which made the archive after all.
constexpr std::array<const char*, 2> kLogNames = {"restore.log", "dump.log"};

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

/// Hands pieces on to the explainer, and refuses what is no log.
class LogSink {
 public:
  LogSink(LogExplainer& explainer, std::string file, const Limits& limits)
      : explainer_(explainer), file_(std::move(file)), limits_(limits) {}

  void operator()(std::string_view piece) {
    if (bytes_ == 0) refuse_tar(piece);
    bytes_ += piece.size();
    if (bytes_ > limits_.max_log_bytes)
      throw Error(ErrorCode::limit_exceeded, Where{file_, {}, {}, {}},
                  "a log longer than max_log_bytes, " + std::to_string(limits_.max_log_bytes));
    explainer_.feed(piece);
  }

 private:
  void refuse_tar(std::string_view head) const {
    constexpr std::size_t kMagic = 257;
    if (head.size() > kMagic + 5 && head.substr(kMagic, 5) == "ustar")
      throw Error(ErrorCode::invalid_argument, Where{file_, {}, {}, {}}, "is a tar, not a log",
                  "--archive explains the log inside it");
  }

  LogExplainer& explainer_;
  std::string file_;
  const Limits& limits_;
  std::uint64_t bytes_ = 0;
};

std::string log_in_directory(const std::string& directory) {
  for (const char* name : kLogNames)
    if (exists(directory + "/" + name)) return directory + "/" + name;
  throw Error(ErrorCode::invalid_argument, Where{directory, {}, {}, {}}, "no restore.log and no dump.log in it");
}

// Of the stages that a file name tells, for logs that end before they say it themselves.
void stage_by_name(Explanation& explanation, std::string_view name) {
  if (explanation.stage != LogStage::any) return;
  if (name.find("restore") != std::string_view::npos) explanation.stage = LogStage::restore;
  if (name.find("dump") != std::string_view::npos) explanation.stage = LogStage::dump;
}

}  // namespace

Explanation explain_log(const std::string& path, const Limits& limits) {
  const std::string file = is_directory(path) ? log_in_directory(path) : path;
  LogExplainer explainer(file);
  LogSink sink(explainer, file, limits);
  stream_file(file, std::ref(sink));
  Explanation explanation = explainer.finish();
  stage_by_name(explanation, file.substr(file.rfind('/') + 1));
  return explanation;
}

Explanation explain_log_stream(int fd, const std::string& name, const Limits& limits) {
  LogExplainer explainer(name);
  LogSink sink(explainer, name, limits);
  stream_descriptor(fd, name, std::ref(sink));
  return explainer.finish();
}

std::optional<Explanation> explain_log_of(const Checkpoint& checkpoint) {
  for (const char* name : kLogNames)
    for (const std::string& member_name : {std::string(name), "checkpoint/" + std::string(name)})
      for (const Archive& layer : checkpoint.layers()) {
        const Member* member = layer.find(member_name);
        if (member == nullptr || member->type != MemberType::file) continue;
        LogExplainer explainer(checkpoint.name() + ": " + member_name);
        layer.stream(*member, [&](std::string_view piece) { explainer.feed(piece); });
        Explanation explanation = explainer.finish();
        stage_by_name(explanation, name);
        return explanation;
      }
  return std::nullopt;
}

}  // namespace ckpt
