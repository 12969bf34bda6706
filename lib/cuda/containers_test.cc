// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cuda/select.h"
#include "testing/failure.h"
#include "testing/temp_dir.h"

using namespace ckpt;
using namespace ckpt::cuda;
using ckpt::testing::failure_of;
using ckpt::testing::TempDir;

namespace {

Node node_at(const TempDir& dir) { return Node{Proc(dir.file("proc")), Cgroups(dir.path()), dir.path()}; }

void process(const TempDir& dir, const std::string& pid, const std::string& parent) {
  dir.write("proc/" + pid + "/stat",
            pid + " (x) S " + parent + " 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5" + pid + " 0\n");
  dir.write("proc/" + pid + "/maps", "");
}

}  // namespace

TEST_CASE("each engine's state files are read, the first that knows a container names its engine") {
  const TempDir dir;
  dir.write("run/crun/c1/status", R"({"pid": 11, "process-start-time": 511})");
  dir.write("run/user/1000/crun/c2/status", R"({"pid": 12})");
  dir.write("run/runc/c3/state.json", R"({"init_process_pid": 13, "init_process_start": 513})");
  dir.write("run/containerd/runc/k8s.io/c4/state.json", R"({"init_process_pid": 14})");
  dir.write("run/docker/runtime-runc/moby/c5/state.json", R"({"init_process_pid": 15})");
  dir.write("run/containerd/io.containerd.runtime.v2.task/k8s.io/c4/init.pid", "14");
  dir.write("run/containerd/io.containerd.runtime.v2.task/k8s.io/c6/init.pid", "16");
  dir.write("run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/c7/init.pid", "17");
  dir.write("var/lib/containers/storage/overlay-containers/containers.json",
            R"([{"id": "c1", "names": ["web"]}, {"id": "c8", "names": []}, {"id": "../c1"}, {}])");
  dir.write("run/containers/storage/overlay-containers/c8/userdata/pidfile", "18\n");
  const auto containers = find_containers(dir.path() + "/");
  std::string seen;
  for (const GpuContainer& container : containers)
    seen += container.id + " " + container.engine + " " + std::to_string(container.pid) + " " + container.name + "\n";
  CHECK(seen ==
        "../c1 podman 0 \nc1 crun 11 web\nc2 crun 12 \nc3 runc 13 \nc4 runc 14 \nc5 runc 15 \nc6 containerd 16 \n"
        "c7 containerd 17 \nc8 podman 18 \n");
}

TEST_CASE("state files that are damaged describe no container") {
  const TempDir dir;
  for (const char* text : {"", "{", "[]", "7", "{\"pid\": \"x\"}"}) {
    dir.write("run/crun/c1/status", text);
    dir.write("run/containerd/io.containerd.runtime.v2.task/ns/c2/init.pid", text);
    dir.write("var/lib/containers/storage/overlay-containers/containers.json", text);
    for (const GpuContainer& container : find_containers(dir.path())) CHECK(container.pid <= 7);
  }
}

TEST_CASE("a container is chosen by id, name and unambiguous beginning, and only while its process lives") {
  const TempDir dir;
  process(dir, "11", "1");
  dir.write("run/crun/abc1/status", R"({"pid": 11, "process-start-time": 511})");
  dir.write("run/crun/abc2/status", R"({"pid": 11, "process-start-time": 7})");
  dir.write("run/crun/abd/status", R"({"pid": 12})");
  dir.write("run/crun/abe/status", R"({"pid": 0})");
  dir.write("var/lib/containers/storage/overlay-containers/containers.json", R"([{"id": "abc1", "names": ["ab"]}])");
  const Node node = node_at(dir);
  const auto reason = [&](const char* wanted) { return failure_of([&] { choose_container(node, wanted); }).detail(); };
  CHECK(choose_container(node, "abc1").pid == 11);
  CHECK(choose_container(node, "ab").id == "abc1");
  CHECK(reason("abc") == "more than one container is called abc: abc1, abc2");
  CHECK(reason("abc2") == "process 11 of container abc2 is another one by now");
  CHECK(reason("abd") == "process 12 of container abd is gone");
  CHECK(reason("abe") == "container abe does not run");
  CHECK(reason("x") == "no container x in the state files of runc, crun, containerd and podman");
  CHECK(reason("") == "a container without a name");
}

TEST_CASE("a selection is the union of all it names, and what does not exist is said") {
  const TempDir dir;
  process(dir, "11", "1");
  process(dir, "12", "11");
  process(dir, "13", "12");
  process(dir, "20", "1");
  dir.write("sys/fs/cgroup/g/cgroup.procs", "20\n");
  const Node node = node_at(dir);
  GpuSelection selection;
  selection.trees = {12};
  selection.cgroups = {"/g"};
  selection.pids = {13};
  std::string pids;
  for (const GpuProcess& found : select_processes(node, selection)) pids += std::to_string(found.pid) + " ";
  CHECK(pids == "12 13 20 ");
  selection.pids = {14};
  CHECK(failure_of([&] { select_processes(node, selection); }).detail() == "no process 14");
  selection = {{}, {15}, {}, {}};
  CHECK(failure_of([&] { select_processes(node, selection); }).detail() == "no process 15");
}
