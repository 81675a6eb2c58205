// SPDX-License-Identifier: BSD-3-Clause
//
// Line plots as SVG: axes with round numbers, a legend, panels side by side.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace aerocast {

struct PlotSeries {
  std::string name;                               // in the legend; empty: none
  std::vector<std::pair<double, double>> points;  // what is not finite breaks the line
  bool dashed = false, thin = false;
  int color = -1;  // of the palette; < 0: its place among the series
};

struct PlotPanel {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  bool equal_axes = false;  // a metre is as long in both directions
  bool from_zero = false;   // the vertical axis
};

// The legend is that of the first panel.
std::string PlotSvg(const std::vector<PlotPanel>& panels);

}  // namespace aerocast
