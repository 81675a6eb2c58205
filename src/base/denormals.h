// SPDX-License-Identifier: BSD-3-Clause
//
// While one lives, this thread treats subnormal numbers as zero. A register is set, no system call.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace aerocast {

class FlushDenormals {
 public:
  FlushDenormals() : before_(Get()) { Set(before_ | kFlush); }
  ~FlushDenormals() { Set(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr std::uint64_t kFlush = 0x8040;  // FTZ and DAZ of MXCSR
  static std::uint64_t Get() { return _mm_getcsr(); }
  static void Set(std::uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FZ of FPCR
  static std::uint64_t Get() {
    std::uint64_t value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void Set(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
  static constexpr std::uint64_t kFlush = 0;
  static std::uint64_t Get() { return 0; }
  static void Set(std::uint64_t) {}
#endif

  std::uint64_t before_;
};

}  // namespace aerocast
