// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/forecast_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "src/base/parallel.h"
#include "src/base/text.h"

namespace aerocast {
namespace {

constexpr TimeNs kMatchNs = 1000;  // a double of Unix time is 120 ns off at most

Error Bad(std::string message) { return {ErrorCode::kBadFormat, std::move(message)}; }

std::string KeyOf(const std::string& id) { return std::string(CutId(id)); }

// The window of `t0` nearest to t, if it is near enough; else -1.
std::ptrdiff_t FindWindow(const Recording& flight, const std::vector<std::uint32_t>& t0, TimeNs t) {
  const auto stamp = [&](std::ptrdiff_t n) {
    return flight.samples[t0[static_cast<std::size_t>(n)]].t_ns;
  };
  const auto at =
      std::lower_bound(t0.begin(), t0.end(), t - kMatchNs,
                       [&](std::uint32_t i, TimeNs x) { return flight.samples[i].t_ns < x; });
  std::ptrdiff_t best = -1;
  for (auto n = at - t0.begin(); n < std::ssize(t0) && stamp(n) <= t + kMatchNs; ++n) {
    if (best < 0 || std::abs(stamp(n) - t) < std::abs(stamp(best) - t)) best = n;
  }
  return best;
}

}  // namespace

class RecordedForecasts::Reader final : public ForecastReader {
 public:
  explicit Reader(const RecordedForecasts& source)
      : source_(source), in_(source.file_, std::ios::binary) {}

  bool Read(const Recording& flight, std::size_t i, const History&, Forecast& forecast) override {
    const std::string id = KeyOf(flight.id);
    const auto at = source_.flights_.find(id);
    if (at == source_.flights_.end()) return false;
    const std::vector<std::uint32_t>& t0 = at->second.t0;
    const auto n = std::lower_bound(t0.begin(), t0.end(), i) - t0.begin();
    if (n == std::ssize(t0) || t0[static_cast<std::size_t>(n)] != i) return false;
    const std::int64_t offset = at->second.offset[static_cast<std::size_t>(n)];
    if (offset < 0) return false;
    in_.clear();
    // The line was valid when the file was opened; if it changed since, it counts as missing.
    if (!in_.seekg(offset) || !std::getline(in_, line_)) return false;
    if (!ParseForecast(line_, forecast).ok() || forecast.id != id) return false;
    forecast.t0_ns = flight.samples[i].t_ns;
    return forecast.quality == Quality::kNone || forecast.steps() == source_.shape_.steps;
  }

 private:
  const RecordedForecasts& source_;
  std::ifstream in_;
  std::string line_;
};

Result<std::unique_ptr<RecordedForecasts>> RecordedForecasts::Open(
    const std::filesystem::path& file, std::span<const FlightWindows> flights,
    const WindowSpec& window) {
  std::unique_ptr<RecordedForecasts> source(new RecordedForecasts);
  source->file_ = file;
  source->info_ = {file.stem().string(), "forecasts from " + file.filename().string(), "", ""};
  source->shape_ = {.steps = window.horizon_steps(), .modes = 0};
  source->dt_s_ = window.dt_s;
  for (const FlightWindows& f : flights) {
    Flight entry{f.flight, f.t0, std::vector<std::int64_t>(f.t0.size(), -1)};
    if (!source->flights_.try_emplace(KeyOf(f.flight->id), std::move(entry)).second) {
      return Bad(fmt::format("two flights have the id \"{}\" (the first {} bytes count)",
                             KeyOf(f.flight->id), kMaxIdLength));
    }
  }
  if (const Status read = source->ReadLines(window); !read.ok()) return read.error();
  return source;
}

std::unique_ptr<ForecastReader> RecordedForecasts::MakeReader() const {
  return std::make_unique<Reader>(*this);
}

// Lines are parsed by several threads, a block at a time, and taken in their order.
Status RecordedForecasts::ReadLines(const WindowSpec& window) {
  struct Line {
    std::string text;
    std::int64_t number = 0, offset = 0;
    Forecast forecast;
    Status status;
  };
  std::ifstream in(file_, std::ios::binary);
  if (!in) return Error{ErrorCode::kNotFound, file_.string() + ": cannot be read"};
  std::vector<Line> block(256);
  std::int64_t offset = 0, number = 0;
  while (in) {
    std::size_t n = 0;
    while (n < block.size() && std::getline(in, block[n].text)) {
      block[n].number = ++number, block[n].offset = offset;
      offset += static_cast<std::int64_t>(block[n].text.size()) + 1;
      if (!Trim(block[n].text).empty()) ++n;
    }
    ParallelFor(n, 0, [&](std::size_t i, int) {
      block[i].status = ParseForecast(block[i].text, block[i].forecast);
    });
    for (std::size_t i = 0; i < n; ++i) {
      Line& line = block[i];
      if (line.status.ok()) line.status = AddLine(line.forecast, line.offset, window);
      if (line.status.ok()) continue;
      const std::string& what = line.status.error().message;
      return Bad(fmt::format("{}:{}: {}", file_.string(), line.number, what));
    }
  }
  if (in.bad()) return Error{ErrorCode::kIo, file_.string() + ": reading failed"};
  if (forecasts_ == 0) return Bad(file_.string() + ": holds no forecast");
  return {};
}

// A tool that leaves out its distribution where the future is hard to tell would be scored on the
// easy windows only.
Status RecordedForecasts::CheckParts(const Forecast& f) {
  const Parts parts{f.modes() > 0, f.displacement.present()};
  if (!parts_) parts_ = parts;
  const auto differ = [](bool has, const char* field) {
    return Bad(has ? fmt::format("has \"{}\", the lines before do not", field)
                   : fmt::format("has no \"{}\", the lines before do", field));
  };
  if (parts.modes != parts_->modes) return differ(parts.modes, "modes");
  if (parts.displacement != parts_->displacement) return differ(parts.displacement, "displacement");
  return {};
}

Status RecordedForecasts::AddLine(const Forecast& f, std::int64_t offset,
                                  const WindowSpec& window) {
  const auto flight = flights_.find(f.id);
  if (flight == flights_.end()) return Bad(fmt::format("there is no flight \"{}\" here", f.id));
  std::string t0;
  AppendSeconds(f.t0_ns, t0);
  const std::ptrdiff_t n = FindWindow(*flight->second.recording, flight->second.t0, f.t0_ns);
  if (n < 0) return Bad(fmt::format("flight \"{}\" has no window at t0 = {} s", f.id, t0));
  std::int64_t& slot = flight->second.offset[static_cast<std::size_t>(n)];
  if (slot >= 0) {
    return Bad(fmt::format("a second forecast of flight \"{}\" at t0 = {} s", f.id, t0));
  }
  if (f.quality != Quality::kNone) {
    if (f.steps() != window.horizon_steps()) {
      return Bad(fmt::format("{} steps, the windows have {}", f.steps(), window.horizon_steps()));
    }
    if (std::abs(f.dt_s - window.dt_s) > 1e-9) {
      return Bad(fmt::format("steps of {} s, the windows have {} s", f.dt_s, window.dt_s));
    }
    if (const Status alike = CheckParts(f); !alike.ok()) return alike;
    if (levels_.empty()) levels_ = f.conformal.level;
    if (f.conformal.present() && f.conformal.level != levels_) {
      return Bad("other conformal levels than the lines before");
    }
    shape_.modes = std::max(shape_.modes, f.modes());
    shape_.displacement_components =
        std::max(shape_.displacement_components, f.displacement.components);
    shape_.conformal_levels = static_cast<int>(levels_.size());
  }
  slot = offset, ++forecasts_;
  return {};
}

}  // namespace aerocast
