// SPDX-License-Identifier: Apache-2.0
#include "cuda/worker.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>

#include "cuda/results.h"
#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using namespace ckpt::cuda;
using ckpt::testing::failure_of;
using ckpt::testing::read_file;
using ckpt::testing::TempDir;

namespace {

struct Standin {
  explicit Standin(const std::string& state) {
    file = dir.write("driver", state);
    ::setenv("CKPT_STANDIN_STATE", file.c_str(), 1);
  }
  TempDir dir;
  std::string file;
  Worker worker{Libraries{CKPT_STANDIN, CKPT_STANDIN}};
};

}  // namespace

TEST_CASE("answers stand in the order of the calls") {
  Standin standin("driver version=13000\nprocess pid=7 state=running tid=70\nprocess pid=8 state=locked tid=80\n");
  CHECK(standin.worker.api_version() == 13000);
  std::vector<Call> calls;
  for (int round = 0; round < 200; ++round)
    for (const std::uint32_t pid : {7u, 8u, 9u}) calls.push_back({Op::state, pid, 0, Milliseconds(20'000)});
  const auto answers = standin.worker.run(calls);
  for (std::size_t at = 0; at < answers.size(); at += 3) {
    CHECK(answers[at].value == 0);
    CHECK(answers[at + 1].value == 1);
    CHECK(answers[at + 2].result == kNotInitialized);
  }
}

TEST_CASE("a call past its deadline is given up, the others count, and the next worker starts anew") {
  Standin standin(
      "driver version=13000\nprocess pid=7 state=running tid=70 stopped=1\nprocess pid=8 state=running tid=80\n");
  const auto start = std::chrono::steady_clock::now();
  const auto answers = standin.worker.run({{Op::state, 7, 0, Milliseconds(200)}, {Op::state, 8, 0, Milliseconds(200)}});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK_FALSE(answers[0].arrived);
  CHECK(answers[1].arrived);
  CHECK(standin.worker.run({{Op::state, 8, 0, Milliseconds(20'000)}})[0].arrived);
}

TEST_CASE("jobs bound how many calls are under way") {
  Standin standin(
      "driver version=13000\ndelay op=lock ms=150\nprocess pid=7 state=running tid=70\n"
      "process pid=8 state=running tid=80\n");
  const std::vector<Call> calls = {{Op::lock, 7, 1000, Milliseconds(5000)}, {Op::lock, 8, 1000, Milliseconds(5000)}};
  const auto start = std::chrono::steady_clock::now();
  standin.worker.run(calls, 1);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(300));
}

TEST_CASE("a driver that brings its worker down answers nothing, and the next call has a new worker") {
  Standin standin("driver version=13000\nfault op=lock pid=7 do=crash\nprocess pid=7 state=running tid=70\n");
  CHECK_FALSE(standin.worker.run({{Op::lock, 7, 0, Milliseconds(5000)}})[0].arrived);
  CHECK(standin.worker.run({{Op::lock, 7, 0, Milliseconds(5000)}})[0].result == kSuccess);
}

TEST_CASE("CUDA is initialised for a restore and for nothing else") {
  Standin standin(
      "driver version=13000 persistence=0\ngpu uuid=g total=9 free=9\n"
      "process pid=7 state=running tid=70 gpu=g bytes=1\n");
  for (const Op op : {Op::lock, Op::checkpoint}) standin.worker.run({{op, 7, 0, Milliseconds(5000)}});
  CHECK(read_file(standin.file + ".log").find("init") == std::string::npos);
  CHECK(standin.worker.run({{Op::restore, 7, 0, Milliseconds(5000)}})[0].result == kSuccess);
  CHECK(read_file(standin.file + ".log").find("init 0") != std::string::npos);
}

TEST_CASE("no driver, an old one and a broken one are told apart") {
  Standin standin("driver version=12080\n");
  Worker none(Libraries{"/nowhere/libcuda.so.1", {}});
  const Error absent = failure_of([&] { none.api_version(); });
  CHECK(absent.code() == ErrorCode::unsupported);
  CHECK(absent.detail().rfind("cannot load the CUDA driver: /nowhere/libcuda.so.1", 0) == 0);
  Worker old(Libraries{CKPT_STANDIN_OLD, {}});
  CHECK(failure_of([&] { old.api_version(); }).detail() == "this driver (CUDA 12.8) has no checkpoint functions");
  CHECK(standin.worker.api_version() == 12080);
}

TEST_CASE("results have the driver's names and words") {
  CHECK(result_name(600) == "CUDA_ERROR_NOT_READY");
  CHECK(result_text(401) == "the operation cannot be performed in the present state");
  CHECK(result_name(77) == "CUDA_ERROR_77");
  CHECK(result_text(77) == "error 77");
}
