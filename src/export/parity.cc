// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/parity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aerocast {
Parity Compare(std::span<const float> a, std::span<const float> b, int windows) {
  Parity parity;
  parity.windows = windows;
  if (a.size() != b.size()) parity.absolute = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    parity.absolute =
        std::max(parity.absolute,
                 std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity());
    parity.largest = std::max(parity.largest, std::abs(double{b[i]}));
  }
  return parity;
}

}  // namespace aerocast
