// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "src/base/check.h"
#include "src/base/sha256.h"
#include "src/import/dedupe.h"
#include "src/import/natural.h"
#include "src/import/repair.h"

namespace aerocast {
namespace {

struct Share {
  std::string_view side;
  double share;
};

// In the order in which small strata fill the sides.
constexpr Share kFourSides[] = {
    {"test", 0.25}, {"train", 0.50}, {"calibration", 0.15}, {"validation", 0.10}};
constexpr Share kPaperSides[] = {{"test", 0.15}, {"train", 0.85}};

std::span<const Share> Shares(SplitKind kind) {
  if (kind == SplitKind::kPaper) return kPaperSides;
  return kFourSides;
}

// Union-find over names.
class Families {
 public:
  void Join(const std::string& a, const std::string& b) {
    std::string root_a = Find(a), root_b = Find(b);
    if (root_a == root_b) return;
    if (NaturalLess(root_b, root_a)) std::swap(root_a, root_b);
    parent_[root_b] = root_a;
  }
  // The naturally first name of the family: the same whatever the order of joins.
  const std::string& Find(const std::string& name) {
    std::string& parent = parent_.try_emplace(name, name).first->second;
    if (parent != name) parent = Find(parent);
    return parent;
  }

 private:
  std::map<std::string, std::string> parent_;
};

struct Group {
  std::string name;
  std::string rank;  // its place in the deal
  std::vector<const SplitUnit*> members;
};

struct Stratum {
  std::string category;
  Source source = Source::kReal;
  std::vector<Group> groups;
};

// Configurations and flights live in one name space of the families, told apart by a prefix.
std::map<std::string, Group> MakeGroups(SplitKind kind, std::uint64_t seed,
                                        const std::vector<SplitUnit>& units) {
  Families families;
  const auto key = [](const SplitUnit& unit) { return "flight " + unit.flight; };
  if (kind == SplitKind::kConfiguration) {
    for (const SplitUnit& unit : units) {
      if (!unit.configuration.empty()) families.Join(key(unit), "config " + unit.configuration);
    }
  }
  std::map<std::string, Group> groups;
  for (const SplitUnit& unit : units) groups[families.Find(key(unit))].members.push_back(&unit);
  for (auto& [name, group] : groups) {
    group.name = name;
    group.rank = Sha256Hex(fmt::format("{}\n{}\n{}", seed, SplitName(kind), name));
    std::sort(group.members.begin(), group.members.end(),
              [](const SplitUnit* a, const SplitUnit* b) { return NaturalLess(a->id, b->id); });
  }
  return groups;
}

// A group belongs where its first member does. Smallest strata first; within one, by rank.
std::vector<Stratum> MakeStrata(std::map<std::string, Group> groups) {
  std::map<std::pair<std::string, Source>, Stratum> by_label;
  for (auto& [name, group] : groups) {
    const SplitUnit& first = *group.members[0];
    Stratum& stratum = by_label[{first.category, first.source}];
    stratum.category = first.category;
    stratum.source = first.source;
    stratum.groups.push_back(std::move(group));
  }
  std::vector<Stratum> strata;
  for (auto& [label, stratum] : by_label) {
    std::sort(stratum.groups.begin(), stratum.groups.end(),
              [](const Group& a, const Group& b) { return a.rank < b.rank; });
    strata.push_back(std::move(stratum));
  }
  std::stable_sort(strata.begin(), strata.end(), [](const Stratum& a, const Stratum& b) {
    return a.groups.size() < b.groups.size();
  });
  return strata;
}

// How many of n groups each side gets. `carry` is what each side is owed by the strata before.
std::vector<std::size_t> Deal(std::size_t n, std::span<const Share> shares,
                              std::vector<double>& carry) {
  std::vector<std::size_t> count(shares.size(), 0);
  std::size_t left = n;
  for (std::size_t s = 0; s < shares.size() && left > 0; ++s) ++count[s], --left;
  std::vector<double> owed(shares.size());
  for (std::size_t s = 0; s < shares.size(); ++s) {
    owed[s] = shares[s].share * static_cast<double>(n) + carry[s] - static_cast<double>(count[s]);
  }
  for (; left > 0; --left) {
    const auto most =
        static_cast<std::size_t>(std::max_element(owed.begin(), owed.end()) - owed.begin());
    ++count[most];
    owed[most] -= 1;
  }
  carry = owed;
  return count;
}

std::string SmallStratumNote(const Stratum& stratum, SplitKind kind) {
  const std::span<const Share> shares = Shares(kind);
  const std::size_t n = stratum.groups.size();
  std::string missing;
  for (const Share& share : shares.subspan(n)) {
    missing += (missing.empty() ? "" : " or ") + std::string(share.side);
  }
  const char* what = kind == SplitKind::kConfiguration ? "configuration" : "flight";
  return fmt::format("{} ({}): {} {}{} for {} sides, so none is in {}", stratum.category,
                     SourceName(stratum.source), n, what, n == 1 ? "" : "s", shares.size(),
                     missing);
}

}  // namespace

std::vector<SplitKind> AllSplits() {
  return {SplitKind::kFlight, SplitKind::kConfiguration, SplitKind::kPaper};
}

std::string_view SplitName(SplitKind kind) {
  constexpr std::string_view kNames[] = {"flight", "configuration", "paper"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string_view> SplitSides(SplitKind kind) {
  if (kind == SplitKind::kPaper) return {"train", "test"};
  return {"train", "validation", "calibration", "test"};
}

std::vector<SplitUnit> SplitUnits(const std::vector<Recording>& recordings) {
  Families families;
  std::map<std::string, std::string> flight_with;  // these positions
  for (const Recording& r : recordings) {
    const std::string flight = FlightOf(r.id);
    families.Join(flight, flight_with.try_emplace(PositionHash(r), flight).first->second);
  }
  std::vector<SplitUnit> units;
  for (const Recording& r : recordings) {
    units.push_back({r.id, families.Find(FlightOf(r.id)), r.configuration, r.category, r.source});
  }
  return units;
}

Split MakeSplit(SplitKind kind, std::uint64_t seed, const std::vector<SplitUnit>& units) {
  const std::span<const Share> shares = Shares(kind);
  Split split;
  split.seed = seed;
  std::vector<double> carry(shares.size(), 0.0);
  for (const Stratum& stratum : MakeStrata(MakeGroups(kind, seed, units))) {
    if (stratum.groups.size() < shares.size()) {
      split.notes.push_back(SmallStratumNote(stratum, kind));
    }
    const std::vector<std::size_t> count = Deal(stratum.groups.size(), shares, carry);
    std::size_t next = 0;
    for (std::size_t s = 0; s < shares.size(); ++s) {
      for (std::size_t i = 0; i < count[s]; ++i) {
        for (const SplitUnit* unit : stratum.groups[next].members) {
          split.side[unit->id] = shares[s].side;
        }
        ++next;
      }
    }
  }
  AEROCAST_CHECK(split.side.size() == units.size());
  split.hash = SplitHash(split.side);
  return split;
}

std::string SplitHash(const std::map<std::string, std::string>& side) {
  Sha256 hash;
  for (const auto& [id, name] : side) hash.Update(id + " " + name + "\n");
  return hash.Hex();
}

}  // namespace aerocast
