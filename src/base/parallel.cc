// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace aerocast {

int ThreadCount(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(std::size_t n, int threads,
                 const std::function<void(std::size_t i, int worker)>& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&](int worker) {
    for (std::size_t i = next++; i < n; i = next++) body(i, worker);
  };
  const int workers = static_cast<int>(std::min<std::size_t>(n, ThreadCount(threads)));
  std::vector<std::thread> others;
  for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
  work(0);
  for (std::thread& thread : others) thread.join();
}

}  // namespace aerocast
