// SPDX-License-Identifier: Apache-2.0
#include "common/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ckpt/text.h"

namespace ckpt::tool {

namespace {

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw Error(ErrorCode::io, Where{"standard output", {}, {}, {}}, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

const char* code_of(Color color) {
  switch (color) {
    case Color::red:
      return "31";
    case Color::yellow:
      return "33";
    case Color::green:
      return "32";
    case Color::bold:
      return "1";
    case Color::dim:
      return "2";
    case Color::plain:
      return "0";
  }
  return "0";
}

}  // namespace

void Console::print(std::string_view text) {
  if (!quiet_) pending_ += text;
}

void Console::print_json(const Json& document) { print(document.dump(2) + "\n"); }

void Console::write_raw(std::string_view bytes) {
  flush();
  write_all(STDOUT_FILENO, bytes);
}

void Console::flush() {
  write_all(STDOUT_FILENO, pending_);
  pending_.clear();
}

void Console::error(const Error& error) {
  message("error", error.what());
  if (!error.hint().empty()) hint(error.hint());
}

void Console::error(std::string_view text) { message("error", safe(text)); }
void Console::warning(std::string_view text) { message("warning", safe(text)); }
void Console::hint(std::string_view text) { message("hint", safe(text)); }

void Console::message(std::string_view kind, std::string_view text) {
  const std::string line = fmt::format("{}: {}: {}\n", tool_, kind, text);
  try {
    write_all(STDERR_FILENO, line);
  } catch (const Error&) {
    // There is nowhere left to say so; the exit status still tells.
  }
}

std::string Console::paint(Color color, std::string_view text) const {
  const bool on = color_ == ColorMode::always ||
                  (color_ == ColorMode::automatic && stdout_is_terminal() && std::getenv("NO_COLOR") == nullptr);
  return on && color != Color::plain ? fmt::format("\033[{}m{}\033[0m", code_of(color), text) : std::string(text);
}

bool Console::stdout_is_terminal() const noexcept { return ::isatty(STDOUT_FILENO) == 1; }

std::string safe(std::string_view text) { return escape_text(text); }

std::string human_size(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace ckpt::tool
