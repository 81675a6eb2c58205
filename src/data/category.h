// SPDX-License-Identifier: BSD-3-Clause
//
// The benchmark's nine motion categories and the paper's three groups of them. A recording's
// category is free text; labels outside this list are kept, shown in a row of their own and left
// out of nine-category averages.
#pragma once

#include <array>
#include <string_view>

namespace aerocast {

struct Category {
  std::string_view name;
  std::string_view group;
};

inline constexpr std::array<Category, 9> kCategories = {{{"circle", "periodic"},
                                                         {"oval", "periodic"},
                                                         {"figure-8", "periodic"},
                                                         {"helix", "3-d"},
                                                         {"trefoil", "3-d"},
                                                         {"lissajous", "3-d"},
                                                         {"staircase", "3-d"},
                                                         {"star", "aperiodic"},
                                                         {"random", "aperiodic"}}};

// Index into kCategories, or -1 for a label outside the nine.
constexpr int CategoryIndex(std::string_view name) {
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    if (kCategories[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace aerocast
