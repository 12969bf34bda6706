// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <map>

#include "options.h"

namespace ckpt::tool {

namespace {

// CRIU looks for "--action" in the first 2047 bytes of the help, and keeps 127 bytes of any other output.
constexpr const char* kHelp =
    "usage: cuda-checkpoint --get-state --pid PID\n"
    "       cuda-checkpoint --get-restore-tid --pid PID\n"
    "       cuda-checkpoint --action lock|checkpoint|restore|unlock --pid PID [--timeout MS] [--device-map "
    "OLD=NEW,...]\n"
    "       cuda-checkpoint --toggle --pid PID [--device-map OLD=NEW,...]\n"
    "       cuda-checkpoint --help\n\n"
    "This is ckpt-gpu under the name cuda-checkpoint: one CUDA process, one step, nothing printed but the answer.\n"
    "CKPT_GPU_DEVICE_MAP, CKPT_GPU_DEVICE_MAP_FILE or /run/ckpt-gpu/device-map give a device map to callers that\n"
    "have no option for one; CKPT_GPU_LIBCUDA names another libcuda.so.1.\n";

enum class Word { none, get_state, get_restore_tid, toggle, lock, checkpoint, restore, unlock };

struct Order {
  Word word = Word::none;
  std::uint32_t pid = 0;
  std::uint32_t timeout = 0;
  std::string device_map;
  bool help = false;
};

struct Complaint {
  std::string text;
};

std::uint32_t number(const std::string& option, const std::string& text) {
  std::uint32_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty() || value > 0x7fffffff)
    throw Complaint{option + ": not a number"};
  return value;
}

void choose(Order& order, Word word) {
  if (order.word != Word::none) throw Complaint{"more than one operation"};
  order.word = word;
}

Word action(const std::string& text) {
  static const std::map<std::string, Word> kActions = {
      {"lock", Word::lock}, {"checkpoint", Word::checkpoint}, {"restore", Word::restore}, {"unlock", Word::unlock}};
  const auto found = kActions.find(text);
  if (found == kActions.end()) throw Complaint{"unknown action"};
  return found->second;
}

void take_value(Order& order, const std::string& option, const std::string& value) {
  if (option == "--pid" || option == "-p")
    order.pid = number("--pid", value);
  else if (option == "--timeout" || option == "-t")
    order.timeout = number("--timeout", value);
  else if (option == "--device-map" || option == "-d")
    order.device_map = value;
  else if (option == "--action")
    choose(order, action(value));
  else
    throw Complaint{"unknown option " + option.substr(0, 40)};
}

Order parse(const std::vector<std::string>& arguments) {
  Order order;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    std::string option = *argument;
    if (option == "--help" || option == "-h") {
      order.help = true;
    } else if (option == "--get-state") {
      choose(order, Word::get_state);
    } else if (option == "--get-restore-tid") {
      choose(order, Word::get_restore_tid);
    } else if (option == "--toggle") {
      choose(order, Word::toggle);
    } else if (const std::size_t equals = option.find('='); option.rfind("--", 0) == 0 && equals != std::string::npos) {
      take_value(order, option.substr(0, equals), option.substr(equals + 1));
    } else {
      const bool last = argument + 1 == arguments.end();
      take_value(order, option, last ? throw Complaint{"no value after " + option.substr(0, 40)} : *++argument);
    }
  }
  if (order.help) return order;
  if (order.word == Word::none) throw Complaint{"no operation; see --help"};
  if (order.pid == 0) throw Complaint{"no --pid"};
  return order;
}

const char* name_of(GpuCall call) {
  static constexpr const char* kNames[] = {"get-restore-tid", "get-state", "lock", "checkpoint", "restore", "unlock"};
  return kNames[static_cast<int>(call)];
}

std::string complaint_for(GpuCall call, const Order& order, const GpuAnswer& answer) {
  const std::string pid = std::to_string(order.pid);
  if (call == GpuCall::thread_id) return "Could not find restore thread for process ID " + pid;
  const std::string quoted = ": \"" + answer.text + "\"";
  if (call == GpuCall::state) return "Error getting process state for process ID " + pid + quoted;
  if (order.word == Word::toggle) return "Error toggling CUDA in process ID " + pid + quoted;
  return std::string("Could not ") + name_of(call) + " on process ID " + pid + quoted;
}

class Compat {
 public:
  explicit Compat(const Order& order) : order_(order), session_(options(order)) {}

  void run() {
    switch (order_.word) {
      case Word::get_restore_tid:
        return print(std::to_string(step(GpuCall::thread_id).value));
      case Word::get_state:
        return print(to_string(state()));
      case Word::lock:
        return void(step(GpuCall::lock));
      case Word::checkpoint:
        return void(step(GpuCall::checkpoint));
      case Word::restore:
        return void(step(GpuCall::restore));
      case Word::unlock:
        return void(step(GpuCall::unlock));
      case Word::toggle:
      case Word::none:
        return toggle();
    }
  }

 private:
  static GpuOptions options(const Order& order) {
    GpuOptions options;
    if (const char* libcuda = std::getenv("CKPT_GPU_LIBCUDA"); libcuda != nullptr && *libcuda != '\0')
      options.libcuda = libcuda;
    // Without --timeout a lock waits for the work under way, however long it takes.
    options.timeout = std::chrono::milliseconds(order.timeout);
    return options;
  }

  GpuAnswer step(GpuCall call) {
    std::vector<GpuPair> map;
    if (call == GpuCall::restore) map = find_device_map(order_.device_map, {}, "");
    GpuAnswer answer = session_.call(call, order_.pid, map);
    if (!answer.arrived || answer.result != 0) throw Complaint{complaint_for(call, order_, answer)};
    return answer;
  }

  GpuState state() {
    const std::int32_t value = step(GpuCall::state).value;
    return value >= 0 && value <= 5 ? static_cast<GpuState>(value) : GpuState::unknown;
  }

  void toggle() {
    const GpuState now = state();
    if (now != GpuState::running && now != GpuState::checkpointed)
      throw Complaint{complaint_for(GpuCall::lock, order_,
                                    {true, 401, 0, "the operation cannot be performed in the present state"})};
    const bool out = now == GpuState::running;
    step(out ? GpuCall::lock : GpuCall::restore);
    try {
      step(out ? GpuCall::checkpoint : GpuCall::unlock);
    } catch (const Complaint&) {
      // The lock was ours, and without the checkpoint nobody would take it back.
      if (out) session_.call(GpuCall::unlock, order_.pid);
      throw;
    }
  }

  static void print(const std::string& line) { Console("cuda-checkpoint").write_raw(line + "\n"); }

  const Order& order_;
  GpuSession session_;
};

int complain(std::string text) {
  constexpr std::size_t kMost = 120;
  text = safe(text).substr(0, kMost) + "\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  return 1;
}

}  // namespace

int run_compat(const std::vector<std::string>& arguments) {
  try {
    const Order order = parse(arguments);
    if (order.help)
      Console("cuda-checkpoint").write_raw(kHelp);
    else
      Compat(order).run();
    return 0;
  } catch (const Complaint& complaint) {
    return complain(complaint.text);
  } catch (const Error& error) {
    return complain("Error initializing CUDA: \"" + error.detail() + "\"");
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

}  // namespace ckpt::tool
