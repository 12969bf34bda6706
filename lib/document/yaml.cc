// SPDX-License-Identifier: Apache-2.0
#include "document/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <sstream>

#include "ckpt/error.h"
#include "document/yaml_scalar.h"

namespace ckpt {

namespace {

std::uint64_t count_nodes(const Json& value) {
  std::uint64_t count = 1;
  for (const Json& item : value.items()) count += count_nodes(item);
  for (const auto& [key, member] : value.members()) count += count_nodes(member);
  return count;
}

// A mapping's keys are text, whatever scalar they were.
std::string key_text(const Json& key) { return key.is_string() ? key.as_string() : key.is_null() ? "null" : key.dump(-1); }

/// Builds a value from yaml-cpp's events: duplicates, aliases, depth and size stay under our control.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const std::string& file, const Limits& limits) : file_(file), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, Json()); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(ErrorCode::corrupt, mark, "an alias refers to what contains it");
    nodes_ += count_nodes(found->second);
    add(mark, 0, found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const bool plain = tag == "?" || tag.empty();
    if (tag == "tag:yaml.org,2002:str" || !plain) return add(mark, anchor, Json(value));
    add(mark, anchor, resolve_plain_scalar(value), value == "<<");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, anchor, Json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, anchor, Json::object());
  }
  void OnMapEnd() override { close(); }

  Json take() { return std::move(root_); }

  [[noreturn]] void fail(ErrorCode code, const YAML::Mark& mark, const std::string& detail) const {
    Where where{file_, {}, {}, {}};
    if (mark.pos >= 0) where.offset = static_cast<std::uint64_t>(mark.pos);
    const std::string line = mark.line >= 0 ? "line " + std::to_string(mark.line + 1) + ": " : std::string();
    throw Error(code, std::move(where), line + detail);
  }

 private:
  struct Level {
    Json value;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    std::optional<std::string> key;  ///< of a mapping: read, its value still to come
    bool merge = false;              ///< the key is <<
  };

  void count(const YAML::Mark& mark) {
    if (++nodes_ > limits_.max_document_nodes)
      fail(ErrorCode::limit_exceeded, mark, "more than max_document_nodes, " + std::to_string(limits_.max_document_nodes));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Json empty) {
    count(mark);
    if (levels_.size() >= limits_.max_nesting)
      fail(ErrorCode::limit_exceeded, mark, "nested deeper than max_nesting, " + std::to_string(limits_.max_nesting));
    if (!levels_.empty() && levels_.back().value.is_object() && !levels_.back().key)
      fail(ErrorCode::corrupt, mark, "a mapping's key is no scalar");
    Level level;
    level.value = std::move(empty);
    level.anchor = anchor;
    level.mark = mark;
    levels_.push_back(std::move(level));
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    place(level.mark, level.anchor, std::move(level.value), false);
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, bool merge_key = false) {
    count(mark);
    place(mark, anchor, std::move(value), merge_key);
  }

  void place(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, bool merge_key) {
    if (anchor != 0) anchors_[anchor] = value;
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& parent = levels_.back();
    if (!parent.value.is_object()) {
      parent.value.push(std::move(value));
    } else if (!parent.key) {
      parent.key = key_text(value);
      parent.merge = merge_key;
    } else {
      if (parent.merge) merge(mark, parent, value);
      else insert(mark, parent, *parent.key, std::move(value));
      parent.key.reset();
    }
  }

  void insert(const YAML::Mark& mark, Level& parent, const std::string& key, Json value) {
    if (parent.value.find(key) != nullptr) fail(ErrorCode::corrupt, mark, "the key \"" + key + "\" occurs twice");
    parent.value.append_member(key, std::move(value));
  }

  void merge(const YAML::Mark& mark, Level& parent, const Json& value) {
    if (value.is_array()) {
      for (const Json& item : value.items()) merge(mark, parent, item);
      return;
    }
    if (!value.is_object()) fail(ErrorCode::corrupt, mark, "<< merges something that is no mapping");
    for (const auto& [key, member] : value.members()) insert(mark, parent, key, member);
  }

  const std::string& file_;
  const Limits& limits_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Json> anchors_;
  Json root_;
  std::uint64_t nodes_ = 0;
};

}  // namespace

Json parse_yaml(const std::string& text, const std::string& file, const Limits& limits) {
  Builder builder(file, limits);
  std::istringstream in(text);
  try {
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    builder.fail(ErrorCode::corrupt, error.mark, "not valid YAML: " + error.msg);
  }
  return builder.take();
}

}  // namespace ckpt
