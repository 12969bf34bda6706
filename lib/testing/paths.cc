// SPDX-License-Identifier: Apache-2.0
#include "testing/paths.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ckpt::testing {

namespace fs = std::filesystem;

namespace {

fs::path source_directory() {
  const char* directory = std::getenv("CKPT_SOURCE_DIR");
  return directory != nullptr ? fs::path(directory) : fs::current_path();
}

fs::path collection() {
  if (const char* directory = std::getenv("CKPT_ARCHIVES"); directory != nullptr) return directory;
  return source_directory().parent_path() / "shared" / "archives";
}

bool is_archive(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.find(".tar") != std::string::npos && name.find(".log") == std::string::npos;
}

void collect(const fs::path& directory, std::vector<std::string>& into) {
  std::error_code missing;
  for (auto it = fs::recursive_directory_iterator(directory, missing); !missing && it != fs::end(it); ++it)
    if (it->is_regular_file() && is_archive(it->path())) into.push_back(it->path().string());
}

}  // namespace

std::string testdata(const std::string& name) { return (source_directory() / "testdata" / name).string(); }

std::vector<std::string> real_archives() {
  std::vector<std::string> found;
  collect(source_directory() / "testdata" / "archives", found);
  collect(collection(), found);
  std::sort(found.begin(), found.end());
  return found;
}

std::string collection_file(const std::string& name) {
  const fs::path path = collection() / name;
  return fs::exists(path) ? path.string() : std::string();
}

}  // namespace ckpt::testing
