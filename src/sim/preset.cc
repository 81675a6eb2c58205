// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/preset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/parallel.h"
#include "src/data/category.h"
#include "src/data/windows.h"
#include "src/sim/flight.h"
#include "src/sim/tune.h"

namespace aerocast {
namespace {

constexpr std::size_t kNine = kCategories.size();
constexpr double kGeneratedShare = 43.0 / 57.0;      // of the real windows, balanced preset
constexpr std::size_t kBalancedFlightWindows = 380;  // 45 s
constexpr double kSpread = 0.25;                     // targets reach this far around their mean
constexpr double kNearMaximum = 0.03;                // m/s: a real flight has the table's peak
constexpr double kAirborneMarginM = 0.05;
// Draws of one preset never meet plain flights (purpose 0) or another preset's.
constexpr std::uint64_t kPurposeStep = 1 << 16;

using Counts = std::array<std::size_t, kNine>;

// What the real recordings bring.
std::array<PresetRow, kNine> CountReal(std::span<const Recording* const> real,
                                       const PresetOptions& options) {
  std::vector<FlightSpeeds> speeds(real.size());
  ParallelFor(real.size(), options.threads, [&](std::size_t i, int) {
    const Recording& flight = *real[i];
    if (CategoryIndex(flight.category) < 0) return;
    speeds[i] = MeasureSpeeds(flight, CutWindows(flight, PaperWindows(), options.min_z));
  });
  std::array<PresetRow, kNine> rows;
  for (std::size_t c = 0; c < kNine; ++c) rows[c].category = kCategories[c].name;
  for (std::size_t i = 0; i < real.size(); ++i) {
    if (speeds[i].windows == 0) continue;
    PresetRow& row = rows[static_cast<std::size_t>(CategoryIndex(real[i]->category))];
    ++row.real_recordings;
    row.real += speeds[i];
  }
  return rows;
}

Counts PaperWindowsNeeded(const std::array<PresetRow, kNine>& rows) {
  Counts needed{};
  for (std::size_t c = 0; c < kNine; ++c) {
    needed[c] = kPaperTable[c].windows - std::min(kPaperTable[c].windows, rows[c].real.windows);
  }
  return needed;
}

// One flight for every category in need, then each further one to where flights are longest.
Counts PaperFlights(const Counts& windows, std::size_t real_recordings) {
  Counts flights{};
  std::size_t given = 0;
  for (std::size_t c = 0; c < kNine; ++c) given += flights[c] = windows[c] > 0 ? 1 : 0;
  const std::size_t wanted = kPaperRecordings - std::min(kPaperRecordings, real_recordings);
  for (; given > 0 && given < wanted; ++given) {
    std::size_t longest = 0;
    const auto length = [&](std::size_t c) {
      return flights[c] == 0 ? 0.0
                             : static_cast<double>(windows[c]) / static_cast<double>(flights[c]);
    };
    for (std::size_t c = 1; c < kNine; ++c) {
      if (length(c) > length(longest)) longest = c;
    }
    ++flights[longest];
  }
  return flights;
}

// Raises the lowest categories to one level until `budget` windows are spent.
void FillFromBelow(const std::array<PresetRow, kNine>& rows, std::size_t budget, Counts& needed) {
  std::size_t level = 0;
  const auto cost = [&](std::size_t to) {
    std::size_t sum = 0;
    for (const PresetRow& row : rows) {
      const std::size_t have = row.real.windows;
      if (have > 0 && have < to) sum += to - have;
    }
    return sum;
  };
  while (cost(level + 1) <= budget) ++level;
  for (std::size_t c = 0; c < kNine; ++c) {
    const std::size_t have = rows[c].real.windows;
    if (have > 0 && have < level) needed[c] = level - have;
  }
}

Counts BalancedWindowsNeeded(const std::array<PresetRow, kNine>& rows) {
  std::size_t real = 0, absent = 0;
  for (const PresetRow& row : rows) {
    real += row.real.windows;
    absent += row.real.windows == 0 ? 1 : 0;
  }
  const auto generated =
      static_cast<std::size_t>(std::llround(static_cast<double>(real) * kGeneratedShare));
  // A ninth each for what has no real flights, unless there is so much of it that less is left.
  std::size_t ninth = (real + generated) / kNine;
  if (absent > 0) ninth = std::min(ninth, generated / absent);
  Counts needed{};
  for (std::size_t c = 0; c < kNine; ++c) needed[c] = rows[c].real.windows == 0 ? ninth : 0;
  FillFromBelow(rows, generated - absent * ninth, needed);
  return needed;
}

Counts BalancedFlights(const Counts& windows) {
  Counts flights{};
  for (std::size_t c = 0; c < kNine; ++c) {
    flights[c] = (windows[c] + kBalancedFlightWindows - 1) / kBalancedFlightWindows;
  }
  return flights;
}

// One flight to be made.
struct Job {
  FlightKey key;
  std::size_t windows = 0;
  SpeedGoal goal;
  TunedFlight flight;
};

std::vector<Job> MakeJobs(Preset preset, const PresetOptions& options, const Counts& windows,
                          const Counts& flights, const std::array<PresetRow, kNine>& rows) {
  std::vector<Job> jobs;
  for (std::size_t c = 0; c < kNine; ++c) {
    // Number 0 carries the maximum when no real flight does.
    const bool peak_missing = rows[c].real.max < kPaperTable[c].max - kNearMaximum;
    for (std::size_t n = 0; n < flights[c]; ++n) {
      Job job;
      const std::uint64_t purpose = preset == Preset::kPaper ? kPurposeStep : 2 * kPurposeStep;
      job.key = {options.seed, static_cast<int>(c), n, purpose};
      job.windows = windows[c] / flights[c] + (n < windows[c] % flights[c] ? 1 : 0);
      const bool peak = n == 0 && peak_missing && flights[c] > 1;
      job.goal.kind = peak ? SpeedGoal::Kind::kPeak : SpeedGoal::Kind::kMean;
      job.goal.value = job.goal.cap = kPaperTable[c].max;
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

void Tune(std::vector<Job>& jobs, SpeedGoal::Kind kind, int threads) {
  std::vector<Job*> mine;
  for (Job& job : jobs) {
    if (job.goal.kind == kind) mine.push_back(&job);
  }
  ParallelFor(mine.size(), threads, [&](std::size_t i, int) {
    mine[i]->flight = TuneFlight(mine[i]->key, mine[i]->windows, mine[i]->goal);
  });
}

// Spreads the mean targets of a category so that real, peak and these flights together have the
// table's mean.
void SetMeanTargets(std::size_t c, const PresetRow& row, std::vector<Job>& jobs) {
  std::vector<Job*> open;
  std::size_t windows = 0;
  FlightSpeeds have = row.real;
  for (Job& job : jobs) {
    if (job.key.category != static_cast<int>(c)) continue;
    if (job.goal.kind == SpeedGoal::Kind::kPeak) {
      have += job.flight.speeds;
    } else {
      open.push_back(&job), windows += job.windows;
    }
  }
  if (open.empty()) return;
  const double table = kPaperTable[c].mean_rms;
  const double total = table * static_cast<double>(have.windows + windows);
  const double mean =
      std::clamp((total - have.rms_sum) / static_cast<double>(windows), 0.55 * table, 1.35 * table);
  const auto n = static_cast<double>(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const double place = (2 * static_cast<double>(i) + 1) / n - 1;  // -1 ... 1, zero on average
    open[i]->goal.value = mean * (1 + kSpread * place);
  }
}

PresetResult Finish(std::vector<Job> jobs, const PresetOptions& options,
                    const std::array<PresetRow, kNine>& rows) {
  PresetResult result;
  result.summary.rows = rows;
  result.generated.resize(jobs.size());
  Box space = LimitsOf(Regime::kArena).space;
  space.low.z = std::max(space.low.z, options.min_z + kAirborneMarginM);
  ParallelFor(jobs.size(), options.threads, [&](std::size_t i, int) {
    Flight flight{std::move(jobs[i].flight.truth), {}};
    Place(jobs[i].flight.key, space, flight.truth);
    result.generated[i] = Record(jobs[i].flight.key, std::move(flight), options.noise_m);
  });
  for (const Job& job : jobs) {
    PresetRow& row = result.summary.rows[static_cast<std::size_t>(job.key.category)];
    ++row.generated_recordings;
    row.generated += job.flight.speeds;
  }
  return result;
}

Status CheckOptions(const PresetOptions& options) {
  if (!(options.min_z <= 0.5)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("preset: min_z must be at most 0.5 m, not {}", options.min_z)};
  }
  if (options.noise_m && !(*options.noise_m >= 0 && *options.noise_m <= 10)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("preset: the noise must be 0 to 10 m, not {}", *options.noise_m)};
  }
  return {};
}

}  // namespace

std::optional<Preset> PresetFromName(std::string_view name) {
  if (name == "paper") return Preset::kPaper;
  if (name == "balanced") return Preset::kBalanced;
  return std::nullopt;
}

PresetRow PresetSummary::Total() const {
  PresetRow total;
  total.category = "total";
  for (const PresetRow& row : rows) {
    total.real_recordings += row.real_recordings;
    total.generated_recordings += row.generated_recordings;
    total.real += row.real;
    total.generated += row.generated;
  }
  return total;
}

std::vector<std::size_t> KeptReal(std::span<const Recording* const> real, double min_z) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < real.size(); ++i) {
    if (CategoryIndex(real[i]->category) < 0) continue;
    if (!CutWindows(*real[i], PaperWindows(), min_z).empty()) kept.push_back(i);
  }
  return kept;
}

Result<PresetResult> GeneratePreset(Preset preset, std::span<const Recording* const> real,
                                    const PresetOptions& options) {
  const Status valid = CheckOptions(options);
  if (!valid.ok()) return valid.error();
  const std::array<PresetRow, kNine> rows = CountReal(real, options);
  std::size_t real_recordings = 0;
  for (const PresetRow& row : rows) real_recordings += row.real_recordings;
  if (preset == Preset::kBalanced && real_recordings == 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "preset: \"balanced\" fills up real flights and needs some of the nine "
                 "categories with airborne windows; use \"paper\" without them"};
  }

  const bool paper = preset == Preset::kPaper;
  const Counts windows = paper ? PaperWindowsNeeded(rows) : BalancedWindowsNeeded(rows);
  const Counts flights = paper ? PaperFlights(windows, real_recordings) : BalancedFlights(windows);
  std::vector<Job> jobs = MakeJobs(preset, options, windows, flights, rows);
  Tune(jobs, SpeedGoal::Kind::kPeak, options.threads);
  for (std::size_t c = 0; c < kNine; ++c) SetMeanTargets(c, rows[c], jobs);
  Tune(jobs, SpeedGoal::Kind::kMean, options.threads);
  return Finish(std::move(jobs), options, rows);
}

}  // namespace aerocast
