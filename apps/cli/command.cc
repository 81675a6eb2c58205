// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "aerocast/classical.h"
#include "src/base/file.h"
#include "src/base/text.h"

namespace aerocast::cli {

void WindowFlags::Add(CLI::App& verb) {
  verb.add_option("--history", spec.history_s, "Seconds a forecaster may look back")
      ->capture_default_str();
  verb.add_option("--min-history", min_history_s,
                  "Seconds a window must have behind it (default: 2, or the history if shorter)");
  verb.add_option("--horizon", spec.horizon_s, "Seconds to look ahead")->capture_default_str();
  verb.add_option("--stride", spec.stride, "Start a window every this many steps of 0.1 s")
      ->capture_default_str();
}

Result<WindowSpec> WindowFlags::Resolve() const {
  WindowSpec resolved = spec;
  resolved.min_history_s = min_history_s < 0 ? std::min(2.0, spec.history_s) : min_history_s;
  if (Status s = Validate(resolved); !s.ok()) return s.error();
  return resolved;
}

CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "expected a name" : std::string(); }, "");
}

void AddThreadsFlag(CLI::App& verb, int& threads) {
  verb.add_option("--threads", threads, "Threads (0: one per core); results do not depend on it")
      ->check(CLI::Range(0, 256));
}

void AddJsonFlag(CLI::App& verb, std::string& json) {
  verb.add_option("--json", json, "Write the results as JSON to this file ('-': standard output)")
      ->type_name("FILE")
      ->check(NotEmpty());
}

Status WriteOutput(const std::string& target, const std::string& content) {
  if (target != "-") return WriteFileAtomically(target, content);
  const bool ok = std::fwrite(content.data(), 1, content.size(), stdout) == content.size() &&
                  std::fflush(stdout) == 0;
  if (!ok) return Error{ErrorCode::kIo, "standard output: cannot write"};
  return {};
}

Result<std::filesystem::path> FindShared(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code).parent_path();
  const std::array<fs::path, 2> places = {program / name,  // as built, as installed
                                          program / AEROCAST_SHARED_FROM_BIN / name};
  for (const fs::path& place : places) {
    if (fs::is_directory(place, code)) return place.lexically_normal();
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("neither {} nor {} is there: AeroCast is not completely installed",
                           places[0].string(), places[1].lexically_normal().string())};
}

Result<std::string> ResolveModel(const std::string& model) {
  if (std::count(kBundled.begin(), kBundled.end(), model) == 0) return model;
  const Result<std::filesystem::path> models = FindShared("models");
  if (!models.ok()) return models.error();
  return (*models / fmt::format("aerocast-{}{}", model, kModelExtension)).string();
}

bool IsModelFile(const std::string& model) { return model.ends_with(kModelExtension); }

Result<std::unique_ptr<Forecaster>> OpenForecaster(const std::string& model,
                                                   const LoadOptions& options) {
  const Result<std::string> file = ResolveModel(model);
  if (!file.ok()) return file.error();
  if (IsModelFile(*file)) return LoadForecaster(*file, options);
  const auto bad = [](const std::string& sentence) {
    return Error{ErrorCode::kInvalidArgument, sentence};
  };
  const std::vector<std::string_view> names = ClassicalNames();
  if (std::count(names.begin(), names.end(), model) == 0) {
    return bad(fmt::format("model '{}' is unknown, expected one of {}, {}, or a model file (*{})",
                           model, JoinNames({kBundled.begin(), kBundled.end()}), JoinNames(names),
                           kModelExtension));
  }
  if (options.weights == WeightStorage::kHalf || !options.target.empty()) {
    return bad("--half and --target are for model files, " + model + " has no weights");
  }
  return MakeClassical(model);
}

void Warn(const std::string& sentence) {
  fmt::print(stderr, "aerocast: {}\n", Printable(sentence));
}

Status CheckOutput(const std::string& target, const std::string& corpus) {
  namespace fs = std::filesystem;
  if (target == "-") return {};
  std::error_code code;
  const fs::path file(target), parent = file.has_parent_path() ? file.parent_path() : ".";
  if (!fs::is_directory(parent, code)) {
    return Error{ErrorCode::kNotFound, target + ": there is no directory " + parent.string()};
  }
  if (fs::is_directory(file, code)) {
    return Error{ErrorCode::kExists, target + ": a directory, expected a file"};
  }
  if (access((fs::exists(file, code) ? file : parent).c_str(), W_OK) != 0) {
    return Error{ErrorCode::kIo, target + ": cannot be written"};
  }
  if (!corpus.empty() && fs::equivalent(parent, corpus, code)) {
    return Error{ErrorCode::kInvalidArgument, target + ": inside the corpus; write it elsewhere"};
  }
  return {};
}

std::string Count(std::size_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

Result<double> ParseDuration(const std::string& flag, const std::string& text) {
  const std::string_view view = Trim(text);
  double unit = 1;
  std::string_view number = view;
  if (!view.empty() && std::string_view("smh").find(view.back()) != std::string_view::npos) {
    unit = view.back() == 's' ? 1 : view.back() == 'm' ? 60 : 3600;
    number.remove_suffix(1);
  }
  const std::optional<double> value = ParseDouble(number);
  if (!value || !(*value >= 0) || *value * unit > 1e7) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} is '{}', expected a time such as 90s, 20m or 1.5h", flag, text)};
  }
  return *value * unit;
}

std::string Clock(double seconds) {
  const auto s = static_cast<long long>(std::lround(std::max(0.0, seconds)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} m {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} m", s / 3600, s / 60 % 60);
}

struct Progress::State {
  using Clock = std::chrono::steady_clock;

  std::string what;
  std::size_t total = 0, done = 0;
  Clock::time_point start = Clock::now(), shown = start;
  bool visible = isatty(STDERR_FILENO) != 0, drawn = false;
  std::mutex mutex;
};

Progress::Progress(std::string what, std::size_t total) : state_(std::make_unique<State>()) {
  state_->what = std::move(what);
  state_->total = std::max<std::size_t>(1, total);
}

Progress::~Progress() {
  if (state_->drawn) fmt::print(stderr, "\r\x1b[K");
}

void Progress::Advance(std::size_t by) {
  const std::lock_guard lock(state_->mutex);
  state_->done += by;
  const auto now = State::Clock::now();
  const double elapsed = std::chrono::duration<double>(now - state_->start).count();
  if (!state_->visible || elapsed < 1 || now - state_->shown < std::chrono::milliseconds(100)) {
    return;
  }
  state_->shown = now, state_->drawn = true;
  const double share = std::min(1.0, static_cast<double>(state_->done) / state_->total);
  const int filled = static_cast<int>(share * 30);
  fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:3.0f} %, {:.0f} s left\x1b[K", state_->what, "",
             filled, "", 30 - filled, 100 * share, elapsed * (1 - share) / std::max(share, 1e-3));
  std::fflush(stderr);
}

}  // namespace aerocast::cli
