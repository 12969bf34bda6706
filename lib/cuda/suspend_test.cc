// SPDX-License-Identifier: Apache-2.0
// A real process, so that its descriptor and its start time count; what a driver would keep in it is the stand-in's.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "ckpt/gpu.h"
#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using ckpt::testing::failure_of;
using ckpt::testing::read_file;
using ckpt::testing::TempDir;

namespace {

class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  std::string text() const { return std::to_string(pid_); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

struct Scene {
  Scene() {
    for (const Child* child : {&first, &second})
      state += "process pid=" + child->text() + " state=running tid=" + child->text() + "\n";
    options.libcuda = options.libnvml = CKPT_STANDIN;
    options.timeout = std::chrono::milliseconds(5000);
  }
  GpuResult run(GpuVerb verb) {
    if (file.empty()) file = dir.write("driver", state);
    ::setenv("CKPT_STANDIN_STATE", file.c_str(), 1);
    GpuSession session(options);
    GpuRequest request;
    request.verb = verb;
    GpuSelection selection;
    selection.pids = {first.pid(), second.pid()};
    return session.run(selection, request);
  }
  std::string log() const { return read_file(file + ".log"); }

  TempDir dir;
  Child first;
  Child second;
  std::string state = "driver version=13000\ngpu uuid=GPU-a total=9 free=9\n";
  std::string file;
  GpuOptions options;
};

}  // namespace

TEST_CASE("real processes are suspended and resumed") {
  Scene scene;
  const GpuResult out = scene.run(GpuVerb::suspend);
  CHECK(out.outcome == GpuOutcome::done);
  REQUIRE(out.steps.size() == 2);
  CHECK(out.steps[0].before == GpuState::running);
  CHECK(out.steps[0].after == GpuState::checkpointed);
  const GpuResult back = scene.run(GpuVerb::resume);
  CHECK(back.outcome == GpuOutcome::done);
  CHECK(back.steps[1].after == GpuState::running);
}

TEST_CASE("a process that has exited cannot be named") {
  Scene scene;
  const std::uint32_t pid = scene.first.pid();
  scene.first.end();
  GpuSession session(scene.options);
  GpuSelection selection;
  selection.pids = {pid};
  CHECK(failure_of([&] { session.run(selection, GpuRequest{}); }).detail() == "no process " + std::to_string(pid));
}

TEST_CASE("a process that exits under way is noticed, and the others go on") {
  Scene scene;
  // Past the locks, before the checkpoints.
  scene.options.cancelled = [&] {
    scene.first.end();
    return false;
  };
  const GpuResult result = scene.run(GpuVerb::suspend);
  CHECK(result.outcome == GpuOutcome::done);
  CHECK(result.steps[0].gone);
  CHECK_FALSE(result.steps[1].gone);
  CHECK(result.steps[1].after == GpuState::checkpointed);
}

TEST_CASE("an interrupt between the steps takes everything back") {
  Scene scene;
  scene.options.cancelled = [] { return true; };
  const GpuResult result = scene.run(GpuVerb::suspend);
  CHECK(result.outcome == GpuOutcome::rolled_back);
  CHECK(result.explanation == "interrupted");
  for (const GpuStep& step : result.steps) {
    CHECK(step.after == GpuState::running);
    CHECK(step.rolled_back);
  }
  CHECK(scene.log().find("checkpoint") == std::string::npos);
}

TEST_CASE("a CUDA process that appears while others are locked is suspended with them") {
  const TempDir dir;
  const auto add = [&](const char* pid, const char* parent) {
    dir.write("proc/" + std::string(pid) + "/stat",
              std::string(pid) + " (x) S " + parent + " 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0\n");
    dir.write("proc/" + std::string(pid) + "/maps", "1-2 r-xp 0 0:0 1 /usr/lib/libcuda.so.1\n");
  };
  add("7", "1");
  ::setenv("CKPT_STANDIN_STATE",
           dir.write("driver",
                     "driver version=13000\nprocess pid=7 state=running tid=70\n"
                     "process pid=8 state=running tid=80\n")
               .c_str(),
           1);
  GpuOptions options;
  options.libcuda = options.libnvml = CKPT_STANDIN;
  options.proc_root = dir.file("proc");
  options.state_root = dir.path();
  options.cancelled = [&] {
    add("8", "7");
    return false;
  };
  GpuSession session(options);
  GpuSelection selection;
  selection.trees = {7};
  const GpuResult result = session.run(selection, GpuRequest{});
  CHECK(result.outcome == GpuOutcome::done);
  REQUIRE(result.steps.size() == 2);
  CHECK(result.steps[1].process.pid == 8);
  CHECK(result.steps[1].after == GpuState::checkpointed);
}

TEST_CASE("a switch that cannot be turned leaves nothing locked") {
  Scene scene;
  scene.options.state_root = scene.dir.file("nothing");
  if (scene.file.empty()) scene.file = scene.dir.write("driver", scene.state);
  ::setenv("CKPT_STANDIN_STATE", scene.file.c_str(), 1);
  GpuSession session(scene.options);
  GpuRequest request;
  request.hugepages = true;
  GpuSelection selection;
  selection.pids = {scene.first.pid()};
  const GpuResult result = session.run(selection, request);
  CHECK(result.outcome == GpuOutcome::rolled_back);
  CHECK(result.explanation.find("cannot make: No such file or directory") != std::string::npos);
  CHECK(result.steps[0].after == GpuState::running);
}
