// SPDX-License-Identifier: Apache-2.0
#include "ckpt/audit.h"

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

const std::string kQuietSpec = R"({"ociVersion": "1.1.0", "linux": {"namespaces": [
  {"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "mount"}]}})";

Audit audited(const TarBuilder& tar) {
  const TempDir directory;
  CheckpointOptions options;
  options.unsafe_names = UnsafeNames::keep;
  return audit(Checkpoint::open(directory.write("c.tar", tar.finish()), options));
}

TarBuilder with_spec(const std::string& spec) {
  TarBuilder tar;
  tar.directory("checkpoint").file("spec.dump", spec);
  return tar;
}

TarBuilder quiet() { return with_spec(kQuietSpec); }

Audit audited_spec(const std::string& members) {
  return audited(with_spec(kQuietSpec.substr(0, kQuietSpec.size() - 1) + ", " + members + "}"));
}

const AuditFinding* find(const Audit& audit, const std::string& code, const std::string& subject) {
  const auto found = std::find_if(audit.findings.begin(), audit.findings.end(), [&](const AuditFinding& finding) {
    return finding.code == code && finding.subject == subject;
  });
  return found == audit.findings.end() ? nullptr : &*found;
}

void check_only(const Audit& audit, Danger danger, const std::string& code, const std::string& subject) {
  CAPTURE(code);
  for (const Error& problem : audit.problems) MESSAGE(problem.what());
  CHECK(audit.problems.empty());
  REQUIRE(audit.findings.size() == 1);
  CHECK(audit.findings[0].code == code);
  CHECK(audit.findings[0].subject == subject);
  CHECK(to_string(audit.findings[0].danger) == std::string(to_string(danger)));
  CHECK_FALSE(audit.findings[0].message.empty());
  CHECK_FALSE(audit.findings[0].remedy.empty());
}

}  // namespace

TEST_CASE("an ordinary archive is clean") {
  const Audit result = audited(quiet()
                                   .file("deleted.files", R"(["/etc/group", "/a..b"])")
                                   .file("rootfs-diff.tar", TarBuilder()
                                                                .file("etc/a", "x")
                                                                .symlink("bin", "/usr/bin")
                                                                .symlink("usr/lib/a", "../../b")
                                                                .hardlink("etc/b", "etc/a")
                                                                .node("etc/c", 0, 0)
                                                                .finish()));
  CHECK(result.findings.empty());
  CHECK(result.problems.empty());
}

TEST_CASE("names that lead out") {
  check_only(audited(quiet().file("../x", "")), Danger::high, "name.escapes", "../x");
  check_only(audited(quiet().file("/etc/passwd", "")), Danger::high, "name.escapes", "/etc/passwd");
  check_only(audited(quiet().file("a\033[31m", "")), Danger::low, "name.odd", "a\033[31m");
  check_only(audited(quiet().file("ctr.log", "").file("ctr.log", "")), Danger::medium, "name.twice", "ctr.log");
  const TempDir directory;
  const std::string path = directory.write("c.tar", quiet().file("../x", "").finish());
  CHECK(failure_of([&] { Checkpoint::open(path); }).detail().find("leads out of the archive") != std::string::npos);
}

TEST_CASE("members that are no plain files") {
  check_only(audited(quiet().symlink("container.log", "/etc/shadow")), Danger::high, "member.link", "container.log");
  check_only(audited(quiet().hardlink("container.log", "etc/shadow")), Danger::high, "member.link", "container.log");
  check_only(audited(quiet().node("null", 1, 3)), Danger::high, "member.device", "null");
  check_only(audited(quiet().symlink("checkpoint/parent", "../pre-checkpoint")), Danger::medium, "link.parent",
             "checkpoint/parent");
  const Audit through = audited(quiet().symlink("volumes", "/etc").file("volumes/passwd", "x"));
  CHECK(find(through, "member.link", "volumes") != nullptr);
  CHECK(find(through, "name.through_link", "volumes/passwd") != nullptr);
}

TEST_CASE("inner tars are looked into") {
  const auto inner = [](const TarBuilder& tar) { return audited(quiet().file("rootfs-diff.tar", tar.finish())); };
  const std::string in = "rootfs-diff.tar: ";
  check_only(inner(TarBuilder().file("../x", "")), Danger::high, "name.escapes", in + "../x");
  check_only(inner(TarBuilder().hardlink("a", "../../etc/shadow")), Danger::high, "link.escapes", in + "a");
  check_only(inner(TarBuilder().hardlink("a", "/etc/shadow")), Danger::high, "link.escapes", in + "a");
  check_only(inner(TarBuilder().symlink("a/b", "../../etc")), Danger::medium, "link.climbs", in + "a/b");
  check_only(inner(TarBuilder().symlink("a/b", "c/../../../etc")), Danger::medium, "link.climbs", in + "a/b");
  check_only(inner(TarBuilder().symlink("a", "/etc").file("a/passwd", "")), Danger::high, "name.through_link",
             in + "a/passwd");
  check_only(inner(TarBuilder().node("sda", 8, 0)), Danger::medium, "member.device", in + "sda");
  check_only(inner(TarBuilder().header({"su", '0', 0, {}, 04755})), Danger::low, "member.setuid", in + "su");
  check_only(audited(quiet().file("volumes/v.tar", TarBuilder().file("../x", "").finish())), Danger::high,
             "name.escapes", "volumes/v.tar: ../x");
  check_only(audited(quiet().file("devshm-checkpoint.tar", TarBuilder().file("/x", "").finish())), Danger::high,
             "name.escapes", "devshm-checkpoint.tar: /x");
}

TEST_CASE("very many findings of a kind are cut short") {
  TarBuilder tar;
  for (int i = 0; i < 1500; ++i) tar.node("n" + std::to_string(i), 8, 0);
  const Audit result = audited(quiet().file("rootfs-diff.tar", tar.finish()));
  REQUIRE(result.findings.size() == 1001);
  CHECK(result.findings.back().message == "and more of the kind");
}

TEST_CASE("damaged inner tars and lists are problems, the rest is audited") {
  const Audit result = audited(quiet()
                                   .file("rootfs-diff.tar", std::string(2048, 'x'))
                                   .file("deleted.files", "[\"/a\"")
                                   .symlink("container.log", "/x"));
  REQUIRE(result.problems.size() == 2);
  CHECK(result.problems[0].code() == ErrorCode::corrupt);
  CHECK(result.problems[1].where().member == "deleted.files");
  CHECK(result.findings.size() == 1);
}

TEST_CASE("what engines delete and create on the host") {
  check_only(audited(quiet().file("deleted.files", R"(["/a/../../etc/passwd"])")), Danger::high, "deleted.escapes",
             "/a/../../etc/passwd");
  check_only(audited(quiet().file("deleted.files", R"(["/"])")), Danger::high, "deleted.escapes", "/");
  const Audit through = audited(quiet()
                                    .file("deleted.files", R"(["/a/passwd"])")
                                    .file("rootfs-diff.tar", TarBuilder().symlink("a", "/etc").finish()));
  check_only(through, Danger::high, "deleted.through_link", "/a/passwd");
  check_only(audited(quiet().file("bind.mounts", R"([{"source": "/srv/x", "destination": "/x"}])")), Danger::medium,
             "bind.unknown", "/x");
  check_only(audited(quiet().file("bind.mounts", R"([{"source": "/srv/../etc/x", "destination": "/x"}])")),
             Danger::high, "bind.escapes", "/x");
  const Audit known = audited(with_spec(R"({"mounts": [{"destination": "/x", "type": "bind", "source": "/srv/x"}]})")
                                  .file("bind.mounts", R"([{"source": "/srv/x", "destination": "/x"}])"));
  CHECK(find(known, "bind.creates", "/x") != nullptr);
  CHECK(find(known, "mount.host_path", "/x") != nullptr);
}

TEST_CASE("hooks and annotations") {
  check_only(audited_spec(R"("hooks": {"createRuntime": [{"path": "/h"}]})"), Danger::high, "hook.runs", "/h");
  check_only(audited_spec(R"("hooks": {"createRuntime": [{"path": "/h"}, {"path": "/h"}]})"), Danger::high, "hook.runs",
             "/h");
  check_only(audited_spec(R"("hooks": {"poststop": [{"path": "/h"}]})"), Danger::high, "hook.runs", "/h");
  check_only(audited_spec(R"("hooks": {"createContainer": [{"path": "/h"}]})"), Danger::low, "hook.kept", "/h");
  check_only(audited_spec(R"("annotations": {"cdi.k8s.io/a": "nvidia.com/gpu=all"})"), Danger::high, "annotation.cdi",
             "cdi.k8s.io/a");
  check_only(audited_spec(R"("annotations": {"io.kubernetes.cri-o.Annotations": "{\"cdi.k8s.io/b\":\"x/y=z\"}"})"),
             Danger::high, "annotation.cdi", "cdi.k8s.io/b");
  check_only(audited_spec(R"("annotations": {"org.criu.config": "/tmp/x.conf"})"), Danger::high,
             "annotation.criu_config", "org.criu.config");
  check_only(audited_spec(R"("annotations": {"run.oci.handler": "krun"})"), Danger::medium, "annotation.runtime",
             "run.oci.handler");
  CHECK(audited_spec(R"("annotations": {"a": "b", "org.criu.config": "", "io.kubernetes.cri-o.Annotations": "{"})")
            .findings.empty());
}

TEST_CASE("mounts and devices of the host") {
  const auto bind = [](const std::string& source, const std::string& destination) {
    return audited_spec(R"("mounts": [{"destination": ")" + destination + R"(", "type": "bind", "source": ")" + source +
                        "\"}]");
  };
  for (const char* source : {"/", "/etc", "/etc/shadow", "/var/run/docker.sock", "/root/.ssh", "/dev/mem", "/run"})
    check_only(bind(source, "/x"), Danger::high, "mount.sensitive", "/x");
  for (const char* source : {"/srv/data", "/etcetera", "/run/user/x"})
    check_only(bind(source, "/x"), Danger::low, "mount.host_path", "/x");
  check_only(bind("/srv/../etc", "/x"), Danger::high, "mount.escapes", "/x");
  check_only(bind("srv", "/x"), Danger::high, "mount.escapes", "/x");
  CHECK(bind("/etc/hosts", "/etc/hosts").findings.empty());
  const auto device = [](const char* text) {
    return audited_spec(R"("linux": {"devices": [)" + std::string(text) + "]}");
  };
  check_only(device(R"({"path": "/dev/sda", "type": "b", "major": 8, "minor": 0})"), Danger::high, "device.host",
             "/dev/sda");
  check_only(device(R"({"path": "/dev/mem", "type": "c", "major": 1, "minor": 1})"), Danger::high, "device.host",
             "/dev/mem");
  CHECK(device(R"({"path": "/dev/null", "type": "c", "major": 1, "minor": 3})").findings.empty());
  check_only(audited_spec(R"("linux": {"resources": {"devices": [{"allow": true, "access": "rwm"}]}})"), Danger::high,
             "device.all", "linux.resources.devices");
  CHECK(audited_spec(R"("linux": {"resources": {"devices": [{"allow": false, "access": "rwm"}]}})").findings.empty());
  CHECK(audited_spec(R"("linux": {"resources": {"devices": [{"allow": true, "type": "c", "access": "m"}]}})")
            .findings.empty());
}

TEST_CASE("a base image under another's name") {
  const auto config = [](const std::string& reference) {
    return audited(quiet()
                       .file("status.dump", "{}")
                       .file("config.dump", R"({"rootfsImageName": "docker.io/library/nginx:1", "rootfsImageRef": ")" +
                                                reference + "\"}"));
  };
  check_only(config("evil.example:5000/x@sha256:00"), Danger::medium, "image.retag", "docker.io/library/nginx:1");
  CHECK(config("docker.io/library/nginx@sha256:00").findings.empty());
  CHECK(config("docker.io/library/nginx:2@sha256:00").findings.empty());
  CHECK(config("sha256:00").findings.empty());
}

TEST_CASE("rights and secrets") {
  check_only(audited_spec(R"("process": {"capabilities": {"bounding": ["CAP_KILL", "CAP_SYS_ADMIN"]}})"),
             Danger::medium, "right.capabilities", "process.capabilities");
  check_only(
      audited(with_spec(R"({"linux": {"namespaces": [{"type": "network"}, {"type": "ipc"}, {"type": "mount"}]}})")),
      Danger::medium, "right.host_namespace", "pid");
  const Audit secret = audited_spec(R"("process": {"env": ["PATH=/bin", "DB_PASSWORD=hunter2"]})");
  check_only(secret, Danger::low, "env.secret", "DB_PASSWORD");
  CHECK(secret.findings[0].message.find("hunter2") == std::string::npos);
}

TEST_CASE("findings come most dangerous first, and real archives can be audited") {
  for (const std::string& path : testing::real_archives()) {
    CAPTURE(path);
    const Audit result = audit(Checkpoint::open(path));
    CHECK(result.problems.empty());
    CHECK(std::is_sorted(result.findings.begin(), result.findings.end(),
                         [](const AuditFinding& a, const AuditFinding& b) { return a.danger > b.danger; }));
    for (const AuditFinding& finding : result.findings) CHECK(finding.code.rfind("name.", 0) != 0);
  }
  const Audit seed = audit(Checkpoint::open(testing::testdata("archives/podman-seed-auto.tar.zst")));
  CHECK(find(seed, "hook.runs", "/hooks/nvhook.sh") != nullptr);
  CHECK(find(seed, "mount.in_image_only", "/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10") != nullptr);
}
