// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/replay.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "src/data/resample.h"
#include "src/forecast/kinematic.h"

namespace aerocast {
namespace {

constexpr double kMaxGapS = 0.25;  // longest gap that is interpolated
// A past segment is alike when it lies within this share of the segment's own size, or within what
// noise alone does to two segments.
constexpr double kAlike = 0.35;

struct ReplayWorkspace final : Workspace {
  explicit ReplayWorkspace(std::size_t points) : grid(points), present(points) {}
  std::vector<Vec3> grid;
  std::vector<std::uint8_t> present;
};

// Moves a point `lag` steps later: p_later = yaw * (p - from) + to.
struct Match {
  std::size_t lag = 0;
  Yaw yaw;
  Vec3 from, to;
  double mean_square = 0;  // of what is left between the segments

  Vec3 operator()(const Vec3& p) const { return yaw * (p - from) + to; }
};

// The yaw that lays the segment ending at grid[end - lag] best onto the one ending at grid[end],
// ends on each other.
Match Lay(std::span<const Vec3> grid, std::size_t segment, std::size_t lag) {
  const std::size_t end = grid.size() - 1;
  Match match;
  match.lag = lag, match.from = grid[end - lag], match.to = grid[end];
  double dot = 0, cross = 0;
  for (std::size_t i = 1; i <= segment; ++i) {
    const Vec3 a = grid[end - lag - i] - match.from, b = grid[end - i] - match.to;
    dot += a.x * b.x + a.y * b.y;
    cross += a.x * b.y - a.y * b.x;
  }
  const double length = std::hypot(dot, cross);
  if (length > 0) match.yaw = {dot / length, cross / length};
  double sum = 0;
  for (std::size_t i = 1; i <= segment; ++i) {
    sum += SquaredNorm(match(grid[end - lag - i]) - grid[end - i]);
  }
  match.mean_square = sum / static_cast<double>(segment);
  return match;
}

// Mean square distance of the newest segment from its end.
double SquaredSize(std::span<const Vec3> grid, std::size_t segment) {
  double sum = 0;
  for (std::size_t i = 1; i <= segment; ++i) {
    sum += SquaredNorm(grid[grid.size() - 1 - i] - grid.back());
  }
  return sum / static_cast<double>(segment);
}

// The best match among the stretches of the past without a hole, if any is alike.
std::optional<Match> FindMatch(std::span<const Vec3> grid, std::span<const std::uint8_t> present,
                               double dt_s, double noise_m) {
  const auto segment = static_cast<std::size_t>(std::lround(kReplaySegmentS / dt_s));
  const auto least = static_cast<std::size_t>(std::max(1L, std::lround(kReplayLeastLagS / dt_s)));
  std::size_t known = 0;  // points up to the newest without a hole
  while (known < grid.size() && present[grid.size() - 1 - known] != 0) ++known;
  std::optional<Match> best;
  for (std::size_t lag = least; lag + segment < known; ++lag) {
    const Match match = Lay(grid, segment, lag);
    if (!best || match.mean_square < best->mean_square) best = match;
  }
  if (!best) return std::nullopt;
  // Each point of both segments and both ends are noisy in three directions.
  const double noise = 12 * noise_m * noise_m;
  const double alike = std::max(kAlike * kAlike * SquaredSize(grid, segment), noise);
  return best->mean_square <= alike ? best : std::nullopt;
}

}  // namespace

std::unique_ptr<Workspace> ReplayForecaster::DoMakeWorkspace(int) const {
  return std::make_unique<ReplayWorkspace>(
      static_cast<std::size_t>(std::lround(info().history_s / info().dt_s)) + 1);
}

Quality ReplayForecaster::DoPredict(const History& history, Workspace& workspace,
                                    Forecast& forecast) const noexcept {
  auto& scratch = static_cast<ReplayWorkspace&>(workspace);
  const std::span<const Vec3> grid = scratch.grid;
  ResampleHistory(history, forecast.dt_s, kMaxGapS, scratch.grid, scratch.present);
  const std::optional<Match> match =
      FindMatch(grid, scratch.present, forecast.dt_s, history.noise_m);
  if (!match) return ForecastKinematic(Kinematics::kCtrv, spread_, history, forecast);
  for (int i = 0; i < forecast.steps(); ++i) {
    const auto ahead = static_cast<std::size_t>(i) + 1;
    const Vec3& past = ahead <= match->lag
                           ? grid[grid.size() - 1 - match->lag + ahead]
                           : forecast.point(static_cast<int>(ahead - match->lag) - 1);
    forecast.point(i) = (*match)(past);
  }
  WriteSingleMode(spread_, LookAt(history), forecast);
  return Quality::kOk;
}

}  // namespace aerocast
