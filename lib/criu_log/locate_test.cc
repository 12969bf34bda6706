// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "ckpt/explain.h"
#include "testing/paths.h"

using namespace ckpt;

namespace {

const char* const kLibrary = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10";

Diagnosis located(const char* archive, const std::string& line) {
  LogExplainer explainer("log");
  explainer.feed(line);
  Explanation explanation = explainer.finish();
  locate(explanation, Checkpoint::open(testing::testdata(std::string("archives/") + archive)));
  REQUIRE(explanation.cause);
  return *explanation.cause;
}

const Mount& mount_at(const Checkpoint& checkpoint, const std::string& path) {
  const auto found = std::find_if(checkpoint.mounts().begin(), checkpoint.mounts().end(),
                                  [&](const Mount& mount) { return mount.mountpoint == path; });
  REQUIRE(found != checkpoint.mounts().end());
  return *found;
}

std::string id_of(const char* archive, const std::string& path) {
  return std::to_string(mount_at(Checkpoint::open(testing::testdata(std::string("archives/") + archive)), path).mnt_id);
}

}  // namespace

TEST_CASE("a mount id becomes the container's path and its key") {
  const std::string id = id_of("podman-seed-keys.tar.zst", kLibrary);
  const Diagnosis diagnosis = located("podman-seed-keys.tar.zst",
                                      "Error (criu/mount.c:3141): mnt: No mapping for " + id + ":(null) mountpoint");
  CHECK(diagnosis.path == kLibrary);
  CHECK(diagnosis.key == kLibrary);
  CHECK(diagnosis.source.empty());
  CHECK(diagnosis.cause.find("Mount " + id + ", " + kLibrary) == 0);
  REQUIRE(diagnosis.conf_lines.size() == 1);
  CHECK(diagnosis.conf_lines[0] == "external=mnt[" + std::string(kLibrary) + "]:HOST-PATH");
  REQUIRE(diagnosis.commands.size() == 1);
  CHECK(diagnosis.commands[0].find("podman-seed-keys.tar.zst -o patched.tar") != std::string::npos);
}

TEST_CASE("a host path becomes the mount that comes from it") {
  const Diagnosis diagnosis =
      located("podman-seed-auto.tar.zst", std::string("Error (criu/mount-v2.c:319): mnt-v2: Failed to open_tree /") +
                                              kLibrary + ": No such file or directory");
  CHECK(diagnosis.source == kLibrary);
  CHECK(diagnosis.path == kLibrary);
  CHECK(diagnosis.mnt_id);
}

TEST_CASE("CRIU's temporary paths become the container's") {
  const std::string text = ": No such file or directory";
  const std::string root = id_of("podman-seed-auto.tar.zst", "/");
  CHECK(located("podman-seed-auto.tar.zst",
                "Error (criu/mount-v2.c:634): mnt-v2: Can't stat mountpoint "
                "/tmp/.criu.mntns.JvMUzy/mnt-0000000" +
                    std::string(3 - root.size(), '0') + root + kLibrary + text)
            .path == kLibrary);
  CHECK(
      located("podman-seed-auto.tar.zst",
              "Error (criu/mount.c:2511): mnt: Can't bind-mount at /tmp/.criu.mntns.m2dMAn/13-0000000000/lib/x" + text)
          .path == "/lib/x");
  const std::string id = id_of("podman-seed-auto.tar.zst", kLibrary);
  const Diagnosis kind = located("podman-seed-auto.tar.zst",
                                 "Error (criu/mount-v2.c:324): mnt-v2: Failed to move_mount from /srv to "
                                 "/tmp/.criu.mntns.FJ1OYN/mnt-0000000" +
                                     id + ": Invalid argument");
  CHECK(kind.path == kLibrary);
  CHECK(std::to_string(kind.mnt_id.value()) == id);
  CHECK(kind.source == "/srv");
  // A mount that the archive does not have stays as CRIU said it.
  const std::string strange = "/tmp/.criu.mntns.X/mnt-0000009999/a";
  CHECK(located("podman-seed-auto.tar.zst", "Error (criu/a.c:1): mnt: Can't stat mountpoint " + strange + text).path ==
        strange);
  CHECK(located("podman-seed-auto.tar.zst", "Error (criu/a.c:1): mnt: Can't stat mountpoint /tmp/.criu.mntns.X" + text)
            .path == "/tmp/.criu.mntns.X");
}

TEST_CASE("the log inside an archive is explained") {
  const std::string file = testing::collection_file("crio/crio-seed-auto.tar");
  if (file.empty()) {
    MESSAGE("not at hand: crio-seed-auto.tar");
    return;
  }
  const auto explanation = explain_log_of(Checkpoint::open(file));
  REQUIRE(explanation);
  CHECK(explanation->stage == LogStage::dump);
  CHECK_FALSE(explanation->cause);
  CHECK(explanation->outcome == LogOutcome::succeeded);
  CHECK_FALSE(explain_log_of(Checkpoint::open(testing::testdata("archives/podman-seed-auto.tar.zst"))));
}
