// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/team.h"

#include "src/base/check.h"
#include "src/base/denormals.h"

namespace aerocast {
namespace {

// Some 10 to 100 microseconds, by the CPU's idea of a pause: longer than a worker lags behind on a
// free core. Beside a busy neighbour the wait ends asleep, so that spinning does not keep the core
// from the one that is waited for.
constexpr int kSpins = 2000;

void Pause() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void AwaitChange(const std::atomic<std::uint32_t>& value, std::uint32_t from) noexcept {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != from) return;
    Pause();
  }
  while (value.load(std::memory_order_acquire) == from) value.wait(from);
}

}  // namespace

Team::Team(int threads) : size_(threads), missing_(threads) {
  AEROCAST_CHECK(threads >= 1);
  threads_.reserve(static_cast<std::size_t>(threads) - 1);
  try {
    for (int worker = 1; worker < size_; ++worker) {
      threads_.emplace_back([this, worker] { Work(worker); });
    }
  } catch (...) {
    Stop();
    throw;
  }
}

Team::~Team() { Stop(); }

void Team::Stop() noexcept {
  stop_ = true;
  ++call_;
  call_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::Work(int worker) noexcept {
  const FlushDenormals flush;
  for (std::uint32_t call = 0;; ++call) {
    AwaitChange(call_, call);
    if (stop_) return;
    function_(body_, worker);
    Meet();
  }
}

void Team::RunErased(Function function, const void* body) noexcept {
  const FlushDenormals flush;
  if (size_ > 1) {
    function_ = function, body_ = body;
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
  }
  function(body, 0);
  Barrier();
}

void Team::Meet() noexcept {
  const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    missing_.store(size_, std::memory_order_relaxed);
    phase_.fetch_add(1, std::memory_order_release);
    phase_.notify_all();
  } else {
    AwaitChange(phase_, phase);
  }
}

}  // namespace aerocast
