// SPDX-License-Identifier: BSD-3-Clause
//
// What a network is: its input, its trunk, its heads. Everything that changes the arithmetic of a
// forecast is here and nothing else; it travels in the model file. How a network is trained is
// src/train/config.h.
//
//   tokens (T, inputs) -> trunk -> context -> heads
//
// Two families share the trunks. `paper`: a token is one step, the heads are S x K components of a
// displacement mixture. `plus`: a token is a patch of steps with holes in it, the heads are one
// point path and K trajectory modes in position space (src/forecast/plus.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

enum class Family { kPaper, kPlus };

std::string_view FamilyName(Family family);  // "paper", "plus"
Result<Family> FamilyFromName(std::string_view name);

enum class Architecture { kTransformer, kGru, kLstm, kBiGru, kMlp };

std::string_view ArchitectureName(Architecture architecture);  // "transformer", "gru", ...
Result<Architecture> ArchitectureFromName(std::string_view name);

struct ModelConfig {
  Family family = Family::kPaper;
  Architecture architecture = Architecture::kTransformer;

  int history_steps = 20;  // of input, at most
  int horizon_steps = 50;  // S, of output
  double dt_s = 0.1;
  // Input of the paper's family: displacement / lambda and, unless left out, velocity in m/s
  // (src/data/paper_features.h).
  double lambda_m = 2.5;
  bool velocity = true;
  // Input of plus (src/data/plus_features.h): steps per token, a divisor of history_steps, and
  // whether a step says where it was as well as how it moved.
  int patch = 1;
  bool positions = true;
  // The mean steps, in metres, that a network of plus is told; it treats all others alike.
  double told_least_m = 0, told_most_m = 0;

  // Trunk. The MLP has `hidden` and nothing else; the others have `width` and `layers`.
  int width = 512;                  // D, or hidden units per direction
  int layers = 4;                   // L
  int heads = 8;                    // Transformer: H, divides D
  int feed_forward = 2048;          // Transformer
  bool positional_encoding = true;  // Transformer
  std::vector<int> hidden;          // MLP

  // Heads.
  int components = 5;         // K <= kMaxModes
  double sigma_min_m = 0.05;  // paper: floor of every standard deviation

  bool plus() const { return family == Family::kPlus; }
  int modes() const { return plus() ? components : 1; }  // of a forecast's positions
  int tokens() const { return history_steps / patch; }   // T
  int inputs() const;                                    // numbers per token
  int context() const;                                   // numbers the heads read
  int outputs() const;                                   // of all heads, one after the other

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
//   all          heads.{mean,log_sigma,logit}.{weight,bias}; plus has heads.point before them
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;

  std::size_t size() const;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};
std::vector<TensorSpec> TensorsOf(const ModelConfig& config);

// The heads in the order of their outputs.
//   paper  mean (S, K, 3), log_sigma (S, K, 3), logit (S, K)
//   plus   point (S, 3), mean (K, S, 3), log_sigma (K, S, 3), logit (K)
struct HeadSpec {
  std::string_view name;
  int outputs;
};
std::vector<HeadSpec> HeadsOf(const ModelConfig& config);
std::size_t ParameterCount(const ModelConfig& config);

// The heads of plus are of order one: these are the sizes they are multiplied by at `step` (1 ...
// S), in units of the window's mean step. How far objects get, and how wrong a guess is at first.
double PlusMeanCurve(int step);
double PlusSigmaCurve(int step);

// What a Transformer adds to its embedded tokens, (T, D): sinusoids of base 10000, sines in the
// even columns and cosines in the odd ones; zeros without positional encoding.
std::vector<float> PositionTable(const ModelConfig& config);

// What the network is without its weights, in 64 hexadecimal digits: SHA-256 of the config's JSON
// and of every tensor's name and shape. Equal for two models exactly when one's weights fit into
// the other (docs/model_format.md).
std::string StructureHash(const ModelConfig& config);

}  // namespace aerocast
