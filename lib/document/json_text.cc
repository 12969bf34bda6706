// SPDX-License-Identifier: Apache-2.0
#include "document/json_text.h"

#include "document/json_sax.h"

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
  int indent = -1;  ///< blanks a level; -1: compact
  std::string unit() const { return indent < 0 ? std::string() : std::string(static_cast<std::size_t>(indent), ' '); }
};

Layout layout_of(std::string_view text) {
  const std::size_t line = text.find('\n');
  const std::size_t first = line == std::string_view::npos ? line : text.find_first_not_of(" \r\n", line);
  if (first == std::string_view::npos) return {};
  const std::size_t start = text.rfind('\n', first) + 1;
  return {static_cast<int>(first - start)};
}

// The blanks at the beginning of the line that holds `offset`.
std::string margin_at(std::string_view text, std::size_t offset) {
  const std::size_t line = text.rfind('\n', offset);
  const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
  const std::size_t end = text.find_first_not_of(" \t", begin);
  return std::string(text.substr(begin, (end == std::string_view::npos ? text.size() : end) - begin));
}

// New text for a value whose first line continues a line that has `margin`.
std::string lay_out(const Json& value, const Layout& layout, const std::string& margin) {
  const std::string text = value.dump(layout.indent);
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += margin;
  }
  return out;
}

}  // namespace

JsonText JsonText::parse(std::string text, const std::string& file, const std::string& member, const Limits& limits) {
  JsonText document;
  document.value_ = parse_json_spans(text, file, member, limits).value;
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

JsonText JsonText::replace(std::string_view pointer, const Json& value) const {
  const ParsedJson document = parse_json_spans(text_, file_, member_, limits_);
  const Place place = find_place(document, pointer);
  if (place.value == nullptr) nothing_at(pointer, "nothing");
  const std::string margin = margin_at(text_, place.span->begin);
  return splice(place.span->begin, place.span->end, lay_out(value, layout_of(text_), margin));
}

JsonText JsonText::append(std::string_view pointer, const Json& value) const {
  const ParsedJson document = parse_json_spans(text_, file_, member_, limits_);
  const Place place = find_place(document, pointer);
  if (place.value == nullptr || !place.value->is_array()) nothing_at(pointer, "no array");
  const Layout layout = layout_of(text_);
  if (!place.span->children.empty()) {
    // The blanks before the last item are the ones that every item has.
    const JsonSpan& last = place.span->children.back();
    const std::size_t before = text_.find_last_not_of(" \t\r\n", last.begin - 1) + 1;
    const std::string gap = text_.substr(before, last.begin - before);
    const std::size_t line = gap.rfind('\n');
    const std::string margin = line == std::string::npos ? margin_at(text_, last.begin) : gap.substr(line + 1);
    return splice(last.end, last.end, "," + gap + lay_out(value, layout, margin));
  }
  if (layout.indent < 0) return splice(place.span->begin, place.span->end, "[" + lay_out(value, layout, {}) + "]");
  const std::string outer = margin_at(text_, place.span->begin);
  const std::string inner = outer + layout.unit();
  return splice(place.span->begin, place.span->end, "[\n" + inner + lay_out(value, layout, inner) + "\n" + outer + "]");
}

JsonText JsonText::remove(std::string_view pointer) const {
  const ParsedJson document = parse_json_spans(text_, file_, member_, limits_);
  const Place place = find_place(document, pointer);
  if (place.value == nullptr || place.parent == nullptr) nothing_at(pointer, "nothing to remove");
  const auto& siblings = place.parent_span->children;
  const auto begin_of = [&](std::size_t i) { return place.parent->is_object() ? siblings[i].key_begin : siblings[i].begin; };
  if (siblings.size() == 1) return splice(place.parent_span->begin + 1, place.parent_span->end - 1, "");
  if (place.position + 1 < siblings.size())
    return splice(begin_of(place.position), begin_of(place.position + 1), "");
  return splice(siblings[place.position - 1].end, place.span->end, "");
}

}  // namespace ckpt
