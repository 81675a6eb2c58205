// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/export/positions.h"

namespace aerocast {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  // one per token

std::string LayerName(int i) { return "layers." + std::to_string(i); }

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Row Sum(const Row& a, const Row& b) {
  Row sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

Row Relu(Row x) {
  for (double& v : x) v = std::max(v, 0.0);
  return x;
}

class Reference {
 public:
  explicit Reference(const Model& model) : config_(model.config) {
    for (const Tensor& tensor : model.tensors) tensors_[tensor.name] = &tensor;
  }

  Row Heads(const Rows& tokens) const {
    const Row context = Context(tokens);
    Row heads;
    for (const char* name : {"heads.mean", "heads.log_sigma", "heads.logit"}) {
      const Row head = Linear(name, context);
      heads.insert(heads.end(), head.begin(), head.end());
    }
    return heads;
  }

 private:
  const std::vector<float>& Get(const std::string& name) const {
    const auto found = tensors_.find(name);
    AEROCAST_CHECK(found != tensors_.end());
    return found->second->data;
  }

  Row Affine(const std::string& weight, const std::string& bias, const Row& x) const {
    const std::vector<float>&w = Get(weight), &b = Get(bias);
    Row y(b.begin(), b.end());
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) y[i] += double{w[i * x.size() + j]} * x[j];
    }
    return y;
  }
  Row Linear(const std::string& name, const Row& x) const {
    return Affine(name + ".weight", name + ".bias", x);
  }

  Row LayerNorm(const std::string& name, const Row& x) const {
    const std::vector<float>&w = Get(name + ".weight"), &b = Get(name + ".bias");
    const double n = static_cast<double>(x.size());
    double mean = 0, square = 0;
    for (const double v : x) mean += v / n;
    for (const double v : x) square += (v - mean) * (v - mean) / n;
    Row y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = (x[i] - mean) / std::sqrt(square + 1e-5) * w[i] + b[i];
    }
    return y;
  }

  Row Context(const Rows& tokens) const {
    if (config_.architecture == Architecture::kTransformer) return Transformer(tokens);
    return config_.architecture == Architecture::kMlp ? Mlp(tokens) : Recurrent(tokens);
  }

  // One head's share of what `query` (a row of query, key, value) sees in all rows.
  void Attend(const Row& query, const Rows& rows, std::size_t first, std::size_t size,
              Row& out) const {
    const std::size_t width = out.size();
    Row weights;
    double sum = 0;
    for (const Row& row : rows) {
      double score = 0;
      for (std::size_t i = first; i < first + size; ++i) score += query[i] * row[width + i];
      weights.push_back(score / std::sqrt(static_cast<double>(size)));
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    for (double& w : weights) sum += w = std::exp(w - most);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      for (std::size_t i = first; i < first + size; ++i) {
        out[i] += weights[t] / sum * rows[t][2 * width + i];
      }
    }
  }

  Row Transformer(const Rows& tokens) const {
    const std::size_t width = static_cast<std::size_t>(config_.width);
    const std::size_t size = width / static_cast<std::size_t>(config_.heads);
    const std::vector<float> positions = SinusoidalPositions(config_.history_steps, config_.width);
    Rows x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row row = Linear("embed", tokens[t]);
      for (std::size_t i = 0; i < width; ++i) {
        row[i] = row[i] * std::sqrt(static_cast<double>(width)) +
                 (config_.positional_encoding ? positions[t * width + i] : 0);
      }
      x.push_back(std::move(row));
    }
    for (int l = 0; l < config_.layers; ++l) {
      const std::string layer = LayerName(l);
      Rows qkv;
      for (const Row& row : x) {
        qkv.push_back(Linear(layer + ".attention.in", LayerNorm(layer + ".norm1", row)));
      }
      for (std::size_t t = 0; t < x.size(); ++t) {
        Row attention(width);
        for (std::size_t h = 0; h < width; h += size) Attend(qkv[t], qkv, h, size, attention);
        x[t] = Sum(x[t], Linear(layer + ".attention.out", attention));
        const Row hidden = Relu(Linear(layer + ".ff.in", LayerNorm(layer + ".norm2", x[t])));
        x[t] = Sum(x[t], Linear(layer + ".ff.out", hidden));
      }
    }
    return LayerNorm("norm", x.back());
  }

  // One step of a cell: `h` and, of an LSTM, `c` become the next ones. `in` and `back` are the
  // gates' shares from the input and from the state.
  void Step(const Row& in, const Row& back, Row& h, Row& c) const {
    const std::size_t n = h.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (config_.architecture == Architecture::kLstm) {
        const auto gate = [&](std::size_t g) { return in[g * n + i] + back[g * n + i]; };
        c[i] = Sigmoid(gate(1)) * c[i] + Sigmoid(gate(0)) * std::tanh(gate(2));
        h[i] = Sigmoid(gate(3)) * std::tanh(c[i]);
      } else {
        const double r = Sigmoid(in[i] + back[i]), z = Sigmoid(in[n + i] + back[n + i]);
        h[i] = (1 - z) * std::tanh(in[2 * n + i] + r * back[2 * n + i]) + z * h[i];
      }
    }
  }

  Rows Scan(const std::string& name, Rows x, bool backward) const {
    if (backward) std::reverse(x.begin(), x.end());
    Row h(static_cast<std::size_t>(config_.width)), c = h;
    for (Row& row : x) {
      const Row in = Affine(name + ".weight_ih", name + ".bias_ih", row);
      const Row back = Affine(name + ".weight_hh", name + ".bias_hh", h);
      Step(in, back, h, c);
      row = h;
    }
    if (backward) std::reverse(x.begin(), x.end());
    return x;
  }

  Row Recurrent(const Rows& tokens) const {
    Rows x = tokens;
    for (int l = 0; l < config_.layers; ++l) {
      Rows next = Scan(LayerName(l), x, false);
      if (config_.architecture == Architecture::kBiGru) {
        const Rows reverse = Scan(LayerName(l) + ".reverse", x, true);
        for (std::size_t t = 0; t < next.size(); ++t) {
          next[t].insert(next[t].end(), reverse[t].begin(), reverse[t].end());
        }
      }
      x = std::move(next);
    }
    return Relu(Linear("project", x.back()));
  }

  Row Mlp(const Rows& tokens) const {
    Row x;
    for (const Row& token : tokens) x.insert(x.end(), token.begin(), token.end());
    for (std::size_t l = 0; l < config_.hidden.size(); ++l) {
      const std::string layer = LayerName(static_cast<int>(l));
      x = Relu(LayerNorm(layer + ".norm", Linear(layer, x)));
    }
    return x;
  }

  const ModelConfig& config_;
  std::map<std::string, const Tensor*> tensors_;
};

}  // namespace

std::vector<float> ReferenceHeads(const Model& model, std::span<const float> tokens, int windows) {
  const std::size_t inputs = static_cast<std::size_t>(model.config.inputs());
  const std::size_t steps = static_cast<std::size_t>(model.config.history_steps);
  AEROCAST_CHECK(tokens.size() == static_cast<std::size_t>(windows) * steps * inputs);
  const Reference reference(model);
  const std::size_t outputs = static_cast<std::size_t>(model.config.outputs());
  std::vector<float> heads(static_cast<std::size_t>(windows) * outputs);
  ParallelFor(static_cast<std::size_t>(windows), 0, [&](std::size_t w, int) {
    Rows rows;
    for (std::size_t t = 0; t < steps; ++t) {
      const std::span<const float> token = tokens.subspan((w * steps + t) * inputs, inputs);
      rows.emplace_back(token.begin(), token.end());
    }
    const Row window = reference.Heads(rows);
    std::copy(window.begin(), window.end(),
              heads.begin() + static_cast<std::ptrdiff_t>(w * outputs));
  });
  return heads;
}

}  // namespace aerocast
