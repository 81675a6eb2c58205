// SPDX-License-Identifier: BSD-3-Clause
//
// Inside a 100 Hz loop: `05_real_time_loop [MODEL.safetensors]`. Everything is made before the
// loop; in it several objects are forecast at once, and nothing allocates. This program counts its
// allocations to show it.
#include <aerocast/classical.h>
#include <aerocast/load.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

// Not inlined: GCC would take the malloc and free in here for a mismatch with new and delete.
static long allocations = 0;
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace aerocast;
constexpr int kObjects = 4;
constexpr std::size_t kKept = 250;  // 2.5 s at 100 Hz: more than a forecaster looks back

// The newest samples of one object, oldest first. Moving them up by one moves 8 KB a tick, which is
// little beside a forecast.
class Track {
 public:
  void Add(const Observation& sample) {
    if (size_ == kKept) std::shift_left(samples_.begin(), samples_.end(), 1), --size_;
    samples_[size_++] = sample;
  }
  std::span<const Observation> samples() const { return {samples_.data(), size_}; }

 private:
  std::array<Observation, kKept> samples_;
  std::size_t size_ = 0;
};

// What a tracker would deliver: objects on circles of 10, 20, ... m.
Vec3 Measure(int object, double t) {
  const double radius = 10.0 * (object + 1), angle = 6 / radius * t;
  return {radius * std::cos(angle), radius * std::sin(angle), 30};
}

}  // namespace

int main(int argc, char** argv) {
  const auto forecaster = argc > 1 ? LoadForecaster(argv[1]) : MakeClassical("imm");
  if (!forecaster.ok()) return std::fprintf(stderr, "%s\n", forecaster.error().message.c_str()), 1;

  // Before the loop: one workspace for this thread, a forecast and a view for each object.
  const auto workspace = (*forecaster)->MakeWorkspace();
  std::vector<Forecast> forecasts(kObjects, Forecast((*forecaster)->info().shape));
  std::vector<Track> tracks(kObjects);
  std::vector<History> histories(kObjects);
  const std::array<const char*, kObjects> ids = {"north", "east", "south", "west"};

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Clock::duration longest{};
  const long before = allocations;
  for (int tick = 0; tick < 300; ++tick) {  // three seconds
    const double now_s = 0.01 * tick;
    for (std::size_t n = 0; n < kObjects; ++n) {
      tracks[n].Add({DurationNs(now_s), Measure(static_cast<int>(n), now_s)});
      histories[n] = {ids[n], tracks[n].samples(), 0.02};
    }
    const auto begin = Clock::now();
    (*forecaster)->PredictBatch(histories, *workspace, forecasts);
    longest = std::max(longest, Clock::now() - begin);
    std::this_thread::sleep_until(start + std::chrono::milliseconds(10) * (tick + 1));
  }
  const long during = allocations - before;

  std::printf("%s: %d objects, longest tick %.2f ms, %ld allocations\n",
              (*forecaster)->info().name.c_str(), kObjects,
              std::chrono::duration<double, std::milli>(longest).count(), during);
  for (std::size_t n = 0; n < kObjects; ++n) {
    const double error = Norm(forecasts[n].point(9) - Measure(static_cast<int>(n), 2.99 + 1));
    std::printf("%-5s quality %s, %.2f m off in one second\n", forecasts[n].id.c_str(),
                std::string(QualityName(forecasts[n].quality)).c_str(), error);
  }
  return during == 0 ? 0 : 1;
}
