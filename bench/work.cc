// SPDX-License-Identifier: BSD-3-Clause
#include "bench/work.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "src/base/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace aerocast {
namespace {

// Multiply-adds of the matrix products.
double TransformerProducts(const ModelConfig& c, bool pruned) {
  const double t = c.tokens(), d = c.width, f = c.feed_forward;
  const auto layer = [&](double queries) {
    const double projections = t * d * 2 * d + queries * d * d;  // key and value, query
    const double attention = 2 * queries * t * d;
    return projections + attention + queries * d * d + 2 * queries * d * f;
  };
  return t * c.inputs() * d + (c.layers - 1) * layer(t) + layer(pruned ? 1 : t);
}

double RecurrentProducts(const ModelConfig& c, bool pruned) {
  const double t = c.tokens(), d = c.width;
  const double gates = c.architecture == Architecture::kLstm ? 4 : 3;
  const bool both_ways = c.architecture == Architecture::kBiGru;
  double sum = static_cast<double>(c.context()) * c.context();
  for (int l = 0; l < c.layers; ++l) {
    const double inputs = l == 0 ? c.inputs() : c.context();
    const double direction = t * gates * d * (inputs + d);
    // Backwards the last token is the first step: no state yet.
    const bool one_step = pruned && l + 1 == c.layers;
    sum += direction + (both_ways ? (one_step ? gates * d * inputs : direction) : 0);
  }
  return sum;
}

double MlpProducts(const ModelConfig& c) {
  double sum = 0, inputs = static_cast<double>(c.tokens()) * c.inputs();
  for (const int size : c.hidden) {
    sum += inputs * size;
    inputs = size;
  }
  return sum;
}

double TrunkProducts(const ModelConfig& config, bool pruned) {
  if (config.architecture == Architecture::kTransformer) return TransformerProducts(config, pruned);
  if (config.architecture == Architecture::kMlp) return MlpProducts(config);
  return RecurrentProducts(config, pruned);
}

#if defined(__x86_64__)

constexpr int kRows = 6, kColumns = 16, kDepth = 256;  // 6 KiB and 16 KiB
constexpr int kProducts = 4000;                        // per try, about 2 ms

// c (6, 16) += a (kDepth, 6) b (kDepth, 16), `products` times, in twelve registers.
__attribute__((target("avx2,fma"))) void Products(const float* a, const float* b, float* c,
                                                  int products) {
  __m256 sums[kRows][2];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 2; ++j) sums[i][j] = _mm256_setzero_ps();
  }
  for (int n = 0; n < products; ++n) {
    for (int k = 0; k < kDepth; ++k) {
      const __m256 left = _mm256_load_ps(b + k * kColumns);
      const __m256 right = _mm256_load_ps(b + k * kColumns + 8);
#pragma GCC unroll 6
      for (int i = 0; i < kRows; ++i) {
        const __m256 factor = _mm256_broadcast_ss(a + k * kRows + i);
        sums[i][0] = _mm256_fmadd_ps(factor, left, sums[i][0]);
        sums[i][1] = _mm256_fmadd_ps(factor, right, sums[i][1]);
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 2; ++j) _mm256_storeu_ps(c + (i * 2 + j) * 8, sums[i][j]);
  }
}

// Operations per second of one thread, over one try.
double Try() {
  alignas(64) float a[kDepth * kRows], b[kDepth * kColumns], c[kRows * kColumns];
  std::fill(std::begin(a), std::end(a), 1e-3f);
  std::fill(std::begin(b), std::end(b), 1e-3f);
  const auto start = std::chrono::steady_clock::now();
  Products(a, b, c, kProducts);
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  volatile float used = c[0];
  (void)used;
  return 2.0 * kRows * kColumns * kDepth * kProducts / s;
}

#endif

}  // namespace

double ForwardFlop(const ModelConfig& config, bool pruned) {
  const double heads = static_cast<double>(config.context()) * config.outputs();
  return 2 * (TrunkProducts(config, pruned) + heads);
}

double MeasurePeakFlops(int threads) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  constexpr int kTries = 15;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> rates(static_cast<std::size_t>(threads));
    ParallelFor(rates.size(), threads, [&](std::size_t n, int) { rates[n] = Try(); });
    double sum = 0;
    for (const double rate : rates) sum += rate;
    best = std::max(best, sum);
  }
  return best;
#else
  (void)threads;
  return 0;
#endif
}

}  // namespace aerocast
