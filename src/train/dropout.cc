// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/dropout.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/base/rng.h"

namespace aerocast {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// One site of a batch: everything a pass over its values needs to know.
struct Site {
  std::uint64_t key;  // of seed and site
  std::uint64_t first_sample;
  MaskPart part;
  std::int32_t threshold;  // dropped when 24 bits of the hash are below it
  float scale;
};

enum class Form { kDrop, kRelu, kAdd };

// A 32-bit mixer in the manner of murmur3 (constants: C. Wellons' lowbias32), keyed twice so that
// two keys never give shifted copies of one sequence. Eight of these fit in one AVX2 register.
inline std::uint32_t Hash(std::uint32_t i, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t x = i + key0;
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x += key1;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

// y = form(x) for n values whose mask begins at element `first`. `residual` is used by kAdd only.
template <Form form>
[[gnu::always_inline]] inline void RunBody(const float* __restrict x,
                                           const float* __restrict residual, float* __restrict y,
                                           std::int64_t n, std::int64_t first, std::uint64_t key,
                                           const Site& site) {
  const auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  const auto i0 = static_cast<std::uint32_t>(first);
  const std::int32_t threshold = site.threshold;
  const float scale = site.scale;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t hash = Hash(i0 + static_cast<std::uint32_t>(i), key0, key1);
    const bool keep = static_cast<std::int32_t>(hash >> 8) >= threshold;
    const float value = x[i] * scale;
    if constexpr (form == Form::kDrop) y[i] = keep ? value : 0.f;
    if constexpr (form == Form::kRelu) y[i] = keep && value > 0 ? value : 0.f;
    if constexpr (form == Form::kAdd) y[i] = residual[i] + (keep ? value : 0.f);
  }
}

using RunFunction = void (*)(const float*, const float*, float*, std::int64_t, std::int64_t,
                             std::uint64_t, const Site&);

template <Form form>
void RunPlain(const float* x, const float* residual, float* y, std::int64_t n, std::int64_t first,
              std::uint64_t key, const Site& site) {
  RunBody<form>(x, residual, y, n, first, key, site);
}

#if defined(__x86_64__)
// The same arithmetic, compiled for wider registers: integer hashes and one product, so the same
// bits.
template <Form form>
[[gnu::target("avx2")]] void RunAvx2(const float* x, const float* residual, float* y,
                                     std::int64_t n, std::int64_t first, std::uint64_t key,
                                     const Site& site) {
  RunBody<form>(x, residual, y, n, first, key, site);
}
template <Form form>
RunFunction ChooseRun() {
  return __builtin_cpu_supports("avx2") ? &RunAvx2<form> : &RunPlain<form>;
}
#else
template <Form form>
RunFunction ChooseRun() {
  return &RunPlain<form>;
}
#endif

template <Form form>
void Apply(const Tensor& x, const Tensor& residual, Tensor& y, const Site& site) {
  static const RunFunction run = ChooseRun<form>();
  AEROCAST_CHECK(x.scalar_type() == torch::kFloat && x.is_contiguous() && y.is_contiguous());
  const std::int64_t samples = x.size(0);
  if (x.numel() == 0) return;
  const std::int64_t per_sample = x.numel() / samples, n = per_sample / site.part.runs;
  AEROCAST_CHECK(n * site.part.runs == per_sample);
  const float* from = x.data_ptr<float>();
  const float* base = form == Form::kAdd ? residual.data_ptr<float>() : nullptr;
  float* to = y.data_ptr<float>();
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / per_sample);
  at::parallel_for(0, samples, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const std::uint64_t key = Mix64(site.key ^ Mix64(site.first_sample + b));
      for (std::int64_t r = 0; r < site.part.runs; ++r) {
        const std::int64_t at = b * per_sample + r * n;
        run(from + at, base == nullptr ? nullptr : base + at, to + at, n,
            site.part.first + r * site.part.stride, key, site);
      }
    }
  });
}

Tensor Drop(const Tensor& x, const Site& site) {
  Tensor y = torch::empty_like(x);
  Apply<Form::kDrop>(x, {}, y, site);
  return y;
}

// A site travels to the backward pass as plain numbers.
void SaveSite(AutogradContext* context, const Site& site) {
  context->saved_data["key"] = static_cast<std::int64_t>(site.key);
  context->saved_data["first_sample"] = static_cast<std::int64_t>(site.first_sample);
  context->saved_data["first"] = site.part.first;
  context->saved_data["runs"] = site.part.runs;
  context->saved_data["stride"] = site.part.stride;
  context->saved_data["threshold"] = static_cast<std::int64_t>(site.threshold);
  context->saved_data["scale"] = static_cast<double>(site.scale);
}
Site SavedSite(AutogradContext* context) {
  const auto integer = [&](const char* name) { return context->saved_data[name].toInt(); };
  Site site;
  site.key = static_cast<std::uint64_t>(integer("key"));
  site.first_sample = static_cast<std::uint64_t>(integer("first_sample"));
  site.part = {integer("first"), integer("runs"), integer("stride")};
  site.threshold = static_cast<std::int32_t>(integer("threshold"));
  site.scale = static_cast<float>(context->saved_data["scale"].toDouble());
  return site;
}

struct DropFunction : torch::autograd::Function<DropFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Site& site) {
    SaveSite(context, site);
    return Drop(x.contiguous(), site);
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    return {Drop(grads[0].contiguous(), SavedSite(context)), {}};
  }
};

// grad * scale where the output is above zero. The product is taken whether needed or not, so that
// the compiler can choose without a branch: half of them would be mispredicted.
void ReluGradient(const float* __restrict output, const float* __restrict grad,
                  float* __restrict out, std::int64_t n, float scale) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = grad[i] * scale;
    out[i] = output[i] > 0 ? value : 0.f;
  }
}

// A value came through when its output is above zero, so the output is all that backward needs.
struct DropReluFunction : torch::autograd::Function<DropReluFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Site& site) {
    const Tensor from = x.contiguous();
    Tensor y = torch::empty_like(from);
    Apply<Form::kRelu>(from, {}, y, site);
    context->save_for_backward({y});
    context->saved_data["scale"] = static_cast<double>(site.scale);
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Tensor y = context->get_saved_variables()[0], grad = grads[0].contiguous();
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    Tensor out = torch::empty_like(grad);
    const float *value = y.data_ptr<float>(), *from = grad.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, y.numel(), 16384, [&](std::int64_t begin, std::int64_t end) {
      ReluGradient(value + begin, from + begin, to + begin, end - begin, scale);
    });
    return {out, {}};
  }
};

struct DropAddFunction : torch::autograd::Function<DropAddFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& residual, const Tensor& x,
                        const Site& site) {
    AEROCAST_CHECK(residual.sizes() == x.sizes());
    SaveSite(context, site);
    const Tensor base = residual.contiguous(), from = x.contiguous();
    Tensor y = torch::empty_like(from);
    Apply<Form::kAdd>(from, base, y, site);
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    return {grads[0], Drop(grads[0].contiguous(), SavedSite(context)), {}};
  }
};

Site MakeSite(double rate, std::uint64_t seed, std::uint64_t first_sample, int site,
              const MaskPart& part) {
  constexpr double kSteps = 1 << 24;
  AEROCAST_CHECK(rate >= 0 && rate < 1);
  const double threshold = std::min(std::round(rate * kSteps), kSteps - 1);
  return {Mix64(seed) ^ Mix64(~static_cast<std::uint64_t>(site)), first_sample, part,
          static_cast<std::int32_t>(threshold), static_cast<float>(1 / (1 - threshold / kSteps))};
}

}  // namespace

Tensor Dropout::operator()(const Tensor& x, int site, const MaskPart& part) const {
  if (rate_ == 0) return x;
  return DropFunction::apply(x, MakeSite(rate_, seed_, first_sample_, site, part));
}

Tensor Dropout::Relu(const Tensor& x, int site, const MaskPart& part) const {
  if (rate_ == 0) return torch::relu(x);
  return DropReluFunction::apply(x, MakeSite(rate_, seed_, first_sample_, site, part));
}

Tensor Dropout::Add(const Tensor& residual, const Tensor& x, int site, const MaskPart& part) const {
  if (rate_ == 0) return residual + x;
  return DropAddFunction::apply(residual, x, MakeSite(rate_, seed_, first_sample_, site, part));
}

}  // namespace aerocast
