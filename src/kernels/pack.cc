// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "src/base/half.h"
#include "src/kernels/kernels.h"

namespace aerocast {
namespace {

template <typename Weight, typename Convert>
void Pack(const float* weights, std::ptrdiff_t row_stride, int inputs, int outputs,
          const Convert& convert, Weight* out) {
  for (int panel = 0; panel < outputs; panel += kLanes) {
    const int used = std::min(kLanes, outputs - panel);
    for (int k = 0; k < inputs; ++k, out += kLanes) {
      const float* column = weights + panel * row_stride + k;
      for (int j = 0; j < used; ++j) out[j] = convert(column[j * row_stride]);
      std::fill(out + used, out + kLanes, Weight{});
    }
  }
}

}  // namespace

std::size_t PanelBytes(int inputs, int outputs, WeightStorage storage) {
  const std::size_t size = storage == WeightStorage::kHalf ? sizeof(std::uint16_t) : sizeof(float);
  const std::size_t bytes =
      static_cast<std::size_t>(inputs) * static_cast<std::size_t>(PaddedTo16(outputs)) * size;
  return (bytes + kKernelAlign - 1) / kKernelAlign * kKernelAlign;
}

void PackPanels(const float* weights, std::ptrdiff_t row_stride, int inputs, int outputs,
                WeightStorage storage, void* panels) {
  if (storage == WeightStorage::kHalf) {
    Pack(weights, row_stride, inputs, outputs, HalfFromFloat, static_cast<std::uint16_t*>(panels));
  } else {
    Pack(
        weights, row_stride, inputs, outputs, [](float w) { return w; },
        static_cast<float*>(panels));
  }
}

void PackPanelsTransposed(const float* weights, std::ptrdiff_t row_stride, int inputs, int outputs,
                          float* panels) {
  for (int panel = 0; panel < outputs; panel += kLanes) {
    const auto used = static_cast<std::size_t>(std::min(kLanes, outputs - panel));
    for (int k = 0; k < inputs; ++k, panels += kLanes) {
      std::memcpy(panels, weights + k * row_stride + panel, used * sizeof(float));
      std::fill(panels + used, panels + kLanes, 0.f);
    }
  }
}

}  // namespace aerocast
