// SPDX-License-Identifier: Apache-2.0
#include "ckpt/listing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "testing/failure.h"
#include "testing/paths.h"
#include "testing/tar_builder.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using ckpt::testing::failure_of;
using ckpt::testing::TarBuilder;
using ckpt::testing::TempDir;

namespace {

std::string tar_of(const std::string& spec) {
  return TarBuilder()
      .directory("checkpoint")
      .file("spec.dump", spec)
      .file("checkpoint/pages-1.img", "12345678")
      .finish();
}

}  // namespace

TEST_CASE("the kubelet's file names are taken apart") {
  const auto plain = parse_kubelet_name("checkpoint-web-0_default-counter-2024-01-02T03:04:05Z.tar");
  REQUIRE(plain);
  CHECK(plain->pod == "web-0");
  CHECK(plain->namespace_and_container == "default-counter");
  CHECK(plain->time == "2024-01-02T03:04:05Z");
  const auto zoned = parse_kubelet_name("checkpoint-web_kube-system-a-b-2024-01-02T03:04:05+05:30.tar");
  REQUIRE(zoned);
  CHECK(zoned->namespace_and_container == "kube-system-a-b");
  CHECK(zoned->time == "2024-01-02T03:04:05+05:30");
  for (const char* name :
       {"checkpoint-web_default-counter-2024-13-02T03:04:05Z.tar", "checkpoint-web-default-2024-01-02T03:04:05Z.tar",
        "checkpoint-_default-counter-2024-01-02T03:04:05Z.tar", "checkpoint-web_-2024-01-02T03:04:05Z.tar",
        "checkpoint-web_2024-01-02T03:04:05Z.tar", "web_default-counter-2024-01-02T03:04:05Z.tar",
        "checkpoint-web_default-counter-2024-01-02T03:04:05Z.tar.gz", "checkpoint-.tar", "checkpoint-_.tar", ".tar",
        ""})
    CHECK_FALSE_MESSAGE(parse_kubelet_name(name), name);
}

TEST_CASE("RFC 3339 times are read and written") {
  CHECK(seconds_of_rfc3339("1970-01-01T00:00:00Z") == 0);
  CHECK(seconds_of_rfc3339("2024-02-29T12:00:00Z") == 1709208000);
  CHECK(seconds_of_rfc3339("2024-02-29T12:00:00.123456789+02:00") == 1709208000 - 7200);
  CHECK(seconds_of_rfc3339("2024-02-29T12:00:00-00:30") == 1709208000 + 1800);
  CHECK(seconds_of_rfc3339("1969-12-31T23:59:59Z") == -1);
  for (const char* time : {"2023-02-29T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29T24:00:00Z",
                           "2024-02-29T12:00:00", "2024-02-29T12:00:00.Z", "2024-02-29T12:00:00+2:00",
                           "2024-02-29T12:00:0-1:00", "-024-02-29T12:00:00Z", "20240229T120000Z     ", ""})
    CHECK_FALSE_MESSAGE(seconds_of_rfc3339(time), time);
  CHECK(rfc3339_of_seconds(1709208000) == "2024-02-29T12:00:00Z");
  CHECK(rfc3339_of_seconds(INT64_MAX).empty());
}

TEST_CASE("a directory's checkpoints are listed, damaged ones with the reason") {
  const TempDir directory;
  const std::string spec =
      R"({"annotations": {"io.container.manager": "cri-o", "io.kubernetes.pod.name": "web",
          "io.kubernetes.pod.namespace": "kube-system"}})";
  directory.write("checkpoint-web_kube-system-a-b-2024-01-02T03:04:05Z.tar", tar_of(spec));
  directory.write("checkpoint-gone_default-counter-2024-01-02T03:04:05Z.tar", "not a tar");
  directory.write("checkpoint-x_a-b-c-2024-01-02T03:04:05Z.tar", TarBuilder().file("x", "").finish());
  directory.write("notes.txt", "x");
  directory.write("sources.tar", TarBuilder().file("main.c", "x").finish());
  directory.write("cut.tar.gz", "\x1f\x8b\x08");
  directory.write("unpacked/spec.dump", "{}");
  directory.write("unpacked/checkpoint/inventory.img", "");
  directory.write("empty/x", "");

  std::uint64_t last = 0;
  std::size_t steps = 0;
  const auto all = list_checkpoints(directory.path(), {}, [&](std::uint64_t done, std::uint64_t total) {
    CHECK(done >= last);
    CHECK(done <= total);
    last = done;
    ++steps;
  });
  CHECK(steps == 6);
  CHECK(last > 0);
  REQUIRE(all.size() == 5);
  CHECK(all[0].file == "checkpoint-gone_default-counter-2024-01-02T03:04:05Z.tar");
  CHECK(all[0].pod == "gone");
  CHECK(all[0].pod_namespace == "default");
  CHECK(all[0].container == "counter");
  REQUIRE(all[0].problems.size() == 1);
  CHECK(all[0].problems[0].code() == ErrorCode::corrupt);

  CHECK(all[1].pod == "web");
  CHECK(all[1].pod_namespace == "kube-system");
  CHECK(all[1].container == "a-b");
  CHECK(all[1].checkpointed == "2024-01-02T03:04:05Z");
  CHECK(all[1].engine == Engine::cri_o);
  CHECK(all[1].memory_pages == 8);
  CHECK(all[1].bytes > 1024);
  CHECK(all[1].modified > 1'700'000'000);

  CHECK(all[2].container == "a-b-c");
  CHECK(all[2].pod_namespace.empty());
  CHECK(all[2].problems.at(0).detail().find("not a container checkpoint") == 0);
  CHECK(all[3].file == "cut.tar.gz");
  CHECK_FALSE(all[3].problems.empty());
  CHECK(all[4].file == "unpacked");
  CHECK(all[4].bytes == 2);
}

TEST_CASE("real archives are listed without damage") {
  const auto all = list_checkpoints(testing::testdata("archives"));
  CHECK(all.size() >= 4);
  for (const ListedCheckpoint& listed : all) {
    CAPTURE(listed.file);
    CHECK(listed.problems.empty());
    const auto names = [&](const char* engine) { return listed.file.find(engine) != std::string::npos; };
    CHECK(listed.engine == (names("crio") ? Engine::cri_o : names("containerd") ? Engine::containerd : Engine::podman));
    CHECK(listed.gpu_vendor == "nvidia");
  }
}

TEST_CASE("a directory that cannot be read is an error") {
  const TempDir directory;
  CHECK(failure_of([&] { list_checkpoints(directory.file("none")); }).detail() ==
        "cannot read: No such file or directory");
  directory.write("a.tar", "");
  directory.write("b.tar", "");
  Limits limits;
  limits.max_members = 1;
  CHECK(failure_of([&] { list_checkpoints(directory.path(), limits); }).code() == ErrorCode::limit_exceeded);
}
