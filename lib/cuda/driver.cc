// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.h"

#include <dlfcn.h>

namespace ckpt::cuda {

namespace {

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

const char* to_string(Op op) noexcept {
  switch (op) {
    case Op::thread_id:
      return "get-restore-tid";
    case Op::state:
      return "get-state";
    case Op::lock:
      return "lock";
    case Op::checkpoint:
      return "checkpoint";
    case Op::restore:
      return "restore";
    case Op::unlock:
      return "unlock";
    case Op::devices:
      return "devices";
  }
  return "?";
}

Driver::Driver(const std::string& name) {
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = ::dlerror();
    failure_ = why != nullptr ? why : "cannot be loaded";
    return;
  }
  look_up(library, "cuInit", init_);
  look_up(library, "cuDriverGetVersion", version_);
  look_up(library, "cuCheckpointProcessGetRestoreThreadId", thread_id_);
  look_up(library, "cuCheckpointProcessGetState", state_);
  look_up(library, "cuCheckpointProcessLock", lock_);
  look_up(library, "cuCheckpointProcessCheckpoint", checkpoint_);
  look_up(library, "cuCheckpointProcessRestore", restore_);
  look_up(library, "cuCheckpointProcessUnlock", unlock_);
  int version = 0;
  if (version_ != nullptr && version_(&version) == kSuccess && version > 0)
    api_version_ = static_cast<std::uint32_t>(version);
}

bool Driver::can_checkpoint() const noexcept {
  return init_ != nullptr && thread_id_ != nullptr && state_ != nullptr && lock_ != nullptr && checkpoint_ != nullptr &&
         restore_ != nullptr && unlock_ != nullptr;
}

Result Driver::call(Op op, int pid, std::uint32_t timeout_ms, std::int32_t& value) {
  if (!can_checkpoint()) return kNoSymbol;
  LockArgs lock;
  lock.timeout_ms = timeout_ms;
  PlainArgs plain;
  switch (op) {
    case Op::thread_id:
      return thread_id_(pid, &value);
    case Op::state:
      return state_(pid, &value);
    case Op::lock:
      return lock_(pid, &lock);
    case Op::checkpoint:
      return checkpoint_(pid, &plain);
    case Op::unlock:
      return unlock_(pid, &plain);
    case Op::restore:
    case Op::devices:
      break;
  }
  return kInvalidValue;
}

Result Driver::restore(int pid, const std::vector<Pair>& pairs) {
  if (!can_checkpoint()) return kNoSymbol;
  std::call_once(initialised_, [this] { init_result_ = init_(0); });
  if (init_result_ != kSuccess) return init_result_;
  RestoreArgs args;
  args.pairs = pairs.empty() ? nullptr : pairs.data();
  args.pair_count = static_cast<std::uint32_t>(pairs.size());
  return restore_(pid, &args);
}

}  // namespace ckpt::cuda
