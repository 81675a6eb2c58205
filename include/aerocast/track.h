// SPDX-License-Identifier: BSD-3-Clause
//
// The live history of one object: observations come in as a sensor or a network delivers them, a
// well-formed History (history.h) goes out to a Forecaster.
//
//   TrackBuffer track("bird");
//   ...
//   if (IsNewest(track.Add({t_ns, p_world}))) {
//     forecaster->Predict(track.history(), *workspace, forecast);
//   }
//   forecast.AskAt(now_ns);     // a forecast that is used later says its age, or that it is stale
//
// Order. Samples may come at any rate and in any order within `reorder_s` of the newest: each is
// put in its place, so the history is the one that sorted input would have given. Of two samples
// with one stamp the last counts.
//
// Faults. What is not finite or beyond the limits of history.h is refused. So is a sample later
// than `reorder_s`, until eight such in a row agree with one another: then it is the newer stamps
// that were wrong. If fewer than eight samples claim to be newer than those eight (a lone stamp
// from the future), only they are dropped; if more do, the clock was set back, and the track starts
// anew with the eight. Jumps in space are not judged here.
//
// Counts. Every sample that was ever given is counted once, at any moment:
//   received = used + rejected (not finite, out of range, too late, duplicate)
//                   + dropped (no room, clock)
//
// Memory is taken at construction; nothing below allocates. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/forecast.h"
#include "aerocast/history.h"
#include "aerocast/time.h"

namespace aerocast {

struct TrackOptions {
  // Newest samples kept, at least 8. Forecasters look 2 to 11 s back: 1024 are enough at 90 Hz.
  std::size_t capacity = 1024;
  // How much older than the newest a sample may be. 0: every late one is refused.
  double reorder_s = 0.5;
};

// What became of a sample.
enum class Added {
  kNewest,      // used: the next forecast starts from it
  kLate,        // used: put in its place among newer ones
  kRestart,     // used, with the seven before it: stamps that contradict them were dropped
  kDuplicate,   // its position replaced that of the sample with the same stamp
  kNotFinite,   // refused: NaN or infinity
  kOutOfRange,  // refused: too far away, or a stamp that is none (history.h)
  kTooLate,     // refused: older than the newest by more than reorder_s
  kNoRoom,      // dropped: older than all that are kept, and the buffer is full
};

// Whether the track has advanced, so that a new forecast is worth making.
inline bool IsNewest(Added added) { return added == Added::kNewest || added == Added::kRestart; }

struct TrackCounts {
  std::uint64_t received = 0;
  // In the history, or were until newer ones took their place.
  std::uint64_t used = 0;
  // Refused. A duplicate is one of the two samples that had one stamp.
  std::uint64_t not_finite = 0, out_of_range = 0, too_late = 0, duplicate = 0;
  // Usable by themselves, but there was no room; or their stamps were found to be wrong.
  std::uint64_t no_room = 0, clock = 0;
  // How often stamps were found to be wrong: an event, no sample.
  std::uint64_t restarts = 0;

  std::uint64_t rejected() const { return not_finite + out_of_range + too_late + duplicate; }
  std::uint64_t dropped() const { return no_room + clock; }
  TrackCounts& operator+=(const TrackCounts& other);
  friend bool operator==(const TrackCounts&, const TrackCounts&) = default;
};

class TrackBuffer {
 public:
  static constexpr std::size_t kRestartAfter = 8;  // late samples in a row

  explicit TrackBuffer(std::string_view id = "", const TrackOptions& options = {});
  // Forgets samples, counts and noise: the buffer is another object's now.
  void Reset(std::string_view id);

  Added Add(const Observation& observation);

  // Sigma of an observation per axis, for forecasters that ask; 0 (the default): unknown.
  void set_noise_m(double noise_m) { noise_m_ = noise_m; }

  // A view, valid until the next Add or Reset.
  History history() const;
  const TrackCounts& counts() const { return counts_; }
  const std::string& id() const { return id_; }  // as CutId leaves it
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Observation& newest() const { return samples_[begin_ + size_ - 1]; }  // if not empty

  // Seconds since the newest sample; 0 when that is later than `now_ns`, infinite without any.
  double AgeS(TimeNs now_ns) const;
  // Silence never means that the object is gone or safe: who uses a track asks this.
  bool IsStale(TimeNs now_ns, double stale_after_s = 0.5) const {
    return AgeS(now_ns) > stale_after_s;
  }

 private:
  Added Place(const Observation& observation);
  Added AddTooLate(const Observation& observation);
  bool PutAmongLate(const Observation& observation);
  void Restart();
  void PushBack(const Observation& observation);
  std::size_t FirstAtOrAfter(TimeNs t_ns) const;

  std::size_t capacity_;
  std::uint64_t reorder_ns_;
  std::string id_;
  double noise_m_ = 0;
  TrackCounts counts_;
  // The history lies anywhere in twice the room, so that it is in one piece and seldom moved.
  std::vector<Observation> samples_;
  std::size_t begin_ = 0, size_ = 0;
  // Samples refused as too late since the last one that was not, by stamp.
  std::array<Observation, kRestartAfter> late_;
  std::size_t late_size_ = 0;
};

}  // namespace aerocast
