// SPDX-License-Identifier: Apache-2.0
#include "document/json_sax.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "ckpt/error.h"

namespace ckpt {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Receives nlohmann's events, which come in text order, and follows them through the text: between two tokens lie
/// only blanks, commas and colons, and each token is valid once its event has come.
class Builder {
 public:
  using number_integer_t = std::int64_t;
  using number_unsigned_t = std::uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  Builder(std::string_view text, Where where, const Limits& limits)
      : text_(text), where_(std::move(where)), limits_(limits) {}

  bool null() { return scalar(Json()); }
  bool boolean(bool value) { return scalar(Json(value)); }
  bool number_integer(std::int64_t value) { return scalar(Json(value)); }
  bool number_unsigned(std::uint64_t value) { return scalar(Json(value)); }
  bool number_float(double value, const std::string&) { return scalar(Json(value)); }
  bool string(std::string& value) { return scalar(Json(std::move(value))); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& value) {
    key_begin_ = next_token();
    at_ = end_of_string(key_begin_);
    key_ = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...": the end says it.
    const std::string text = error.what();
    const std::size_t colon = text.find(": ");
    fail(ErrorCode::corrupt, "not valid JSON: " + (colon == std::string::npos ? text : text.substr(colon + 2)),
         position == 0 ? 0 : position - 1);
  }

  ParsedJson take() {
    // nlohmann takes a NUL for the end of the text.
    const std::size_t rest = text_.find_first_not_of(" \t\r\n", at_);
    if (rest != std::string_view::npos) fail(ErrorCode::corrupt, "not valid JSON: text behind its end", rest);
    return std::move(root_);
  }

 private:
  struct Level {
    Json value;
    JsonSpan span;
    std::string key;
  };

  [[noreturn]] void fail(ErrorCode code, const std::string& detail, std::size_t offset) {
    Where where = where_;
    where.offset = offset;
    throw Error(code, std::move(where), detail);
  }

  std::size_t next_token() const {
    const std::size_t at = text_.find_first_not_of(" \t\r\n,:", at_);
    return at == std::string_view::npos ? text_.size() : at;
  }

  std::size_t end_of_string(std::size_t begin) const {
    std::size_t at = begin + 1;
    while (at < text_.size() && text_[at] != '"') at += text_[at] == '\\' ? 2 : 1;
    return at + 1;
  }

  std::size_t end_of_scalar(std::size_t begin) const {
    if (text_[begin] == '"') return end_of_string(begin);
    const std::size_t end = text_.find_first_of(" \t\r\n,]}", begin);
    return end == std::string_view::npos ? text_.size() : end;
  }

  void count_node() {
    if (++nodes_ > limits_.max_document_nodes)
      fail(ErrorCode::limit_exceeded, "more than max_document_nodes, " + std::to_string(limits_.max_document_nodes),
           at_);
  }

  bool scalar(Json value) {
    count_node();
    JsonSpan span;
    span.begin = next_token();
    span.end = at_ = end_of_scalar(span.begin);
    span.key_begin = key_begin_;
    add(std::move(value), std::move(span), std::move(key_));
    return true;
  }

  bool open(Json empty) {
    count_node();
    if (levels_.size() >= limits_.max_nesting)
      fail(ErrorCode::limit_exceeded, "nested deeper than max_nesting, " + std::to_string(limits_.max_nesting), at_);
    Level level;
    level.value = std::move(empty);
    level.span.begin = next_token();
    level.span.key_begin = key_begin_;
    level.key = std::move(key_);
    at_ = level.span.begin + 1;
    levels_.push_back(std::move(level));
    return true;
  }

  bool close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    level.span.end = at_ = next_token() + 1;
    add(std::move(level.value), std::move(level.span), std::move(level.key));
    return true;
  }

  void add(Json value, JsonSpan span, std::string key) {
    if (levels_.empty()) {
      root_ = {std::move(value), std::move(span)};
      return;
    }
    Level& parent = levels_.back();
    if (parent.value.is_object())
      parent.value.append_member(std::move(key), std::move(value));
    else
      parent.value.push(std::move(value));
    parent.span.children.push_back(std::move(span));
  }

  std::string_view text_;
  Where where_;
  Limits limits_;
  std::vector<Level> levels_;
  ParsedJson root_;
  std::string key_;
  std::size_t key_begin_ = 0;
  std::size_t at_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace

ParsedJson parse_json_spans(std::string_view text, const std::string& file, const std::string& member,
                            const Limits& limits) {
  const Where where{file, member, {}, {}};
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    throw Error(ErrorCode::corrupt, Where{file, member, {}, 0},
                "starts with a UTF-8 byte order mark, which the engines refuse");
  Builder builder(text, where, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::optional<std::size_t> json_child(const Json& value, std::string_view token) {
  if (value.is_array()) {
    std::size_t index = 0;
    const auto [end, failure] = std::from_chars(token.data(), token.data() + token.size(), index);
    const bool canonical = token == "0" || (!token.empty() && token.front() != '0');
    if (failure != std::errc() || end != token.data() + token.size() || !canonical || index >= value.size())
      return std::nullopt;
    return index;
  }
  const Json::Object& members = value.members();
  for (std::size_t i = members.size(); i-- > 0;)
    if (json_pointer_token(members[i].first) == token) return i;
  return std::nullopt;
}

const Json* json_step(const Json& value, std::string_view token) noexcept {
  const auto child = json_child(value, token);
  if (!child) return nullptr;
  return value.is_array() ? &value.items()[*child] : &value.members()[*child].second;
}

Json Json::parse(std::string_view text, const std::string& file, const std::string& member, const Limits& limits) {
  return parse_json_spans(text, file, member, limits).value;
}

}  // namespace ckpt
