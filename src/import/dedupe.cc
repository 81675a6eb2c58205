// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/dedupe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "src/base/sha256.h"
#include "src/import/natural.h"

namespace aerocast {
namespace {

constexpr TimeNs kFirstAbsolute = 1'000'000'000 * kNsPerSecond;  // September 2001
constexpr TimeNs kSameTime = kNsPerSecond / 1000;
constexpr int kComparedInstants = 65;

TimeNs Start(const Recording& r) { return r.samples.front().t_ns; }
TimeNs End(const Recording& r) { return r.samples.back().t_ns; }

bool HasAbsoluteClock(const Recording& r) {
  return !r.samples.empty() && Start(r) >= kFirstAbsolute;
}

// Linear between samples; t lies within the recording.
Vec3 PositionAt(const Recording& r, TimeNs t) {
  const auto after =
      std::lower_bound(r.samples.begin(), r.samples.end(), t,
                       [](const Observation& o, TimeNs stamp) { return o.t_ns < stamp; });
  if (after == r.samples.begin() || after->t_ns == t) return after->p_world;
  const auto before = after - 1;
  const double share =
      static_cast<double>(t - before->t_ns) / static_cast<double>(after->t_ns - before->t_ns);
  return before->p_world + (after->p_world - before->p_world) * share;
}

double MedianDistance(const Recording& a, const Recording& b, TimeNs from, TimeNs to) {
  std::vector<double> distances;
  for (int i = 0; i < kComparedInstants; ++i) {
    const TimeNs t = from + (to - from) / (kComparedInstants - 1) * i;
    distances.push_back(Norm(PositionAt(a, t) - PositionAt(b, t)));
  }
  const auto middle = distances.begin() + kComparedInstants / 2;
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

// Why b is the flight that a is, or nothing.
std::optional<std::string> OverlapReason(const Recording& a, const Recording& b,
                                         const DedupeOptions& options) {
  if (!HasAbsoluteClock(a) || !HasAbsoluteClock(b)) return std::nullopt;
  if (a.object != b.object || a.source != b.source) return std::nullopt;
  const TimeNs from = std::max(Start(a), Start(b)), to = std::min(End(a), End(b));
  if (from >= to) return std::nullopt;
  if (std::isfinite(options.same_place_m) &&
      !(MedianDistance(a, b, from, to) <= options.same_place_m)) {
    return std::nullopt;
  }
  return fmt::format("overlapping clock, {:.3f} s in common", DurationS(to - from));
}

struct Overlap {
  std::size_t with;
  std::string reason;
};

std::optional<Overlap> FindOverlap(const std::vector<Recording>& recordings,
                                   const std::vector<std::size_t>& kept, const Recording& r,
                                   const DedupeOptions& options) {
  for (const std::size_t k : kept) {
    if (std::optional<std::string> reason = OverlapReason(recordings[k], r, options)) {
      return Overlap{k, std::move(*reason)};
    }
  }
  return std::nullopt;
}

// A recording seen already, and the kept one that stands for it (itself, or its longer twin).
struct Candidate {
  std::size_t index, kept_as;
};

// For recordings with equal positions: whether they were there at the same relative times.
bool SameTiming(const Recording& a, const Recording& b) {
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    const TimeNs difference = (a.samples[i].t_ns - Start(a)) - (b.samples[i].t_ns - Start(b));
    if (std::abs(difference) > kSameTime) return false;
  }
  return true;
}

// Longest first, then by name: whoever comes first is kept.
std::vector<std::size_t> Precedence(const std::vector<Recording>& recordings) {
  std::vector<std::size_t> order(recordings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [](const Recording& r) { return r.samples.empty() ? 0 : End(r) - Start(r); };
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Recording &a = recordings[i], &b = recordings[j];
    if (length(a) != length(b)) return length(a) > length(b);
    if (a.id != b.id) return NaturalLess(a.id, b.id);
    return i < j;
  });
  return order;
}

}  // namespace

std::string Sentence(const DroppedRecording& dropped) {
  return dropped.id + " is " + dropped.duplicate_of + " again and was dropped (" + dropped.reason +
         ")";
}

std::string PositionHash(const Recording& recording) {
  Sha256 hash;
  for (const Observation& o : recording.samples) {
    const std::int64_t sample[3] = {std::llround(o.p_world.x * 1e7),
                                    std::llround(o.p_world.y * 1e7),
                                    std::llround(o.p_world.z * 1e7)};
    hash.Update(sample, sizeof sample);
  }
  return hash.Hex();
}

DedupeResult Dedupe(std::vector<Recording> recordings, const DedupeOptions& options) {
  DedupeResult result;
  std::map<std::string, std::vector<Candidate>> by_content;
  std::vector<std::size_t> kept;
  for (const std::size_t i : Precedence(recordings)) {
    const Recording& r = recordings[i];
    std::vector<Candidate>& alike = by_content[PositionHash(r)];
    const auto same = std::find_if(alike.begin(), alike.end(), [&](const Candidate& other) {
      return SameTiming(recordings[other.index], r);
    });
    if (same != alike.end()) {
      result.dropped.push_back({r.id, recordings[same->kept_as].id, "same samples"});
      continue;
    }
    const std::optional<Overlap> overlap = FindOverlap(recordings, kept, r, options);
    if (overlap) {
      result.dropped.push_back({r.id, recordings[overlap->with].id, overlap->reason});
    } else {
      kept.push_back(i);
    }
    alike.push_back({i, overlap ? overlap->with : i});
  }
  for (const std::size_t i : kept) result.kept.push_back(std::move(recordings[i]));
  const auto by_id = [](const auto& a, const auto& b) { return NaturalLess(a.id, b.id); };
  std::sort(result.kept.begin(), result.kept.end(), by_id);
  std::sort(result.dropped.begin(), result.dropped.end(), by_id);
  return result;
}

}  // namespace aerocast
