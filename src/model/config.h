// SPDX-License-Identifier: BSD-3-Clause
//
// What a network of the paper's family is: its input, its trunk, its mixture heads. Everything that
// changes the arithmetic of a forecast is here and nothing else; it travels in the model file. How
// a network is trained is src/train/config.h.
//
//   tokens (T, inputs) -> trunk -> context -> heads: S x K components of a displacement mixture
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

enum class Architecture { kTransformer, kGru, kLstm, kBiGru, kMlp };

std::string_view ArchitectureName(Architecture architecture);  // "transformer", "gru", ...
Result<Architecture> ArchitectureFromName(std::string_view name);

struct ModelConfig {
  Architecture architecture = Architecture::kTransformer;

  // Input: T tokens of displacement / lambda and, unless left out, velocity in m/s
  // (src/data/paper_features.h). Output: S steps of dt.
  int history_steps = 20;  // T
  int horizon_steps = 50;  // S
  double dt_s = 0.1;
  double lambda_m = 2.5;
  bool velocity = true;

  // Trunk. The MLP has `hidden` and nothing else; the others have `width` and `layers`.
  int width = 512;                  // D, or hidden units per direction
  int layers = 4;                   // L
  int heads = 8;                    // Transformer: H, divides D
  int feed_forward = 2048;          // Transformer
  bool positional_encoding = true;  // Transformer
  std::vector<int> hidden;          // MLP

  // Heads.
  int components = 5;         // K <= kMaxModes
  double sigma_min_m = 0.05;  // floor of every standard deviation

  int inputs() const { return velocity ? 6 : 3; }  // numbers per token
  int context() const;                             // numbers the heads read
  // mean (S, K, 3), log sigma (S, K, 3), weight logits (S, K), one after the other
  int outputs() const { return horizon_steps * components * 7; }

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// Says which field is out of range, if one is. Fields another architecture uses must be at their
// defaults, so that two descriptions of the same network are equal.
Status Validate(const ModelConfig& config);

// One line of JSON with the fields this architecture has, and back. Unknown, missing and ill-typed
// fields are refused by name; `where` begins the message.
std::string ToJson(const ModelConfig& config);
Result<ModelConfig> ModelConfigFromJson(std::string_view json, std::string_view where);

// The network's parameters in the order of the model file: the one table that trainer, file and
// runtime share. Matrices are (outputs, inputs), row major, as torch has them.
//
//   transformer  embed.{weight,bias},
//   layers.N.{norm1,attention.in,attention.out,norm2,ff.in,ff.out}
//                .{weight,bias}, norm.{weight,bias}; attention.in stacks query, key, value
//   gru, lstm,   layers.N.{weight_ih,weight_hh,bias_ih,bias_hh}, gates stacked as torch stacks them
//   bigru        (r, z, n; i, f, g, o); the backward direction is layers.N.reverse.*; then
//                project.{weight,bias}
//   mlp          layers.N.{weight,bias}, layers.N.norm.{weight,bias}
//   all          heads.{mean,log_sigma,logit}.{weight,bias}
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;

  std::size_t size() const;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};
std::vector<TensorSpec> TensorsOf(const ModelConfig& config);
std::size_t ParameterCount(const ModelConfig& config);

// What a Transformer adds to its embedded tokens, (T, D): sinusoids of base 10000, sines in the
// even columns and cosines in the odd ones; zeros without positional encoding.
std::vector<float> PositionTable(const ModelConfig& config);

// What the network is without its weights, in 64 hexadecimal digits: SHA-256 of the config's JSON
// and of every tensor's name and shape. Equal for two models exactly when one's weights fit into
// the other (docs/model_format.md).
std::string StructureHash(const ModelConfig& config);

}  // namespace aerocast
