// SPDX-License-Identifier: BSD-3-Clause
//
// Forecasts as JSON lines (docs/forecast_format.md): how any tool's forecasts are scored, and how
// ours leave the program.
//
//   auto source = RecordedForecasts::Open("theirs.jsonl", flights, window);
//   auto evaluation = Evaluate(**source, flights, options);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aerocast/result.h"
#include "src/data/windows.h"
#include "src/eval/forecast_source.h"

namespace aerocast {

// One line without the newline. Stamps are exact to the nanosecond; other numbers read back to the
// same double. A forecast of quality none has no point.
std::string FormatForecast(const Forecast& forecast);

// Reads one line into `forecast` (its shape becomes the line's). Refuses with a sentence that names
// the field: text that is no JSON, a missing or malformed field, numbers that are not finite,
// weights that are negative or do not sum to 1 within 1e-6 (they are then made to), covariances
// that are not positive definite or too elongated, arrays of different lengths.
Status ParseForecast(std::string_view line, Forecast& forecast);

// A file of forecasts, checked line by line when it is opened and read again when it is evaluated:
// what is kept in memory is where each window's line begins.
class RecordedForecasts final : public ForecastSource {
 public:
  // Messages begin with `file:line:`. Refused are bad lines (above), ids that are no flight, t0
  // that is no window's within a microsecond, other numbers of steps or another dt than the
  // window's, a window's second forecast, conformal levels other than the first line's, modes or a
  // displacement mixture on some lines only. Windows that have no line are the evaluator's to
  // refuse or allow.
  static Result<std::unique_ptr<RecordedForecasts>> Open(const std::filesystem::path& file,
                                                         std::span<const FlightWindows> flights,
                                                         const WindowSpec& window);

  const SourceInfo& info() const override { return info_; }
  ForecastShape shape() const override { return shape_; }
  double dt_s() const override { return dt_s_; }
  std::unique_ptr<ForecastReader> MakeReader() const override;
  std::size_t forecasts() const { return forecasts_; }

 private:
  class Reader;
  struct Flight {
    const Recording* recording;
    std::vector<std::uint32_t> t0;     // sample indices, ascending
    std::vector<std::int64_t> offset;  // of the line, -1: none yet
  };

  struct Parts {
    bool modes, displacement;
  };

  RecordedForecasts() = default;
  Status ReadLines(const WindowSpec& window);
  Status AddLine(const Forecast& forecast, std::int64_t offset, const WindowSpec& window);
  Status CheckParts(const Forecast& forecast);

  std::filesystem::path file_;
  SourceInfo info_;
  ForecastShape shape_;
  double dt_s_ = 0.1;
  std::size_t forecasts_ = 0;
  std::vector<double> levels_;
  std::optional<Parts> parts_;  // what every line has, from the first
  std::unordered_map<std::string, Flight> flights_;
};

}  // namespace aerocast
