// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ckpt/error.h"
#include "ckpt/json.h"

namespace ckpt::tool {

enum class ColorMode { automatic, always, never };
enum class Color { plain, red, yellow, green, bold, dim };

/// The process's two outputs. stdout carries the result and nothing else; messages go to stderr, one line each.
class Console {
 public:
  explicit Console(std::string tool) : tool_(std::move(tool)) {}

  void set_color(ColorMode mode) { color_ = mode; }
  void set_quiet() { quiet_ = true; }
  bool quiet() const noexcept { return quiet_; }

  /// Appends to the result. Nothing is written under -q.
  void print(std::string_view text);
  /// The result as one JSON document.
  void print_json(const Json& document);
  /// Writes bytes to stdout whatever -q says; throws Error(io) when it is closed.
  void write_raw(std::string_view bytes);
  /// Pushes out what print() gathered. Throws Error(io).
  void flush();

  void error(const Error& error);
  void error(std::string_view text);
  void warning(std::string_view text);
  void hint(std::string_view text);

  /// `text` in a colour when stdout is a terminal (or --color always).
  std::string paint(Color color, std::string_view text) const;
  bool stdout_is_terminal() const noexcept;

 private:
  void message(std::string_view kind, std::string_view text);

  std::string tool_;
  std::string pending_;
  ColorMode color_ = ColorMode::automatic;
  bool quiet_ = false;
};

/// Text from an archive, safe for a terminal and for one line.
std::string safe(std::string_view text);
/// "1.5 GiB", "512 B".
std::string human_size(std::uint64_t bytes);

}  // namespace ckpt::tool
