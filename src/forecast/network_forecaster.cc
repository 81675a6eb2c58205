// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/network_forecaster.h"

#include <algorithm>
#include <cmath>

#include "aerocast/window.h"
#include "src/base/check.h"
#include "src/data/paper_features.h"
#include "src/data/resample.h"
#include "src/forecast/plus.h"

namespace aerocast {
namespace {

constexpr double kLargestSigma = 1e6;  // metres

std::size_t Size(int n) { return static_cast<std::size_t>(n); }

// With less a forecast of the plus family is flagged: two seconds, the paper's history.
int ShortHistorySteps(const ModelConfig& config) {
  return static_cast<int>(std::lround(2 / config.dt_s));
}

ForecasterInfo NetworkInfo(std::string name, std::string description, std::string fingerprint,
                           const ModelConfig& config, int batch) {
  ForecasterInfo info;
  info.name = std::move(name), info.description = std::move(description);
  info.fingerprint = std::move(fingerprint);
  info.history_s = config.history_steps * config.dt_s;
  info.dt_s = config.dt_s;
  info.shape = NetworkShape(config);
  info.batch = batch;
  return info;
}

// In metres. What is not a number stays none, so that the forecast is seen to be invalid.
double Sigma(double log_sigma, const ModelConfig& config) {
  return std::clamp(std::exp(log_sigma) * config.lambda_m, config.sigma_min_m, kLargestSigma);
}

void WriteMixture(std::span<const float> heads, const ModelConfig& config,
                  DisplacementMixture& mixture) {
  const std::size_t components = Size(config.components);
  const std::size_t rows = Size(config.horizon_steps) * components;
  const std::span<const float> mean = heads.first(3 * rows), log_sigma = heads.subspan(3 * rows),
                               logit = heads.last(rows);
  for (std::size_t j = 0; j < rows; ++j) {
    mixture.mean[j] = config.lambda_m * Vec3{mean[3 * j], mean[3 * j + 1], mean[3 * j + 2]};
    mixture.sigma[j] = {Sigma(log_sigma[3 * j], config), Sigma(log_sigma[3 * j + 1], config),
                        Sigma(log_sigma[3 * j + 2], config)};
  }
  for (std::size_t row = 0; row < rows; row += components) {
    Softmax(logit.subspan(row, components), std::span(mixture.weight).subspan(row, components));
  }
}

// The paper-family rule of aerocast/forecast.h.
void WriteMode(Forecast& forecast) {
  const DisplacementMixture& d = forecast.displacement;
  const std::size_t components = Size(d.components);
  Vec3 mean = d.anchor;
  Cov3 cov;
  forecast.weight(0) = 1;
  for (int i = 0; i < forecast.steps(); ++i) {
    const std::size_t first = Size(i) * components;
    Vec3 step;
    for (std::size_t j = first; j < first + components; ++j) step += d.weight[j] * d.mean[j];
    for (std::size_t j = first; j < first + components; ++j) {
      const Vec3& s = d.sigma[j];
      cov += (Cov3::Diagonal(s.x * s.x, s.y * s.y, s.z * s.z) + Cov3::Outer(d.mean[j] - step)) *
             d.weight[j];
    }
    forecast.mean(0, i) = mean += step;
    // Components that lie apart by a million sigmas would round to a flat ellipsoid.
    const double least = 1e-12 * (cov.xx + cov.yy + cov.zz);
    forecast.cov(0, i) = cov + Cov3::Diagonal(least, least, least);
  }
}

void WritePoint(Forecast& forecast) {
  const DisplacementMixture& d = forecast.displacement;
  Vec3 point = d.anchor;
  for (int i = 0; i < forecast.steps(); ++i) {
    const auto row = d.weight.begin() + static_cast<std::ptrdiff_t>(Size(i) * Size(d.components));
    const auto heaviest = std::max_element(row, row + d.components) - d.weight.begin();
    forecast.point(i) = point += d.mean[static_cast<std::size_t>(heaviest)];
  }
}

}  // namespace

void PaperTokens(std::span<const Vec3> grid, const ModelConfig& config, std::span<float> tokens) {
  AEROCAST_CHECK(grid.size() == Size(config.history_steps) + 1);
  if (config.velocity) {
    PaperFeatures(grid, config.dt_s, config.lambda_m, tokens);
  } else {
    PaperTargets(grid[0], grid.subspan(1), config.lambda_m, tokens);  // the displacements alone
  }
}

void WholeTokens(std::span<const Vec3> grid, double noise_m, const ModelConfig& config,
                 std::span<float> tokens) {
  if (!config.plus()) return PaperTokens(grid, config, tokens);
  const std::vector<std::uint8_t> present(grid.size(), 1);
  PlusFeatures(grid, present, noise_m, PlusSpecOf(config), tokens);
}

void DecodeHeads(std::span<const float> heads, const ModelConfig& config, const Vec3& anchor,
                 Forecast& forecast) {
  AEROCAST_CHECK(heads.size() == Size(config.outputs()));
  AEROCAST_CHECK(forecast.steps() == config.horizon_steps && forecast.modes() == config.modes() &&
                 forecast.displacement.components == config.components);
  forecast.displacement.anchor = anchor;
  forecast.displacement.sigma_floor_m = config.sigma_min_m;
  forecast.displacement.scale_m = config.lambda_m;
  WriteMixture(heads, config, forecast.displacement);
  WriteMode(forecast);
  WritePoint(forecast);
}

ForecastShape NetworkShape(const ModelConfig& config) {
  return {.steps = config.horizon_steps,
          .modes = config.modes(),
          .displacement_components = config.plus() ? 0 : config.components};
}

void Softmax(std::span<const float> logits, std::span<double> weights) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) sum += weights[k] = std::exp(logits[k] - most);
  for (double& w : weights) w /= sum;
}

NetworkForecaster::NetworkWorkspace::NetworkWorkspace(const ModelConfig& config, int batch)
    : grid_(Size(config.history_steps) + 1),
      present_(grid_.size()),
      frames_(Size(batch)),
      tokens_(Size(batch) * Size(config.tokens() * config.inputs())),
      heads_(Size(batch) * Size(config.outputs())) {}

NetworkForecaster::NetworkForecaster(std::string name, std::string description,
                                     std::string fingerprint, const ModelConfig& config, int batch)
    : Forecaster(NetworkInfo(std::move(name), std::move(description), std::move(fingerprint),
                             config, batch)),
      config_(config) {}

std::unique_ptr<Workspace> NetworkForecaster::DoMakeWorkspace(int) const {
  return std::make_unique<NetworkWorkspace>(config_, info().batch);
}

Quality NetworkForecaster::DoPredict(const History& history, Workspace& workspace,
                                     Forecast& forecast) const noexcept {
  Task task = {history, &forecast};
  DoPredictTasks({&task, 1}, workspace);
  return task.quality;
}

bool NetworkForecaster::Featurize(Task& task, NetworkWorkspace& scratch, std::span<float> tokens,
                                  PlusFrame& frame) const noexcept {
  const int known = ResampleHistory(task.history, config_.dt_s, WindowSpec{}.max_gap_s,
                                    scratch.grid_, scratch.present_);
  task.quality = Quality::kFallback;  // the position is held
  if (!config_.plus()) {
    task.forecast->displacement.sigma_floor_m = config_.sigma_min_m;  // a fallback has them as well
    task.forecast->displacement.scale_m = config_.lambda_m;
    if (known != config_.history_steps + 1) return false;
    PaperTokens(scratch.grid_, config_, tokens);
    frame.seen = config_.tokens();
    task.quality = Quality::kOk;
    return true;
  }
  frame = PlusFeatures(scratch.grid_, scratch.present_, task.history.noise_m, PlusSpecOf(config_),
                       tokens);
  if (frame.seen == 0) return false;
  const int whole = std::min(frame.seen * config_.patch, config_.history_steps);
  const int wanted = std::min(ShortHistorySteps(config_), config_.history_steps);
  task.quality = known - 1 < wanted || 2 * known < whole ? Quality::kShortHistory : Quality::kOk;
  return true;
}

void NetworkForecaster::DoPredictTasks(std::span<Task> tasks, Workspace& workspace) const noexcept {
  auto& scratch = static_cast<NetworkWorkspace&>(workspace);
  const std::size_t token_size = Size(config_.tokens() * config_.inputs());
  const std::size_t head_size = Size(config_.outputs());
  const auto tokens = [&](std::size_t first, std::size_t n) {
    return std::span(scratch.tokens_).subspan(first * token_size, n * token_size);
  };
  const auto heads = [&](std::size_t first, std::size_t n) {
    return std::span(scratch.heads_).subspan(first * head_size, n * head_size);
  };
  std::size_t windows = 0;
  for (Task& task : tasks) {
    if (Featurize(task, scratch, tokens(windows, 1), scratch.frames_[windows])) ++windows;
  }
  // Neighbours that see as many tokens go through together.
  for (std::size_t first = 0, last = 0; first < windows; first = last) {
    const int seen = scratch.frames_[first].seen;
    while (last < windows && scratch.frames_[last].seen == seen) ++last;
    const std::size_t n = last - first;
    Forward(tokens(first, n), static_cast<int>(n), seen, workspace, heads(first, n));
  }
  std::size_t window = 0;
  for (Task& task : tasks) {
    if (task.quality == Quality::kFallback) continue;
    if (config_.plus()) {
      DecodePlus(heads(window, 1), config_, scratch.frames_[window], *task.forecast);
    } else {  // the newest grid point is the newest sample itself
      DecodeHeads(heads(window, 1), config_, task.history.samples.back().p_world, *task.forecast);
    }
    ++window;
  }
}

}  // namespace aerocast
