// SPDX-License-Identifier: BSD-3-Clause
//
// Runs body(i) for i = 0 ... n-1 on several threads. Items are handed out one by one, so uneven
// ones balance; results must be written to slots of their own, so the outcome does not depend on
// the number of threads. `threads` <= 0 means one per core.
#pragma once

#include <cstddef>
#include <functional>

namespace aerocast {

int ThreadCount(int threads);

// `worker` is the number of the thread (0 ... ThreadCount-1), for scratch memory of its own.
void ParallelFor(std::size_t n, int threads,
                 const std::function<void(std::size_t i, int worker)>& body);

}  // namespace aerocast
