// SPDX-License-Identifier: Apache-2.0
#include "ckpt/explain.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "testing/failure.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using ckpt::testing::failure_of;
using ckpt::testing::TempDir;

namespace {

const std::string kHead =
    "(00.000027) Version: 4.2.1 (gitid 0)\n"
    "(00.000031) Running on vm Linux 6.18.44-gpu #1 SMP x86_64\n";
const std::string kNoMapping = "(00.1) Error (criu/mount.c:3141): mnt: No mapping for 125:(null) mountpoint\n";

Explanation explain(const std::string& text) {
  LogExplainer explainer("log");
  explainer.feed(text);
  return explainer.finish();
}

}  // namespace

TEST_CASE("a log is read the same in any pieces") {
  const std::string text =
      testing::read_file(testing::testdata("logs/cuda.no_tool.log")) + "no end of line at the end, Error";
  const Explanation whole = explain(text);
  for (const std::size_t step : {1U, 2U, 7U, 64U}) {
    LogExplainer explainer("log");
    for (std::size_t at = 0; at < text.size(); at += step) explainer.feed(std::string_view(text).substr(at, step));
    const Explanation pieces = explainer.finish();
    REQUIRE(pieces.cause);
    CHECK(pieces.cause->line.number == whole.cause->line.number);
    CHECK(pieces.cause->line.text == whole.cause->line.text);
    CHECK(pieces.lines == whole.lines);
    CHECK(pieces.bytes == text.size());
    CHECK(pieces.last_errors.size() == whole.last_errors.size());
  }
  CHECK(whole.criu_version == "4.2");
  CHECK(whole.kernel == "6.12.0");
  CHECK(whole.stage == LogStage::dump);
  CHECK(whole.outcome == LogOutcome::failed);
}

TEST_CASE("the first known error is the cause and the first error of all is kept") {
  const Explanation explanation =
      explain(kHead + "(00.1) Error (criu/x.c:1): something new\r\n" + kNoMapping +
              "(00.2) Error (criu/files-reg.c:2153): File a has bad build-ID\n(00.3) Error (criu/cr-restore.c:1): "
              "Restoring FAILED.\n");
  REQUIRE(explanation.cause);
  CHECK(explanation.cause->code == "mount.no_mapping");
  CHECK(explanation.cause->line.number == 4);
  CHECK(*explanation.cause->mnt_id == 125);
  REQUIRE(explanation.first_error);
  CHECK(explanation.first_error->text == "(00.1) Error (criu/x.c:1): something new");
  REQUIRE(explanation.related.size() == 1);
  CHECK(explanation.related[0].code == "file.build_id_differs");
  CHECK(explanation.related[0].path == "/a");
  CHECK(explanation.criu_version == "4.2.1");
  CHECK(explanation.kernel == "6.18.44-gpu");
}

TEST_CASE("of several runs in one log the last one counts") {
  const std::string failed = kHead + kNoMapping + "(00.3) Error (criu/cr-restore.c:1): Restoring FAILED.\n";
  const std::string good = kHead + "(00.4) Restore finished successfully. Tasks resumed.\n";
  const Explanation later_good = explain(failed + good);
  CHECK_FALSE(later_good.cause);
  CHECK(later_good.outcome == LogOutcome::succeeded);
  CHECK(later_good.last_errors.empty());
  const Explanation later_failed = explain(good + failed);
  REQUIRE(later_failed.cause);
  CHECK(later_failed.cause->line.number == 6);
  CHECK(later_failed.outcome == LogOutcome::failed);
}

TEST_CASE("what the container's own texts say in information lines is no cause") {
  CHECK_FALSE(explain("(00.000001) cmdline: No mapping for 125:(null) mountpoint\n").cause);
  CHECK(explain("No mapping for 125:(null) mountpoint\n").cause);
}

TEST_CASE("lines without an end stay bounded") {
  LogExplainer explainer("log");
  explainer.feed(kNoMapping.substr(0, kNoMapping.size() - 1));
  const std::string block(1U << 20, 'x');
  for (int i = 0; i < 64; ++i) explainer.feed(block);
  const Explanation explanation = explainer.finish();
  CHECK(explanation.lines == 1);
  REQUIRE(explanation.cause);
  CHECK(explanation.cause->line.text.size() == LogExplainer::kMaxLineBytes);
}

TEST_CASE("of very many errors the last few are kept") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "(00.000001) Error (criu/x.c:1): unheard of " + std::to_string(i) + "\n";
  const Explanation explanation = explain(text);
  CHECK_FALSE(explanation.cause);
  REQUIRE(explanation.last_errors.size() == LogExplainer::kLastErrors);
  CHECK(explanation.last_errors.back().number == 1000);
  CHECK(explanation.first_error->number == 1);
}

TEST_CASE("every truncation of a log is read") {
  const std::string text = testing::read_file(testing::testdata("logs/mount.no_mountpoint.log"));
  const std::size_t known = text.find("No such file");
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const Explanation explanation = explain(text.substr(0, length));
    CHECK(explanation.cause.has_value() == (length >= known + std::string("No such file or directory").size()));
  }
}

TEST_CASE("commands and lines do not carry what a shell or CRIU would obey") {
  const Explanation shell = explain("runc: mount src=/a;$(b) 'c', dst=/d: no such file or directory\n");
  REQUIRE(shell.cause);
  CHECK(shell.cause->source == "/a;$(b) 'c");
  REQUIRE(shell.cause->commands.size() == 2);
  CHECK(shell.cause->commands[1] == "ckpt-patch CHECKPOINT -o patched.tar --map '/a;$(b) '\\''c'=NEW");
  const Explanation control = explain("runc: mount src=/a\tb, dst=/d: no such file or directory\n");
  CHECK(control.cause->commands.size() == 1);
  const Explanation conf = explain("(00.1) Error (criu/mount.c:1): mnt: No device for ./a b mount\n");
  CHECK(conf.cause->path == "/a b");
  CHECK(conf.cause->conf_lines.empty());
  CHECK(explain("(00.1) Error (criu/mount.c:1): mnt: No device for ./ab mount\n").cause->conf_lines ==
        std::vector<std::string>{"external=mnt[/ab]:/ab"});
}

TEST_CASE("files, directories, pipes and what is no log") {
  const TempDir directory;
  directory.write("dump.log", kHead);
  CHECK(explain_log(directory.path()).log == directory.file("dump.log"));
  CHECK(explain_log(directory.path()).stage == LogStage::dump);
  directory.write("restore.log", kNoMapping);
  CHECK(explain_log(directory.path()).cause->code == "mount.no_mapping");
  CHECK(explain_log(directory.write("empty", "")).lines == 0);

  const TempDir none;
  CHECK(failure_of([&] { explain_log(none.path()); }).detail() == "no restore.log and no dump.log in it");
  CHECK(failure_of([&] { explain_log(none.file("x")); }).code() == ErrorCode::io);
  const Error tar = failure_of([] { explain_log(testing::testdata("archives/podman-seed-auto.tar.zst")); });
  CHECK(tar.detail() == "is a tar, not a log");
  Limits limits;
  limits.max_log_bytes = 4;
  const Error over = failure_of([&] { explain_log(directory.file("dump.log"), limits); });
  CHECK(over.code() == ErrorCode::limit_exceeded);

  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], kNoMapping.data(), kNoMapping.size()) == static_cast<ssize_t>(kNoMapping.size()));
  ::close(ends[1]);
  CHECK(explain_log_stream(ends[0], "-").cause->code == "mount.no_mapping");
  ::close(ends[0]);
}

TEST_CASE("logs of real, successful runs explain nothing") {
  for (const char* name : {"dump-crun", "dump-runc", "restore-crun", "restore-runc"}) {
    const std::string file = testing::collection_file("h200-podman/" + std::string(name) + ".log.xz");
    if (file.empty()) {
      MESSAGE("not at hand: " << name);
      continue;
    }
    CAPTURE(name);
    const Explanation explanation = explain_log(file);
    CHECK(explanation.lines > 1000);
    CHECK_FALSE(explanation.cause);
    CHECK(explanation.related.empty());
    CHECK(explanation.criu_version == "4.2.1");
    CHECK(explanation.outcome == LogOutcome::succeeded);
    CHECK(explanation.noise >= 1);
  }
}
