// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/packer.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/base/half.h"

namespace aerocast {
namespace {

std::size_t Size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

// Where number i of a sequence lies when its blocks are padded.
int PaddedIndex(int i, int block) {
  return block == 0 ? i : i / block * PaddedTo16(block) + i % block;
}
int PaddedCount(int n, int block) { return block == 0 ? n : n / block * PaddedTo16(block); }

}  // namespace

std::byte* Packer::Take(std::size_t bytes) {
  std::byte* const at = out_ == nullptr ? nullptr : out_ + bytes_;
  bytes_ += (bytes + kKernelAlign - 1) / kKernelAlign * kKernelAlign;
  return at;
}

const Tensor& Packer::Find(const std::string& name) const {
  const auto found = std::find_if(model_.tensors.begin(), model_.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  AEROCAST_CHECK(found != model_.tensors.end());  // a Model has all tensors of its config
  return *found;
}

PackedMatrix Packer::Matrix(const MatrixLayout& layout) {
  const int inputs = static_cast<int>(Find(layout.weights.front()).shape[1]);
  int outputs = 0;
  for (const std::string& name : layout.weights) {
    outputs += static_cast<int>(Find(name).shape[0]);
  }
  PackedMatrix packed;
  packed.inputs = PaddedCount(inputs, layout.input_block);
  packed.outputs = PaddedCount(outputs, layout.output_block);
  packed.storage = storage_;
  std::byte* const panels = Take(PanelBytes(packed.inputs, packed.outputs, storage_));
  const int columns = PaddedTo16(packed.outputs);
  auto* const bias = reinterpret_cast<float*>(Take(Size(columns) * sizeof(float)));
  packed.panels = panels, packed.bias = bias;
  if (out_ == nullptr) return packed;

  std::vector<float> padded(Size(packed.outputs) * Size(packed.inputs));
  int row = 0;
  for (const std::string& name : layout.weights) {
    for (const float *w = Find(name).data.data(), *end = w + Find(name).data.size(); w != end;
         w += inputs, ++row) {
      float* const to =
          padded.data() + Size(PaddedIndex(row, layout.output_block)) * Size(packed.inputs);
      for (int k = 0; k < inputs; ++k) to[PaddedIndex(k, layout.input_block)] = layout.scale * w[k];
    }
  }
  const auto beyond = [](float w) { return std::abs(w) >= kHalfOverflow; };
  if (storage_ == WeightStorage::kHalf && beyond_half_.empty() &&
      std::any_of(padded.begin(), padded.end(), beyond)) {
    beyond_half_ = layout.weights.front();
  }
  PackPanels(padded.data(), packed.inputs, packed.inputs, packed.outputs, storage_, panels);
  row = 0;
  for (const std::string& name : layout.biases) {
    for (const float b : Find(name).data) {
      bias[PaddedIndex(row++, layout.output_block)] = layout.scale * b;
    }
  }
  return packed;
}

PackedMatrix Packer::Linear(const std::string& name, int input_block, int output_block) {
  return Matrix({{name + ".weight"}, {name + ".bias"}, input_block, output_block});
}

const float* Packer::Vector(const std::string& name) {
  const std::vector<float>& data = Find(name).data;
  return Table(1, static_cast<int>(data.size()), data).data;
}

Rows Packer::Table(int rows, int columns, const std::vector<float>& values) {
  const int stride = PaddedTo16(columns);
  auto* const at = reinterpret_cast<float*>(Take(Size(rows) * Size(stride) * sizeof(float)));
  if (out_ == nullptr) return {nullptr, stride};
  for (int row = 0; row < rows; ++row) {
    std::copy_n(values.begin() + std::ptrdiff_t{row} * columns, columns,
                at + std::ptrdiff_t{row} * stride);
  }
  return {at, stride};
}

}  // namespace aerocast
