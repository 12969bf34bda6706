// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/paths.h"
#include "cdi/driver_files.h"
#include "checkpoint/classify.h"
#include "ckpt/file.h"
#include "ckpt/node.h"
#include "target/root.h"

namespace ckpt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 20'000;

/// Reads what a node has below a root, and leaves out what it has not.
class Collector {
 public:
  Collector(const std::string& root, const Limits& limits) : path_(root), root_(root), limits_(limits) {}

  NodeFacts run() {
    collect_kernel();
    collect_driver();
    collect_gpus();
    collect_majors();
    collect_cdi();
    collect_conf();
    collect_libraries();
    collect_nodes();
    for (const std::string& path : paths_) facts_.files.push_back({path, root_.look(path)});
    return std::move(facts_);
  }

 private:
  std::string below(const std::string& path) const { return path_ == "/" ? path : path_ + path; }

  std::optional<std::string> read(const std::string& path) const {
    try {
      return read_text_file(below(path), limits_);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::vector<std::string> list(const std::string& directory) const {
    std::vector<std::string> names;
    std::error_code failure;
    for (fs::directory_iterator it(below(directory), failure), end; !failure && it != end; it.increment(failure))
      names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  void add_path(const std::string& path) {
    if (paths_.size() < kMaxFiles) paths_.insert(clean_path(path));
  }

  void collect_kernel() {
    struct utsname name {};
    if (const auto release = read("/proc/sys/kernel/osrelease"))
      facts_.kernel = release->substr(0, release->find('\n'));
    else if (path_ == "/" && ::uname(&name) == 0)
      facts_.kernel = name.release;
  }

  static bool is_version(const std::string& word) {
    return word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos;
  }

  void collect_driver() {
    const auto version = read("/proc/driver/nvidia/version");
    const auto module = version ? version : read("/sys/module/nvidia/version");
    if (!module) return;
    std::istringstream words(*module);
    for (std::string word; words >> word;)
      if (is_version(word)) {
        facts_.nvidia_driver = word;
        return;
      }
  }

  static std::string value_of(const std::string& text, const std::string& key) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (line.rfind(key + ":", 0) != 0) continue;
      const std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
      return begin == std::string::npos ? std::string()
                                        : line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    }
    return {};
  }

  static std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    return failure == std::errc() && last == end ? std::optional(value) : std::nullopt;
  }

  void collect_gpus() {
    for (const std::string& address : list("/proc/driver/nvidia/gpus")) {
      const auto text = read("/proc/driver/nvidia/gpus/" + address + "/information");
      if (!text) continue;
      NodeGpu gpu;
      gpu.pci_address = address;
      gpu.model = value_of(*text, "Model");
      gpu.uuid = value_of(*text, "GPU UUID");
      if (gpu.uuid.find('?') != std::string::npos) gpu.uuid.clear();
      if (const auto minor = number(value_of(*text, "Device Minor")); minor && *minor >= 0 && *minor < 1 << 20)
        gpu.minor = static_cast<std::uint32_t>(*minor);
      facts_.gpus.push_back(std::move(gpu));
    }
  }

  void collect_majors() {
    const auto devices = read("/proc/devices");
    if (!devices) return;
    std::istringstream in(*devices);
    for (std::string line; std::getline(in, line) && line.rfind("Block", 0) != 0;) {
      std::istringstream words(line);
      std::string major;
      std::string name;
      if (words >> major >> name)
        if (const auto value = number(major)) facts_.majors.emplace(name, *value);
    }
  }

  void collect_cdi() {
    int priority = 0;
    for (const std::string& directory : CdiRegistry::default_directories()) {
      ++priority;
      for (const std::string& name : list(directory)) {
        const fs::path extension = fs::path(name).extension();
        if (extension != ".json" && extension != ".yaml") continue;
        if (facts_.cdi.size() >= limits_.max_cdi_files) return;
        const std::string file = std::string(directory).append("/").append(name);
        if (auto text = read(file)) facts_.cdi.push_back({file, std::move(*text), priority});
      }
    }
    const CdiRegistry registry = CdiRegistry::parse(facts_.cdi, limits_);
    for (const CdiSpec& spec : registry.specs()) {
      add_edits(spec.edits);
      for (const CdiDevice& device : spec.devices) add_edits(device.edits);
    }
  }

  void add_edits(const CdiEdits& edits) {
    for (const CdiMount& mount : edits.mounts) add_path(mount.host_path);
    for (const CdiDeviceNode& node : edits.device_nodes) add_path(node.host_path);
  }

  void collect_conf() {
    for (const std::string& name : list("/etc/criu"))
      if (fs::path(name).extension() == ".conf")
        if (auto text = read("/etc/criu/" + name)) facts_.criu_conf.push_back({"/etc/criu/" + name, std::move(*text)});
  }

  // The cache names sonames, mostly symlinks: what they lead to carries the driver's version.
  void collect_libraries() {
    const auto cache = read("/etc/ld.so.cache");
    if (!cache) return;
    std::vector<std::string> paths;
    try {
      paths = parse_ld_cache(*cache, below("/etc/ld.so.cache"));
    } catch (const Error&) {
      return;
    }
    for (const std::string& path : paths) {
      if (path.empty() || path.front() != '/' || classify_driver_path(path) != MountClass::library) continue;
      const auto file = root_.look(path);
      add_path(file && !file->resolved.empty() ? file->resolved : path);
    }
  }

  void collect_nodes() {
    for (const char* directory : {"/dev", "/dev/dri", "/dev/nvidia-caps", "/dev/nvidia-caps-imex-channels"})
      for (const std::string& name : list(directory)) {
        const std::string path = std::string(directory) + "/" + name;
        const auto file = device_class_of(path).empty() ? std::nullopt : root_.look(path);
        if (file && file->kind == RootedFile::Kind::char_device) add_path(path);
      }
  }

  std::string path_;
  RootDirectory root_;
  const Limits& limits_;
  NodeFacts facts_;
  std::set<std::string> paths_;
};

}  // namespace

NodeFacts collect_node_facts(const std::string& root, const Limits& limits) { return Collector(root, limits).run(); }

}  // namespace ckpt
