// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>

#include "images.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::vector<std::uint32_t> pids;
};

/// One socket of one process.
struct Socket {
  std::string protocol;
  std::string state;
  std::string local;
  std::string peer;
  std::uint64_t in_bytes = 0;   ///< waiting to be read
  std::uint64_t out_bytes = 0;  ///< sent, not acknowledged
  std::uint64_t fd = 0;
  std::uint64_t inode = 0;
};

std::string word(const Json& value) {
  return value.is_string() ? value.as_string() : value.is_null() ? std::string() : std::to_string(value.as_uint());
}

std::string lower(std::string text) {
  for (char& letter : text) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return text;
}

/// Sockets of files.img with their pretty spelling, and what waits in their queues.
class Sockets {
 public:
  explicit Sockets(Images& images) : images_(images) {
    images.guard([&] {
      const auto image = read_image(images.checkpoint(), "files.img", ImageStyle::pretty);
      if (image)
        for (const Json& file : (*image)["entries"].items())
          for (const char* member : {"isk", "usk", "nlsk", "psk"})
            if (file.find(member) != nullptr) files_.emplace(file["id"].as_uint(), file);
    });
    for (const Json& packet : images.optional_entries("sk-queues.img").items())
      queued_[packet["id_for"].as_uint()] += packet["length"].as_uint();
  }

  std::vector<Socket> of(std::uint32_t pid) {
    std::vector<Socket> sockets;
    for (const OpenFile& open : open_files(images_, pid)) {
      const auto file = files_.find(open.id);
      if (file == files_.end()) continue;
      Socket socket = describe(file->second);
      socket.fd = open.fd;
      sockets.push_back(std::move(socket));
    }
    return sockets;
  }

 private:
  Socket describe(const Json& file) {
    if (file.find("isk") != nullptr) return inet(file["isk"]);
    if (file.find("usk") != nullptr) return unix_socket(file["usk"]);
    Socket socket;
    const Json& inner = file.find("nlsk") != nullptr ? file["nlsk"] : file["psk"];
    socket.protocol = file.find("nlsk") != nullptr ? "netlink" : "packet";
    socket.inode = inner["ino"].as_uint();
    socket.state = word(inner["state"]);
    socket.local =
        file.find("nlsk") != nullptr
            ? fmt::format("protocol {} port {}", inner["protocol"].as_uint(), inner["portid"].as_uint())
            : fmt::format("protocol {:#06x} interface {}", inner["protocol"].as_uint(), inner["ifindex"].as_uint());
    socket.in_bytes = queued_[inner["id"].as_uint()];
    return socket;
  }

  static std::string endpoint(const Json& address, const Json& port) {
    const std::string text = address[0].is_string() ? address[0].as_string() : "*";
    const bool six = text.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", six ? "[" : "", text, six ? "]" : "", port.as_uint());
  }

  Socket inet(const Json& inner) {
    Socket socket;
    socket.protocol = lower(word(inner["proto"]));
    if (word(inner["family"]) == "INET6") socket.protocol += "6";
    socket.state = word(inner["state"]);
    socket.local = endpoint(inner["src_addr"], inner["src_port"]);
    socket.peer = endpoint(inner["dst_addr"], inner["dst_port"]);
    socket.inode = inner["ino"].as_uint();
    const std::string stream = fmt::format("tcp-stream-{:x}.img", socket.inode);
    const Json& tcp = images_.optional_entries(stream)[0];
    socket.in_bytes = tcp["inq_len"].as_uint() + queued_[inner["id"].as_uint()];
    socket.out_bytes = tcp["outq_len"].as_uint();
    return socket;
  }

  Socket unix_socket(const Json& inner) {
    Socket socket;
    socket.protocol = "unix " + lower(word(inner["type"]));
    socket.state = word(inner["state"]);
    socket.local = unix_name(inner);
    socket.inode = inner["ino"].as_uint();
    if (const std::uint64_t peer = inner["peer"].as_uint(); peer != 0) {
      socket.peer = fmt::format("inode {}", peer);
      for (const auto& [id, file] : files_)
        if (file["usk"]["ino"].as_uint() == peer && !unix_name(file["usk"]).empty())
          socket.peer = unix_name(file["usk"]);
    }
    socket.in_bytes = queued_[inner["id"].as_uint()];
    return socket;
  }

  Images& images_;
  std::map<std::uint64_t, Json> files_;
  std::map<std::uint64_t, std::uint64_t> queued_;
};

std::string sockets_text(Images& images, const Arguments& arguments) {
  Table table({"PID", "COMMAND", "FD", "PROTO", "STATE", "RECV-Q", "SEND-Q", "LOCAL", "PEER"});
  Sockets sockets(images);
  for (const Process& process : chosen(images.checkpoint(), arguments.pids))
    for (const Socket& socket : sockets.of(process.pid))
      table.row({std::to_string(process.pid), process.comm, std::to_string(socket.fd), socket.protocol, socket.state,
                 std::to_string(socket.in_bytes), std::to_string(socket.out_bytes), socket.local, socket.peer});
  return table.empty() ? "No sockets.\n" : table.text();
}

Json sockets_json(Images& images, const Arguments& arguments) {
  Json list = Json::array();
  Sockets sockets(images);
  for (const Process& process : chosen(images.checkpoint(), arguments.pids)) {
    Json open = Json::array();
    for (const Socket& socket : sockets.of(process.pid)) {
      Json json = Json::object();
      json.set("protocol", socket.protocol).set("fd", socket.fd).set("inode", socket.inode);
      json.set("state", optional_text(socket.state)).set("local", optional_text(socket.local));
      json.set("peer", optional_text(socket.peer)).set("recv_queue", socket.in_bytes);
      open.push(std::move(json.set("send_queue", socket.out_bytes)));
    }
    Json json = Json::object();
    json.set("pid", process.pid).set("command", process.comm);
    list.push(std::move(json.set("open_sockets", std::move(open))));
  }
  Json json = Json::object();
  return json.set("archive", images.checkpoint().name()).set("sockets", std::move(list));
}

}  // namespace

Action add_sockets(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("sockets", "List sockets with their states and queues");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives; - is standard input")->required();
  add_pid_option(*command, arguments->pids);
  return [arguments, context] {
    return report_images(context, arguments->paths,
                         {"ckpt.sockets/1", [&](Images& images) { return sockets_json(images, *arguments); },
                          [&](Images& images) { return sockets_text(images, *arguments); }});
  };
}

}  // namespace ckpt::tool
