// SPDX-License-Identifier: Apache-2.0
#include "ckpt/explain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>

#include "criu_log/fill.h"
#include "criu_log/line.h"
#include "criu_log/pattern.h"

namespace ckpt {

namespace {

using criu_log::Catch;
using criu_log::Level;
using criu_log::Pattern;
using criu_log::WordFinder;

// Lines that tell about the run as a whole.
enum class Sign { dumped, dump_failed, restored, restore_failed, type_dump, type_restore, version, running_on };
constexpr std::array<std::pair<std::string_view, Sign>, 11> kSigns = {{
    {"Dumping finished successfully", Sign::dumped},
    {"Dumping FAILED", Sign::dump_failed},
    {"Restore finished successfully", Sign::restored},
    {"Restoring FAILED", Sign::restore_failed},
    {"criu failed: type DUMP", Sign::type_dump},
    {"(criu/cr-dump.c:", Sign::type_dump},
    {"criu failed: type RESTORE", Sign::type_restore},
    {"(criu/cr-restore.c:", Sign::type_restore},
    {"Restoring processes from", Sign::type_restore},
    {"Version: ", Sign::version},
    {"Running on ", Sign::running_on},
}};

struct Alternative {
  const FailureKind* kind;
  Pattern pattern;
};

/// The catalogue made ready for searching: every pattern's anchor and every sign is one word of the finder.
struct Index {
  std::vector<Alternative> alternatives;
  WordFinder finder;
};

std::vector<Alternative> alternatives_of_catalogue() {
  std::vector<Alternative> all;
  for (const FailureKind& kind : failure_kinds()) {
    std::string_view rest = kind.patterns;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      all.push_back({&kind, Pattern(rest.substr(0, end))});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return all;
}

const Index& catalogue_index() {
  static const Index kIndex = [] {
    auto alternatives = alternatives_of_catalogue();
    std::vector<std::string> words;
    words.reserve(alternatives.size() + kSigns.size());
    for (const Alternative& alternative : alternatives) words.push_back(alternative.pattern.anchor());
    for (const auto& [text, sign] : kSigns) words.emplace_back(text);
    return Index{std::move(alternatives), WordFinder(words)};
  }();
  return kIndex;
}

// Information lines quote the container's own texts, so they may only add a warning.
bool may_speak(const FailureKind& kind, Level level) {
  return level != Level::quiet || kind.weight == FailureWeight::warning;
}

Diagnosis diagnosis_of(const FailureKind& kind, const Catch& caught, Level level) {
  Diagnosis diagnosis;
  diagnosis.code = kind.code;
  diagnosis.weight = kind.weight;
  if (level == Level::warning && kind.weight == FailureWeight::cause) diagnosis.weight = FailureWeight::warning;
  std::uint32_t mnt_id = 0;
  const auto [end, failure] =
      std::from_chars(caught.mnt_id.data(), caught.mnt_id.data() + caught.mnt_id.size(), mnt_id);
  if (!caught.mnt_id.empty() && failure == std::errc()) diagnosis.mnt_id = mnt_id;
  diagnosis.path = caught.path;
  if (diagnosis.path == "(null)") diagnosis.path.clear();
  if (diagnosis.path.rfind("./", 0) == 0) diagnosis.path.erase(0, 1);
  if (!diagnosis.path.empty() && diagnosis.path.front() != '/') diagnosis.path.insert(0, 1, '/');
  diagnosis.source = caught.source;
  while (diagnosis.source.rfind("//", 0) == 0) diagnosis.source.erase(0, 1);
  diagnosis.text = caught.text;
  diagnosis.number = caught.number;
  return diagnosis;
}

// A line of a runtime or an engine that reports a failure, in their several formats.
bool complains(std::string_view line) {
  static constexpr std::array<std::string_view, 4> kWords = {"rror", "fatal", "failed", "FATAL"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

std::string word_at(std::string_view text) { return std::string(text.substr(0, text.find_first_of(" \t("))); }

}  // namespace

struct LogExplainer::Impl {
  Explanation result;
  std::string line;
  std::vector<Diagnosis> known;  ///< the first of each kind, noise left out
  std::deque<LogLine> last_errors;
  bool ended = false;

  void end_line();
  void take_line(std::string_view text);
  void take_sign(Sign sign, std::string_view rest);
  void keep(Diagnosis diagnosis);
  void start_over();
};

LogExplainer::LogExplainer(std::string name) : impl_(std::make_unique<Impl>()) { impl_->result.log = std::move(name); }
LogExplainer::~LogExplainer() = default;

void LogExplainer::feed(std::string_view bytes) {
  impl_->result.bytes += bytes.size();
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::size_t room = kMaxLineBytes - impl_->line.size();
    impl_->line += bytes.substr(0, std::min(end, room));
    if (end < bytes.size()) impl_->end_line();
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

void LogExplainer::Impl::end_line() {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  ++result.lines;
  take_line(line);
  line.clear();
}

void LogExplainer::Impl::take_line(std::string_view text) {
  const Index& index = catalogue_index();
  const Level level = criu_log::level_of(text);
  std::optional<Diagnosis> found;
  for (const std::size_t word : index.finder.find(text)) {
    if (word >= index.alternatives.size()) {
      const auto& [sign_text, sign] = kSigns[word - index.alternatives.size()];
      take_sign(sign, text.substr(text.find(sign_text) + sign_text.size()));
      continue;
    }
    const Alternative& alternative = index.alternatives[word];
    if (found || !may_speak(*alternative.kind, level)) continue;
    if (const auto caught = alternative.pattern.match(text)) found = diagnosis_of(*alternative.kind, *caught, level);
  }
  const LogLine here{result.lines, std::string(text)};
  if (found && found->weight == FailureWeight::noise) {
    ++result.noise;
    return;
  }
  if (level == Level::error || (level == Level::foreign && complains(text))) {
    last_errors.push_back(here);
    if (last_errors.size() > kLastErrors) last_errors.pop_front();
    if (!result.first_error && (!found || found->weight != FailureWeight::fallout)) result.first_error = here;
  }
  if (!found) return;
  found->line = here;
  keep(std::move(*found));
}

void LogExplainer::Impl::take_sign(Sign sign, std::string_view rest) {
  switch (sign) {
    case Sign::dumped:
    case Sign::restored:
      result.outcome = LogOutcome::succeeded;
      ended = true;
      break;
    case Sign::dump_failed:
    case Sign::restore_failed:
      result.outcome = LogOutcome::failed;
      ended = true;
      break;
    case Sign::version:
      if (ended) start_over();
      if (result.criu_version.empty()) result.criu_version = word_at(rest);
      return;
    case Sign::running_on: {
      const std::size_t at = rest.find(" Linux ");
      if (result.kernel.empty() && at != std::string_view::npos) result.kernel = word_at(rest.substr(at + 7));
      return;
    }
    case Sign::type_dump:
    case Sign::type_restore:
      break;
  }
  const bool dump = sign == Sign::dumped || sign == Sign::dump_failed || sign == Sign::type_dump;
  result.stage = dump ? LogStage::dump : LogStage::restore;
}

void LogExplainer::Impl::keep(Diagnosis diagnosis) {
  const auto same = std::find_if(known.begin(), known.end(), [&](const Diagnosis& other) {
    return other.code == diagnosis.code && other.weight == diagnosis.weight;
  });
  if (same == known.end()) known.push_back(std::move(diagnosis));
}

// A journal may hold one run after the other; the last one is asked about.
void LogExplainer::Impl::start_over() {
  Explanation fresh;
  fresh.log = result.log;
  fresh.lines = result.lines;
  fresh.bytes = result.bytes;
  result = std::move(fresh);
  known.clear();
  last_errors.clear();
  ended = false;
}

Explanation LogExplainer::finish() {
  if (!impl_->line.empty()) impl_->end_line();
  Explanation& result = impl_->result;
  for (Diagnosis& diagnosis : impl_->known) criu_log::fill_in(diagnosis, criu_log::kind_of(diagnosis.code), {});
  // The first error is the reason, what follows is fallout (criu.md 5.1).
  const auto first = std::find_if(impl_->known.begin(), impl_->known.end(),
                                  [](const Diagnosis& diagnosis) { return diagnosis.weight == FailureWeight::cause; });
  if (result.outcome != LogOutcome::succeeded && first != impl_->known.end()) {
    result.cause = std::move(*first);
    if (result.stage == LogStage::any) result.stage = criu_log::kind_of(result.cause->code).stage;
    impl_->known.erase(first);
  }
  for (Diagnosis& diagnosis : impl_->known)
    if (diagnosis.weight > FailureWeight::fallout) result.related.push_back(std::move(diagnosis));
  result.last_errors.assign(impl_->last_errors.begin(), impl_->last_errors.end());
  return std::move(result);
}

}  // namespace ckpt
