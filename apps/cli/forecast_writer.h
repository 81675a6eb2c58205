// SPDX-License-Identifier: BSD-3-Clause
//
// Where `aerocast predict` leaves its forecasts: standard output, each one at once, or a file that
// appears whole at the end.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "aerocast/forecast.h"
#include "aerocast/result.h"
#include "src/base/file.h"

namespace aerocast::cli {

class ForecastWriter {
 public:
  // `out` is a file, or "-" for standard output. `format` is json or csv. `stop`, if there is one,
  // ends the wait for a reader that has stopped reading.
  static Result<ForecastWriter> Create(const std::string& out, const std::string& format,
                                       const std::atomic<bool>* stop);

  Status Write(const Forecast& forecast);
  Status Finish();
  // Nobody reads standard output any more, or shall be waited for: no error, but no reason to go on
  // either.
  bool closed() const { return closed_; }
  std::size_t written() const { return written_; }

 private:
  ForecastWriter(bool csv, const std::atomic<bool>* stop) : csv_(csv), stop_(stop) {}
  Status Send(std::string_view text);
  bool AwaitReader() const;

  bool csv_, closed_ = false;
  const std::atomic<bool>* stop_;
  std::size_t written_ = 0;
  std::optional<StagedFile> file_;  // none: standard output
};

}  // namespace aerocast::cli
