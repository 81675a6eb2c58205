// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace aerocast {
namespace {

using Rows = std::vector<TableRow>;

constexpr double kLongestStep_s = 100;
constexpr std::size_t kLongRun = 10;

Error Complain(const std::string& name, std::size_t line, const std::string& what) {
  return {ErrorCode::kBadFormat, fmt::format("{}:{}: {}", name, line, what)};
}

// Stretches of rows with stamps that do not go backwards, as [begin, end).
std::vector<std::pair<std::size_t, std::size_t>> Runs(const Rows& rows) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= rows.size(); ++i) {
    if (i < rows.size() && rows[i].t_ns >= rows[i - 1].t_ns) continue;
    runs.emplace_back(begin, i);
    begin = i;
  }
  return runs;
}

// Whether a run begins with a row that the run before it has too: a block logged twice.
bool Repeats(std::span<const TableRow> run, const TableRow& row) {
  const auto at = std::lower_bound(run.begin(), run.end(), row.t_ns,
                                   [](const TableRow& a, TimeNs t) { return a.t_ns < t; });
  return at != run.end() && at->t_ns == row.t_ns && at->p == row.p;
}

// Two flights one behind the other in one file, each with its own clock: sorting would weave them
// into one zigzag. A late row or a moved block is no restart: nothing else was recorded meanwhile.
Status RefuseRestart(const Rows& rows, const std::string& name, double max_gap_s) {
  const auto runs = Runs(rows);
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const auto [a, a_end] = runs[r - 1];
    const auto [b, b_end] = runs[r];
    if (a_end - a < kLongRun || b_end - b < kLongRun) continue;
    const TimeNs shared =
        std::min(rows[a_end - 1].t_ns, rows[b_end - 1].t_ns) - std::max(rows[a].t_ns, rows[b].t_ns);
    if (DurationS(shared) <= max_gap_s) continue;
    if (Repeats(std::span(rows).subspan(a, a_end - a), rows[b])) continue;
    return Complain(name, rows[b].line,
                    "the clock restarts, expected one flight per file (split the file here)");
  }
  return {};
}

void Sort(Rows& rows, const std::string& name, std::vector<ImportNote>& notes) {
  std::size_t late = 0, first_line = 0;
  for (std::size_t i = 1, newest = 0; i < rows.size(); ++i) {
    if (rows[i].t_ns >= rows[newest].t_ns) {
      newest = i;
    } else if (late++ == 0) {
      first_line = rows[i].line;
    }
  }
  if (late == 0) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TableRow& a, const TableRow& b) { return a.t_ns < b.t_ns; });
  notes.push_back(
      {name, first_line, late, "sorted " + Counted(late, "late row", "late rows") + " by time"});
}

struct Tally {
  std::size_t count = 0, first_line = 0;
  void Add(std::size_t line) {
    if (count++ == 0) first_line = line;
  }
};

// Keeps the first row of each stamp.
Status DropRepeats(Rows& rows, const std::string& name, double max_bad_share,
                   std::vector<ImportNote>& notes) {
  Tally same, other;
  const std::size_t before = rows.size();
  std::size_t kept = 0;
  for (const TableRow& row : rows) {
    if (kept > 0 && row.t_ns == rows[kept - 1].t_ns) {
      (row.p == rows[kept - 1].p ? same : other).Add(row.line);
    } else {
      rows[kept++] = row;
    }
  }
  rows.resize(kept);
  if (static_cast<double>(other.count) > max_bad_share * static_cast<double>(before)) {
    return Complain(name, other.first_line,
                    fmt::format("{} of {} rows repeat a stamp with another position, expected one "
                                "object and one row per stamp",
                                other.count, before));
  }
  if (same.count > 0) {
    notes.push_back(
        {name, same.first_line, same.count,
         fmt::format("dropped {} that repeated another one", Counted(same.count, "row", "rows"))});
  }
  if (other.count > 0) {
    notes.push_back({name, other.first_line, other.count,
                     fmt::format("dropped {} with the stamp of an earlier one but another position",
                                 Counted(other.count, "row", "rows"))});
  }
  return {};
}

double MedianStep(const Rows& rows) {
  std::vector<TimeNs> steps;
  for (std::size_t i = 1; i < rows.size(); ++i) steps.push_back(rows[i].t_ns - rows[i - 1].t_ns);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return DurationS(*middle);
}

Status CheckSteps(const Rows& rows, const std::string& name, double max_gap_s) {
  if (rows.size() < 2) return Complain(name, rows[0].line, "only one sample, expected a flight");
  const double step_s = MedianStep(rows);
  if (step_s <= std::min(max_gap_s, kLongestStep_s)) return {};
  const char* hint = step_s > kLongestStep_s
                         ? "is the clock not in seconds? Name its column t_ms, t_us or t_ns"
                         : "allow longer gaps, or name the clock's column t_ms if it counts those";
  return Complain(name, rows[0].line,
                  fmt::format("half of the samples are {:.6g} s or more apart, expected at most "
                              "{:.6g} s ({})",
                              step_s, std::min(max_gap_s, kLongestStep_s), hint));
}

std::vector<std::span<const TableRow>> SplitAtGaps(const Rows& rows, double max_gap_s) {
  std::vector<std::span<const TableRow>> parts;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= rows.size(); ++i) {
    if (i < rows.size() && DurationS(rows[i].t_ns - rows[i - 1].t_ns) <= max_gap_s) continue;
    parts.push_back(std::span(rows).subspan(begin, i - begin));
    begin = i;
  }
  return parts;
}

// Removes what is too short to be a flight.
void DropShort(std::vector<std::span<const TableRow>>& parts, const std::string& name,
               double min_duration_s, std::vector<ImportNote>& notes) {
  std::size_t dropped = 0, first_line = 0;
  std::erase_if(parts, [&](std::span<const TableRow> part) {
    const double duration_s = DurationS(part.back().t_ns - part.front().t_ns);
    if (part.size() >= 2 && duration_s >= min_duration_s) return false;
    if (dropped++ == 0) first_line = part.front().line;
    return true;
  });
  if (dropped == 0) return;
  notes.push_back({name, first_line, dropped,
                   fmt::format("dropped {} between gaps with fewer than 2 samples or less than "
                               "{:.4g} s",
                               Counted(dropped, "stretch", "stretches"), min_duration_s)});
}

Recording MakePart(std::span<const TableRow> rows, const Recording& description, bool has_truth,
                   const std::string& suffix) {
  Recording part = description;
  part.id += suffix;
  part.samples.reserve(rows.size());
  for (const TableRow& row : rows) part.samples.push_back({row.t_ns, row.p});
  for (const TableRow& row : rows.subspan(0, has_truth ? rows.size() : 0)) {
    part.truth.push_back(row.truth);
  }
  return part;
}

}  // namespace

Result<std::vector<Recording>> Repair(Table table, const Recording& description,
                                      const std::string& name, const RepairOptions& options,
                                      std::vector<ImportNote>& notes) {
  Rows& rows = table.rows;
  if (rows.empty()) return Error{ErrorCode::kBadFormat, name + ": no samples, expected rows"};
  if (Status s = RefuseRestart(rows, name, options.max_gap_s); !s.ok()) return s.error();
  Sort(rows, name, notes);
  if (Status s = DropRepeats(rows, name, options.max_bad_share, notes); !s.ok()) return s.error();
  if (Status s = CheckSteps(rows, name, options.max_gap_s); !s.ok()) return s.error();

  auto parts = SplitAtGaps(rows, options.max_gap_s);
  if (parts.size() > 1) {
    notes.push_back({name, parts[1].front().line, parts.size() - 1,
                     fmt::format("cut the flight at {} longer than {:.4g} s",
                                 Counted(parts.size() - 1, "gap", "gaps"), options.max_gap_s)});
  }
  DropShort(parts, name, options.min_duration_s, notes);
  if (parts.empty()) {
    return Error{ErrorCode::kBadFormat,
                 fmt::format("{}: no stretch without gaps lasts {:.4g} s, expected a flight", name,
                             options.min_duration_s)};
  }
  std::vector<Recording> recordings;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string suffix = parts.size() > 1 ? fmt::format("-part{}", i + 1) : "";
    recordings.push_back(MakePart(parts[i], description, table.has_truth, suffix));
  }
  return recordings;
}

std::string FlightOf(const std::string& id) {
  const std::size_t digits = id.find_last_not_of("0123456789") + 1;
  constexpr std::string_view kMark = "-part";
  if (digits == id.size() || digits <= kMark.size()) return id;
  const std::size_t mark = digits - kMark.size();
  return std::string_view(id).substr(mark, kMark.size()) == kMark ? id.substr(0, mark) : id;
}

}  // namespace aerocast
