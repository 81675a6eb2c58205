// SPDX-License-Identifier: BSD-3-Clause
//
// For test programs of their own: replaces the global operator new by one that counts. Include it
// in one file of the program.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> allocations{0};
}

// Not inlined, or the compiler sees malloc behind one and takes the other for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) {
  ++allocations;
  const std::size_t unit = static_cast<std::size_t>(align);
  if (void* p = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
