// SPDX-License-Identifier: Apache-2.0
#include "cdi/driver_files.h"

#include <algorithm>
#include <sstream>

#include "ckpt/error.h"

namespace ckpt {

std::vector<std::string> parse_container_cli_list(const std::string& text, const std::string& file) {
  std::vector<std::string> paths;
  std::istringstream in(text);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const bool control = std::any_of(line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (line.front() != '/' || control)
      throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}},
                  "line " + std::to_string(number) + " is not an absolute path: " + line.substr(0, 80));
    if ((line + "/").find("/../") != std::string::npos)
      throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}},
                  "line " + std::to_string(number) + " has a .. in its path: " + line.substr(0, 80));
    paths.push_back(line);
  }
  if (paths.empty()) throw Error(ErrorCode::corrupt, Where{file, {}, {}, {}}, "the list of driver files is empty");
  return paths;
}

CdiEdits edits_from_list(const std::vector<std::string>& paths) {
  CdiEdits edits;
  for (const std::string& path : paths) {
    if (path.rfind("/dev/", 0) == 0) {
      CdiDeviceNode node;
      node.path = node.host_path = path;
      edits.device_nodes.push_back(std::move(node));
    } else {
      edits.mounts.push_back({path, path, {"ro", "nosuid", "nodev", "rbind", "rprivate"}, {}});
    }
  }
  return edits;
}

}  // namespace ckpt
