// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/windows.h"

#include <algorithm>
#include <string>

namespace aerocast {
namespace {

Vec3 Interpolate(const Vec3& a, const Vec3& b, TimeNs t, TimeNs ta, TimeNs tb) {
  return a + (b - a) * (static_cast<double>(t - ta) / static_cast<double>(tb - ta));
}

// First sample at or after t, from `from` on.
std::size_t LowerBound(const std::vector<Observation>& samples, TimeNs t, std::size_t from = 0) {
  const auto it =
      std::lower_bound(samples.begin() + static_cast<std::ptrdiff_t>(from), samples.end(), t,
                       [](const Observation& o, TimeNs x) { return o.t_ns < x; });
  return static_cast<std::size_t>(it - samples.begin());
}

bool WholeMultiple(double length, double step) {
  const double n = length / step;
  return std::abs(n - std::round(n)) < 1e-6;
}

}  // namespace

Status Validate(const WindowSpec& spec) {
  const auto refuse = [](const char* what) {
    return Status(Error{ErrorCode::kInvalidArgument, std::string("window: ") + what});
  };
  if (!(spec.dt_s >= 1e-3 && spec.dt_s <= 10)) return refuse("dt must be 0.001 to 10 s");
  if (!(spec.horizon_s >= spec.dt_s)) return refuse("the horizon must be at least one dt");
  if (!(spec.history_s >= spec.dt_s)) return refuse("the history must be at least one dt");
  if (!(spec.min_history_s >= 0)) return refuse("the least history cannot be negative");
  if (!WholeMultiple(spec.history_s, spec.dt_s) || !WholeMultiple(spec.horizon_s, spec.dt_s)) {
    return refuse("history and horizon must be whole multiples of dt");
  }
  if (spec.history_s / spec.dt_s > 1000.5 || spec.horizon_s / spec.dt_s > 1000.5) {
    return refuse("history and horizon may have at most 1000 steps each");
  }
  if (!(spec.min_history_s / spec.dt_s <= 1000.5)) {
    return refuse("the least history may have at most 1000 steps");
  }
  if (!(spec.max_gap_s > 0)) return refuse("the longest gap must be positive");
  if (spec.stride < 1) return refuse("the stride must be at least 1");
  return {};
}

std::vector<std::uint32_t> CutWindows(const Recording& recording, const WindowSpec& spec,
                                      double min_z) {
  const std::vector<Observation>& samples = recording.samples;
  std::vector<std::uint32_t> windows;
  if (samples.empty()) return windows;
  // As far as TargetsAt will ask for: rounding may make that differ from horizon_s.
  const TimeNs after = DurationNs(spec.horizon_steps() * spec.dt_s);
  const TimeNs before = DurationNs(spec.min_history_s);
  const TimeNs max_gap = DurationNs(spec.max_gap_s), step = DurationNs(spec.dt_s * spec.stride);

  // run_start[i]: the oldest sample from which everything up to i is airborne and without a gap.
  std::vector<std::uint32_t> run_start(samples.size());
  std::uint32_t start = 0;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (i > 0 && samples[i].t_ns - samples[i - 1].t_ns > max_gap) start = i;
    if (!(recording.target(i).z > min_z)) start = i + 1;
    run_start[i] = start;
  }

  std::size_t last = samples.size();  // the window before, so that none is cut twice
  std::size_t i = 0;
  for (TimeNs t = samples.front().t_ns + before; t <= samples.back().t_ns - after; t += step) {
    i = LowerBound(samples, t, i);
    const TimeNs t0 = samples[i].t_ns;
    t += (t0 - t) / step * step;  // over a gap in one stride, however long it is
    if (i == last) continue;
    last = i;
    const std::size_t end = LowerBound(samples, t0 + after, i);  // first sample at or behind it
    if (end == samples.size()) break;
    const std::size_t begin = run_start[end];
    if (begin <= i && samples[begin].t_ns <= t0 - before) {
      windows.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return windows;
}

std::vector<FlightWindows> CutFlights(std::span<const Recording* const> flights,
                                      const WindowSpec& spec, double min_z) {
  std::vector<FlightWindows> cut;
  for (const Recording* flight : flights) {
    FlightWindows windows{flight, CutWindows(*flight, spec, min_z)};
    if (!windows.t0.empty()) cut.push_back(std::move(windows));
  }
  return cut;
}

std::size_t CountWindows(std::span<const FlightWindows> flights) {
  std::size_t count = 0;
  for (const FlightWindows& f : flights) count += f.t0.size();
  return count;
}

History HistoryAt(const Recording& recording, std::size_t i, double history_s) {
  const std::vector<Observation>& samples = recording.samples;
  const TimeNs oldest = samples[i].t_ns - DurationNs(history_s);
  std::size_t begin = LowerBound(samples, oldest);
  if (begin > 0 && samples[begin].t_ns > oldest) --begin;
  return {recording.id, std::span(samples).subspan(begin, i + 1 - begin), recording.noise_m};
}

History HistoryAt(const FlightWindows& windows, std::size_t i, double history_s,
                  std::vector<Observation>& buffer) {
  const Recording& flight = *windows.flight;
  if (windows.seen == nullptr) return HistoryAt(flight, i, history_s);
  const Observation& newest = flight.samples[i];
  const TimeNs oldest = newest.t_ns - DurationNs(history_s);
  const std::vector<Observation>& seen = *windows.seen;
  std::size_t begin = LowerBound(seen, oldest);
  const std::size_t end = LowerBound(seen, newest.t_ns, begin);
  if (begin > 0 && (begin == end || seen[begin].t_ns > oldest)) --begin;
  buffer.assign(seen.begin() + static_cast<std::ptrdiff_t>(begin),
                seen.begin() + static_cast<std::ptrdiff_t>(end));
  buffer.push_back(newest);
  return {flight.id, buffer, flight.noise_m};
}

bool TargetsAt(const Recording& recording, std::size_t i, const WindowSpec& spec,
               std::span<Vec3> targets) {
  const std::vector<Observation>& samples = recording.samples;
  const TimeNs t0 = samples[i].t_ns, max_gap = DurationNs(spec.max_gap_s);
  std::size_t b = i;  // the sample at or behind the target
  for (std::size_t step = 0; step < targets.size(); ++step) {
    const TimeNs t = t0 + DurationNs(static_cast<double>(step + 1) * spec.dt_s);
    while (b < samples.size() && samples[b].t_ns < t) ++b;
    if (b == samples.size()) return false;
    if (samples[b].t_ns == t) {
      targets[step] = recording.target(b);
      continue;
    }
    const TimeNs ta = samples[b - 1].t_ns, tb = samples[b].t_ns;
    if (tb - ta > max_gap) return false;
    targets[step] = Interpolate(recording.target(b - 1), recording.target(b), t, ta, tb);
  }
  return true;
}

}  // namespace aerocast
