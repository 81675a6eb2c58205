// SPDX-License-Identifier: BSD-3-Clause
//
// A few threads that work on one thing together, step by step. The caller is worker 0; the others
// wait for it, first by spinning for some microseconds (a step takes longer than waking a thread),
// then asleep. A team of one has no other thread and synchronises nothing.
//
//   team.Run([&](int worker) {
//     ... a share of the first step ...
//     team.Barrier();                  // all shares are done, and everybody sees them
//     ... a share of the next ...
//   });
//
// After construction nothing here allocates. Subnormal numbers count as zero within Run: they are
// slow, and nothing that matters to a forecast is so small.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace aerocast {

class Team {
 public:
  explicit Team(int threads);  // throws std::system_error when the system refuses a thread
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // `body` is called as body(worker) on every thread, 0 ... size() - 1, and must not throw.
  template <typename Body>
  void Run(const Body& body) noexcept {
    RunErased([](const void* b, int worker) { (*static_cast<const Body*>(b))(worker); }, &body);
  }

  // Within Run: returns when every worker has come here.
  void Barrier() noexcept {
    if (size_ > 1) Meet();
  }

 private:
  using Function = void (*)(const void* body, int worker);

  void RunErased(Function function, const void* body) noexcept;
  void Meet() noexcept;
  void Work(int worker) noexcept;
  void Stop() noexcept;

  const int size_;
  Function function_ = nullptr;
  const void* body_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> call_{0};   // counts Run; workers wait for the next
  alignas(64) std::atomic<std::uint32_t> phase_{0};  // counts barriers
  alignas(64) std::atomic<int> missing_;  // workers that have yet to come to this barrier
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// The share of n items that a worker has: equal parts, one after the other.
struct Share {
  int first, last;
};
constexpr Share ShareOf(int n, int worker, int workers) {
  return {static_cast<int>(std::int64_t{n} * worker / workers),
          static_cast<int>(std::int64_t{n} * (worker + 1) / workers)};
}

}  // namespace aerocast
