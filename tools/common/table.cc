// SPDX-License-Identifier: Apache-2.0
#include "common/table.h"

#include <algorithm>

#include "common/console.h"

namespace ckpt::tool {

namespace {

// Columns a terminal shows for UTF-8 text: every code point counts one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void append_row(std::string& out, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 < cells.size()) line.append(widths[i] - width(cells[i]) + 3, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

Table::Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = cell.empty() ? "-" : safe(cell);
  cells.resize(heads_.size(), "-");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const std::string& head : heads_) widths.push_back(width(head));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string out;
  append_row(out, heads_, widths);
  for (const auto& row : rows_) append_row(out, row, widths);
  return out;
}

void Sheet::line(const std::string& name, const std::string& value) {
  if (!value.empty()) lines_.emplace_back(name, safe(value));
}

std::string Sheet::text() const {
  std::size_t widest = 0;
  for (const auto& [name, value] : lines_) widest = std::max(widest, name.size());
  std::string out;
  for (const auto& [name, value] : lines_)
    out.append(name).append(":").append(widest - name.size() + 2, ' ').append(value).append("\n");
  return out;
}

}  // namespace ckpt::tool
