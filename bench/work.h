// SPDX-License-Identifier: BSD-3-Clause
//
// What there is to do and what the machine could do at best: the floating-point operations of a
// forward pass, and the rate of matrix products that never leave the first-level cache.
#pragma once

#include "src/model/config.h"

namespace aerocast {

// Of the matrix products of one window, two per multiply-add; norms, softmax and gates are not
// counted. `pruned`: the last layer computes only what the last token needs.
double ForwardFlop(const ModelConfig& config, bool pruned);

// Operations per second of single-precision multiply-adds in a register-blocked product of panels
// that stay in L1, `threads` at once; the best of several tries. 0 where it is not known (no AVX2).
double MeasurePeakFlops(int threads);

}  // namespace aerocast
