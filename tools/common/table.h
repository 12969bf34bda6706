// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ckpt::tool {

/// Columns as kubectl prints them: upper-case heads, three blanks between, nothing cut, no trailing blanks.
/// Cells are made safe for a terminal.
class Table {
 public:
  explicit Table(std::vector<std::string> heads);
  void row(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

/// "Name:      value" lines with the values in one column.
class Sheet {
 public:
  void line(const std::string& name, const std::string& value);
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace ckpt::tool
