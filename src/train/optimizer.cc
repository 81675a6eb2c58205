// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/optimizer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/base/check.h"

namespace aerocast {
namespace {

using torch::Tensor;

constexpr std::int64_t kChunk = 1 << 16;

bool IsFlat(const Tensor& x, std::int64_t n) {
  return x.scalar_type() == torch::kFloat && x.dim() == 1 && x.numel() == n && x.is_contiguous();
}

// Sum of squares in eight lanes, so that the loop can be vectorised without changing its order.
double SumOfSquares(const float* x, std::int64_t n) {
  double lane[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) lane[k] += static_cast<double>(x[i + k]) * x[i + k];
  }
  for (int k = 0; i < n; ++i, ++k) lane[k] += static_cast<double>(x[i]) * x[i];
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

double Norm(const Tensor& x) {
  const std::int64_t n = x.numel(), chunks = (n + kChunk - 1) / kChunk;
  const float* data = x.data_ptr<float>();
  std::vector<double> sums(chunks);
  at::parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      sums[c] = SumOfSquares(data + c * kChunk, std::min(kChunk, n - c * kChunk));
    }
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  return std::sqrt(sum);
}

// What is the same for every parameter of one step.
struct StepFactors {
  float grad, keep, beta1, beta2, step, root, epsilon, average;
};

void Update(float* __restrict p, const float* __restrict grad, float* __restrict first,
            float* __restrict second, std::int64_t n, const StepFactors& f) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = grad[i] * f.grad;
    first[i] = f.beta1 * first[i] + (1 - f.beta1) * g;
    second[i] = f.beta2 * second[i] + (1 - f.beta2) * g * g;
    p[i] = f.keep * p[i] - f.step * first[i] / (std::sqrt(second[i]) * f.root + f.epsilon);
  }
}

void Average(float* __restrict average, const float* __restrict p, std::int64_t n, float decay) {
  for (std::int64_t i = 0; i < n; ++i) average[i] += (1 - decay) * (p[i] - average[i]);
}

}  // namespace

AdamW::AdamW(std::int64_t parameters, const TrainConfig& config)
    : config_(config), first_(torch::zeros({parameters})), second_(torch::zeros({parameters})) {
  if (config.ema > 0) average_ = torch::zeros({parameters});
}

double AdamW::Step(Tensor& parameters, const Tensor& grad, double lr) {
  const std::int64_t n = first_.numel();
  AEROCAST_CHECK(IsFlat(parameters, n) && IsFlat(grad, n));
  const double norm = Norm(grad);
  if (!std::isfinite(norm)) return norm;

  const auto before = static_cast<double>(steps_);
  const auto now = static_cast<double>(++steps_);
  StepFactors f;
  f.grad = static_cast<float>(
      config_.clip_norm > 0 ? std::min(1.0, config_.clip_norm / (norm + 1e-6)) : 1.0);
  f.keep = static_cast<float>(1 - lr * config_.weight_decay);
  f.beta1 = static_cast<float>(config_.beta1);
  f.beta2 = static_cast<float>(config_.beta2);
  f.step = static_cast<float>(lr / (1 - std::pow(config_.beta1, now)));
  f.root = static_cast<float>(1 / std::sqrt(1 - std::pow(config_.beta2, now)));
  f.epsilon = static_cast<float>(config_.epsilon);
  f.average = static_cast<float>(std::min(config_.ema, before / (before + 10)));

  float *p = parameters.data_ptr<float>(), *first = first_.data_ptr<float>(),
        *second = second_.data_ptr<float>();
  float* average = average_.defined() ? average_.data_ptr<float>() : nullptr;
  const float* g = grad.data_ptr<float>();
  at::parallel_for(0, (n + kChunk - 1) / kChunk, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin * kChunk; at < std::min(n, end * kChunk); at += kChunk) {
      const std::int64_t size = std::min(kChunk, n - at);
      Update(p + at, g + at, first + at, second + at, size, f);
      if (average != nullptr) Average(average + at, p + at, size, f.average);
    }
  });
  return norm;
}

}  // namespace aerocast
