// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cuda/fleet.h"

namespace ckpt::cuda {

/// One request on its way: which processes, what was called, where each of them stands.
/// After every batch of calls the states are read again; what counts is the state, not what a call said.
class Operation {
 public:
  Operation(Fleet& fleet, const GpuRequest& request, const std::vector<GpuProcess>& processes);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Takes up CUDA processes that appeared since; true when there were any.
  bool adopt(const std::vector<GpuProcess>& processes);

  /// Makes `op` on every process in one of the states. True when each of them then is in the state that `op` leads to,
  /// or has exited in peace.
  bool apply(Op op, std::initializer_list<GpuState> from);
  /// True when every process that lives is in `state`.
  bool all_in(GpuState state);
  /// Takes every process back as far as it can go towards its state before the request.
  void undo();
  /// What to report; `problem` is the caller's own reason for a failure, if any.
  GpuResult report(const std::string& problem = {}) const;

  bool any_in(GpuState state) const;
  /// A reason of the operation's own to fail ("interrupted").
  void fail(std::string why) { problem_ = std::move(why); }

 private:
  struct Target;

  std::vector<Target*> living(std::initializer_list<GpuState> states);
  bool call(Op op, const std::vector<Target*>& targets);
  void note(Op op, Target& target, const Answer& answer);
  bool settle(Op op, Target& target);
  void reread(const std::vector<Target*>& targets);
  unsigned jobs_for(Op op) const;
  GpuOutcome outcome() const;
  std::string explain() const;

  Fleet& fleet_;
  const GpuRequest& request_;
  std::vector<Target> targets_;
  std::string problem_;
  bool undoing_ = false;
};

}  // namespace ckpt::cuda
