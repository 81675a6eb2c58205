// SPDX-License-Identifier: BSD-3-Clause
//
// The nine categories as reference paths with randomised parameters. Formulas are those of the
// set-points of the real flights (docs/generator.md); ranges lie around the real sizes. Sizes are
// metres of the flight arena; the flight scales, tilts, turns and places what comes from here.
#pragma once

#include <array>
#include <string_view>

#include "src/base/rng.h"
#include "src/sim/path.h"

namespace aerocast {

struct ShapeKind {
  std::string_view name;  // the category
  // Draws a path around the origin, level, counter-clockwise. `length_m` is how much progress an
  // open path must offer; closed ones repeat.
  Path (*make)(Rng& rng, double length_m);
  double max_tilt_rad;  // how far the flight may tilt its plane
};

// In the order of kCategories.
extern const std::array<ShapeKind, 9> kShapeKinds;

Path MakeCircle(Rng& rng, double length_m);
Path MakeOval(Rng& rng, double length_m);
Path MakeFigure8(Rng& rng, double length_m);
Path MakeHelix(Rng& rng, double length_m);
Path MakeTrefoil(Rng& rng, double length_m);
Path MakeLissajous(Rng& rng, double length_m);
Path MakeStaircase(Rng& rng, double length_m);
Path MakeStar(Rng& rng, double length_m);
Path MakeRandom(Rng& rng, double length_m);

}  // namespace aerocast
