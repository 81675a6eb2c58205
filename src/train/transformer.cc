// SPDX-License-Identifier: BSD-3-Clause
//
// The paper's encoder: Pre-LN layers as torch's TransformerEncoderLayer(norm_first = true, relu).
// Tokens of all windows are rows of one matrix (B * T, D), so that every product is one large GEMM.
#include <torch/torch.h>

#include <cmath>

#include "src/train/trunk.h"

namespace aerocast {
namespace {

// The sites of a layer's dropouts.
enum Site { kWeights, kAttention, kInner, kOuter, kSites };

struct Shape {
  std::int64_t batch, tokens, width, heads;
  std::int64_t size() const { return width / heads; }  // of one head
};

void TraceTokens(const ForwardOptions& options, const std::string& name, const torch::Tensor& x,
                 const Shape& shape) {
  Trace(options, name, x.view({shape.batch, -1, x.size(-1)}));
}

// x (B * T, n * D) -> n tensors (B * H, T, d) in one copy.
std::vector<torch::Tensor> SplitHeads(const torch::Tensor& x, const Shape& shape, std::int64_t n) {
  const torch::Tensor split = x.view({shape.batch, -1, n, shape.heads, shape.size()})
                                  .permute({2, 0, 3, 1, 4})
                                  .reshape({n, shape.batch * shape.heads, -1, shape.size()});
  return split.unbind(0);
}

// softmax(q k' / sqrt(d)) v, the queries being the tokens `part` says. All are (B * H, ., d); the
// result is (B * queries, D).
torch::Tensor Attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                     const Shape& shape, const ForwardOptions& options, int site,
                     const MaskPart& part) {
  const std::int64_t queries = q.size(1);
  const double scale = 1 / std::sqrt(static_cast<double>(shape.size()));
  const torch::Tensor scores = torch::bmm(q * scale, k.transpose(1, 2));
  torch::Tensor weights = torch::softmax(scores, -1).view({shape.batch, shape.heads, queries, -1});
  if (options.attention) options.attention(weights);
  weights = Drop(options, weights, site, part);
  return torch::bmm(weights.view({shape.batch * shape.heads, queries, -1}), v)
      .view({shape.batch, shape.heads, queries, shape.size()})
      .transpose(1, 2)
      .reshape({shape.batch * queries, shape.width});
}

// What follows the attention, for rows x (B * queries, D) whose masks begin at token `first`.
torch::Tensor AfterAttention(const Network& network, const std::string& layer, int site,
                             const torch::Tensor& x, const torch::Tensor& attention,
                             const Shape& shape, std::int64_t first,
                             const ForwardOptions& options) {
  const std::int64_t inner = network.config().feed_forward;
  // Masks belong to samples: their dropouts see the batch first.
  const auto by_sample = [&](const torch::Tensor& t) { return t.view({shape.batch, -1}); };
  const auto by_token = [](const torch::Tensor& t, std::int64_t width) {
    return t.view({-1, width});
  };

  const torch::Tensor projected = Linear(network, layer + ".attention.out", attention);
  const torch::Tensor middle = by_token(DropAdd(options, by_sample(x), by_sample(projected),
                                                site + kAttention, {first * shape.width}),
                                        shape.width);
  TraceTokens(options, layer + ".middle", middle, shape);
  const torch::Tensor norm = LayerNorm(network, layer + ".norm2", middle);
  TraceTokens(options, layer + ".norm2", norm, shape);
  const torch::Tensor hidden =
      by_token(DropRelu(options, by_sample(Linear(network, layer + ".ff.in", norm)), site + kInner,
                        {first * inner}),
               inner);
  TraceTokens(options, layer + ".ff", hidden, shape);
  return by_token(
      DropAdd(options, by_sample(middle), by_sample(Linear(network, layer + ".ff.out", hidden)),
              site + kOuter, {first * shape.width}),
      shape.width);
}

// x (B * T, D) -> (B * T, D).
torch::Tensor Layer(const Network& network, const std::string& layer, int site,
                    const torch::Tensor& x, const Shape& shape, const ForwardOptions& options) {
  const torch::Tensor norm = LayerNorm(network, layer + ".norm1", x);
  TraceTokens(options, layer + ".norm1", norm, shape);
  const torch::Tensor projected = Linear(network, layer + ".attention.in", norm);
  const std::vector<torch::Tensor> qkv = SplitHeads(projected, shape, 3);
  const torch::Tensor attention =
      Attend(qkv[0], qkv[1], qkv[2], shape, options, site + kWeights, {});
  TraceTokens(options, layer + ".attention", attention, shape);
  return AfterAttention(network, layer, site, x, attention, shape, 0, options);
}

// The same for the last token of each window alone: x (B * T, D) -> (B, D).
torch::Tensor LastTokenLayer(const Network& network, const std::string& layer, int site,
                             const torch::Tensor& x, const Shape& shape,
                             const ForwardOptions& options) {
  const std::int64_t width = shape.width, tokens = shape.tokens;
  const auto last = [&](const torch::Tensor& t) {
    return t.view({shape.batch, tokens, width}).select(1, tokens - 1);
  };
  const torch::Tensor norm = LayerNorm(network, layer + ".norm1", x);
  TraceTokens(options, layer + ".norm1", norm, shape);
  const torch::Tensor& weight = network.parameter(layer + ".attention.in.weight");
  const torch::Tensor& bias = network.parameter(layer + ".attention.in.bias");
  const torch::Tensor query =
      torch::addmm(bias.narrow(0, 0, width), last(norm), weight.narrow(0, 0, width).t());
  const torch::Tensor key_value =
      torch::addmm(bias.narrow(0, width, 2 * width), norm, weight.narrow(0, width, 2 * width).t());
  const std::vector<torch::Tensor> kv = SplitHeads(key_value, shape, 2);
  const MaskPart part = {(tokens - 1) * tokens, shape.heads, tokens * tokens};
  const torch::Tensor attention = Attend(query.view({shape.batch * shape.heads, 1, shape.size()}),
                                         kv[0], kv[1], shape, options, site + kWeights, part);
  TraceTokens(options, layer + ".attention", attention, shape);
  return AfterAttention(network, layer, site, last(x).contiguous(), attention, shape, tokens - 1,
                        options);
}

// sqrt(D) (W s + b) + PE, (B * T, D). The last token has the last position whatever is seen.
torch::Tensor Embed(const Network& network, const torch::Tensor& tokens,
                    const torch::Tensor& positions) {
  const std::int64_t width = network.config().width, seen = tokens.size(1);
  const double scale = std::sqrt(static_cast<double>(width));
  const torch::Tensor x =
      torch::addmm(network.parameter("embed.bias"), tokens.reshape({-1, network.config().inputs()}),
                   network.parameter("embed.weight").t(), scale, scale);
  if (!positions.defined()) return x;
  const torch::Tensor added = positions.narrow(0, positions.size(0) - seen, seen);
  return (x.view({-1, seen, width}) + added).view({-1, width});
}

}  // namespace

torch::Tensor TransformerTrunk(const Network& network, const torch::Tensor& tokens,
                               const torch::Tensor& positions, const ForwardOptions& options) {
  const ModelConfig& config = network.config();
  const std::int64_t seen = Seen(network, options);
  const Shape shape = {tokens.size(0), seen, config.width, config.heads};
  torch::Tensor x = Embed(network, tokens.narrow(1, tokens.size(1) - seen, seen), positions);
  TraceTokens(options, "embed", x, shape);
  for (int i = 0; i < config.layers; ++i) {
    const bool pruned = options.pruned && i + 1 == config.layers;
    const std::string layer = "layers." + std::to_string(i);
    x = pruned ? LastTokenLayer(network, layer, i * kSites, x, shape, options)
               : Layer(network, layer, i * kSites, x, shape, options);
    TraceTokens(options, layer, x, shape);
  }
  if (!options.pruned) x = x.view({-1, seen, shape.width}).select(1, seen - 1);
  return LayerNorm(network, "norm", x);
}

}  // namespace aerocast
