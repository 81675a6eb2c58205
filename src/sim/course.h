// SPDX-License-Identifier: BSD-3-Clause
//
// A course: where a flier would be at every simulation step if the air were calm. Birds, fixed-wing
// and racing aircraft do not chase a set-point that runs ahead of them; they fly where they mean
// to, and gusts push them off it. So the true flight is the course, smoothed as by a body that
// cannot turn at once, plus what gusts do through a loop that brings the flier back (the tracking
// loop with a set-point of zero).
//
// Smoothing is a mean over the last kAnswerS seconds: it never raises the greatest speed or
// acceleration, and nothing of the course is seen before it happens.
#pragma once

#include <cstddef>
#include <vector>

#include "aerocast/geometry.h"
#include "src/sim/flight.h"

namespace aerocast {

inline constexpr double kAnswerS = 0.2;

// What flights of the open country keep to. Their space is larger than the fast regime's: 10 s
// straight at 15 m/s would not fit into that.
FlightLimits OpenLimits();

// Steps of a course that is recorded for duration_s: the warm-up comes first.
std::size_t CourseSteps(double duration_s);
std::size_t CourseWarmUpSteps();

// Flies the course in gusts that move it by residual_m RMS per axis; the warm-up is cut off.
std::vector<Vec3> FlyCourse(const FlightKey& key, const std::vector<Vec3>& course,
                            double residual_m);

}  // namespace aerocast
