// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>

#include "ckpt/cdi.h"
#include "ckpt/error.h"
#include "ckpt/file.h"

namespace ckpt {

namespace {

namespace fs = std::filesystem;

bool is_cdi_name(const fs::path& path) { return path.extension() == ".json" || path.extension() == ".yaml"; }

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::directory_iterator it(directory, failure), end; !failure && it != end; it.increment(failure)) {
    std::error_code ignored;
    if (is_cdi_name(it->path()) && it->is_regular_file(ignored)) files.push_back(it->path().string());
  }
  if (failure) throw Error(ErrorCode::io, Where{directory, {}, {}, {}}, "cannot list: " + failure.message());
  std::sort(files.begin(), files.end());
  return files;
}

void append(CdiEdits& all, const CdiEdits& more) {
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(all.env, more.env);
  add(all.device_nodes, more.device_nodes);
  add(all.net_devices, more.net_devices);
  add(all.hooks, more.hooks);
  add(all.mounts, more.mounts);
  add(all.additional_gids, more.additional_gids);
  if (more.intel_rdt) all.intel_rdt = more.intel_rdt;
}

bool has_removed_fields(const CdiEdits& edits) {
  return edits.intel_rdt && (edits.intel_rdt->enable_cmt || edits.intel_rdt->enable_mbm);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Fills a registry's lists.
struct Loader {
  std::vector<CdiSpec>& specs;
  std::vector<CdiProblem>& problems;
  const Limits& limits;
  CdiFields fields;

  void add_file(const std::string& file, int priority) { add_text(read_text_file(file, limits), file, priority); }

  void add_text(const std::string& text, const std::string& file, int priority) {
    CdiSpec spec = parse_cdi(text, file, limits);
    spec.priority = priority;
    judge_unknown_fields(spec);
    bool removed = has_removed_fields(spec.edits);
    for (const CdiDevice& device : spec.devices) removed = removed || has_removed_fields(device.edits);
    if (removed) problems.push_back({file, "enableCMT and enableMBM are refused by readers of CDI 1.1.0", false});
    specs.push_back(std::move(spec));
  }

  void judge_unknown_fields(const CdiSpec& spec) {
    if (spec.unknown_fields.empty()) return;
    const bool one = spec.unknown_fields.size() == 1;
    const std::string what = joined(spec.unknown_fields) + (one ? " is not a field" : " are not fields") +
                             " of the CDI specification";
    if (fields == CdiFields::strict) throw Error(ErrorCode::corrupt, Where{spec.file, {}, {}, {}}, what);
    problems.push_back({spec.file, what + ": engines refuse the file", false});
  }

  // What is broken loses only itself.
  void try_text(const CdiText& text) {
    try {
      add_text(text.text, text.file, text.priority);
    } catch (const Error& error) {
      problems.push_back({text.file, error.detail(), true});
    }
  }

  // What is broken in a directory is remembered and loses only itself.
  void add_directory(const std::string& path, int priority) {
    std::vector<std::string> files;
    try {
      files = files_in(path);
    } catch (const Error& error) {
      problems.push_back({path, error.detail(), true});
    }
    for (const std::string& file : files) {
      if (specs.size() + problems.size() >= limits.max_cdi_files)
        throw Error(ErrorCode::limit_exceeded, Where{path, {}, {}, {}},
                    "more than max_cdi_files, " + std::to_string(limits.max_cdi_files));
      try {
        add_file(file, priority);
      } catch (const Error& error) {
        problems.push_back({file, error.detail(), true});
      }
    }
  }
};

}  // namespace

std::vector<std::string> CdiRegistry::default_directories() { return {"/etc/cdi", "/var/run/cdi"}; }

CdiRegistry CdiRegistry::parse(const std::vector<CdiText>& texts, const Limits& limits, CdiFields fields) {
  CdiRegistry registry;
  Loader loader{registry.specs_, registry.problems_, limits, fields};
  for (const CdiText& text : texts) loader.try_text(text);
  registry.index();
  return registry;
}

CdiRegistry CdiRegistry::load(const std::vector<std::string>& paths, const Limits& limits, CdiFields fields) {
  CdiRegistry registry;
  Loader loader{registry.specs_, registry.problems_, limits, fields};
  const bool defaults = paths == default_directories();
  int priority = 0;
  for (const std::string& path : paths) {
    ++priority;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      loader.add_directory(path, priority);
    } else if (!defaults) {
      loader.add_file(path, priority);
    }
  }
  registry.index();
  return registry;
}

// Higher priority wins; a conflict at one priority takes the device away altogether, also from other priorities.
void CdiRegistry::index() {
  std::set<std::string> conflicts;
  for (std::size_t s = 0; s < specs_.size(); ++s)
    for (std::size_t d = 0; d < specs_[s].devices.size(); ++d) {
      const std::string name = specs_[s].kind() + "=" + specs_[s].devices[d].name;
      const auto found = index_.find(name);
      if (found == index_.end()) {
        index_[name] = {s, d};
        continue;
      }
      const CdiSpec& other = specs_[found->second.first];
      if (other.priority == specs_[s].priority) {
        conflicts.insert(name);
        problems_.push_back({specs_[s].file, name + " is also defined in " + other.file + "; neither counts", true});
        problems_.push_back({other.file, name + " is also defined in " + specs_[s].file + "; neither counts", true});
      } else if (other.priority < specs_[s].priority) {
        found->second = {s, d};
      }
    }
  for (const std::string& name : conflicts) index_.erase(name);
}

std::vector<std::string> CdiRegistry::device_names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : index_) names.push_back(name);
  return names;
}

bool CdiRegistry::has(const std::string& qualified_name) const { return index_.count(qualified_name) != 0; }

CdiEdits CdiRegistry::resolve(const std::vector<std::string>& qualified_names) const {
  std::vector<std::string> missing;
  for (const std::string& name : qualified_names)
    if (!has(name)) missing.push_back(name);
  if (!missing.empty()) {
    std::string hint = index_.empty() ? "no CDI device is defined" : "there are: " + joined(device_names());
    // A broken file or a conflict is often why.
    for (const CdiProblem& problem : problems_)
      if (problem.fatal) hint += "; " + problem.file + ": " + problem.message;
    throw Error(ErrorCode::invalid_argument, {}, "unresolved CDI devices: " + joined(missing), hint);
  }
  CdiEdits edits;
  std::set<std::size_t> seen;
  for (const std::string& name : qualified_names) {
    const auto [spec, device] = index_.at(name);
    if (seen.insert(spec).second) append(edits, specs_[spec].edits);
    append(edits, specs_[spec].devices[device].edits);
  }
  return edits;
}

}  // namespace ckpt
