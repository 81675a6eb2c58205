// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/reproduce/document.h"

namespace aerocast {
namespace {

constexpr double kWidth = 360, kHeight = 260, kLeft = 58, kRight = 12, kTop = 30, kBottom = 44;
constexpr double kLegendRow = 18, kLegendColumn = 150;
// Told apart also by those who do not see red and green alike (Okabe and Ito), black first.
constexpr std::array<const char*, 8> kPalette = {"#000000", "#0072b2", "#d55e00", "#009e73",
                                                 "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c"};

// A range of numbers with round ticks.
struct Axis {
  double low = 0, high = 1, step = 0.2;

  static Axis Around(double low, double high) {
    if (!(high > low)) low -= 0.5, high += 0.5;
    const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double share = rough / power;
    const double step = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
    return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, step};
  }
};

bool IsFinite(const std::pair<double, double>& p) {
  return std::isfinite(p.first) && std::isfinite(p.second);
}

class Panel {
 public:
  Panel(const PlotPanel& panel, double left, double top) : panel_(panel), left_(left), top_(top) {
    double x0 = HUGE_VAL, x1 = -HUGE_VAL, y0 = HUGE_VAL, y1 = -HUGE_VAL;
    for (const PlotSeries& s : panel.series) {
      for (const auto& p : s.points) {
        if (!IsFinite(p)) continue;
        x0 = std::min(x0, p.first), x1 = std::max(x1, p.first);
        y0 = std::min(y0, p.second), y1 = std::max(y1, p.second);
      }
    }
    if (!(x1 >= x0)) x0 = y0 = 0, x1 = y1 = 1;
    if (panel.from_zero) y0 = std::min(y0, 0.0);
    if (panel.equal_axes) {
      const double per = std::max((x1 - x0) / Across(), (y1 - y0) / Up());
      const double x = (x0 + x1) / 2, y = (y0 + y1) / 2;
      x0 = x - per * Across() / 2, x1 = x + per * Across() / 2;
      y0 = y - per * Up() / 2, y1 = y + per * Up() / 2;
      x_ = Axis::Around(x0, x1), y_ = Axis::Around(y0, y1);
      x_.low = x0, x_.high = x1, y_.low = y0, y_.high = y1;
      return;
    }
    x_ = Axis::Around(x0, x1), y_ = Axis::Around(y0, y1);
  }

  std::string Svg() const { return Frame() + Lines(); }

 private:
  static double Across() { return kWidth - kLeft - kRight; }
  static double Up() { return kHeight - kTop - kBottom; }
  double X(double x) const { return left_ + kLeft + (x - x_.low) / (x_.high - x_.low) * Across(); }
  double Y(double y) const {
    return top_ + kHeight - kBottom - (y - y_.low) / (y_.high - y_.low) * Up();
  }

  std::string Text(double x, double y, const std::string& text, const char* more) const {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more,
                       EscapeXml(text));
  }

  std::string Frame() const {
    std::string svg = Text(left_ + kWidth / 2 + 20, top_ + 18, panel_.title,
                           "text-anchor=\"middle\" font-weight=\"bold\"");
    const double bottom = top_ + kHeight - kBottom, right = left_ + kWidth - kRight;
    for (double tick : Rounded(x_)) {
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#e5e7eb\"/>\n",
          X(tick), top_ + kTop, bottom);
      svg += Text(X(tick), bottom + 16, fmt::format("{:g}", tick), "text-anchor=\"middle\"");
    }
    for (double tick : Rounded(y_)) {
      svg += fmt::format(
          "<line x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" "
          "stroke=\"#e5e7eb\"/>\n",
          Y(tick), left_ + kLeft, right);
      svg += Text(left_ + kLeft - 6, Y(tick) + 4, fmt::format("{:g}", tick), "text-anchor=\"end\"");
    }
    svg += Text((left_ + kLeft + right) / 2, bottom + 34, panel_.x_label, "text-anchor=\"middle\"");
    const double middle = top_ + kTop + Up() / 2;
    svg += Text(left_ + 14, middle, panel_.y_label,
                fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} {:.1f})\"",
                            left_ + 14, middle)
                    .c_str());
    return svg;
  }

  // Ticks inside the range, without the noise of the last digits.
  static std::vector<double> Rounded(const Axis& axis) {
    std::vector<double> ticks;
    for (double i = std::ceil(axis.low / axis.step - 1e-9);
         i * axis.step <= axis.high + 1e-9 * axis.step; ++i) {
      ticks.push_back(std::round(i) * axis.step);
      if (std::abs(ticks.back()) < 1e-9 * axis.step) ticks.back() = 0;
    }
    return ticks;
  }

  std::string Lines() const {
    std::string svg;
    for (std::size_t s = 0; s < panel_.series.size(); ++s) {
      const PlotSeries& series = panel_.series[s];
      std::string path;
      bool pen = false;
      for (const auto& p : series.points) {
        if (!IsFinite(p)) {
          pen = false;
          continue;
        }
        path += fmt::format("{}{:.2f} {:.2f}", pen ? "L" : "M", X(p.first), Y(p.second));
        pen = true;
      }
      if (path.empty()) continue;
      svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
                         path, ColorOf(series, s), series.thin ? 1 : 1.8,
                         series.dashed ? " stroke-dasharray=\"5 4\"" : "");
    }
    return svg;
  }

 public:
  static const char* ColorOf(const PlotSeries& series, std::size_t place) {
    const std::size_t color = series.color < 0 ? place : static_cast<std::size_t>(series.color);
    return kPalette[color % kPalette.size()];
  }

 private:
  const PlotPanel& panel_;
  double left_, top_;
  Axis x_, y_;
};

std::string Legend(const PlotPanel& panel, double top, double width, double& height) {
  std::string svg;
  double x = kLeft, y = top + 12;
  for (std::size_t s = 0; s < panel.series.size(); ++s) {
    const PlotSeries& series = panel.series[s];
    if (series.name.empty()) continue;
    if (x + kLegendColumn > width && x > kLeft) x = kLeft, y += kLegendRow;
    svg += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"2\"{}/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        x, x + 22, y - 4, y - 4, Panel::ColorOf(series, s),
        series.dashed ? " stroke-dasharray=\"5 4\"" : "", x + 28, y, EscapeXml(series.name));
    x += kLegendColumn;
  }
  height = y + 10 - top;
  return svg;
}

}  // namespace

std::string PlotSvg(const std::vector<PlotPanel>& panels) {
  const std::size_t per_row = std::min<std::size_t>(3, std::max<std::size_t>(1, panels.size()));
  const double width = kWidth * static_cast<double>(per_row);
  const double rows = std::ceil(static_cast<double>(panels.size()) / static_cast<double>(per_row));
  std::string body;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    body += Panel(panels[i], kWidth * static_cast<double>(i % per_row),
                  kHeight * static_cast<double>(i / per_row))
                .Svg();
  }
  double legend = 0;
  if (!panels.empty()) body += Legend(panels[0], kHeight * rows, width, legend);
  const double height = kHeight * rows + legend;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1b1f24\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      width, height, body);
}

}  // namespace aerocast
