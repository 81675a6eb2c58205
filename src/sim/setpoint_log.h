// SPDX-License-Identifier: BSD-3-Clause
//
// Real flights with the set-points they were told to follow, for fitting the tracking model.
//
// Reads the NanoBench directory: NAME.csv with columns t, px, py, pz and sp_ctrltarget_x/y/z, and
// NAME_metadata.yaml, of which only duration_s is used. Corpora are imported by src/import; this
// reader exists because set-points are no part of a recording.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "aerocast/geometry.h"
#include "aerocast/recording.h"
#include "aerocast/result.h"
#include "src/sim/tracking.h"

namespace aerocast {

struct SetpointLog {
  std::string name;      // B2_circle_fast_rep1
  std::string category;  // as in kCategories; other names as they are
  double commanded_s = 0;
  std::vector<TimeNs> t_ns;
  std::vector<Vec3> position, set_point;  // one per stamp
};

// Every flight once, ordered by name. Of files whose clocks overlap (copies, trimmed copies) the
// longest is kept.
Result<std::vector<SetpointLog>> ReadSetpointLogs(const std::filesystem::path& directory);

Recording ToRecording(const SetpointLog& log);

// The stretch of a log on which the set-point was really flown: from 6.5 s (take-off is over) to
// the end of the commanded path, or to where the set-point log breaks off (some files continue it
// in a straight line to metres away). Even 100 Hz, stamps start at zero.
struct TrackingSegment {
  std::string name, category;
  std::vector<Vec3> position, set_point;
};
// Flights of the nine categories only; too short or never airborne: left out.
std::vector<TrackingSegment> CutTrackingSegments(const std::vector<SetpointLog>& logs);

// Squared errors of a free-running simulation of one horizontal axis pair from the segment's first
// state, the first 1.5 s not counted.
struct TrackingErrors {
  double measured = 0;   // sum of |set-point - position|^2, x and y
  double simulated = 0;  // sum of |set-point - simulated|^2
  double residual = 0;   // sum of |position - simulated|^2
  std::size_t samples = 0;

  double MeasuredRms() const;
  double SimulatedRms() const;
  double ResidualRmsPerAxis() const;
  TrackingErrors& operator+=(const TrackingErrors& o);
};
TrackingErrors CompareTracking(const TrackingSegment& segment, const AxisGains& gains);
// The same in z, with the mean residual taken out (height has an offset of its own per flight).
double VerticalResidual(const TrackingSegment& segment, const AxisGains& gains,
                        std::size_t& samples);

}  // namespace aerocast
