// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "images.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::vector<std::uint32_t> pids;
  bool cmd = false;
  bool env = false;
  bool threads = false;
};

const char* state_name(const std::optional<std::uint32_t>& state) {
  if (!state) return "-";
  switch (*state) {
    case 1:
      return "alive";
    case 2:
      return "dead";
    case 3:
      return "stopped";
    case 6:
      return "zombie";
    default:
      return "unknown";
  }
}

/// The processes of a checkpoint as a tree, and what was read out of their memory.
class Tree {
 public:
  Tree(Images& images, const Arguments& arguments) : images_(images), arguments_(arguments) {
    const Checkpoint& checkpoint = images.checkpoint();
    std::set<std::uint32_t> known;
    for (const Process& process : checkpoint.processes()) known.insert(process.pid);
    for (const Process& process : checkpoint.processes()) {
      const bool chosen_root =
          std::find(arguments.pids.begin(), arguments.pids.end(), process.pid) != arguments.pids.end();
      const bool top = !known.contains(process.ppid) || process.ppid == process.pid;
      if (arguments.pids.empty() ? top : chosen_root) roots_.push_back(&process);
      if (!top) children_[process.ppid].push_back(&process);
    }
    chosen(checkpoint, arguments.pids);
    if (arguments.cmd || arguments.env) read_memory_of(checkpoint);
  }

  std::string text() {
    std::vector<std::string> heads = {"PID", "PPID", "PGID", "SID", "STATE", "THREADS", "COMMAND"};
    Table table(heads);
    for (const Process* root : roots_) row(table, *root, 0);
    return table.empty() ? "No process tree.\n" : table.text();
  }

  Json json() {
    Json list = Json::array();
    for (const Process* root : roots_) list.push(node(*root, 0));
    Json json = Json::object();
    return json.set("archive", images_.checkpoint().name()).set("process_tree", std::move(list));
  }

 private:
  static constexpr std::size_t kDeepest = 1000;

  void read_memory_of(const Checkpoint& checkpoint) {
    images_.guard([&] {
      for (ProcessArguments& one : read_arguments(checkpoint)) {
        if (!one.missing.empty()) note_missing(checkpoint, one);
        memory_.emplace(one.pid, std::move(one));
      }
    });
  }

  // A zombie has no memory, so there is nothing missing.
  void note_missing(const Checkpoint& checkpoint, const ProcessArguments& one) {
    for (const Process& process : checkpoint.processes())
      if (process.pid == one.pid && process.state && *process.state == 6) return;
    images_.guard([&] {
      throw Error(ErrorCode::corrupt, Where{checkpoint.name(), {}, {}, {}},
                  fmt::format("command line of process {}: {}", one.pid, one.missing));
    });
  }

  std::string command(const Process& process) {
    const auto found = memory_.find(process.pid);
    if (!arguments_.cmd || found == memory_.end() || found->second.arguments.empty()) return process.comm;
    return fmt::format("{}", fmt::join(found->second.arguments, " "));
  }

  bool first_visit(const Process& process, std::size_t depth) {
    return depth < kDeepest && seen_.insert(process.pid).second;
  }

  void row(Table& table, const Process& process, std::size_t depth) {
    if (!first_visit(process, depth)) return;
    table.row({std::to_string(process.pid), std::to_string(process.ppid), std::to_string(process.pgid),
               std::to_string(process.sid), state_name(process.state), std::to_string(process.threads.size()),
               std::string(2 * depth, ' ') + command(process)});
    if (arguments_.threads)
      for (const std::uint32_t tid : process.threads)
        if (tid != process.pid)
          table.row({std::to_string(tid), std::to_string(process.pid), "-", "-", "thread", "-",
                     std::string(2 * depth + 2, ' ') + thread_name(tid)});
    if (arguments_.env)
      for (const std::string& variable : memory_[process.pid].environment)
        table.row({"", "", "", "", "env", "", std::string(2 * depth + 2, ' ') + variable});
    for (const Process* child : children_[process.pid]) row(table, *child, depth + 1);
  }

  std::string thread_name(std::uint32_t tid) {
    const Json& core = images_.only(fmt::format("core-{}.img", tid));
    return core["thread_core"]["comm"].as_string();
  }

  Json node(const Process& process, std::size_t depth) {
    Json json = Json::object();
    json.set("pid", process.pid).set("ppid", process.ppid).set("pgid", process.pgid).set("sid", process.sid);
    json.set("command", process.comm).set("state", state_name(process.state));
    Json threads = Json::array();
    for (const std::uint32_t tid : process.threads) {
      if (!arguments_.threads) {
        threads.push(tid);
        continue;
      }
      Json thread = Json::object();
      threads.push(thread.set("tid", tid).set("command", tid == process.pid ? process.comm : thread_name(tid)));
    }
    json.set("threads", std::move(threads));
    add_memory(json, process);
    Json children = Json::array();
    if (first_visit(process, depth))
      for (const Process* child : children_[process.pid]) children.push(node(*child, depth + 1));
    return json.set("children", std::move(children));
  }

  void add_memory(Json& json, const Process& process) {
    const auto found = memory_.find(process.pid);
    const bool known = found != memory_.end() && found->second.missing.empty();
    if (arguments_.cmd) {
      json.set("cmdline", known ? Json(fmt::format("{}", fmt::join(found->second.arguments, " "))) : Json());
      Json words = Json::array();
      if (known)
        for (const std::string& word : found->second.arguments) words.push(word);
      json.set("arguments", std::move(words));
    }
    if (!arguments_.env) return;
    Json variables = Json::object();
    if (known)
      for (const std::string& variable : found->second.environment) {
        const std::size_t sign = variable.find('=');
        variables.append_member(variable.substr(0, sign), sign == std::string::npos ? "" : variable.substr(sign + 1));
      }
    json.set("environment_variables", std::move(variables));
  }

  Images& images_;
  const Arguments& arguments_;
  std::vector<const Process*> roots_;
  std::map<std::uint32_t, std::vector<const Process*>> children_;
  std::map<std::uint32_t, ProcessArguments> memory_;
  std::set<std::uint32_t> seen_;
};

}  // namespace

Action add_ps(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("ps", "List the processes as a tree");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives; - is standard input")->required();
  command->add_flag("--cmd", arguments->cmd, "Whole command lines, read out of the dumped memory");
  command->add_flag("--env", arguments->env, "Environment variables with their values, read out of the dumped memory");
  command->add_flag("--threads", arguments->threads, "Threads with their names");
  command->add_option("-p,--pid", arguments->pids, "Only this process and those below it; repeatable")
      ->type_name("PID")
      ->allow_extra_args(false);
  return [arguments, context] {
    ImageReport report{"ckpt.ps/1", [&](Images& images) { return Tree(images, *arguments).json(); },
                       [&](Images& images) { return Tree(images, *arguments).text(); }};
    if (arguments->cmd || arguments->env) report.keep = Keep::arguments;
    return report_images(context, arguments->paths, report);
  };
}

}  // namespace ckpt::tool
