// SPDX-License-Identifier: BSD-3-Clause
//
// Dropout whose masks belong to samples, not to processes: element i at a site of sample n in a run
// is kept or dropped by a hash of (seed, n, site, i). Two processes that share a batch drop what
// one process would, a resumed run drops what the undisturbed one would, and nothing has to be
// stored for the backward pass. It is also several times cheaper than drawing from a generator.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace aerocast {

// Which elements of a site's mask the values of one sample take. A network that leaves out work
// computes some of a site's values only, and they must be dropped as if all had been computed: the
// sample's values are `runs` equally long runs, run r lies at elements first + r * stride, ...
struct MaskPart {
  std::int64_t first = 0, runs = 1, stride = 0;  // the default: all of them, from 0
};

class Dropout {
 public:
  // Row b of a batch is sample first_sample + b of the run. 0 <= rate < 1; 0 changes nothing.
  Dropout(double rate, std::uint64_t seed, std::uint64_t first_sample)
      : rate_(rate), seed_(seed), first_sample_(first_sample) {}

  double rate() const { return rate_; }
  // `site` numbers the places where a network drops; x is float with the batch first. What is kept
  // is scaled by 1 / (1 - rate). Differentiable.
  torch::Tensor operator()(const torch::Tensor& x, int site, const MaskPart& part = {}) const;
  // drop(relu(x)) and residual + drop(x), each in one pass.
  torch::Tensor Relu(const torch::Tensor& x, int site, const MaskPart& part = {}) const;
  torch::Tensor Add(const torch::Tensor& residual, const torch::Tensor& x, int site,
                    const MaskPart& part = {}) const;

 private:
  double rate_;
  std::uint64_t seed_, first_sample_;
};

}  // namespace aerocast
