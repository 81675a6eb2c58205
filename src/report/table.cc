// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "src/base/check.h"
#include "src/base/text.h"

namespace aerocast {
namespace {

// The next code point of `text` from `at`, which moves on; broken bytes give U+FFFD one by one.
std::uint32_t NextCodePoint(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  if (more == 0 || at + static_cast<std::size_t>(more) > text.size()) return 0xFFFD;
  std::uint32_t code = first & (0x3F >> more);
  for (int i = 0; i < more; ++i) {
    const unsigned char next = byte(at + static_cast<std::size_t>(i));
    if ((next & 0xC0) != 0x80) return 0xFFFD;
    code = code << 6 | (next & 0x3F);
  }
  at += static_cast<std::size_t>(more);
  return code;
}

int WidthOf(std::uint32_t c) {
  if ((c >= 0x300 && c <= 0x36F) || c == 0x200B || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F)) {
    return 0;
  }
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                    (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                    (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                    (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

// Decimals that give a value of this size three significant digits.
int Decimals(double value) {
  const double size = std::abs(value);
  if (size >= 99.95 || size == 0) return 0;
  if (size >= 9.995) return 1;
  if (size >= 0.9995) return 2;
  return size >= 0.09995 ? 3 : 4;
}

void AppendPadded(const std::string& text, int width, TextTable::Align align, std::string& out) {
  const std::string gap(static_cast<std::size_t>(std::max(0, width - DisplayWidth(text))), ' ');
  out += align == TextTable::Align::kRight ? gap + text : text + gap;
}

}  // namespace

int DisplayWidth(std::string_view utf8) {
  int width = 0;
  for (std::size_t at = 0; at < utf8.size();) width += WidthOf(NextCodePoint(utf8, at));
  return width;
}

std::string FormatNumber(double value) {
  if (std::isnan(value)) return "–";
  if (!(std::abs(value) < 1e6)) return fmt::format("{:.2e}", value);
  if (value == 0) return "0";
  const std::string text = fmt::format("{:.{}f}", value, Decimals(value));
  // Too small to show: say the sign of life, not "0.0000".
  return std::stod(text) == 0 ? fmt::format("{:.0e}", value) : text;
}

std::string FormatEstimate(double value, double low, double high) {
  if (std::isnan(value) || std::isnan(low) || std::isnan(high)) return FormatNumber(value);
  const int decimals = Decimals(value == 0 ? 0.5 : value);
  return fmt::format("{:.{}f} ±{:.{}f}", value, decimals, (high - low) / 2, decimals);
}

std::string FormatPercent(double share) {
  return std::isnan(share) ? "–" : fmt::format("{:.0f} %", 100 * share);
}

std::string FormatCount(long long count) {
  const std::string digits = std::to_string(count < 0 ? -count : count);
  std::string text = count < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

void TextTable::AddColumn(std::string header, Align align) {
  columns_.push_back({std::move(header), align});
}

void TextTable::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Printable(cell);
  AEROCAST_CHECK(!cells.empty() && cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::AddRule() { rows_.emplace_back(); }

std::string TextTable::Render() const {
  std::vector<int> width;
  int total = -2;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    int w = DisplayWidth(columns_[c].header);
    for (const auto& row : rows_) w = row.empty() ? w : std::max(w, DisplayWidth(row[c]));
    width.push_back(w), total += w + 2;
  }
  std::string rule, out;
  for (int i = 0; i < total; ++i) rule += "─";
  const auto append = [&](const auto& cell) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line += "  ";
      AppendPadded(cell(c), width[c], columns_[c].align, line);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  append([&](std::size_t c) -> const std::string& { return columns_[c].header; });
  out += rule + "\n";
  for (const auto& row : rows_) {
    if (row.empty()) {
      out += rule + "\n";
    } else {
      append([&](std::size_t c) -> const std::string& { return row[c]; });
    }
  }
  return out;
}

}  // namespace aerocast
