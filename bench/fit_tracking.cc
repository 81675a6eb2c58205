// SPDX-License-Identifier: BSD-3-Clause
//
// Fits the tracking model of the flight generator (src/sim/tracking.h) to real flights and prints
// the constants and the tracking error they reproduce, in Markdown:
//
//   fit_tracking data/nanobench
//
// Every candidate is judged free-running: the simulation gets the real set-points and the first
// measured state, and is compared with the measured positions to the end of the flight.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "src/base/parallel.h"
#include "src/data/category.h"
#include "src/sim/setpoint_log.h"

namespace aerocast {
namespace {

using Point = std::vector<double>;
using Cost = std::function<double(const Point&)>;

// Nelder and Mead (1965) with the usual coefficients, until the simplex is smaller than 1e-4 of
// its point.
Point Minimise(const Cost& cost, const Point& start) {
  struct Vertex {
    Point x;
    double f;
  };
  const std::size_t n = start.size();
  std::vector<Vertex> simplex = {{start, cost(start)}};
  for (std::size_t i = 0; i < n; ++i) {
    Point x = start;
    x[i] *= 1.15;
    simplex.push_back({x, cost(x)});
  }
  for (int round = 0; round < 200; ++round) {
    std::sort(simplex.begin(), simplex.end(),
              [](const Vertex& a, const Vertex& b) { return a.f < b.f; });
    Vertex &best = simplex.front(), &worst = simplex.back();
    double size = 0;
    Point centre(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) centre[i] += simplex[k].x[i] / static_cast<double>(n);
      size = std::max(size, std::abs(worst.x[i] / best.x[i] - 1));
    }
    if (size < 1e-4) break;
    const auto along = [&](double step) {
      Point x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = centre[i] + step * (worst.x[i] - centre[i]);
      return Vertex{x, cost(x)};
    };
    const Vertex reflected = along(-1);
    if (reflected.f < best.f) {
      const Vertex expanded = along(-2);
      worst = expanded.f < reflected.f ? expanded : reflected;
    } else if (reflected.f < simplex[n - 1].f) {
      worst = reflected;
    } else {
      const Vertex contracted = along(reflected.f < worst.f ? -0.5 : 0.5);
      if (contracted.f < std::min(worst.f, reflected.f)) {
        worst = contracted;
        continue;
      }
      for (std::size_t k = 1; k <= n; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
          simplex[k].x[i] = 0.5 * (simplex[k].x[i] + best.x[i]);
        }
        simplex[k].f = cost(simplex[k].x);
      }
    }
  }
  return std::min_element(simplex.begin(), simplex.end(),
                          [](const Vertex& a, const Vertex& b) { return a.f < b.f; })
      ->x;
}

using Segments = std::vector<TrackingSegment>;

TrackingErrors Total(const Segments& segments, const AxisGains& gains,
                     std::string_view category = {}) {
  std::vector<TrackingErrors> parts(segments.size());
  ParallelFor(segments.size(), 0, [&](std::size_t i, int) {
    if (category.empty() || segments[i].category == category) {
      parts[i] = CompareTracking(segments[i], gains);
    }
  });
  TrackingErrors total;
  for (const TrackingErrors& part : parts) total += part;
  return total;
}

double VerticalRms(const Segments& segments, const AxisGains& gains) {
  double sum = 0;
  std::size_t samples = 0;
  for (const TrackingSegment& segment : segments) {
    sum += VerticalResidual(segment, gains, samples);
  }
  return std::sqrt(sum / static_cast<double>(samples));
}

AxisGains FitHorizontal(const Segments& segments, double vmax, const AxisGains& from) {
  const bool free = vmax <= 0;  // the limit is fitted too
  const auto gains = [=](const Point& x) { return AxisGains{x[0], x[1], free ? x[2] : vmax}; };
  const Cost cost = [&](const Point& x) {
    if (*std::min_element(x.begin(), x.end()) <= 0) return 1e9;
    return Total(segments, gains(x)).ResidualRmsPerAxis();
  };
  return gains(Minimise(cost, free ? Point{from.kp, from.kv, from.vmax} : Point{from.kp, from.kv}));
}

AxisGains FitVertical(const Segments& segments) {
  const Cost cost = [&](const Point& x) {
    if (x[0] <= 0 || x[1] <= 0) return 1e9;
    return VerticalRms(segments, {x[0], x[1], 1e3});
  };
  const Point best = Minimise(cost, {2, 3});
  return {best[0], best[1], 1e3};
}

struct Spread {
  double mean = 0, std = 0;
};
Spread SpreadOf(const std::vector<double>& values) {
  Spread s;
  for (const double v : values) s.mean += v / static_cast<double>(values.size());
  for (const double v : values) {
    s.std += (v - s.mean) * (v - s.mean) / static_cast<double>(values.size());
  }
  s.std = std::sqrt(s.std);
  return s;
}

void PrintFlightSpread(const Segments& segments, const AxisGains& all) {
  std::vector<double> kp, kv;
  double square = 0;
  for (const TrackingSegment& segment : segments) {
    const AxisGains own = FitHorizontal({segment}, all.vmax, all);
    const double rms = CompareTracking(segment, own).ResidualRmsPerAxis();
    kp.push_back(own.kp), kv.push_back(own.kv), square += rms * rms;
  }
  const Spread p = SpreadOf(kp), v = SpreadOf(kv);
  fmt::print("| one fit per flight | {:.2f} ± {:.2f} | {:.2f} ± {:.2f} | {:.3f} | {:.3f} |\n",
             p.mean, p.std, v.mean, v.std, all.vmax,
             std::sqrt(square / static_cast<double>(segments.size())));
}

void PrintGains(const char* name, const AxisGains& gains, double residual) {
  const std::string vmax = gains.vmax > 100 ? "none" : fmt::format("{:.3f}", gains.vmax);
  fmt::print("| {} | {:.3f} | {:.3f} | {} | {:.3f} |\n", name, gains.kp, gains.kv, vmax, residual);
}

void PrintErrors(const Segments& segments, const AxisGains& fitted) {
  fmt::print("\n| category | flights | measured (m) | fitted (m) | built in (m) |\n");
  fmt::print("|---|---|---|---|---|\n");
  for (std::size_t c = 0; c <= kCategories.size(); ++c) {
    const bool all = c == kCategories.size();
    const std::string_view name = all ? std::string_view() : kCategories[c].name;
    const auto flights = std::count_if(segments.begin(), segments.end(), [&](const auto& segment) {
      return all || segment.category == name;
    });
    if (flights == 0) continue;
    const TrackingErrors errors = Total(segments, fitted, name);
    fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n", all ? "all" : name, flights,
               errors.MeasuredRms(), errors.SimulatedRms(),
               Total(segments, kFittedHorizontal, name).SimulatedRms());
  }
}

int Run(const std::string& directory) {
  const auto logs = ReadSetpointLogs(directory);
  if (!logs.ok()) {
    fmt::print(stderr, "fit_tracking: {}\n", logs.error().message);
    return 1;
  }
  const Segments segments = CutTrackingSegments(*logs);
  double seconds = 0;
  for (const TrackingSegment& segment : segments) {
    seconds += static_cast<double>(segment.position.size()) * kSimStepS;
  }
  fmt::print("{} flights, {:.0f} s of tracked set-points\n\n", segments.size(), seconds);
  fmt::print("| model | kp (1/s) | kv (1/s) | vmax (m/s) | residual RMS per axis (m) |\n");
  fmt::print("|---|---|---|---|---|\n");
  const AxisGains start{2, 3, 1.3};
  const AxisGains linear = FitHorizontal(segments, 1e3, start);
  PrintGains("linear", linear, Total(segments, linear).ResidualRmsPerAxis());
  const AxisGains cascade = FitHorizontal(segments, 0, start);
  PrintGains("velocity-limited cascade", cascade, Total(segments, cascade).ResidualRmsPerAxis());
  PrintGains("built in", kFittedHorizontal,
             Total(segments, kFittedHorizontal).ResidualRmsPerAxis());
  PrintFlightSpread(segments, cascade);
  const AxisGains vertical = FitVertical(segments);
  PrintGains("vertical, linear", vertical, VerticalRms(segments, vertical));
  PrintGains("vertical, built in", kFittedVertical, VerticalRms(segments, kFittedVertical));
  PrintErrors(segments, cascade);
  return 0;
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fit_tracking DIRECTORY   (of NanoBench .csv and _metadata.yaml files)\n",
               stderr);
    return 2;
  }
  return aerocast::Run(argv[1]);
}
