// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/course.h"

#include <algorithm>
#include <cmath>

#include "src/sim/tracking.h"

namespace aerocast {
namespace {

// A return to the course within about a second, well damped.
constexpr AxisGains kReturn{1.0, 2.5, 3.0};
constexpr double kGustAccelLimit = 3;  // m/s^2

std::vector<Vec3> MeanOfTheLast(std::size_t steps, const std::vector<Vec3>& course) {
  std::vector<Vec3> smooth(course.size());
  Vec3 sum;
  for (std::size_t i = 0; i < course.size(); ++i) {
    sum += course[i];
    if (i >= steps) sum -= course[i - steps];
    smooth[i] = sum * (1.0 / static_cast<double>(std::min(i + 1, steps)));
  }
  return smooth;
}

}  // namespace

FlightLimits OpenLimits() {
  return {{{-1000, -1000, 2}, {1000, 1000, 150}}, {}, 22, 3 * kGravity, 12};
}

std::size_t CourseWarmUpSteps() {
  return static_cast<std::size_t>(std::lround(OpenLimits().warm_up_s / kSimStepS));
}

std::size_t CourseSteps(double duration_s) { return CourseWarmUpSteps() + SamplesFor(duration_s); }

std::vector<Vec3> FlyCourse(const FlightKey& key, const std::vector<Vec3>& course,
                            double residual_m) {
  TrackingModel air;
  air.horizontal = air.vertical = kReturn;
  air.residual_xy_m = air.residual_z_m = residual_m;
  air.accel_limit = kGustAccelLimit;
  Rng rng = StreamOf(key, Stream::kGust);
  const std::vector<Vec3> gusts = DrawGusts(air, rng, course.size());
  std::vector<Vec3> truth =
      MeanOfTheLast(static_cast<std::size_t>(std::lround(kAnswerS / kSimStepS)), course);
  Tracker pushed(air, {});
  for (std::size_t i = 0; i < truth.size(); ++i) {
    truth[i] += pushed.position();
    pushed.Step({}, gusts[i]);
  }
  truth.erase(truth.begin(), truth.begin() + static_cast<std::ptrdiff_t>(CourseWarmUpSteps()));
  return truth;
}

}  // namespace aerocast
