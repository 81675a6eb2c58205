// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/arena.h"

#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace aerocast {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

constexpr std::size_t RoundUp(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

Arena::Arena(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const bool huge = bytes >= kHugePage;
  const std::size_t align = huge ? kHugePage : kAlign;
  const std::size_t rounded = RoundUp(bytes, align);
  void* const memory = ::operator new (rounded, std::align_val_t{align});
  data_ = {static_cast<std::byte*>(memory), Free{align}};
#if defined(__linux__)
  if (huge) madvise(data_.get(), rounded, MADV_HUGEPAGE);  // a wish: no matter when it is refused
#endif
  std::memset(data_.get(), 0, rounded);
}

void Arena::Free::operator()(std::byte* p) const noexcept {
  ::operator delete (p, std::align_val_t{align});
}

}  // namespace aerocast
