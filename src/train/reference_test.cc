// SPDX-License-Identifier: BSD-3-Clause
//
// The networks against plain loops over one number at a time.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <vector>

#include "src/train/network.h"
#include "src/train/test_network.h"

namespace aerocast {
namespace {

using Vector = std::vector<double>;

Vector Row(const torch::Tensor& x) {
  const torch::Tensor row = x.detach().to(torch::kDouble).contiguous();
  return {row.data_ptr<double>(), row.data_ptr<double>() + row.numel()};
}

// W x + b
Vector Affine(const torch::Tensor& weight, const torch::Tensor& bias, const Vector& x) {
  Vector y = Row(bias);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const Vector w = Row(weight[static_cast<std::int64_t>(i)]);
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += w[j] * x[j];
  }
  return y;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double MaxDifference(const Vector& a, const torch::Tensor& b) {
  return aerocast::MaxDifference(torch::tensor(a, torch::kDouble), b.flatten());
}

std::map<std::string, torch::Tensor> Traced(const Network& network, const torch::Tensor& tokens,
                                            const ForwardOptions& given = {}) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> out;
  ForwardOptions options = given;
  options.trace = [&](const std::string& name, const torch::Tensor& x) { out[name] = x.clone(); };
  (void)network.Forward(tokens, options);
  return out;
}

// A fresh network with biases that are not zero.
void Stir(Network& network) { network.flat() += RandomNormal({network.flat().numel()}, 0.2, 77); }

// One window's attention, before the output projection, as the formula has it: query token t of
// head h weighs the values by softmax(q k / sqrt(d)), each weight times its dropout factor.
std::vector<Vector> NaiveAttention(const Network& network, const torch::Tensor& norm,
                                   const torch::Tensor& factors) {
  const ModelConfig& config = network.config();
  const int tokens = static_cast<int>(norm.size(0)), width = config.width;
  const int size = width / config.heads;
  std::vector<Vector> qkv, out;
  for (int t = 0; t < tokens; ++t) {
    qkv.push_back(Affine(network.parameter("layers.0.attention.in.weight"),
                         network.parameter("layers.0.attention.in.bias"), Row(norm[t])));
    out.push_back(Vector(width, 0.0));
  }
  for (int h = 0; h < config.heads; ++h) {
    for (int t = 0; t < tokens; ++t) {
      Vector weight(tokens, 0.0);
      double sum = 0;
      for (int s = 0; s < tokens; ++s) {
        double dot = 0;
        for (int j = h * size; j < (h + 1) * size; ++j) dot += qkv[t][j] * qkv[s][width + j];
        sum += weight[s] = std::exp(dot / std::sqrt(size));
      }
      for (int s = 0; s < tokens; ++s) {
        const double factor = factors[h][t][s].item<double>();
        for (int j = h * size; j < (h + 1) * size; ++j) {
          out[t][j] += factor * weight[s] / sum * qkv[s][2 * width + j];
        }
      }
    }
  }
  return out;
}

TEST(Reference, AttentionIsTheFormula) {
  for (const int heads : {1, 2, 4}) {
    for (const int history : {6, 3}) {
      ModelConfig config = TinyConfig(Architecture::kTransformer);
      config.heads = heads;
      Network network(config, 1);
      Stir(network);
      const Dropout dropout(0.3, 4, 9);
      ForwardOptions options;
      options.history = history, options.dropout = &dropout;
      const auto traced = Traced(network, RandomTokens(config, 3, 2), options);
      const torch::Tensor factors = dropout(torch::ones({3, heads, history, history}), 0);
      for (int b = 0; b < 3; ++b) {
        const auto expected = NaiveAttention(network, traced.at("layers.0.norm1")[b], factors[b]);
        for (int t = 0; t < history; ++t) {
          EXPECT_LT(MaxDifference(expected[t], traced.at("layers.0.attention")[b][t]), 2e-5);
        }
      }
    }
  }
}

// One step of one layer; h and c are the state before and after.
void GruStep(const Network& network, const std::string& layer, const Vector& x, Vector& h) {
  const Vector a =
      Affine(network.parameter(layer + ".weight_ih"), network.parameter(layer + ".bias_ih"), x);
  const Vector b =
      Affine(network.parameter(layer + ".weight_hh"), network.parameter(layer + ".bias_hh"), h);
  const std::size_t n = h.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double r = Sigmoid(a[i] + b[i]), z = Sigmoid(a[n + i] + b[n + i]);
    const double candidate = std::tanh(a[2 * n + i] + r * b[2 * n + i]);
    h[i] = (1 - z) * candidate + z * h[i];
  }
}

void LstmStep(const Network& network, const std::string& layer, const Vector& x, Vector& h,
              Vector& c) {
  const Vector a =
      Affine(network.parameter(layer + ".weight_ih"), network.parameter(layer + ".bias_ih"), x);
  const Vector b =
      Affine(network.parameter(layer + ".weight_hh"), network.parameter(layer + ".bias_hh"), h);
  const std::size_t n = h.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double in = Sigmoid(a[i] + b[i]), forget = Sigmoid(a[n + i] + b[n + i]);
    const double cell = std::tanh(a[2 * n + i] + b[2 * n + i]);
    const double out = Sigmoid(a[3 * n + i] + b[3 * n + i]);
    c[i] = forget * c[i] + in * cell;
    h[i] = out * std::tanh(c[i]);
  }
}

// All outputs of one direction, from the first step to the last or back.
std::vector<Vector> NaiveScan(const Network& network, const std::string& layer,
                              const std::vector<Vector>& x, bool back) {
  Vector h(network.config().width, 0.0), c = h;
  std::vector<Vector> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t t = back ? x.size() - 1 - i : i;
    if (network.config().architecture == Architecture::kLstm) {
      LstmStep(network, layer, x[t], h, c);
    } else {
      GruStep(network, layer, x[t], h);
    }
    out[t] = h;
  }
  return out;
}

TEST(Reference, RecurrentLayersAreTheirEquationsStepByStep) {
  for (const Architecture a : {Architecture::kGru, Architecture::kLstm, Architecture::kBiGru}) {
    for (const bool pruned : {false, true}) {
      ModelConfig config = TinyConfig(a);
      config.layers = 3;
      Network network(config, 3);
      Stir(network);
      const int batch = 2, history = 5;
      const torch::Tensor tokens = RandomTokens(config, batch, 4);
      ForwardOptions options;
      options.history = history, options.pruned = pruned;
      const auto traced = Traced(network, tokens, options);
      for (int b = 0; b < batch; ++b) {
        std::vector<Vector> x;
        for (int t = config.tokens() - history; t < config.tokens(); ++t) {
          x.push_back(Row(tokens[b][t]));
        }
        for (int n = 0; n < config.layers; ++n) {
          const std::string layer = "layers." + std::to_string(n);
          std::vector<Vector> y = NaiveScan(network, layer, x, false);
          if (a == Architecture::kBiGru) {
            const auto back = NaiveScan(network, layer + ".reverse", x, true);
            for (int t = 0; t < history; ++t) {
              y[t].insert(y[t].end(), back[t].begin(), back[t].end());
            }
          }
          x = y;
          const torch::Tensor& ours = traced.at(layer);
          if (n + 1 == config.layers) {
            EXPECT_LT(MaxDifference(x.back(), ours[b]), 1e-5) << layer;
            continue;
          }
          for (int t = 0; t < history; ++t) EXPECT_LT(MaxDifference(x[t], ours[b][t]), 1e-5);
        }
        Vector context = Affine(network.parameter("project.weight"),
                                network.parameter("project.bias"), x.back());
        for (double& value : context) value = std::max(value, 0.0);
        EXPECT_LT(MaxDifference(context, traced.at("context")[b]), 1e-5);
      }
    }
  }
}

TEST(Reference, MlpIsLinearNormAndRelu) {
  const ModelConfig config = TinyConfig(Architecture::kMlp);
  Network network(config, 5);
  Stir(network);
  const torch::Tensor tokens = RandomTokens(config, 2, 6);
  ForwardOptions options;
  options.history = 4;  // the first two tokens count as zeros
  const auto traced = Traced(network, tokens, options);
  Vector x = Row(tokens[1].flatten());
  std::fill_n(x.begin(), 2 * config.inputs(), 0.0);
  for (std::size_t n = 0; n < config.hidden.size(); ++n) {
    const std::string layer = "layers." + std::to_string(n);
    x = Affine(network.parameter(layer + ".weight"), network.parameter(layer + ".bias"), x);
    const Vector gain = Row(network.parameter(layer + ".norm.weight")),
                 shift = Row(network.parameter(layer + ".norm.bias"));
    double mean = 0, variance = 0;
    for (const double v : x) mean += v / static_cast<double>(x.size());
    for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::max(0.0, (x[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + shift[i]);
    }
    EXPECT_LT(MaxDifference(x, traced.at(layer)[1]), 1e-5) << layer;
  }
  EXPECT_LT(MaxDifference(x, traced.at("context")[1]), 1e-5);
}

}  // namespace
}  // namespace aerocast
