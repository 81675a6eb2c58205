// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/split.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/import/test_data.h"

namespace aerocast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<SplitUnit> Units(int n, const std::string& category, Source source = Source::kReal) {
  std::vector<SplitUnit> units;
  for (int i = 0; i < n; ++i) {
    const std::string id = fmt::format("{}_{}_{}", category, SourceName(source), i);
    units.push_back({id, id, "", category, source});
  }
  return units;
}

void Add(std::vector<SplitUnit>& to, const std::vector<SplitUnit>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::map<std::string, int> Count(const Split& split, const std::string& prefix = "") {
  std::map<std::string, int> count;
  for (const auto& [id, side] : split.side) count[side] += id.starts_with(prefix);
  return count;
}

TEST(Split, GivesTheStatedShares) {
  std::vector<SplitUnit> units;
  for (const char* category : {"circle", "oval", "star"}) {
    Add(units, Units(200, category));
    Add(units, Units(100, category, Source::kSynthetic));
  }
  const Split split = MakeSplit(SplitKind::kFlight, 1, units);
  EXPECT_EQ(Count(split),
            (std::map<std::string, int>{
                {"train", 450}, {"validation", 90}, {"calibration", 135}, {"test", 225}}));
  EXPECT_EQ(Count(split, "oval_real"),
            (std::map<std::string, int>{
                {"train", 100}, {"validation", 20}, {"calibration", 30}, {"test", 50}}));
  const Split paper = MakeSplit(SplitKind::kPaper, 1, units);
  EXPECT_EQ(Count(paper), (std::map<std::string, int>{{"train", 765}, {"test", 135}}));
  EXPECT_THAT(split.notes, IsEmpty());
}

TEST(Split, ComesNearTheSharesEvenWhenEveryStratumRounds) {
  std::vector<SplitUnit> units;
  for (int i = 0; i < 40; ++i) Add(units, Units(11, fmt::format("category{}", i)));
  const std::map<std::string, int> count = Count(MakeSplit(SplitKind::kFlight, 1, units));
  EXPECT_NEAR(count.at("train"), 220, 1);
  EXPECT_NEAR(count.at("validation"), 44, 1);
  EXPECT_NEAR(count.at("calibration"), 66, 1);
  EXPECT_NEAR(count.at("test"), 110, 1);
}

TEST(Split, FillsTestThenTrainThenCalibrationWhenAStratumIsSmall) {
  for (const auto& [n, sides] : std::vector<std::pair<int, std::set<std::string>>>{
           {1, {"test"}},
           {2, {"test", "train"}},
           {3, {"test", "train", "calibration"}},
           {4, {"test", "train", "calibration", "validation"}}}) {
    const Split split = MakeSplit(SplitKind::kFlight, 1, Units(n, "star"));
    std::set<std::string> found;
    for (const auto& [id, side] : split.side) found.insert(side);
    EXPECT_EQ(found, sides);
    EXPECT_EQ(split.notes.size(), n < 4 ? 1u : 0u);
  }
  EXPECT_THAT(MakeSplit(SplitKind::kFlight, 1, Units(2, "star")).notes,
              ElementsAre("star (real): 2 flights for 4 sides, so none is in calibration or "
                          "validation"));
  EXPECT_THAT(MakeSplit(SplitKind::kPaper, 1, Units(1, "star")).notes,
              ElementsAre(HasSubstr("1 flight for 2 sides, so none is in train")));
}

TEST(Split, PutsRealAndGeneratedFlightsOnEverySide) {
  std::vector<SplitUnit> units = Units(5, "circle");
  Add(units, Units(500, "circle", Source::kSynthetic));
  const Split split = MakeSplit(SplitKind::kFlight, 1, units);
  for (const std::string_view side : SplitSides(SplitKind::kFlight)) {
    EXPECT_GE(Count(split, "circle_real").at(std::string(side)), 1) << side;
    EXPECT_GE(Count(split, "circle_synthetic").at(std::string(side)), 1) << side;
  }
}

TEST(Split, DependsOnTheSeedAndTheNamesOnly) {
  std::vector<SplitUnit> units = Units(50, "circle");
  const Split split = MakeSplit(SplitKind::kFlight, 1, units);
  std::reverse(units.begin(), units.end());
  EXPECT_EQ(MakeSplit(SplitKind::kFlight, 1, units).side, split.side);
  EXPECT_EQ(MakeSplit(SplitKind::kFlight, 1, units).hash, split.hash);
  EXPECT_NE(MakeSplit(SplitKind::kFlight, 2, units).hash, split.hash);
}

TEST(Split, KeepsAConfigurationOnOneSide) {
  std::vector<SplitUnit> units = Units(40, "circle");
  for (std::size_t i = 0; i < units.size(); ++i) units[i].configuration = fmt::format("c{}", i % 8);
  const Split split = MakeSplit(SplitKind::kConfiguration, 1, units);
  std::map<std::string, std::set<std::string>> sides;
  for (const SplitUnit& unit : units) sides[unit.configuration].insert(split.side.at(unit.id));
  for (const auto& [configuration, on] : sides) EXPECT_EQ(on.size(), 1u) << configuration;
  EXPECT_EQ(Count(split), (std::map<std::string, int>{
                              {"train", 20}, {"validation", 5}, {"calibration", 5}, {"test", 10}}));
}

TEST(Split, KeepsPartsAndCopiesTogether) {
  std::vector<Recording> recordings;
  for (int i = 0; i < 20; ++i) {
    const std::string id = fmt::format("f{}", i);
    recordings.push_back(MakeFlight(id + "-part1", 0, 20, i));
    recordings.push_back(MakeFlight(id + "-part2", 9, 20, 100 + i));
    recordings.push_back(MakeFlight(id + "_copy", 0, 20, i));
  }
  for (const SplitKind kind : AllSplits()) {
    const Split split = MakeSplit(kind, 3, SplitUnits(recordings));
    for (std::size_t i = 0; i < recordings.size(); i += 3) {
      EXPECT_EQ(split.side.at(recordings[i].id), split.side.at(recordings[i + 1].id));
      EXPECT_EQ(split.side.at(recordings[i].id), split.side.at(recordings[i + 2].id));
    }
  }
}

TEST(SplitHash, IsTheHashOfTheSortedLines) {
  EXPECT_EQ(SplitHash({{"b", "test"}, {"a", "train"}}), SplitHash({{"a", "train"}, {"b", "test"}}));
  EXPECT_NE(SplitHash({{"a", "train"}}), SplitHash({{"a", "test"}}));
}

// Flights of any categories, configurations and parts.
rc::Gen<std::vector<SplitUnit>> AnyUnits() {
  return rc::gen::map(
      rc::gen::container<std::vector<std::tuple<int, int, bool>>>(rc::gen::tuple(
          rc::gen::inRange(0, 4), rc::gen::inRange(0, 9), rc::gen::arbitrary<bool>())),
      [](const std::vector<std::tuple<int, int, bool>>& rows) {
        std::vector<SplitUnit> units;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const auto [category, configuration, real] = rows[i];
          units.push_back({fmt::format("f{}-part{}", i / 2, i % 2), fmt::format("f{}", i / 2),
                           configuration == 0 ? "" : fmt::format("c{}", configuration),
                           fmt::format("k{}", category),
                           real ? Source::kReal : Source::kSynthetic});
        }
        return units;
      });
}

RC_GTEST_PROP(Split, NeverTearsAFlightApartAndKnowsEverySide, ()) {
  const std::vector<SplitUnit> units = *AnyUnits();
  for (const SplitKind kind : AllSplits()) {
    const Split split = MakeSplit(kind, *rc::gen::inRange(0, 100), units);
    RC_ASSERT(split.side.size() == units.size());
    const std::vector<std::string_view> sides = SplitSides(kind);
    std::map<std::string, std::string> flight, configuration;
    for (const SplitUnit& unit : units) {
      const std::string& side = split.side.at(unit.id);
      RC_ASSERT(std::count(sides.begin(), sides.end(), side) == 1);
      RC_ASSERT(flight.try_emplace(unit.flight, side).first->second == side);
      if (kind != SplitKind::kConfiguration || unit.configuration.empty()) continue;
      RC_ASSERT(configuration.try_emplace(unit.configuration, side).first->second == side);
    }
  }
}

RC_GTEST_PROP(Split, DoesNotDependOnTheOrderOfTheFlights, ()) {
  std::vector<SplitUnit> units = *AnyUnits();
  std::vector<Split> before;
  for (const SplitKind kind : AllSplits()) before.push_back(MakeSplit(kind, 7, units));
  std::sort(units.begin(), units.end(), [](const SplitUnit& a, const SplitUnit& b) {
    return std::hash<std::string>{}(a.id) < std::hash<std::string>{}(b.id);
  });
  for (std::size_t i = 0; i < before.size(); ++i) {
    RC_ASSERT(MakeSplit(AllSplits()[i], 7, units).hash == before[i].hash);
  }
}

}  // namespace
}  // namespace aerocast
