// SPDX-License-Identifier: BSD-3-Clause
//
// What the verbs share. Each verb lives in its own cmd_*.cc: it declares its options on a CLI11
// subcommand and returns the function that does the work. Exit codes: 0 done, 1 failed, 2 bad
// usage.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "aerocast/forecaster.h"
#include "aerocast/load.h"
#include "aerocast/result.h"
#include "aerocast/window.h"
#include "src/forecast/packed_forecaster.h"
#include "src/model/model_file.h"

namespace aerocast::cli {

using Run = std::function<Status()>;

Run AddGenerate(CLI::App& verb);
Run AddImport(CLI::App& verb);
Run AddStats(CLI::App& verb);
Run AddWindows(CLI::App& verb);
// A network from a model file, and what it was trained and calibrated on.
struct LoadedModel {
  std::unique_ptr<Forecaster> forecaster;
  ModelOrigin origin;
};
// LoadOptions::name is the forecaster's in tables.
using LoadModel = std::function<Result<LoadedModel>(const std::filesystem::path& file,
                                                    const LoadOptions& options)>;
Run AddEvaluate(CLI::App& verb, LoadModel load);
Run AddCalibrate(CLI::App& verb);
Run AddCompare(CLI::App& verb);
Run AddCheck(CLI::App& verb);
Run AddBench(CLI::App& verb);
Run AddPredict(CLI::App& verb);
Run AddDescribe(CLI::App& verb);
Run AddExport(CLI::App& verb);
Run AddReproduce(CLI::App& verb);

// --history, --min-history, --horizon, --stride; the defaults are the paper's protocol.
struct WindowFlags {
  WindowSpec spec;
  double min_history_s = -1;  // < 0: the smaller of 2 s and the history

  void Add(CLI::App& verb);
  Result<WindowSpec> Resolve() const;
};

// Where machine-readable output goes: nowhere, to standard output ("-") or to a file.
void AddJsonFlag(CLI::App& verb, std::string& json);
Status WriteOutput(const std::string& target, const std::string& content);
// Before the work: whether WriteOutput will be able to, and does not hit the corpus it reads.
Status CheckOutput(const std::string& target, const std::string& corpus = "");

void AddThreadsFlag(CLI::App& verb, int& threads);
CLI::Validator NotEmpty();

// The networks that come with AeroCast, by name; the first is what verbs use unless told.
inline constexpr std::array<std::string_view, 2> kBundled = {"plus", "plus-small"};
// A bundled network's name becomes its file; anything else stays as it is. Errors: the file is not
// where it was installed or built.
Result<std::string> ResolveModel(const std::string& model);
// A directory that comes with AeroCast ("models", "configs"), where the program was built or
// installed.
Result<std::filesystem::path> FindShared(const std::string& name);

// Whether an argument names a model file rather than a forecaster.
bool IsModelFile(const std::string& model);
// A classical forecaster or a bundled network by name, or a network from its file.
Result<std::unique_ptr<Forecaster>> OpenForecaster(const std::string& model,
                                                   const LoadOptions& options);

// Prints one line to standard error, prefixed with the program's name, control characters masked.
void Warn(const std::string& sentence);

// Seconds of "90s", "20m", "1.5h", or of a number without a unit. `flag` is for the message.
Result<double> ParseDuration(const std::string& flag, const std::string& text);
// "45 s", "20 m 05 s", "1 h 30 m"
std::string Clock(double seconds);

// "1 flight", "71 flights"
std::string Count(std::size_t n, const std::string& noun);

// A progress line on standard error: shown on a terminal only, and only once a second has passed.
// Its callback may be called from any thread.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Advance(std::size_t by = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aerocast::cli
