// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <csignal>
#include <memory>

#include "ckpt/node.h"
#include "commands.h"

extern char** environ;

namespace ckpt::tool {

namespace {

constexpr int kWaitMs = 5000;
constexpr std::size_t kMaxOutput = 4096;

// What a program prints within a few seconds; empty when it is not there or says nothing.
std::string output_of(const char* program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  std::string option = "--version";
  std::array<char*, 3> arguments = {name.data(), option.data(), nullptr};
  pid_t pid = -1;
  const bool started = ::posix_spawnp(&pid, program, &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  struct pollfd ready {
    ends[0], POLLIN, 0
  };
  while (started && text.size() < kMaxOutput && ::poll(&ready, 1, kWaitMs) > 0) {
    std::array<char, 512> block{};
    const ssize_t got = ::read(ends[0], block.data(), block.size());
    if (got <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (!started) return {};
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return text;
}

// The first word that looks like 1.2 or v1.2.3-rc1.
std::string version_in(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = std::isdigit(static_cast<unsigned char>(text[at])) != 0 &&
                        (at == 0 || std::isspace(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == 'v');
    if (!begins) continue;
    const std::size_t end = text.find_first_of(" ,\t\n", at);
    const std::string word = text.substr(at, end == std::string::npos ? end : end - at);
    if (word.find('.') != std::string::npos) return word;
  }
  return {};
}

void add_versions(NodeFacts& facts) {
  static constexpr std::array<std::pair<const char*, const char*>, 6> kPrograms = {{{"criu", "criu"},
                                                                                    {"runc", "runc"},
                                                                                    {"crun", "crun"},
                                                                                    {"podman", "podman"},
                                                                                    {"containerd", "containerd"},
                                                                                    {"cri-o", "crio"}}};
  for (const auto& [name, program] : kPrograms)
    if (std::string version = version_in(output_of(program)); !version.empty()) facts.versions[name] = version;
}

std::string node_text(const NodeFacts& facts) {
  Sheet sheet;
  sheet.line("Kernel", facts.kernel);
  sheet.line("NVIDIA driver", facts.nvidia_driver);
  for (const NodeGpu& gpu : facts.gpus)
    sheet.line("GPU", fmt::format("{} {} {}{}", gpu.pci_address, gpu.model, gpu.uuid,
                                  gpu.minor ? fmt::format(", /dev/nvidia{}", *gpu.minor) : std::string()));
  for (const auto& [name, version] : facts.versions) sheet.line(name, version);
  for (const CdiText& cdi : facts.cdi) sheet.line("CDI file", cdi.file);
  for (const NodeConf& conf : facts.criu_conf) sheet.line("CRIU configuration", conf.file);
  std::size_t missing = 0;
  for (const NodeFile& file : facts.files) missing += file.file ? 0 : 1;
  sheet.line("Driver files", fmt::format("{}, {} of them missing", facts.files.size(), missing));
  return sheet.text();
}

struct Arguments {
  std::string root = "/";
};

int run(const Arguments& arguments, Context context) {
  NodeFacts facts = collect_node_facts(arguments.root);
  if (arguments.root == "/") add_versions(facts);
  if (context.options.format == "text")
    context.console.print(node_text(facts));
  else
    context.console.print_json(facts.to_json());
  return kYes;
}

}  // namespace

Action add_node(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand(
      "node", "Print the facts of this node as JSON, for `--node FACTS` where the check or the patch runs");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("--root", arguments->root, "Look below this directory, and run no program")->type_name("DIR");
  command->footer("JSON is the default here; --format text shows a summary. No NVIDIA software is needed.");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool
