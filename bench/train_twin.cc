// SPDX-License-Identifier: BSD-3-Clause
//
// Training speed of the paper's model against a plain twin: the same network built from torch::nn
// modules as one writes it first (all tokens through all layers, stock dropout, stock loader, stock
// AdamW), in one run, on the same BLAS and threads. Between the two, one change at a time.
//
//   bench_train_twin CORPUS [CONFIG.toml [THREADS [ROUNDS [STEPS]]]]
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/import/corpus.h"
#include "src/train/batches.h"
#include "src/train/dropout.h"
#include "src/train/loss.h"
#include "src/train/network.h"
#include "src/train/optimizer.h"
#include "src/train/trainer.h"

namespace aerocast {
namespace {

namespace nn = torch::nn;

// A Pre-LN encoder layer, sequence first, as torch::nn::MultiheadAttention wants it.
struct TwinLayerImpl : nn::Module {
  TwinLayerImpl(const ModelConfig& c, double rate)
      : norm1(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({c.width})))),
        norm2(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({c.width})))),
        attention(register_module(
            "attention",
            nn::MultiheadAttention(nn::MultiheadAttentionOptions(c.width, c.heads).dropout(rate)))),
        in(register_module("in", nn::Linear(c.width, c.feed_forward))),
        out(register_module("out", nn::Linear(c.feed_forward, c.width))),
        drop(register_module("drop", nn::Dropout(rate))) {}

  torch::Tensor forward(torch::Tensor x) {
    const torch::Tensor y = norm1(x);
    const auto attended = attention->forward(y, y, y, {}, /*need_weights=*/false);
    x = x + drop(std::get<0>(attended));
    return x + drop(out(drop(torch::relu(in(norm2(x))))));
  }

  nn::LayerNorm norm1, norm2;
  nn::MultiheadAttention attention;
  nn::Linear in, out;
  nn::Dropout drop;
};
TORCH_MODULE(TwinLayer);

struct TwinImpl : nn::Module {
  TwinImpl(const ModelConfig& c, double rate) : config(c) {
    embed = register_module("embed", nn::Linear(c.inputs(), c.width));
    for (int l = 0; l < c.layers; ++l) {
      layers.push_back(register_module(fmt::format("layer{}", l), TwinLayer(c, rate)));
    }
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({c.width})));
    const int cells = c.horizon_steps * c.components;
    mean = register_module("mean", nn::Linear(c.width, 3 * cells));
    log_sigma = register_module("log_sigma", nn::Linear(c.width, 3 * cells));
    logit = register_module("logit", nn::Linear(c.width, cells));
    positions = torch::zeros({c.history_steps, 1, c.width});
    for (int t = 0; t < c.history_steps; ++t) {
      for (int i = 0; i < c.width; ++i) {
        const double angle = t / std::pow(10000.0, (i - i % 2) / static_cast<double>(c.width));
        positions[t][0][i] = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
      }
    }
  }

  Heads forward(const torch::Tensor& tokens) {
    torch::Tensor x = embed(tokens.transpose(0, 1)) * std::sqrt(config.width) + positions;
    for (TwinLayer& layer : layers) x = layer->forward(x);
    const torch::Tensor context = norm(x)[-1];
    const auto shape = [&](nn::Linear& head, bool axes) {
      std::vector<std::int64_t> dims = {tokens.size(0), config.horizon_steps, config.components};
      if (axes) dims.push_back(3);
      return head(context).view(dims);
    };
    return {{}, shape(mean, true), shape(log_sigma, true), shape(logit, false)};
  }

  ModelConfig config;
  nn::Linear embed{nullptr}, mean{nullptr}, log_sigma{nullptr}, logit{nullptr};
  std::vector<TwinLayer> layers;
  nn::LayerNorm norm{nullptr};
  torch::Tensor positions;
};
TORCH_MODULE(Twin);

// The windows as a stock data set.
class WindowDataset : public torch::data::Dataset<WindowDataset> {
 public:
  explicit WindowDataset(const ExampleSet& examples) : examples_(&examples) {}
  torch::data::Example<> get(std::size_t index) override {
    const ModelConfig& c = examples_->config();
    torch::Tensor tokens = torch::empty({c.history_steps, c.inputs()});
    torch::Tensor targets = torch::empty({c.horizon_steps, 3});
    examples_->Write(index, {tokens.data_ptr<float>(), static_cast<std::size_t>(tokens.numel())},
                     {targets.data_ptr<float>(), static_cast<std::size_t>(targets.numel())});
    return {tokens, targets};
  }
  torch::optional<std::size_t> size() const override { return examples_->size(); }

 private:
  const ExampleSet* examples_;
};

struct Data {
  torch::Tensor tokens, targets;
};

class StockLoader {
 public:
  StockLoader(const ExampleSet& examples, int batch)
      : loader_(torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
            WindowDataset(examples).map(torch::data::transforms::Stack<>()),
            torch::data::DataLoaderOptions()
                .batch_size(static_cast<std::size_t>(batch))
                .drop_last(true))),
        at_(loader_->begin()) {}
  Data Next() {
    if (at_ == loader_->end()) at_ = loader_->begin();
    Data data{at_->data, at_->target};
    ++at_;
    return data;
  }

 private:
  using Set = torch::data::datasets::MapDataset<WindowDataset, torch::data::transforms::Stack<>>;
  std::unique_ptr<torch::data::StatelessDataLoader<Set, torch::data::samplers::RandomSampler>>
      loader_;
  torch::data::Iterator<torch::data::Example<>> at_;
};

class OwnLoader {
 public:
  OwnLoader(const ExampleSet& examples, const TrainConfig& config)
      : config_(config),
        model_(examples.config()),
        samples_(examples, config, 1),
        builder_(samples_) {
    Ask();
  }
  Data Next() {
    const Batch& batch = builder_.Take();
    Ask();
    const auto view = [](const std::vector<float>& v, std::vector<std::int64_t> shape) {
      return torch::from_blob(const_cast<float*>(v.data()), shape, torch::kFloat32);
    };
    return {view(batch.tokens, {config_.batch, model_.history_steps, model_.inputs()}),
            view(batch.targets, {config_.batch, model_.horizon_steps, 3})};
  }

 private:
  void Ask() {
    builder_.Ask({at_, config_.batch, false});
    at_ += static_cast<std::uint64_t>(config_.batch);
  }

  TrainConfig config_;
  ModelConfig model_;
  PaperSamples samples_;
  BatchBuilder builder_;
  std::uint64_t at_ = 0;
};

// One way of training; Step() trains one batch.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void Step() = 0;
  std::string name;
  std::vector<double> windows_per_s;  // one per round
};

class PlainTwin : public Contender {
 public:
  PlainTwin(const ExampleSet& examples, const RunConfig& run)
      : run_(run),
        twin_(run.model, run.train.dropout),
        loader_(examples, run.train.batch),
        optimizer_(twin_->parameters(),
                   torch::optim::AdamWOptions(run.train.lr).weight_decay(run.train.weight_decay)) {
    name = "plain twin: torch::nn, stock loader, stock AdamW";
  }
  void Step() override {
    const Data data = loader_.Next();
    optimizer_.zero_grad();
    MixtureLoss(twin_->forward(data.tokens), data.targets, run_.model, run_.train.mse_weight)
        .total.backward();
    nn::utils::clip_grad_norm_(twin_->parameters(), run_.train.clip_norm);
    optimizer_.step();
  }
  std::int64_t parameters() const {
    std::int64_t count = 0;
    for (const auto& p : twin_->parameters()) count += p.numel();
    return count;
  }

 private:
  const RunConfig& run_;
  Twin twin_;
  StockLoader loader_;
  torch::optim::AdamW optimizer_;
};

struct Choices {
  bool pruned, own_optimizer, own_loader;
};

class Ours : public Contender {
 public:
  Ours(const char* label, const ExampleSet& examples, const RunConfig& run, Choices choices)
      : run_(run),
        choices_(choices),
        network_(run.model, 1),
        own_(network_.flat().numel(), run.train) {
    name = label;
    if (choices.own_loader)
      own_loader_ = std::make_unique<OwnLoader>(examples, run.train);
    else
      stock_loader_ = std::make_unique<StockLoader>(examples, run.train.batch);
    for (const TensorSpec& spec : TensorsOf(run.model)) {
      parameters_.push_back(network_.parameter(spec.name));
    }
    stock_ = std::make_unique<torch::optim::AdamW>(
        parameters_, torch::optim::AdamWOptions(run.train.lr).weight_decay(run.train.weight_decay));
  }
  void Step() override {
    const Data data = choices_.own_loader ? own_loader_->Next() : stock_loader_->Next();
    network_.flat_grad().zero_();
    const Dropout dropout(run_.train.dropout, 1, sample_);
    sample_ += static_cast<std::uint64_t>(run_.train.batch);
    ForwardOptions options;
    options.pruned = choices_.pruned;
    options.dropout = &dropout;
    MixtureLoss(network_.Forward(data.tokens, options), data.targets, run_.model,
                run_.train.mse_weight)
        .total.backward();
    if (choices_.own_optimizer) {
      const torch::NoGradGuard no_grad;
      own_.Step(network_.flat(), network_.flat_grad(), run_.train.lr);
    } else {
      nn::utils::clip_grad_norm_(parameters_, run_.train.clip_norm);
      stock_->step();
    }
  }

 private:
  const RunConfig& run_;
  Choices choices_;
  Network network_;
  AdamW own_;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<torch::optim::AdamW> stock_;
  std::unique_ptr<StockLoader> stock_loader_;
  std::unique_ptr<OwnLoader> own_loader_;
  std::uint64_t sample_ = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Time(Contender& contender, int steps, int batch) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) contender.Step();
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  contender.windows_per_s.push_back(steps * batch / s);
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    return fmt::print(stderr,
                      "usage: bench_train_twin CORPUS [CONFIG.toml [THREADS [ROUNDS "
                      "[STEPS]]]]\n"),
           2;
  }
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const Result<RunConfig> run = ReadRunConfig(argc > 2 ? argv[2] : "configs/paper.toml");
  const Result<Corpus> corpus = LoadCorpus(argv[1]);
  if (!run.ok() || !corpus.ok()) {
    return fmt::print(stderr, "{}\n", (run.ok() ? corpus.error() : run.error()).message), 1;
  }
  const int rounds = number(4, 5), steps = number(5, 4);
  const std::string blas = PrepareMath(number(3, 0));
  const auto flights = Side(*corpus, "flight", "train");
  const std::vector<FlightWindows> windows =
      CutFlights(*flights, PaperWindows(), corpus->manifest.min_z.value_or(kNoMinZ));
  const Result<ExampleSet> examples = ExampleSet::Make(windows, run->model);
  if (!examples.ok()) return fmt::print(stderr, "{}\n", examples.error().message), 1;

  std::vector<std::unique_ptr<Contender>> all;
  all.push_back(std::make_unique<PlainTwin>(*examples, *run));
  fmt::print("{}: {} parameters (twin {}), batch {}, {} threads, {}\n", run->name,
             ParameterCount(run->model), static_cast<PlainTwin&>(*all[0]).parameters(),
             run->train.batch, at::get_num_threads(), blas);
  const auto add = [&](const char* name, Choices choices) {
    all.push_back(std::make_unique<Ours>(name, *examples, *run, choices));
  };
  add("our network: flat parameters, hashed and fused dropout", {false, false, false});
  add("+ last layer for the last token only", {true, false, false});
  add("+ AdamW, clipping and averaging in one pass", {true, true, false});
  add("+ batches built on another thread (what `train` does)", {true, true, true});
  for (auto& contender : all) contender->Step();  // warm up
  for (int round = 0; round < rounds; ++round) {
    for (auto& contender : all) Time(*contender, steps, run->train.batch);
  }
  const double plain = Median(all[0]->windows_per_s);
  for (const auto& contender : all) {
    const double rate = Median(contender->windows_per_s);
    const auto [low, high] =
        std::minmax_element(contender->windows_per_s.begin(), contender->windows_per_s.end());
    fmt::print("{:7.1f} windows/s ({:.1f} ... {:.1f})  x {:.2f}  {}\n", rate, *low, *high,
               rate / plain, contender->name);
  }
  return 0;
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) { return aerocast::Main(argc, argv); }
