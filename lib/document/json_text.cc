// SPDX-License-Identifier: Apache-2.0
#include "document/json_text.h"

#include <algorithm>

#include "document/utf8.h"

namespace ckpt {

namespace {

/// A value found by pointer: the way to it, so that its neighbours can be looked at.
struct Place {
  const Json* value = nullptr;
  const JsonSpan* span = nullptr;
  const Json* parent = nullptr;
  const JsonSpan* parent_span = nullptr;
  std::size_t position = 0;  ///< among the parent's children
};

Place find_place(const ParsedJson& document, std::string_view pointer) {
  Place place{&document.value, &document.span, nullptr, nullptr, 0};
  while (!pointer.empty()) {
    if (pointer.front() != '/') return {};
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    const auto child = json_child(*place.value, token);
    if (!child) return {};
    place.parent = place.value;
    place.parent_span = place.span;
    place.position = *child;
    place.value = place.parent->is_array() ? &place.parent->items()[*child] : &place.parent->members()[*child].second;
    place.span = &place.parent_span->children[*child];
  }
  return place;
}

/// How a document lays out its values.
struct Layout {
  bool lines = false;  ///< one value a line, not all in one
  std::string newline = "\n";
  std::string unit;  ///< blanks a level
};

std::size_t first_child_begin(std::string_view text, const JsonSpan& span) {
  const JsonSpan& child = span.children.front();
  return text[span.begin] == '{' ? child.key_begin : child.begin;
}

// The blanks at the beginning of the line that holds `offset`.
std::string margin_at(std::string_view text, std::size_t offset) {
  const std::size_t line = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
  const std::size_t end = text.find_first_not_of(" \t", begin);
  return std::string(text.substr(begin, (end == std::string_view::npos ? text.size() : end) - begin));
}

// Told from what stands before the first value inside the outermost one.
Layout layout_of(std::string_view text, const JsonSpan& root) {
  Layout layout;
  if (root.children.empty()) return layout;
  const std::string_view gap = text.substr(root.begin + 1, first_child_begin(text, root) - root.begin - 1);
  const std::size_t line = gap.rfind('\n');
  if (line == std::string_view::npos) return layout;
  layout.lines = true;
  if (line > 0 && gap[line - 1] == '\r') layout.newline = "\r\n";
  const std::string margin = margin_at(text, root.begin);
  layout.unit = gap.substr(line + 1);
  if (layout.unit.compare(0, margin.size(), margin) == 0) layout.unit.erase(0, margin.size());
  return layout;
}

bool is_one_line(std::string_view text, const JsonSpan& span) {
  return !span.children.empty() && text.substr(span.begin, span.end - span.begin).find('\n') == std::string_view::npos;
}

// New text for a value whose first line continues a line that has `margin`.
std::string lay_out(const Json& value, const Layout& layout, const std::string& margin) {
  if (!layout.lines) return value.dump(-1);
  // One blank a level, each of which then becomes a unit; a line feed inside a string is escaped.
  const std::string text = value.dump(1);
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n') {
      out += text[at];
      continue;
    }
    out += layout.newline + margin;
    for (; at + 1 < text.size() && text[at + 1] == ' '; ++at) out += layout.unit;
  }
  return out;
}

bool is_utf8(const Json& value) {
  const auto& items = value.items();
  const auto& members = value.members();
  return !first_not_utf8(value.as_string()) && std::all_of(items.begin(), items.end(), is_utf8) &&
         std::all_of(members.begin(), members.end(), [](const Json::Member& member) {
           return !first_not_utf8(member.first) && is_utf8(member.second);
         });
}

}  // namespace

JsonText JsonText::parse(std::string text, const std::string& file, const std::string& member, const Limits& limits) {
  JsonText document;
  document.parsed_ = parse_json_spans(text, file, member, limits);
  document.text_ = std::move(text);
  document.file_ = file;
  document.member_ = member;
  document.limits_ = limits;
  return document;
}

JsonText JsonText::splice(std::size_t begin, std::size_t end, std::string_view bytes) const {
  std::string text = text_.substr(0, begin);
  text += bytes;
  text += std::string_view(text_).substr(end);
  return parse(std::move(text), file_, member_, limits_);
}

void JsonText::nothing_at(std::string_view pointer, const char* wanted) const {
  throw Error(ErrorCode::conflict, Where{file_, member_, {}, {}},
              std::string("there is ") + wanted + " at " + (pointer.empty() ? "the top" : std::string(pointer)));
}

void JsonText::check_text_of(const Json& value) const {
  if (!is_utf8(value))
    throw Error(ErrorCode::invalid_argument, Where{file_, member_, {}, {}},
                "the new value is not UTF-8, and JSON holds nothing else: " + value.dump(-1));
}

JsonText JsonText::replace(std::string_view pointer, const Json& value) const {
  check_text_of(value);
  const Place place = find_place(parsed_, pointer);
  if (place.value == nullptr) nothing_at(pointer, "nothing");
  const JsonSpan& old = *place.span;
  Layout layout = layout_of(text_, parsed_.span);
  if (is_one_line(text_, old)) layout.lines = false;
  return splice(old.begin, old.end, lay_out(value, layout, margin_at(text_, old.begin)));
}

JsonText JsonText::append(std::string_view pointer, const Json& value) const {
  check_text_of(value);
  const Place place = find_place(parsed_, pointer);
  if (place.value == nullptr || !place.value->is_array()) nothing_at(pointer, "no array");
  const JsonSpan& array = *place.span;
  Layout layout = layout_of(text_, parsed_.span);
  if (!array.children.empty()) {
    // The blanks before the last item are the ones that every item has.
    const JsonSpan& last = array.children.back();
    const std::size_t before = text_.find_last_not_of(" \t\r\n", last.begin - 1) + 1;
    const std::string gap = text_.substr(before, last.begin - before);
    if (is_one_line(text_, last)) layout.lines = false;
    return splice(last.end, last.end, "," + gap + lay_out(value, layout, margin_at(text_, last.begin)));
  }
  if (!layout.lines) return splice(array.begin, array.end, "[" + lay_out(value, layout, {}) + "]");
  const std::string outer = layout.newline + margin_at(text_, array.begin);
  const std::string inner = margin_at(text_, array.begin) + layout.unit;
  return splice(array.begin, array.end, "[" + layout.newline + inner + lay_out(value, layout, inner) + outer + "]");
}

JsonText JsonText::remove(std::string_view pointer) const {
  const Place place = find_place(parsed_, pointer);
  if (place.value == nullptr || place.parent == nullptr) nothing_at(pointer, "nothing to remove");
  const auto& siblings = place.parent_span->children;
  const auto begin_of = [&](std::size_t i) {
    return place.parent->is_object() ? siblings[i].key_begin : siblings[i].begin;
  };
  if (siblings.size() == 1) return splice(place.parent_span->begin + 1, place.parent_span->end - 1, "");
  if (place.position + 1 < siblings.size()) return splice(begin_of(place.position), begin_of(place.position + 1), "");
  return splice(siblings[place.position - 1].end, place.span->end, "");
}

}  // namespace ckpt
