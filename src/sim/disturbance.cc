// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/disturbance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/base/rng.h"

namespace aerocast {
namespace {

constexpr TimeNs kThinStepNs = 100'000'000;  // 10 Hz
constexpr double kNearestOutlierM = 0.5, kFarthestOutlierM = 3;

// A stream of random numbers for each fault of each recording.
enum class Fault : std::uint64_t { kNoise, kOutliers, kDrop };

Rng FaultRng(const Recording& recording, const Disturbance& disturbance, Fault fault) {
  return Rng(disturbance.seed, HashText(recording.id) ^ Mix64(static_cast<std::uint64_t>(fault)));
}

// Stamps of another pace, from the first one on. Two that become one nanosecond are one sample.
Recording ChangePace(const Recording& recording, double time_scale) {
  Recording changed = recording;
  if (time_scale == 1) return changed;
  changed.samples.clear(), changed.truth.clear();
  const TimeNs start = recording.samples.empty() ? 0 : recording.samples.front().t_ns;
  const double most = static_cast<double>(kLatestStampNs) - static_cast<double>(start);
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    Observation o = recording.samples[i];
    const double since = static_cast<double>(o.t_ns - start) / time_scale;
    o.t_ns = start + static_cast<TimeNs>(std::llround(std::min(since, most)));
    if (!changed.samples.empty() && o.t_ns <= changed.samples.back().t_ns) continue;
    changed.samples.push_back(o);
    if (recording.has_truth()) changed.truth.push_back(recording.truth[i]);
  }
  return changed;
}

void MoveFlight(Recording& flight, const Disturbance& d) {
  if (d.scale == 1 && d.yaw_deg == 0) return;
  const Yaw yaw = Yaw::FromAngle(d.yaw_deg * std::numbers::pi / 180);
  for (Observation& o : flight.samples) o.p_world = yaw * (o.p_world * d.scale);
  for (Vec3& p : flight.truth) p = yaw * (p * d.scale);
  flight.noise_m *= d.scale;
}

// Before the sensor fails: what it saw so far becomes the truth, unless better is known.
void KeepTruth(Recording& flight) {
  if (flight.has_truth()) return;
  for (const Observation& o : flight.samples) flight.truth.push_back(o.p_world);
}

void AddNoise(Recording& flight, const Disturbance& d) {
  if (d.noise_m == 0) return;
  KeepTruth(flight);
  Rng rng = FaultRng(flight, d, Fault::kNoise);
  for (Observation& o : flight.samples) {
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    o.p_world += d.noise_m * Vec3{x, y, z};
  }
  flight.noise_m = d.noise_stated ? std::hypot(flight.noise_m, d.noise_m) : 0;
}

Vec3 DrawDisplacement(Rng& rng) {
  const double z = rng.Uniform(-1, 1), angle = rng.Uniform(0, 2 * std::numbers::pi);
  const double across = std::sqrt(1 - z * z);
  const double length = rng.Uniform(kNearestOutlierM, kFarthestOutlierM);
  return length * Vec3{across * std::cos(angle), across * std::sin(angle), z};
}

void Displace(const Recording& flight, const Disturbance& d, std::vector<Observation>& seen) {
  if (d.outliers == 0) return;
  Rng rng = FaultRng(flight, d, Fault::kOutliers);
  for (Observation& o : seen) {
    const bool out = rng.Chance(d.outliers);
    const Vec3 displacement = DrawDisplacement(rng);
    if (out) o.p_world += displacement;
  }
}

// Thins to the first sample at or after every grid point, as CutWindows does, so that with even
// strides the sample at t0 takes its place among them; then drops.
void Drop(const Recording& flight, const Disturbance& d, std::vector<Observation>& seen) {
  if (d.drop == 0 || seen.empty()) return;
  Rng rng = FaultRng(flight, d, Fault::kDrop);
  const TimeNs start = seen.front().t_ns;
  std::vector<Observation> kept;
  TimeNs next = start;
  for (const Observation& o : seen) {
    if (o.t_ns < next) continue;
    next = start + ((o.t_ns - start) / kThinStepNs + 1) * kThinStepNs;
    if (!rng.Chance(d.drop)) kept.push_back(o);
  }
  seen = std::move(kept);
}

DisturbedFlight DisturbPaced(Recording paced, const Disturbance& d) {
  DisturbedFlight disturbed{std::move(paced), {}};
  Recording& flight = disturbed.flight;
  MoveFlight(flight, d);
  AddNoise(flight, d);
  if (d.outliers == 0 && d.drop == 0) return disturbed;
  disturbed.seen = flight.samples;
  Displace(flight, d, disturbed.seen);
  Drop(flight, d, disturbed.seen);
  return disturbed;
}

bool AllUsable(std::span<const Observation> samples) {
  return std::all_of(samples.begin(), samples.end(), IsUsable);
}

}  // namespace

Status Validate(const Disturbance& d) {
  const auto refuse = [](const char* what) {
    return Status(Error{ErrorCode::kInvalidArgument, std::string("disturbance: ") + what});
  };
  const auto within = [](double x, double low, double high) { return x >= low && x <= high; };
  if (!within(d.time_scale, 0.1, 10)) return refuse("the time scale must be 0.1 to 10");
  if (!within(d.scale, 0.01, 100)) return refuse("the scale must be 0.01 to 100");
  if (!within(d.yaw_deg, -360, 360)) return refuse("the yaw must be -360 to 360 degrees");
  if (!within(d.noise_m, 0, 100)) return refuse("the noise must be 0 to 100 m");
  if (!within(d.outliers, 0, 1)) return refuse("the share of outliers must be 0 to 1");
  if (!within(d.drop, 0, 1)) return refuse("the share of dropped observations must be 0 to 1");
  if (!d.noise_stated && d.noise_m == 0) {
    return refuse("there is no noise that could be left unstated");
  }
  return {};
}

std::string Describe(const Disturbance& d) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (d.time_scale != 1) add(fmt::format("flown {:g} times as fast", d.time_scale));
  if (d.scale != 1) add(fmt::format("scaled by {:g}", d.scale));
  if (d.yaw_deg != 0) add(fmt::format("turned by {:g} degrees", d.yaw_deg));
  if (d.noise_m != 0) {
    add(fmt::format("noise {:g} m ({}stated)", d.noise_m, d.noise_stated ? "" : "not "));
  }
  if (d.outliers != 0) add(fmt::format("{:g} % outliers", 100 * d.outliers));
  if (d.drop != 0) add(fmt::format("{:g} % of 10 Hz dropped", 100 * d.drop));
  if (d.random() && d.seed != Disturbance{}.seed) add(fmt::format("seed {}", d.seed));
  return text.empty() ? "none" : text;
}

DisturbedFlight Disturb(const Recording& recording, const Disturbance& disturbance) {
  return DisturbPaced(ChangePace(recording, disturbance.time_scale), disturbance);
}

Result<DisturbedFlights> DisturbFlights(std::span<const Recording* const> recordings,
                                        const Disturbance& disturbance, const WindowSpec& spec,
                                        double min_z) {
  if (const Status valid = Validate(disturbance); !valid.ok()) return valid.error();
  DisturbedFlights all;
  if (disturbance.none()) {
    all.windows = CutFlights(recordings, spec, min_z);
    return all;
  }
  all.flights.reserve(recordings.size());  // pointers into it stay
  for (const Recording* recording : recordings) {
    Recording paced = ChangePace(*recording, disturbance.time_scale);
    std::vector<std::uint32_t> t0 = CutWindows(paced, spec, min_z);
    if (t0.empty()) continue;
    DisturbedFlight& made = all.flights.emplace_back(DisturbPaced(std::move(paced), disturbance));
    if (!AllUsable(made.flight.samples) || !AllUsable(made.seen)) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("flight {}: disturbed ({}) it leaves the {:g} m around the origin in "
                      "which positions are taken",
                      recording->id, Describe(disturbance), kFarthestM)};
    }
    const bool faulty = disturbance.outliers != 0 || disturbance.drop != 0;
    all.windows.push_back({&made.flight, std::move(t0), faulty ? &made.seen : nullptr});
  }
  return all;
}

}  // namespace aerocast
