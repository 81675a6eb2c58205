// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/eval/tally.h"
#include "src/report/table.h"
#include "src/reproduce/plot.h"
#include "src/reproduce/sections.h"

namespace aerocast {
namespace {

using Cells = std::vector<std::string>;

PlotSeries ErrorSeries(const Results& results, const std::string& model, const std::string& title,
                       bool dashed) {
  PlotSeries series{title, {}, dashed, false, -1};
  const ModelResult* found = results.Find(model);
  if (found == nullptr) return series;
  const std::vector<double>& error = found->groups.front().error;
  for (std::size_t i = 0; i < error.size(); ++i) {
    series.points.emplace_back(results.protocol.window.dt_s * static_cast<double>(i + 1), error[i]);
  }
  return series;
}

}  // namespace

void AddHorizonSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Over the horizon (Fig. 3)");
  const Shown shown = ShownNetworks(findings);
  if (shown.results == nullptr) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"Error at, m", "1 s", "2 s", "3 s", "4 s", "5 s"};
  PlotPanel panel{"", "seconds ahead", "mean error, m", {}, false, true};
  const auto add = [&](const std::string& model, const std::string& title, bool network) {
    Cells row = {title};
    for (int second = 1; second <= 5; ++second) {
      row.push_back(FormatNumber(ErrorAt(*shown.results, model, second)));
    }
    table.rows.push_back(std::move(row));
    // Their errors would flatten all other lines.
    if (model == "cv" || model == "ca") return;
    panel.series.push_back(ErrorSeries(*shown.results, model, title, !network));
  };
  for (const auto& [model, title] : shown.networks) add(model, title, true);
  for (const std::string& name : OtherModels(*shown.results)) {
    if (!name.starts_with("plus")) add(name, name, false);
  }
  document.Add(Figure{"horizon",
                      fmt::format("Mean distance error over the horizon: {}; cv and ca are in the "
                                  "table only",
                                  shown.which),
                      PlotSvg({panel})});
  document.Add(std::move(table));
}

void AddExamplesSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Qualitative comparison (Figs. 5 and 6)");
  const Shown shown = ShownNetworks(findings);
  if (shown.results == nullptr) return document.AddParagraph("Not made in this run.");
  for (const ExampleWindow& example : shown.results->examples) {
    PlotPanel oblique{example.category + ", seen from above at an angle", "", "", {}, true, false},
        top{"from above", "x, m", "y, m", {}, true, false},
        side{"from the side", "x, m", "z, m", {}, true, false},
        error{"error", "seconds ahead", "m", {}, false, true};
    const auto add = [&](const std::string& name, const std::vector<Vec3>& path, int color,
                         bool dashed) {
      PlotSeries a{name, {}, dashed, false, color}, b = a, c = a;
      b.name = c.name = "";
      for (const Vec3& p : path) {
        a.points.emplace_back(0.87 * (p.x - p.y), 0.5 * (p.x + p.y) * 0.6 + 0.8 * p.z);
        b.points.emplace_back(p.x, p.y);
        c.points.emplace_back(p.x, p.z);
      }
      oblique.series.push_back(a), top.series.push_back(b), side.series.push_back(c);
    };
    add("seen", example.history, 7, false);
    add("flown", example.target, 0, false);
    int color = 1;
    for (const auto& [model, title] : shown.networks) {
      for (const ExampleForecast& forecast : example.forecasts) {
        if (forecast.model != model) continue;
        add(title, forecast.point, color, true);
        PlotSeries of{"", {}, false, false, color};
        for (std::size_t i = 0; i < std::min(forecast.point.size(), example.target.size()); ++i) {
          of.points.emplace_back(shown.results->protocol.window.dt_s * static_cast<double>(i + 1),
                                 Norm(forecast.point[i] - example.target[i]));
        }
        error.series.push_back(std::move(of));
      }
      ++color;
    }
    document.Add(Figure{"example-" + example.category,
                        fmt::format("{}: a window of a test flight, and its error by step; {}",
                                    example.category, shown.which),
                        PlotSvg({oblique, top, side, error})});
  }
}

void AddCalibrationSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Calibration curves");
  const Shown shown = ShownNetworks(findings);
  if (shown.results == nullptr) return document.AddParagraph("Not made in this run.");
  std::vector<PlotPanel> panels;
  for (const auto& [results, title] :
       {std::pair{shown.raw, "as trained"}, {shown.results, "calibrated"}}) {
    if (results == nullptr) continue;
    PlotPanel panel{title, "stated share", "share of outcomes inside", {}, false, true};
    panel.series.push_back({"", {{0, 0}, {1, 1}}, true, true, 7});
    int color = 0;
    for (const auto& [model, name] : shown.networks) {
      PlotSeries series{name, {}, false, false, color++};
      if (const ModelResult* found = results->Find(model)) {
        const std::vector<double>& share = found->groups.front().calibration;
        for (std::size_t i = 0; i < share.size(); ++i) {
          series.points.emplace_back(CalibrationLevel(static_cast<int>(i)), share[i]);
        }
      }
      panel.series.push_back(std::move(series));
    }
    panels.push_back(std::move(panel));
  }
  document.Add(Figure{
      "calibration",
      "Share of outcomes inside the mixture's own region, in position space, mean of 1 … 5 s: " +
          shown.which,
      PlotSvg(panels)});
}

}  // namespace aerocast
