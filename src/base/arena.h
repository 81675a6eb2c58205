// SPDX-License-Identifier: BSD-3-Clause
//
// One block of memory for numbers that vectors are loaded from: aligned to cache lines, in huge
// pages where the system has them, zero, and touched, so that using it faults no page.
#pragma once

#include <cstddef>
#include <memory>

namespace aerocast {

class Arena {
 public:
  static constexpr std::size_t kAlign = 64;

  Arena() = default;
  explicit Arena(std::size_t bytes);  // throws std::bad_alloc

  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    std::size_t align;
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace aerocast
