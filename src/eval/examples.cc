// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/examples.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/data/resample.h"

namespace aerocast {
namespace {

constexpr double kLevel = 0.9;
constexpr int kDraws = 400;

std::size_t Size(int i) { return static_cast<std::size_t>(i); }

// A picture shows no tenth of a millimetre, and without the rest examples take less than half
// the bytes.
double Rounded(double metres) { return std::round(metres * 1e4) / 1e4; }
Vec3 Rounded(const Vec3& p) { return {Rounded(p.x), Rounded(p.y), Rounded(p.z)}; }

std::vector<ExampleMode> Modes(const Forecast& forecast, int steps) {
  std::vector<ExampleMode> modes;
  for (int k = 0; k < forecast.modes(); ++k) {
    if (forecast.weight(k) < kLeastExampleWeight) continue;
    ExampleMode mode{forecast.weight(k), {}};
    for (int i = 0; i < steps; ++i) mode.mean.push_back(Rounded(forecast.mean(k, i)));
    modes.push_back(std::move(mode));
  }
  std::ranges::stable_sort(modes, std::greater(), &ExampleMode::weight);
  return modes;
}

// The radius around the point path that holds 90 % of draws from the modes, step by step. A draw
// keeps its mode and its place in it at all steps, so that radii change smoothly.
std::vector<double> DrawnRadii(const Forecast& forecast, int steps) {
  struct Draw {
    int mode;
    Vec3 normal;
  };
  Rng rng(1);
  std::vector<Draw> draws(Size(kDraws));
  for (Draw& d : draws) {
    double u = rng.Uniform();
    for (d.mode = 0; d.mode + 1 < forecast.modes() && u >= forecast.weight(d.mode); ++d.mode) {
      u -= forecast.weight(d.mode);
    }
    d.normal.x = rng.Normal(), d.normal.y = rng.Normal(), d.normal.z = rng.Normal();
  }
  std::vector<double> radii, distance(draws.size());
  for (int i = 0; i < steps; ++i) {
    for (std::size_t n = 0; n < draws.size(); ++n) {
      const auto& [k, normal] = draws[n];
      const Vec3 drawn = forecast.mean(k, i) + Cholesky3(forecast.cov(k, i)).Apply(normal);
      distance[n] = Norm(drawn - forecast.point(i));
    }
    const auto at = distance.begin() + static_cast<std::ptrdiff_t>(kLevel * kDraws);
    std::nth_element(distance.begin(), at, distance.end());
    radii.push_back(*at);
  }
  return radii;
}

void AddRegion(const Forecast& forecast, int steps, ExampleForecast& example) {
  const std::vector<double>& levels = forecast.conformal.level;
  const auto level =
      std::ranges::find_if(levels, [](double stated) { return std::abs(stated - kLevel) < 1e-9; });
  if (level != levels.end()) {
    const std::ptrdiff_t row = (level - levels.begin()) * forecast.steps();
    const auto begin = forecast.conformal.radius.begin() + row;
    example.region = RegionKind::kConformal;
    example.radius_90.assign(begin, begin + steps);
  } else if (forecast.modes() > 0) {
    example.region = RegionKind::kDraws;
    example.radius_90 = DrawnRadii(forecast, steps);
  }
}

ExampleForecast Describe(const std::string& model, const Forecast& forecast, int horizon_steps) {
  ExampleForecast example;
  example.model = model, example.quality = forecast.quality;
  if (forecast.quality == Quality::kNone) return example;
  const int steps = std::min(forecast.steps(), horizon_steps);
  for (int i = 0; i < steps; ++i) example.point.push_back(Rounded(forecast.point(i)));
  example.modes = Modes(forecast, steps);
  AddRegion(forecast, steps, example);
  for (double& r : example.radius_90) r = Rounded(r);
  return example;
}

ExampleWindow Look(const FlightWindows& windows, std::uint32_t i,
                   std::span<const ForecastSource* const> sources, const WindowSpec& window) {
  const Recording& flight = *windows.flight;
  std::vector<Observation> seen;
  const History history = HistoryAt(windows, i, window.history_s, seen);
  ExampleWindow example{flight.id, flight.category, flight.samples[i].t_ns, {}, {}, {}};
  std::vector<Vec3> grid(Size(window.history_steps()) + 1);
  std::vector<std::uint8_t> present(grid.size());
  ResampleHistory(history, window.dt_s, window.max_gap_s, grid, present);
  for (std::size_t k = 0; k < grid.size(); ++k) {
    if (present[k] != 0) example.history.push_back(Rounded(grid[k]));
  }
  example.target.resize(Size(window.horizon_steps()));
  AEROCAST_CHECK(TargetsAt(flight, i, window, example.target));
  for (Vec3& p : example.target) p = Rounded(p);
  for (const ForecastSource* source : sources) {
    Forecast forecast(RoomFor(*source));
    if (!source->MakeReader()->Read(flight, i, history, forecast)) continue;
    example.forecasts.push_back(Describe(source->info().name, forecast, window.horizon_steps()));
  }
  return example;
}

}  // namespace

std::string_view RegionKindName(RegionKind kind) {
  switch (kind) {
    case RegionKind::kNone:
      return "none";
    case RegionKind::kConformal:
      return "conformal";
    case RegionKind::kDraws:
      return "draws";
  }
  return "none";
}

std::vector<ExampleWindow> MakeExamples(std::span<const ForecastSource* const> sources,
                                        std::span<const FlightWindows> flights,
                                        const WindowSpec& window, int count) {
  std::vector<ExampleWindow> examples;
  for (const FlightWindows& windows : flights) {
    const auto same = [&](const ExampleWindow& e) {
      return e.category == windows.flight->category;
    };
    if (windows.t0.empty() || std::ranges::any_of(examples, same)) continue;
    if (static_cast<int>(examples.size()) >= count) break;
    examples.push_back(Look(windows, windows.t0[windows.t0.size() / 2], sources, window));
  }
  return examples;
}

}  // namespace aerocast
