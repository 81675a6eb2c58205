// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace aerocast {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Drops the zeros behind the decimal point, and the point itself when nothing is left behind it.
void DropTrailingZeros(std::string& out, std::size_t from) {
  if (out.find('.', from) == std::string::npos) return;
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
}

}  // namespace

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void SplitFields(std::string_view line, char delimiter, std::vector<std::string_view>& fields,
                 std::size_t most) {
  fields.clear();
  while (fields.size() < most) {
    const std::size_t end = line.find(delimiter);
    fields.push_back(Trim(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> ParseDouble(std::string_view text) { return ParseWhole<double>(text); }

std::optional<long long> ParseInteger(std::string_view text) { return ParseWhole<long long>(text); }

std::optional<TimeNs> ParseSeconds(std::string_view text) {
  constexpr TimeNs kMax = std::numeric_limits<TimeNs>::max();
  text = Trim(text);
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  TimeNs whole = 0, fraction = 0, unit = kNsPerSecond;
  std::size_t digits = 0;
  bool round_up = false, in_fraction = false;
  for (; !rest.empty(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (c == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (!IsDigit(c)) break;
    ++digits;
    const TimeNs digit = c - '0';
    if (!in_fraction) {
      if (whole > (kMax / kNsPerSecond - digit) / 10) return std::nullopt;
      whole = whole * 10 + digit;
    } else if (unit > 1) {
      unit /= 10, fraction += digit * unit;
    } else if (unit == 1) {
      round_up = digit >= 5, unit = 0;
    }
  }
  if (rest.empty() && digits > 0) {
    const TimeNs below = fraction + (round_up ? 1 : 0);
    if (whole == kMax / kNsPerSecond && below > kMax % kNsPerSecond) return std::nullopt;
    const TimeNs magnitude = whole * kNsPerSecond + below;
    return negative ? -magnitude : magnitude;
  }
  // An exponent, or no number at all.
  const std::optional<double> seconds = ParseDouble(text);
  if (!seconds || !(std::abs(*seconds) < 9.2e9)) return std::nullopt;
  return DurationNs(*seconds);
}

std::string_view TopLevelNumber(std::string_view json, std::string_view key) {
  int depth = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t begin = ++i;
    while (i < json.size() && json[i] != '"') i += json[i] == '\\' ? 2 : 1;
    if (depth != 1 || i >= json.size() || json.substr(begin, i - begin) != key) continue;
    std::size_t at = json.find_first_not_of(" \t", i + 1);
    if (at == json.npos || json[at] != ':') continue;  // a value that looks like the key
    at = json.find_first_not_of(" \t", at + 1);
    return json.substr(at, json.find_first_of(",} \t\r", at) - at);
  }
  return {};
}

void AppendSeconds(TimeNs t_ns, std::string& out) {
  const bool negative = t_ns < 0;
  const auto magnitude =
      negative ? 0 - static_cast<std::uint64_t>(t_ns) : static_cast<std::uint64_t>(t_ns);
  if (negative) out += '-';
  const std::size_t from = out.size();
  const std::string fraction = std::to_string(magnitude % 1'000'000'000);
  out += std::to_string(magnitude / 1'000'000'000) + '.' + std::string(9 - fraction.size(), '0') +
         fraction;
  DropTrailingZeros(out, from);
}

void AppendFixed(double value, int decimals, std::string& out) {
  char buffer[400];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals);
  const std::size_t from = out.size();
  if (error == std::errc{}) out.append(buffer, end);
  DropTrailingZeros(out, from);
  if (std::string_view(out).substr(from) == "-0") out.erase(from, 1);
}

std::string Printable(std::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return printable;
}

std::string JoinNames(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) {
    if (!joined.empty()) joined += ", ";
    joined += name;
  }
  return joined;
}

}  // namespace aerocast
