// SPDX-License-Identifier: BSD-3-Clause
//
// Inside of packed_network.h: what lies between tokens and heads, one class per family.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/team.h"
#include "src/kernels/kernels.h"
#include "src/model/packed_network.h"
#include "src/model/packer.h"

namespace aerocast {

// Rows of activations are this far apart: a power of two would map them all to the same lines of
// the cache.
constexpr int ActivationStride(int columns) { return PaddedTo16(columns) + kLanes; }

// One worker's part in one forward pass. All workers make the same calls in the same order; each
// does its share, and after Barrier() the shares of all are there. A pass may be one worker's
// alone.
struct Pass {
  const Kernels& kernels;
  Team* team;  // nullptr: alone
  int worker;
  int windows;
  int seen;                         // tokens of each window that count, its last ones
  std::span<const float> tokens;    // (windows, T, inputs)
  std::span<float* const> buffers;  // as Trunk::Buffers sizes them
  const Tracer* tracer;

  Share MyShare(int n) const {
    return team == nullptr ? Share{0, n} : ShareOf(n, worker, team->size());
  }
  void Barrier() const {
    if (team != nullptr) team->Barrier();
  }

  void Multiply(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c) const;
  // Of the panels first ... last - 1.
  void Multiply(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c, int first,
                int last) const;
  void Norm(ConstRows x, int rows, int columns, const float* gain, const float* shift, bool relu,
            Rows y) const;

  // What a traced matrix holds: its row of (window, token), and the blocks of its columns.
  struct TraceShape {
    int tokens, columns;
    int window_rows, token_rows;  // rows from one window, one token to the next
    int block = 0;                // columns come in blocks padded to 16; 0: they do not
  };
  // After a barrier.
  void Trace(const std::string& name, ConstRows x, const TraceShape& shape) const;
};

class Trunk {
 public:
  virtual ~Trunk() = default;
  virtual int batch() const = 0;
  // Numbers in each buffer a pass of so many workers needs.
  virtual std::vector<std::size_t> Buffers(int workers) const = 0;
  // Writes context rows, one per window; the caller waits for all workers.
  virtual ConstRows Forward(const Pass& pass) const noexcept = 0;
};

std::unique_ptr<Trunk> MakeTransformerTrunk(const ModelConfig& config, Packer& packer);
std::unique_ptr<Trunk> MakeRecurrentTrunk(const ModelConfig& config, Packer& packer);
std::unique_ptr<Trunk> MakeMlpTrunk(const ModelConfig& config, Packer& packer);

}  // namespace aerocast
