// SPDX-License-Identifier: BSD-3-Clause
//
// What the newest samples say about the motion: a polynomial through the last moments, and the
// frame that looks along it. Everything is one-sided: only samples up to the end of the fit count.
#pragma once

#include <span>

#include "aerocast/history.h"

namespace aerocast {

// Position, velocity and acceleration at the stamp of the newest sample.
struct Motion {
  Vec3 p, v, a;
  int samples = 0;  // how many the fit stands on; 1 means position only, 0 means nothing is known
};

// Least-squares polynomial of the given order (1: straight, 2: parabola) through the samples of
// the last span_s seconds. Older ones are taken, however old, until the fit spans half of span_s,
// in `order` steps of span_s / (2 order) or more; where the history ends before that, a parabola
// becomes straight and a straight fit stands on what there is. `samples` is well-formed (History).
Motion FitMotion(std::span<const Observation> samples, double span_s, int order);

// Origin at the newest position, x along the newest horizontal motion, z up.
//
// Heading is the direction of a straight fit over the last 0.3 s. Below 0.05 m/s it is noise, so
// the newest older stretch that moved is used and `stable` is false; if none did, yaw is zero.
struct HeadingFrame {
  Vec3 origin;
  Yaw to_world;  // rotates heading axes to world axes
  bool stable = false;

  Vec3 ToFrame(const Vec3& p_world) const { return to_world.Inverse() * (p_world - origin); }
  Vec3 ToWorld(const Vec3& p_frame) const { return to_world * p_frame + origin; }
};

HeadingFrame FitHeading(std::span<const Observation> samples);

}  // namespace aerocast
