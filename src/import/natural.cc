// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/natural.h"

namespace aerocast {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes the run of digits at the front of `text`, without leading zeros.
std::string_view TakeNumber(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

int Compare(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const std::string_view m = TakeNumber(a), n = TakeNumber(b);
      if (m.size() != n.size()) return m.size() < n.size() ? -1 : 1;
      if (const int order = m.compare(n); order != 0) return order;
      continue;
    }
    const auto x = static_cast<unsigned char>(a.front()), y = static_cast<unsigned char>(b.front());
    if (x != y) return x < y ? -1 : 1;
    a.remove_prefix(1), b.remove_prefix(1);
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  const int order = Compare(a, b);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace aerocast
