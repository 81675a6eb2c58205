// SPDX-License-Identifier: BSD-3-Clause
//
// Finds recordings that are the same flight, so that none is trained on and tested on.
//
// By content: the same positions at the same times since the first sample (to a millisecond, which
// allows for a clock that was shifted and rounded), whatever the clock says.
// By clock: two recordings of the same object and source, both stamped by an absolute clock (Unix
// time, from 1e9 s on), whose time intervals overlap, and which are at the same place meanwhile. A
// clock that starts near zero says nothing about when a flight was, so it is never compared.
#pragma once

#include <string>
#include <vector>

#include "aerocast/recording.h"

namespace aerocast {

struct DedupeOptions {
  // Two recordings that overlap in time are one flight when the median distance between them is
  // not larger than this; else they are two objects that fly at the same time. Infinity compares
  // clocks alone, for data sets of which it is known that one object flew at a time.
  double same_place_m = 1.0;
};

struct DroppedRecording {
  std::string id;
  std::string duplicate_of;  // the id that was kept
  std::string reason;        // "same samples", "overlapping clock ..."

  friend bool operator==(const DroppedRecording&, const DroppedRecording&) = default;
};

std::string Sentence(const DroppedRecording& dropped);

struct DedupeResult {
  std::vector<Recording> kept;            // in natural order of their ids
  std::vector<DroppedRecording> dropped;  // likewise
};

// Of one flight the longest recording is kept, of equally long ones the first by natural order of
// ids. The order of the input does not matter.
DedupeResult Dedupe(std::vector<Recording> recordings, const DedupeOptions& options = {});

// Equal for recordings with the same positions (to 0.1 micrometre) in the same order, whatever
// their stamps: 64 hexadecimal digits.
std::string PositionHash(const Recording& recording);

}  // namespace aerocast
