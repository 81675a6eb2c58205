// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/setpoint_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/data/category.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

constexpr double kStartS = 6.5, kPathStartS = 5.25, kSettleS = 1.5;

Error BadFile(const fs::path& file, std::string what) {
  return {ErrorCode::kBadFormat, fmt::format("{}: {}", file.string(), what)};
}

std::string CategoryOf(const std::string& name) {
  for (const Category& category : kCategories) {
    std::string spelled(category.name);
    std::erase(spelled, '-');
    if (name.find("_" + spelled) != std::string::npos) return std::string(category.name);
  }
  return "other";
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  SplitFields(text, '\n', lines);
  return lines;
}

std::optional<std::array<std::size_t, 7>> FindColumns(std::string_view header) {
  static constexpr std::string_view kNames[] = {
      "t", "px", "py", "pz", "sp_ctrltarget_x", "sp_ctrltarget_y", "sp_ctrltarget_z"};
  std::vector<std::string_view> fields;
  SplitFields(header, ',', fields);
  std::array<std::size_t, 7> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto it = std::find(fields.begin(), fields.end(), kNames[i]);
    if (it == fields.end()) return std::nullopt;
    columns[i] = static_cast<std::size_t>(it - fields.begin());
  }
  return columns;
}

Status ReadSamples(const fs::path& file, SetpointLog& log) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  const std::vector<std::string_view> lines = Lines(*text);
  const auto columns = FindColumns(lines.front());
  if (!columns) return BadFile(file, "expected columns t, px ... pz, sp_ctrltarget_x ... _z");
  std::vector<std::string_view> fields;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    if (lines[row].empty()) continue;
    SplitFields(lines[row], ',', fields);
    if (fields.size() <= *std::max_element(columns->begin(), columns->end())) {
      return BadFile(file, fmt::format("line {} has too few fields", row + 1));
    }
    const auto t = ParseSeconds(fields[(*columns)[0]]);
    std::array<double, 6> value{};
    for (std::size_t i = 0; i < 6; ++i) {
      value[i] = ParseDouble(fields[(*columns)[i + 1]]).value_or(std::nan(""));
    }
    const Vec3 p{value[0], value[1], value[2]}, s{value[3], value[4], value[5]};
    if (!t || !IsFinite(p) || !IsFinite(s)) {
      return BadFile(file, fmt::format("line {} holds something that is not a number", row + 1));
    }
    log.t_ns.push_back(*t), log.position.push_back(p), log.set_point.push_back(s);
  }
  if (log.t_ns.empty()) return BadFile(file, "holds no samples");
  return {};
}

Result<double> ReadDuration(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  for (const std::string_view line : Lines(*text)) {
    constexpr std::string_view kKey = "duration_s:";
    if (!line.starts_with(kKey)) continue;
    const auto value = ParseDouble(Trim(line.substr(kKey.size())));
    if (value) return *value;
  }
  return BadFile(file, "expected a number at duration_s");
}

bool Overlap(const SetpointLog& a, const SetpointLog& b) {
  return a.t_ns.front() <= b.t_ns.back() && b.t_ns.front() <= a.t_ns.back();
}

// Where the set-points turn into the straight line they end with, if that line moves.
std::optional<double> BreakOff(const SetpointLog& log) {
  const std::size_t n = log.t_ns.size();
  const auto slope = [&](std::size_t i) {
    return (log.set_point[i + 1] - log.set_point[i]) *
           (1 / DurationS(log.t_ns[i + 1] - log.t_ns[i]));
  };
  const auto median = [&](double Vec3::*axis) {
    std::vector<double> last;
    for (std::size_t i = n - 21; i + 1 < n; ++i) last.push_back(slope(i).*axis);
    std::nth_element(last.begin(), last.begin() + 10, last.end());
    return last[10];
  };
  const Vec3 line{median(&Vec3::x), median(&Vec3::y), median(&Vec3::z)};
  if (Norm(line) < 0.05) return std::nullopt;
  const auto same = [&](std::size_t i) {
    const Vec3 d = slope(i) - line;
    return std::abs(d.x) < 4e-3 && std::abs(d.y) < 4e-3 && std::abs(d.z) < 4e-3;
  };
  std::size_t i = n - 2;
  while (i > 3 && (same(i) || same(i - 1) || same(i - 2) || same(i - 3))) --i;
  return DurationS(log.t_ns[i + 1] - log.t_ns.front());
}

// Positions of a log interpolated at seconds after its start; `from` speeds up rising times.
Vec3 At(const SetpointLog& log, const std::vector<Vec3>& values, double t_s, std::size_t& from) {
  const TimeNs t = log.t_ns.front() + DurationNs(t_s);
  while (from + 2 < log.t_ns.size() && log.t_ns[from + 1] < t) ++from;
  const double share = static_cast<double>(t - log.t_ns[from]) /
                       static_cast<double>(log.t_ns[from + 1] - log.t_ns[from]);
  return values[from] + (values[from + 1] - values[from]) * share;
}

struct Axis {
  double x, v;
  void Step(const AxisGains& gains, double set_point) {
    v += kSimStepS * gains.Acceleration(set_point, x, v);
    x += kSimStepS * v;
  }
};

Axis Start(const TrackingSegment& segment, double Vec3::*axis) {
  const double x = segment.position[0].*axis;
  return {x, (segment.position[5].*axis - x) / (5 * kSimStepS)};
}

double Rms(double sum, std::size_t n) {
  return n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

}  // namespace

Result<std::vector<SetpointLog>> ReadSetpointLogs(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, failed)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  if (failed || files.empty()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("{}: expected a directory with NanoBench .csv files", directory.string())};
  }
  std::sort(files.begin(), files.end());
  std::vector<SetpointLog> logs;
  for (const fs::path& file : files) {
    SetpointLog log;
    log.name = file.stem().string();
    log.category = CategoryOf(log.name);
    const Status read = ReadSamples(file, log);
    if (!read.ok()) return read.error();
    const Result<double> duration = ReadDuration(directory / (log.name + "_metadata.yaml"));
    if (!duration.ok()) return duration.error();
    log.commanded_s = *duration;
    const auto twin = std::find_if(logs.begin(), logs.end(),
                                   [&](const SetpointLog& other) { return Overlap(log, other); });
    if (twin == logs.end()) {
      logs.push_back(std::move(log));
    } else if (log.t_ns.size() > twin->t_ns.size()) {
      *twin = std::move(log);
    }
  }
  return logs;
}

Recording ToRecording(const SetpointLog& log) {
  Recording recording;
  recording.id = log.name;
  recording.category = log.category;
  for (std::size_t i = 0; i < log.t_ns.size(); ++i) {
    if (i > 0 && log.t_ns[i] <= log.t_ns[i - 1]) continue;
    recording.samples.push_back({log.t_ns[i], log.position[i]});
  }
  return recording;
}

std::vector<TrackingSegment> CutTrackingSegments(const std::vector<SetpointLog>& logs) {
  std::vector<TrackingSegment> segments;
  for (const SetpointLog& log : logs) {
    const bool airborne = std::any_of(log.position.begin(), log.position.end(),
                                      [](const Vec3& p) { return p.z > 0.5; });
    if (CategoryIndex(log.category) < 0 || log.t_ns.size() < 1000 || !airborne) continue;
    const double logged_s = DurationS(log.t_ns.back() - log.t_ns.front());
    double end_s = std::min(kPathStartS + log.commanded_s, logged_s - 1);
    if (const auto broken = BreakOff(log)) end_s = std::min(end_s, *broken - 0.05);
    TrackingSegment segment{log.name, log.category, {}, {}};
    std::size_t from = 0;
    for (int i = 0; kStartS + i * kSimStepS < end_s; ++i) {
      const double t = kStartS + i * kSimStepS;
      segment.position.push_back(At(log, log.position, t, from));
      segment.set_point.push_back(At(log, log.set_point, t, from));
    }
    if (segment.position.size() > 300) segments.push_back(std::move(segment));
  }
  return segments;
}

double TrackingErrors::MeasuredRms() const { return Rms(measured, samples); }
double TrackingErrors::SimulatedRms() const { return Rms(simulated, samples); }
double TrackingErrors::ResidualRmsPerAxis() const { return Rms(residual, 2 * samples); }

TrackingErrors& TrackingErrors::operator+=(const TrackingErrors& o) {
  measured += o.measured, simulated += o.simulated, residual += o.residual, samples += o.samples;
  return *this;
}

TrackingErrors CompareTracking(const TrackingSegment& segment, const AxisGains& gains) {
  TrackingErrors errors;
  Axis x = Start(segment, &Vec3::x), y = Start(segment, &Vec3::y);
  for (std::size_t i = 0; i < segment.position.size(); ++i) {
    const Vec3 &p = segment.position[i], &s = segment.set_point[i];
    if (static_cast<double>(i) * kSimStepS >= kSettleS) {
      const auto square = [](double a, double b) { return a * a + b * b; };
      errors.measured += square(s.x - p.x, s.y - p.y);
      errors.simulated += square(s.x - x.x, s.y - y.x);
      errors.residual += square(p.x - x.x, p.y - y.x);
      ++errors.samples;
    }
    x.Step(gains, s.x), y.Step(gains, s.y);
  }
  return errors;
}

double VerticalResidual(const TrackingSegment& segment, const AxisGains& gains,
                        std::size_t& samples) {
  double sum = 0, square = 0;
  std::size_t n = 0;
  Axis z = Start(segment, &Vec3::z);
  for (std::size_t i = 0; i < segment.position.size(); ++i) {
    if (static_cast<double>(i) * kSimStepS >= kSettleS) {
      const double residual = segment.position[i].z - z.x;
      sum += residual, square += residual * residual, ++n;
    }
    z.Step(gains, segment.set_point[i].z);
  }
  samples += n;
  return square - sum * sum / static_cast<double>(n);
}

}  // namespace aerocast
