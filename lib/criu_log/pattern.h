// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::criu_log {

/// What a pattern caught; of several catches of one sort the first counts.
struct Catch {
  std::string_view mnt_id;
  std::string_view number;
  std::string_view path;    ///< %p
  std::string_view source;  ///< %h
  std::string_view text;
};

/// Literal pieces that must follow one another in a line, with catches in between: `%m` and `%n` digits, `%p` and `%h`
/// paths without blanks at either end, `%s` any text. No repetition and no backtracking: a line is gone through once.
class Pattern {
 public:
  /// Throws Error(internal) for a text that is no pattern.
  explicit Pattern(std::string_view text);

  /// The literal piece that a search begins with; never empty.
  const std::string& anchor() const noexcept { return pieces_.front().literal; }
  std::optional<Catch> match(std::string_view line) const;

 private:
  struct Piece {
    std::string literal;
    char wanted = 0;  ///< what follows the literal, or 0 at the end
  };
  std::vector<Piece> pieces_;
};

/// Finds which of many words occur in a line, in one pass over the line (Aho and Corasick's automaton).
class WordFinder {
 public:
  explicit WordFinder(const std::vector<std::string>& words);
  /// Indexes of the words that occur, ascending, each once.
  std::vector<std::size_t> find(std::string_view line) const;

 private:
  struct State {
    std::array<std::uint32_t, 256> next{};
    std::uint32_t fail = 0;
    std::uint32_t shorter = 0;           ///< next state along `fail` that ends a word; 0 for none
    std::vector<std::size_t> ends_here;  ///< words
  };
  void add(std::size_t index, std::string_view word);
  void connect();

  std::vector<State> states_;
};

}  // namespace ckpt::criu_log
