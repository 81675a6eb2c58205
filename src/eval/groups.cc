// SPDX-License-Identifier: BSD-3-Clause
//
// Which flights form which row.
#include <algorithm>
#include <set>

#include "src/data/category.h"
#include "src/eval/summary.h"

namespace aerocast {
namespace {

template <typename Predicate>
std::vector<std::size_t> Select(std::span<const FlightTally> flights, Predicate predicate) {
  std::vector<std::size_t> selected;
  for (std::size_t i = 0; i < flights.size(); ++i) {
    if (predicate(flights[i])) selected.push_back(i);
  }
  return selected;
}

std::string_view GroupOf(const FlightTally& flight) {
  const int c = CategoryIndex(flight.category);
  return c < 0 ? std::string_view() : kCategories[static_cast<std::size_t>(c)].group;
}

// The nine in their order, then the others by name.
std::vector<std::string> CategoryNames(std::span<const FlightTally> flights) {
  std::vector<std::string> names;
  std::set<std::string> others;
  for (const Category& c : kCategories) names.emplace_back(c.name);
  for (const FlightTally& f : flights) {
    if (CategoryIndex(f.category) < 0) others.insert(f.category);
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace

std::string_view GroupKindName(GroupKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"all", "category_average", "category",
                                                      "source", "group"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<FlightGroup> MakeGroups(std::span<const FlightTally> flights) {
  std::vector<FlightGroup> categories, groups;
  std::vector<std::vector<std::size_t>> average;
  for (const std::string& name : CategoryNames(flights)) {
    auto of = Select(flights, [&](const FlightTally& f) { return f.category == name; });
    if (of.empty()) continue;
    if (CategoryIndex(name) >= 0) average.push_back(of);
    categories.push_back(
        {GroupKind::kCategory, name.empty() ? "no category" : name, {std::move(of)}});
  }
  auto all = Select(flights, [](const FlightTally&) { return true; });
  if (!all.empty()) groups.push_back({GroupKind::kAll, "all windows", {std::move(all)}});
  if (!average.empty()) {
    groups.push_back({GroupKind::kCategoryAverage, "category average", std::move(average)});
  }
  groups.insert(groups.end(), categories.begin(), categories.end());
  for (const Source source : {Source::kReal, Source::kSynthetic}) {
    auto of = Select(flights, [&](const FlightTally& f) { return f.source == source; });
    if (of.empty()) continue;
    groups.push_back({GroupKind::kSource, std::string(SourceName(source)), {std::move(of)}});
  }
  for (const std::string_view name : {"periodic", "3-d", "aperiodic"}) {
    auto of = Select(flights, [&](const FlightTally& f) { return GroupOf(f) == name; });
    if (!of.empty()) groups.push_back({GroupKind::kGroup, std::string(name), {std::move(of)}});
  }
  return groups;
}

}  // namespace aerocast
