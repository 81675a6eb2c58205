// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/classical.h"

#include "src/base/text.h"
#include "src/forecast/imm.h"
#include "src/forecast/kinematic.h"
#include "src/forecast/make_classical.h"
#include "src/forecast/replay.h"

namespace aerocast {
namespace {

struct Entry {
  std::string_view name, description;
  Kinematics kind;
};

constexpr Entry kEntries[] = {
    {"hold", "stays where it is", Kinematics::kHold},
    {"cv", "constant velocity: a straight line through the last 0.3 s", Kinematics::kCv},
    {"ca", "constant acceleration: a parabola through the last 0.5 s", Kinematics::kCa},
    {"ctrv", "constant turn rate over the last 1 s, speed and climb: a helix", Kinematics::kCtrv}};

constexpr std::string_view kImmName = "imm", kReplayName = "replay";

}  // namespace

std::vector<std::string_view> ClassicalNames() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  names.insert(names.end(), {kImmName, kReplayName});
  return names;
}

std::vector<Spread> GenericSpreads(std::string_view name) {
  if (name == kImmName) return std::vector(kImmModels, GenericSpread(PathKind::kMoving));
  if (name == "hold") return {GenericSpread(PathKind::kHeld)};
  return {GenericSpread(name == "ca" ? PathKind::kParabolic : PathKind::kMoving)};
}

double LongestHistoryS(std::string_view name) { return name == kReplayName ? 10 : 2; }

Result<std::unique_ptr<Forecaster>> MakeClassical(std::string_view name, ForecasterInfo info,
                                                  std::vector<Spread> spread) {
  info.name = name;
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    info.description = entry.description;
    return std::unique_ptr<Forecaster>(
        std::make_unique<KinematicForecaster>(std::move(info), entry.kind, std::move(spread[0])));
  }
  if (name == kImmName) {
    info.description = "interacting multiple models: CV, CA and coordinated turn";
    info.shape.modes = kImmModels;
    return std::unique_ptr<Forecaster>(
        std::make_unique<ImmForecaster>(std::move(info), ImmOptions(), std::move(spread)));
  }
  if (name == kReplayName) {
    info.description = "repeats the most similar two seconds of the track's own past, else ctrv";
    return std::unique_ptr<Forecaster>(
        std::make_unique<ReplayForecaster>(std::move(info), std::move(spread[0])));
  }
  return Error{ErrorCode::kInvalidArgument, "no forecaster is called '" + std::string(name) +
                                                "'; known are " + JoinNames(ClassicalNames())};
}

Result<std::unique_ptr<Forecaster>> MakeClassical(std::string_view name, int steps, double dt_s) {
  if (steps < 1 || steps > 1000 || !(dt_s >= 1e-3 && dt_s <= 10)) {
    return Error{ErrorCode::kInvalidArgument,
                 "a forecaster needs 1 to 1000 steps of 0.001 to 10 s each"};
  }
  ForecasterInfo info;
  info.dt_s = dt_s, info.shape.steps = steps;
  info.history_s = LongestHistoryS(name);
  return MakeClassical(name, std::move(info), GenericSpreads(name));
}

}  // namespace aerocast
