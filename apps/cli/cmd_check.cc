// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "src/base/rng.h"
#include "src/kernels/kernels.h"
#include "src/model/packed_network.h"
#include "src/model/random_model.h"
#include "src/report/table.h"

namespace aerocast::cli {
namespace {

// Of an instruction set without fused multiply-add, relative to the largest head.
constexpr double kUnfusedBound = 1e-4;

struct CheckFlags {
  std::string model, json;
  int windows = 8;
};

struct Comparison {
  std::string target, network, weights;
  bool fused = true, same_bits = true;
  double difference = 0;  // max|a - b| / max(1, max|b|)

  bool good() const { return same_bits || (!fused && difference <= kUnfusedBound); }
  std::string verdict() const {
    if (same_bits) return "same bits";
    return good() ? "within bound (no fused multiply-add)" : "DIFFERS";
  }
};

std::vector<float> MakeTokens(const ModelConfig& config, int windows) {
  std::vector<float> tokens(static_cast<std::size_t>(windows * config.tokens() * config.inputs()));
  Rng rng(1, 0);
  for (float& x : tokens) x = static_cast<float>(rng.Normal());
  return tokens;
}

// One window at a time.
std::vector<float> HeadsOneByOne(const PackedNetwork& network, const std::vector<float>& tokens,
                                 int windows) {
  const std::size_t size = tokens.size() / static_cast<std::size_t>(windows);
  std::vector<float> all;
  for (auto at = tokens.begin(); at != tokens.end(); at += static_cast<std::ptrdiff_t>(size)) {
    const std::vector<float> heads = network.Heads({at, at + static_cast<std::ptrdiff_t>(size)}, 1);
    all.insert(all.end(), heads.begin(), heads.end());
  }
  return all;
}

Status Compare(const Model& model, const CheckFlags& flags, std::vector<Comparison>& all) {
  const std::vector<float> tokens = MakeTokens(model.config, flags.windows);
  for (const WeightStorage storage : {WeightStorage::kSingle, WeightStorage::kHalf}) {
    const auto scalar = PackedNetwork::Make(model, storage, ScalarKernels());
    if (!scalar.ok()) return scalar.error();
    const std::vector<float> expected = HeadsOneByOne(**scalar, tokens, flags.windows);
    for (const Kernels& kernels : AllKernels()) {
      const auto network = PackedNetwork::Make(model, storage, kernels);
      if (!network.ok()) return network.error();
      const std::vector<float> heads = (*network)->Heads(tokens, flags.windows, 2);
      Comparison& c = all.emplace_back();
      c.target = kernels.name, c.fused = kernels.fused;
      c.network = model.name;
      c.weights = storage == WeightStorage::kHalf ? "half" : "single";
      double largest = 1;
      for (std::size_t i = 0; i < heads.size(); ++i) {
        c.same_bits = c.same_bits && heads[i] == expected[i];
        const double apart = std::abs(double{heads[i]} - expected[i]);
        c.difference = std::max(c.difference, std::isfinite(apart) ? apart : HUGE_VAL);
        largest = std::max(largest, std::abs(double{expected[i]}));
      }
      c.difference /= largest;
    }
  }
  return {};
}

std::string ToJson(const std::vector<Comparison>& all) {
  nlohmann::ordered_json json = {{"format", "aerocast-check"}, {"version", 1}};
  for (const Comparison& c : all) {
    json["comparisons"].push_back({{"target", c.target},
                                   {"network", c.network},
                                   {"weights", c.weights},
                                   {"fused", c.fused},
                                   {"same_bits", c.same_bits},
                                   {"difference", c.difference},
                                   {"good", c.good()}});
  }
  return json.dump(1) + "\n";
}

Status RunCheck(const CheckFlags& flags) {
  if (Status s = CheckOutput(flags.json); !s.ok()) return s;
  std::vector<Comparison> all;
  if (flags.model.empty()) {
    for (const OddNetwork& network : OddNetworks()) {
      Model model = RandomModel(network.config, 1);
      model.name = network.name;
      if (Status s = Compare(model, flags, all); !s.ok()) return s;
    }
  } else {
    const Result<Model> model = ReadModel(flags.model);
    if (!model.ok()) return model.error();
    if (Status s = Compare(*model, flags, all); !s.ok()) return s;
  }
  if (flags.json != "-") {
    TextTable table;
    for (const char* header : {"target", "network", "weights", "against plain loops"}) {
      table.AddColumn(header, TextTable::Align::kLeft);
    }
    table.AddColumn("largest difference");
    for (const Comparison& c : all) {
      table.AddRow({c.target, c.network, c.weights, c.verdict(),
                    c.same_bits ? "0" : fmt::format("{:.1e}", c.difference)});
    }
    fmt::print("{}", table.Render());
  }
  if (!flags.json.empty()) {
    if (Status s = WriteOutput(flags.json, ToJson(all)); !s.ok()) return s;
  }
  const auto bad = std::find_if(all.begin(), all.end(), [](const auto& c) { return !c.good(); });
  if (bad == all.end()) return {};
  return Error{ErrorCode::kBadFormat,
               fmt::format("check: {} differs from the plain loops by {:.1e} (network {}, {} "
                           "precision weights), expected {}: do not fly on this machine",
                           bad->target, bad->difference, bad->network, bad->weights,
                           bad->fused ? "the same bits" : "rounding")};
}

}  // namespace

Run AddCheck(CLI::App& verb) {
  auto flags = std::make_shared<CheckFlags>();
  verb.add_option("model", flags->model,
                  "A model file (default: five small networks with made-up weights)")
      ->type_name("FILE.safetensors")
      ->check(NotEmpty());
  verb.add_option("--windows", flags->windows, "Made-up windows to forecast")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Each instruction set, with two threads and in batches, against plain loops, one window at "
      "a\n"
      "time: where there is fused multiply-add the bits are the same.\n"
      "Examples:\n  aerocast check\n  aerocast check runs/paper/model.safetensors");
  return [flags] { return RunCheck(*flags); };
}

}  // namespace aerocast::cli
