// SPDX-License-Identifier: BSD-3-Clause
//
// The history as the methods that learn from windows see it: T steps on an even grid, looked at
// along the heading, so that neither place nor direction matters; divided by the window's own RMS
// step where `per_speed` is set, so that speed does not matter either (the forecast is multiplied
// by it again).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aerocast/forecaster.h"
#include "src/data/motion.h"

namespace aerocast {

struct GridSpec {
  int steps = 20;  // T
  double dt_s = 0.1;
  double max_gap_s = 0.25;  // longest gap that is interpolated
  bool per_speed = true;

  int features() const { return 3 * steps; }
};

// Scratch memory, made before the loop.
class GridWorkspace : public Workspace {
 public:
  GridWorkspace(const GridSpec& spec, std::size_t outputs);

  std::vector<Vec3> grid;             // (T + 1)
  std::vector<std::uint8_t> present;  // (T + 1)
  std::vector<float> features;        // (3 T)
  std::vector<double> outputs;        // whatever the method wants
};

// From features back to the world: p_world = frame.ToWorld(scale * q).
struct GridFrame {
  HeadingFrame frame;
  double scale = 1;
};

// Fills workspace.features with the T displacements, oldest first: along, across, up. False when a
// grid point is masked: nothing is invented for it.
bool ReadHeadingGrid(const History& history, const GridSpec& spec, GridWorkspace& workspace,
                     GridFrame& frame);

}  // namespace aerocast
