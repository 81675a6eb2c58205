// SPDX-License-Identifier: BSD-3-Clause
//
// Who may learn from which flight.
//
//   flight         train 50, validation 10, calibration 15, test 25 %, flight by flight
//   configuration  the same shares, but all repetitions of a configuration are on one side
//   paper          train 85, test 15 %, flight by flight: the paper's protocol, for comparison
//
// Groups. What must not be torn apart is one group: the parts of a flight, recordings with the same
// positions, and in `configuration` the flights of one configuration (a flight that states none is
// its own).
//
// Strata. Groups are dealt out within each (category, source), so every kind of flight, generated
// or real, is on every side. Within a stratum of n groups a side's share is rounded by largest
// remainder; what rounding took or gave is carried to the next stratum, smallest strata first, so
// that the totals come near the stated shares. Every side gets at least one group of a stratum that
// has as many groups as there are sides.
//
// Small strata. A stratum with fewer groups than sides fills test first, then train, then
// calibration, then validation. `notes` names each of them, and tables repeat it.
//
// Chance. A group's place in the deal is the SHA-256 of seed, split and the group's name. Neither
// the order of the recordings nor the machine matters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"

namespace aerocast {

enum class SplitKind { kFlight, kConfiguration, kPaper };

std::vector<SplitKind> AllSplits();
std::string_view SplitName(SplitKind kind);  // "flight", "configuration", "paper"
// The sides of a split in the order of tables: train, validation, calibration, test.
std::vector<std::string_view> SplitSides(SplitKind kind);

// What a split needs to know of a recording.
struct SplitUnit {
  std::string id;
  std::string flight;         // parts and copies of one flight share it
  std::string configuration;  // may be empty
  std::string category;
  Source source = Source::kReal;
};

std::vector<SplitUnit> SplitUnits(const std::vector<Recording>& recordings);

struct Split {
  std::uint64_t seed = 1;
  std::map<std::string, std::string> side;  // by recording id
  std::string hash;                         // SplitHash of the above
  std::vector<std::string> notes;           // strata too small for all sides
};

// Ids are unique.
Split MakeSplit(SplitKind kind, std::uint64_t seed, const std::vector<SplitUnit>& units);

// SHA-256 of the lines "id side\n" in byte order.
std::string SplitHash(const std::map<std::string, std::string>& side);

}  // namespace aerocast
