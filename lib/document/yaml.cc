// SPDX-License-Identifier: Apache-2.0
#include "document/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "ckpt/error.h"
#include "document/yaml_scalar.h"
#include "document/yaml_text.h"

namespace ckpt {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";

std::uint64_t count_nodes(const Json& value) {
  std::uint64_t count = 1;
  for (const Json& item : value.items()) count += count_nodes(item);
  for (const auto& [key, member] : value.members()) count += count_nodes(member);
  return count;
}

// A mapping's keys become text, whatever scalar they were; what the engines cannot turn into a key is absent.
std::optional<std::string> key_text(const Json& key) {
  if (key.is_string()) return key.as_string();
  if (key.is_bool()) return key.as_bool() ? "true" : "false";
  if (key.is_integer()) {
    const bool fits = key.as_int(-1) != -1 || key.as_uint(0) == 0;
    return fits ? std::optional<std::string>(std::to_string(key.as_int())) : std::nullopt;
  }
  if (!key.is_number()) return std::nullopt;
  const double value = key.as_double();
  const std::string text = float_text(value);
  if (text == "NaN") return ".nan";
  return text == "+Inf" ? ".inf" : text == "-Inf" ? "-.inf" : text;
}

bool fits_tag(const Json& value, std::string_view type) {
  if (type == "int") return value.is_integer();
  if (type == "float") return value.is_number();
  if (type == "bool") return value.is_bool();
  if (type == "null") return value.is_null();
  return value.is_string();
}

/// Thrown through yaml-cpp to end its reading.
struct Stop {
  YAML::Mark mark;
};

/// Learns where the next document begins and reads no further.
class Peek final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { throw Stop{mark}; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Builds a value from yaml-cpp's events: duplicates, aliases, depth and size stay under our control.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view text, const std::string& file, const Limits& limits)
      : text_(text), file_(file), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const bool in_list = !levels_.empty() && levels_.back().value.is_array();
    if (in_list && text_.substr(offset_of(mark), 1) == ",") fail(ErrorCode::corrupt, mark, "an empty item in a list");
    // yaml-cpp lets the last key of a block go without its colon; its value then stands where the key does.
    if (!levels_.empty() && levels_.back().block && levels_.back().key && levels_.back().key_at == offset_of(mark))
      fail(ErrorCode::corrupt, mark, "a key without a colon");
    add(mark, anchor, Json());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(ErrorCode::corrupt, mark, "an alias refers to what contains it");
    count(mark, count_nodes(found->second));
    place(mark, 0, found->second, false);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (has_json_only_escape(text_, offset_of(mark)))
      fail(ErrorCode::corrupt, mark, "the escape \\/, which YAML 1.1 lacks");
    const bool plain = tag == "?" || tag.empty();
    add(mark, anchor, plain ? resolve_plain_scalar(value) : tagged(mark, tag, value), plain && value == "<<");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, anchor, Json::array(), style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, anchor, Json::object(), style);
  }
  void OnMapEnd() override { close(); }

  Json take() { return std::move(root_); }

  /// The text that offsets count in begins behind a byte order mark.
  void skipped_byte_order_mark() { skipped_ = true; }

  /// What follows a block must be another document, not the rest of a broken one: a file cut off within a key. Behind
  /// a root in brackets the engines' reader stops and does not look.
  void check_next_document(const YAML::Mark& mark) const {
    if (root_is_block_ && !is_document_start(text_, offset_of(mark), last_))
      fail(ErrorCode::corrupt, mark, "text behind the end of the document");
  }

  [[noreturn]] void fail(ErrorCode code, const YAML::Mark& mark, const std::string& detail) const {
    Where where{file_, {}, {}, {}};
    if (mark.pos >= 0) where.offset = offset_of(mark) + (skipped_ ? kByteOrderMark.size() : 0);
    const std::string line = mark.line >= 0 ? "line " + std::to_string(mark.line + 1) + ": " : std::string();
    throw Error(code, std::move(where), line + detail);
  }

 private:
  struct Level {
    Json value;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    std::optional<std::string> key;  ///< of a mapping: read, its value still to come
    std::size_t key_at = 0;
    bool block = false;
    bool merge = false;                    ///< the key is <<
    std::unordered_set<std::string> keys;  ///< of a mapping: those met
  };

  // yaml-cpp may place what ends too soon behind the end of the text.
  std::size_t offset_of(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : std::min(static_cast<std::size_t>(mark.pos), text_.size());
  }

  void count(const YAML::Mark& mark, std::uint64_t more = 1) {
    last_ = offset_of(mark);
    nodes_ += more;
    if (nodes_ > limits_.max_document_nodes)
      fail(ErrorCode::limit_exceeded, mark,
           "more than max_document_nodes, " + std::to_string(limits_.max_document_nodes));
  }

  // A tag of YAML itself says what the text is to be, quoted or not; others say nothing to the engines.
  Json tagged(const YAML::Mark& mark, std::string_view tag, const std::string& value) const {
    if (tag.substr(0, kCoreTags.size()) != kCoreTags) return Json(value);
    const std::string_view type = tag.substr(kCoreTags.size());
    if (type == "binary") fail(ErrorCode::unsupported, mark, "a scalar of type !!binary");
    if (type != "int" && type != "float" && type != "bool" && type != "null" && type != "timestamp") return Json(value);
    Json resolved = resolve_plain_scalar(value);
    if (!fits_tag(resolved, type)) fail(ErrorCode::corrupt, mark, "\"" + value + "\" is no !!" + std::string(type));
    return type == "float" ? Json(resolved.as_double()) : resolved;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Json empty, YAML::EmitterStyle::value style) {
    count(mark);
    if (levels_.empty()) root_is_block_ = style == YAML::EmitterStyle::Block;
    if (levels_.size() >= limits_.max_nesting)
      fail(ErrorCode::limit_exceeded, mark, "nested deeper than max_nesting, " + std::to_string(limits_.max_nesting));
    if (!levels_.empty() && levels_.back().value.is_object() && !levels_.back().key)
      fail(ErrorCode::corrupt, mark, "a mapping's key is no scalar");
    Level level;
    level.value = std::move(empty);
    level.anchor = anchor;
    level.mark = mark;
    level.block = style == YAML::EmitterStyle::Block;
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
    if (anchor != 0) {
      // Anchors within anchors keep a copy each.
      count(mark, count_nodes(value));
      anchors_[anchor] = value;
    }
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& parent = levels_.back();
    if (!parent.value.is_object()) {
      parent.value.push(std::move(value));
    } else if (!parent.key) {
      parent.key = key_text(value);
      if (!parent.key) fail(ErrorCode::corrupt, mark, "cannot be a mapping's key");
      parent.merge = merge_key;
      parent.key_at = offset_of(mark);
    } else {
      if (parent.merge)
        merge(mark, parent, value);
      else
        insert(mark, parent, *parent.key, std::move(value));
      parent.key.reset();
    }
  }

  void insert(const YAML::Mark& mark, Level& parent, const std::string& key, Json value) {
    if (!parent.keys.insert(key).second) fail(ErrorCode::corrupt, mark, "the key \"" + key + "\" occurs twice");
    parent.value.append_member(key, std::move(value));
  }

  void merge(const YAML::Mark& mark, Level& parent, const Json& value) {
    const auto merge_one = [&](const Json& mapping) {
      if (!mapping.is_object()) fail(ErrorCode::corrupt, mark, "<< merges something that is no mapping");
      for (const auto& [key, member] : mapping.members()) insert(mark, parent, key, member);
    };
    if (!value.is_array()) return merge_one(value);
    for (const Json& item : value.items()) merge_one(item);
  }

  std::string_view text_;
  const std::string& file_;
  const Limits& limits_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Json> anchors_;
  Json root_;
  std::uint64_t nodes_ = 0;
  std::size_t last_ = 0;  ///< offset of the latest event
  bool root_is_block_ = false;
  bool skipped_ = false;
};

}  // namespace

Json parse_yaml(const std::string& text, const std::string& file, const Limits& limits) {
  const bool marked = text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0;
  const std::size_t skipped = marked ? kByteOrderMark.size() : 0;
  const std::string_view body = std::string_view(text).substr(skipped);
  if (const auto complaint = complaint_about_yaml(body))
    throw Error(ErrorCode::corrupt, Where{file, {}, {}, complaint->offset + skipped},
                "not valid YAML: " + complaint->message);
  Builder builder(body, file, limits);
  if (marked) builder.skipped_byte_order_mark();
  std::istringstream in{std::string(body)};
  try {
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
    Peek peek;
    parser.HandleNextDocument(peek);
  } catch (const Stop& next) {
    builder.check_next_document(next.mark);
  } catch (const YAML::Exception& error) {
    builder.fail(ErrorCode::corrupt, error.mark, "not valid YAML: " + error.msg);
  }
  return builder.take();
}

}  // namespace ckpt
