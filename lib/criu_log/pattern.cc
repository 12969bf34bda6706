// SPDX-License-Identifier: Apache-2.0
#include "criu_log/pattern.h"

#include <algorithm>
#include <set>

#include "ckpt/error.h"

namespace ckpt::criu_log {

namespace {

constexpr std::string_view kDigits = "0123456789";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r`'\"";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

void keep_first(std::string_view& kept, std::string_view found) {
  if (kept.empty()) kept = found;
}

// False when what was caught is not of the wanted sort.
bool take(Catch& caught, char wanted, std::string_view found) {
  const bool digits = !found.empty() && found.find_first_not_of(kDigits) == std::string_view::npos;
  switch (wanted) {
    case 'm':
      keep_first(caught.mnt_id, found);
      return digits;
    case 'n':
      keep_first(caught.number, found);
      return digits;
    case 'h':
      keep_first(caught.source, trimmed(found));
      return !trimmed(found).empty();
    case 'p':
      keep_first(caught.path, trimmed(found));
      return !trimmed(found).empty();
    default:
      keep_first(caught.text, trimmed(found));
      return true;
  }
}

}  // namespace

Pattern::Pattern(std::string_view text) {
  Piece piece;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      piece.literal += text[i];
      continue;
    }
    piece.wanted = ++i < text.size() ? text[i] : '\0';
    if (std::string_view("hmnps").find(piece.wanted) == std::string_view::npos || piece.literal.empty())
      throw Error(ErrorCode::internal, {}, "no pattern: " + std::string(text));
    pieces_.push_back(std::move(piece));
    piece = {};
  }
  if (!piece.literal.empty() || pieces_.empty()) pieces_.push_back(std::move(piece));
  if (pieces_.front().literal.empty()) throw Error(ErrorCode::internal, {}, "an empty pattern");
}

std::optional<Catch> Pattern::match(std::string_view line) const {
  Catch caught;
  std::size_t at = line.find(anchor());
  if (at == std::string_view::npos) return std::nullopt;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    at += pieces_[i].literal.size();
    if (pieces_[i].wanted == 0) break;
    const std::string_view rest = line.substr(at);
    std::size_t length = rest.size();
    if (i + 1 < pieces_.size()) {
      length = rest.find(pieces_[i + 1].literal);
      if (length == std::string_view::npos) return std::nullopt;
    } else if (pieces_[i].wanted == 'm' || pieces_[i].wanted == 'n') {
      length = std::min(rest.find_first_not_of(kDigits), rest.size());
    }
    if (!take(caught, pieces_[i].wanted, rest.substr(0, length))) return std::nullopt;
    at += length;
  }
  return caught;
}

WordFinder::WordFinder(const std::vector<std::string>& words) : states_(1) {
  for (std::size_t i = 0; i < words.size(); ++i) add(i, words[i]);
  connect();
}

void WordFinder::add(std::size_t index, std::string_view word) {
  std::uint32_t state = 0;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (states_[state].next[byte] == 0) {
      states_[state].next[byte] = static_cast<std::uint32_t>(states_.size());
      states_.emplace_back();
    }
    state = states_[state].next[byte];
  }
  states_[state].ends_here.push_back(index);
}

// Breadth first, so that a state's failure link is complete before its children need it.
void WordFinder::connect() {
  std::vector<std::uint32_t> queue = {0};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t state = queue[head];
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t fallback = state == 0 ? 0 : states_[states_[state].fail].next[byte];
      std::uint32_t& next = states_[state].next[byte];
      if (next == 0) {
        next = fallback;
        continue;
      }
      State& child = states_[next];
      child.fail = fallback;
      child.shorter = states_[fallback].ends_here.empty() ? states_[fallback].shorter : fallback;
      queue.push_back(next);
    }
  }
}

std::vector<std::size_t> WordFinder::find(std::string_view line) const {
  std::set<std::size_t> found;
  std::uint32_t state = 0;
  for (const char c : line) {
    state = states_[state].next[static_cast<unsigned char>(c)];
    for (std::uint32_t end = state; end != 0; end = states_[end].shorter)
      found.insert(states_[end].ends_here.begin(), states_[end].ends_here.end());
  }
  return {found.begin(), found.end()};
}

}  // namespace ckpt::criu_log
