// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes to be read at any place: a file (src/base/file.h) or memory. Who decodes a format reads
// what it needs into buffers of its own and never holds the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "aerocast/result.h"

namespace aerocast {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  // All of `bytes` from `offset` on, or an error without the source's name: there may be fewer
  // bytes than size() said, since others may write to a file while it is read.
  virtual Status Read(std::uint64_t offset, void* to, std::size_t bytes) const = 0;
};

inline Error CutOffWhileRead() { return {ErrorCode::kBadFormat, "was cut off while being read"}; }

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }
  Status Read(std::uint64_t offset, void* to, std::size_t bytes) const override {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) return CutOffWhileRead();
    if (bytes > 0) std::memcpy(to, bytes_.data() + offset, bytes);
    return {};
  }

 private:
  std::string_view bytes_;
};

}  // namespace aerocast
