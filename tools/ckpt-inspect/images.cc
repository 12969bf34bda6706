// SPDX-License-Identifier: Apache-2.0
#include "images.h"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt::tool {

namespace {

// Names of unix sockets are quoted-printable, as crit has them.
std::string unquoted(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=' && i + 2 < text.size()) {
      bytes += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

std::string memfd_name(Images& images, std::uint64_t inode) {
  for (const Json& entry : images.optional_entries("memfd.img").items())
    if (entry["inode_id"].as_uint() == inode) return "memfd:" + entry["name"].as_string();
  return "memfd";
}

// file_entry's member for each type, and what to call a file of the type that has no path.
struct TypeNames {
  const char* type;
  const char* member;
  const char* words;
};
constexpr TypeNames kTypes[] = {
    {"REG", "reg", ""},
    {"PIPE", "pipe", "pipe"},
    {"FIFO", "fifo", "fifo"},
    {"INETSK", "isk", "socket"},
    {"UNIXSK", "usk", "unix socket"},
    {"EVENTFD", "efd", "[eventfd]"},
    {"EVENTPOLL", "epfd", "[eventpoll]"},
    {"INOTIFY", "ify", "[inotify]"},
    {"SIGNALFD", "sgfd", "[signalfd]"},
    {"PACKETSK", "psk", "packet socket"},
    {"TTY", "tty", "tty"},
    {"FANOTIFY", "ffy", "[fanotify]"},
    {"NETLINKSK", "nlsk", "netlink socket"},
    {"NS", "nsf", "[namespace]"},
    {"TUNF", "tunf", "/dev/net/tun"},
    {"EXT", "ext", "[kept by a plugin]"},
    {"TIMERFD", "tfd", "[timerfd]"},
    {"MEMFD", "memfd", "memfd"},
    {"BPFMAP", "bpf", "[bpfmap]"},
    {"PIDFD", "pidfd", "[pidfd]"},
};

const TypeNames* names_of(const std::string& type) {
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeNames& one) { return type == one.type; });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace

const Json& Images::load(const std::string& name, const std::function<void()>& absent) {
  if (const auto known = images_.find(name); known != images_.end()) return known->second["entries"];
  Json& image = images_[name];
  guard([&] {
    auto read = read_image(checkpoint_, name);
    if (read)
      image = std::move(*read);
    else
      absent();
  });
  return image["entries"];
}

const Json& Images::entries(const std::string& name) {
  return load(name, [&] {
    throw Error(ErrorCode::corrupt, Where{checkpoint_.name(), checkpoint_.image_prefix() + name, {}, {}}, "missing");
  });
}

const Json& Images::optional_entries(const std::string& name) {
  return load(name, [] {});
}

const Json& Images::file(std::uint64_t id) {
  static const Json kNone;
  if (files_.empty())
    for (const Json& file : entries("files.img").items()) files_.emplace(file["id"].as_uint(), &file);
  const auto found = files_.find(id);
  return found == files_.end() ? kNone : *found->second;
}

void Images::guard(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    problems_.push_back(error);
  }
}

int report_images(Context context, const std::vector<std::string>& paths, const ImageReport& report) {
  std::vector<Json> documents;
  bool trouble = false;
  for (const std::string& path : paths) {
    try {
      const Checkpoint checkpoint = open_for_reading(path, context.console, report.keep);
      Images images(checkpoint);
      if (context.options.json)
        documents.push_back(report.json(images));
      else
        context.console.print((&path == &paths.front() ? "" : "\n") + report.text(images));
      if (report_problems(checkpoint, context.console)) trouble = true;
      for (const Error& problem : images.problems()) {
        const auto& told = checkpoint.problems();
        const bool again = std::any_of(told.begin(), told.end(), [&](const Error& other) {
          return other.where().member == problem.where().member;
        });
        if (!again) context.console.error(problem);
        trouble = true;
      }
    } catch (const Error& error) {
      context.console.error(error);
      trouble = true;
    }
  }
  if (context.options.json && !documents.empty())
    context.console.print_json(wrap_archives(report.schema, std::move(documents)));
  return trouble ? kTrouble : kYes;
}

std::string unix_name(const Json& socket) {
  std::string name = unquoted(socket["name"].as_string());
  if (!name.empty() && name.front() == '\0') {
    while (name.size() > 1 && name.back() == '\0') name.pop_back();
    return "@" + name.substr(1);
  }
  return name.substr(0, name.find('\0'));
}

std::string describe_file(Images& images, const Json& file) {
  const TypeNames* names = names_of(file["type"].as_string());
  if (names == nullptr) return {};
  const std::string_view type = names->type;
  const Json& inner = file[names->member];
  if (type == "REG") return inner["name"].as_string();
  if (type == "PIPE") return fmt::format("pipe:[{}]", inner["pipe_id"].as_uint());
  if (type == "FIFO") return images.path_of(inner["regf_id"].as_uint());
  if (type == "INETSK") return fmt::format("socket:[{}]", inner["ino"].as_uint());
  if (type == "NETLINKSK") return fmt::format("netlink:[{}]", inner["ino"].as_uint());
  if (type == "TTY") return inner.find("regf_id") ? images.path_of(inner["regf_id"].as_uint()) : "tty";
  if (type == "MEMFD") return memfd_name(images, inner["inode_id"].as_uint());
  if (type == "UNIXSK") {
    const std::string name = unix_name(inner);
    return name.empty() ? fmt::format("unix:[{}]", inner["ino"].as_uint()) : name;
  }
  return names->words;
}

std::string open_flags(std::uint64_t flags) {
  static constexpr struct {
    std::uint64_t bit;
    const char* word;
  } kFlags[] = {
      {02000, ",append"}, {04000, ",nonblock"}, {040000, ",direct"}, {0200000, ",directory"}, {010000000, ",path"}};
  std::string text = (flags & 3) == 0 ? "r" : (flags & 3) == 1 ? "w" : "rw";
  for (const auto& flag : kFlags)
    if ((flags & flag.bit) != 0) text += flag.word;
  return text;
}

std::vector<OpenFile> open_files(Images& images, std::uint32_t pid) {
  std::vector<OpenFile> files;
  const Json& ids = images.only(fmt::format("ids-{}.img", pid));
  if (ids.is_null()) return files;
  for (const Json& entry : images.entries(fmt::format("fdinfo-{}.img", ids["files_id"].as_uint())).items()) {
    OpenFile file;
    file.fd = entry["fd"].as_uint();
    file.type = entry["type"].is_string() ? entry["type"].as_string() : std::to_string(entry["type"].as_int());
    file.id = entry["id"].as_uint();
    const Json& behind = images.file(file.id);
    file.path = describe_file(images, behind);
    if (const TypeNames* names = names_of(file.type)) {
      const Json& inner = behind[names->member];
      file.flags = inner["flags"].as_uint();
      if (inner.find("pos") != nullptr) file.position = inner["pos"].as_uint();
    }
    files.push_back(std::move(file));
  }
  return files;
}

void add_pid_option(CLI::App& command, std::vector<std::uint32_t>& pids) {
  command.add_option("-p,--pid", pids, "Only this process; repeatable")->type_name("PID")->allow_extra_args(false);
}

std::vector<Process> chosen(const Checkpoint& checkpoint, const std::vector<std::uint32_t>& pids) {
  if (pids.empty()) return checkpoint.processes();
  std::vector<Process> processes;
  for (const std::uint32_t pid : pids) {
    const auto& all = checkpoint.processes();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Process& one) { return one.pid == pid; });
    if (found == all.end())
      throw Error(ErrorCode::invalid_argument, Where{checkpoint.name(), {}, {}, {}}, fmt::format("no process {}", pid),
                  "`ckpt-inspect ps` lists them");
    processes.push_back(*found);
  }
  return processes;
}

}  // namespace ckpt::tool
