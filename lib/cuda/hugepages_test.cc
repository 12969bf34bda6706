// SPDX-License-Identifier: Apache-2.0
#include "cuda/hugepages.h"

#include <doctest/doctest.h>

#include <memory>

#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using namespace ckpt::cuda;
using ckpt::testing::failure_of;
using ckpt::testing::read_file;
using ckpt::testing::TempDir;

namespace {

constexpr const char* kSetting = "sys/kernel/mm/transparent_hugepage/enabled";

}  // namespace

TEST_CASE("the setting is always while it is held, and afterwards as before") {
  const TempDir dir;
  dir.write(kSetting, "always [madvise] never\n");
  dir.write("run/x", "");
  auto pages = std::make_unique<HugePages>(dir.path());
  CHECK(read_file(dir.file(kSetting)) == "always");
  CHECK(read_file(dir.file("run/ckpt-gpu/transparent_hugepage")) == "madvise\n");
  CHECK(failure_of([&] { HugePages(dir.path()); }).code() == ErrorCode::conflict);
  // A living run still needs it.
  CHECK(recover_hugepages(dir.path()).empty());
  CHECK(read_file(dir.file(kSetting)) == "always");
  pages.reset();
  CHECK(read_file(dir.file(kSetting)) == "madvise");
  CHECK(recover_hugepages(dir.path()).empty());
}

TEST_CASE("what a killed run left is put back, once, and nothing but a setting") {
  const TempDir dir;
  dir.write(kSetting, "[always] madvise never\n");
  dir.write("run/ckpt-gpu/transparent_hugepage", "never\n");
  CHECK(recover_hugepages(dir.path()) == "never");
  CHECK(read_file(dir.file(kSetting)) == "never");
  dir.write("run/ckpt-gpu/transparent_hugepage", "rubbish\n");
  CHECK(recover_hugepages(dir.path()).empty());
  CHECK(read_file(dir.file(kSetting)) == "never");
}

TEST_CASE("without the switch nothing is held") {
  const TempDir dir;
  dir.write("run/x", "");
  const Error error = failure_of([&] { HugePages(dir.path()); });
  CHECK(error.detail() == "the setting cannot be read");
  dir.write(kSetting, "[never]\n");
  CHECK_NOTHROW(HugePages(dir.path()));
}
