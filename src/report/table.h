// SPDX-License-Identifier: BSD-3-Clause
//
// Tables for people: aligned columns as text. Nothing is printed here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aerocast {

// Columns a terminal needs for this UTF-8 text: combining marks need none, East Asian wide
// characters two. A broken byte counts as one.
int DisplayWidth(std::string_view utf8);

// About three significant digits, never more than four decimals: 0.247, 1.95, 12.3, 4071; a dash
// when there is no number. "1.00e+06" and the like only beyond six digits.
std::string FormatNumber(double value);
// "0.247 ±0.031": half the interval's width in the value's own digits; without one, the number.
std::string FormatEstimate(double value, double low, double high);
// "57 %"
std::string FormatPercent(double share);
// "90,116"
std::string FormatCount(long long count);

class TextTable {
 public:
  enum class Align { kLeft, kRight };

  void AddColumn(std::string header, Align align = Align::kRight);
  void AddRow(
      std::vector<std::string> cells);  // missing cells are empty, there are no further ones
  void AddRule();

  // Header, rule and rows, each ending with a newline, columns two spaces apart.
  std::string Render() const;

 private:
  struct Column {
    std::string header;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty one is a rule
};

}  // namespace aerocast
