// SPDX-License-Identifier: BSD-3-Clause
//
// Puts a model's tensors into one block of memory, laid out for the kernels. Used twice with the
// same calls: first without memory, to learn how much there will be, then with it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/kernels/kernels.h"
#include "src/model/model_file.h"

namespace aerocast {

// Columns up to a multiple of 16. Inputs or outputs that come in blocks (heads of an attention,
// gates of a GRU) are padded block by block, so that each begins at a multiple of 16.
struct MatrixLayout {
  std::vector<std::string> weights;  // (outputs, inputs) each, stacked
  std::vector<std::string> biases;
  int input_block = 0, output_block = 0;  // 0: not in blocks
  float scale = 1;                        // of weights and biases
};

class Packer {
 public:
  // `out` nullptr: nothing is written, addresses are not valid.
  Packer(const Model& model, WeightStorage storage, std::byte* out)
      : model_(model), storage_(storage), out_(out) {}

  PackedMatrix Matrix(const MatrixLayout& layout);
  // name.weight and name.bias
  PackedMatrix Linear(const std::string& name, int input_block = 0, int output_block = 0);
  // Padded with zeros.
  const float* Vector(const std::string& name);
  // (rows, columns), padded.
  Rows Table(int rows, int columns, const std::vector<float>& values);

  std::size_t bytes() const { return bytes_; }
  // The first tensor with a weight that half precision, if asked for, does not reach; else empty.
  const std::string& beyond_half() const { return beyond_half_; }

 private:
  std::byte* Take(std::size_t bytes);
  const Tensor& Find(const std::string& name) const;

  const Model& model_;
  const WeightStorage storage_;
  std::byte* const out_;
  std::size_t bytes_ = 0;
  std::string beyond_half_;
};

}  // namespace aerocast
