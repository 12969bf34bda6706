// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/impl.h"
#include "ckpt/check.h"
#include "criu/mount_tree.h"
#include "diff/comparer.h"
#include "diff/cross_runtime.h"
#include "diff/gpu_pairs.h"
#include "diff/pod_request.h"

namespace ckpt {

namespace {

Engine engine_of(const Checkpoint& checkpoint, const RestoreRules& rules) {
  const Engine engine = rules.engine == Engine::unknown ? checkpoint.engine() : rules.engine;
  // `ctr containers restore` starts the runtime with the checkpoint's own spec (engines.md 2.4).
  if (checkpoint.form() == "ctr-index" && engine == Engine::containerd) return Engine::runc;
  if (engine != Engine::unknown) return engine;
  throw Error(ErrorCode::invalid_argument, Where{checkpoint.name(), {}, {}, {}},
              "the archive does not tell which engine made it", "name the one that restores it with --engine");
}

Runtime runtime_of(const Checkpoint& checkpoint, const RestoreRules& rules, Engine engine) {
  Runtime runtime = rules.runtime;
  if (runtime == Runtime::unknown && engine == Engine::runc) runtime = Runtime::runc;
  if (runtime == Runtime::unknown && engine == Engine::crun) runtime = Runtime::crun;
  if (runtime == Runtime::unknown) runtime = checkpoint.runtime();
  return runtime == Runtime::unknown ? Runtime::runc : runtime;
}

void refuse_damage(const Checkpoint& checkpoint) {
  if (!checkpoint.problems().empty()) throw checkpoint.problems().front();
}

// Podman reads the runtime's configuration from it; only plain runc and crun have that elsewhere, in the bundle.
void require_spec(const Checkpoint& checkpoint, Engine engine) {
  if (checkpoint.impl().spec || engine != Engine::podman) return;
  throw Error(ErrorCode::corrupt, checkpoint.impl().where("spec.dump"), "missing: Podman cannot restore without it",
              "--engine runc or crun compares CRIU images alone");
}

void compare_structure(Comparer& comparer) {
  for (const MountNamespace& space : comparer.checkpoint.impl().namespaces)
    for (const criu::MountProblem& problem : criu::check_mount_tree(space.mounts))
      comparer.blocker("image." + problem.code, space.member, problem.message,
                       "the image is damaged or was edited badly; take it from the original archive");
}

void report_target(Comparer& comparer) {
  for (const CdiProblem& problem : comparer.target.problems())
    comparer.note("target.cdi", problem.file, problem.message);
  if (!comparer.target.driver_root().empty())
    comparer.note("target.driver_root", comparer.target.driver_root(),
                  "is the directory in which the target keeps its driver's files");
}

std::string only_driver_version(const Checkpoint& checkpoint) {
  const auto& versions = checkpoint.gpu().driver_versions;
  return versions.size() == 1 ? versions.front() : std::string();
}

}  // namespace

void Comparer::note(std::string code, std::string subject, std::string message, std::string remedy) {
  result.findings.push_back(
      {std::move(code), Severity::note, std::move(subject), std::move(message), std::move(remedy)});
}

void Comparer::fixable(std::string code, std::string subject, std::string message, std::string remedy) {
  result.findings.push_back(
      {std::move(code), Severity::fixable, std::move(subject), std::move(message), std::move(remedy)});
}

void Comparer::undecided(std::string code, std::string subject, std::string message, std::string remedy) {
  fixable(std::move(code), std::move(subject), std::move(message), std::move(remedy));
  result.findings.back().needs_decision = true;
}

void Comparer::blocker(std::string code, std::string subject, std::string message, std::string remedy) {
  result.findings.push_back(
      {std::move(code), Severity::blocker, std::move(subject), std::move(message), std::move(remedy)});
}

Comparison compare(const Checkpoint& checkpoint, const Target& target, const RestoreRules& rules) {
  refuse_damage(checkpoint);
  Comparer comparer{checkpoint, target, rules, {}, only_driver_version(checkpoint), {}, {}, {}, {}};
  comparer.result.engine = engine_of(checkpoint, rules);
  comparer.result.runtime = runtime_of(checkpoint, rules, comparer.result.engine);
  require_spec(checkpoint, comparer.result.engine);
  compare_structure(comparer);
  report_target(comparer);
  compare_engine_documents(comparer);
  compare_runtime(comparer);
  pair_gpus(comparer);
  compare_mounts(comparer);
  compare_devices(comparer);
  if (comparer.result.engine == Engine::cri_o || comparer.result.engine == Engine::containerd) wish_devices(comparer);
  compare_hooks(comparer);
  compare_annotations(comparer);
  return std::move(comparer.result);
}

}  // namespace ckpt
