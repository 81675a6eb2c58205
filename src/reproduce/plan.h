// SPDX-License-Identifier: BSD-3-Clause
//
// What `aerocast reproduce` does: the stages behind every table and figure of the paper.
//
//   corpus/*      real flights, the paper's corpus, the balanced one that networks are trained on
//   train/*       (a) the paper's sizes and ablations, (b) a quarter of the width, several seeds,
//                 and what can be ablated there
//   calibrate/*   of every network that is compared
//   evaluate/*    test flights, shifted flights, less history, before manoeuvres
//   bench/*       latency of one forecast
//   report        tables, figures, one page
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "src/reproduce/stages.h"

namespace aerocast {

struct PlanOptions {
  std::filesystem::path real;     // NanoBench's files; empty: generated flights alone
  std::filesystem::path other;    // another vehicle's flights (CSV), for a shift test; empty: none
  std::filesystem::path configs;  // configs/*.toml
  std::vector<std::filesystem::path> bundled;  // networks that are scored as they are
  double budget_s = 1800;                      // of each of the five networks,
  double ablation_share = 0.4;                 // times this for an ablation,
  double quarter_share = 1.0;                  // times this for a network of a quarter the width
  int seeds = 3;                               // of the networks of a quarter the width
  int stride = 1;                              // of the windows that are scored
  std::vector<std::string> train_options;      // more arguments of every training
};

// The five networks as the paper has them.
struct PaperNetwork {
  std::string name, title;
};
const std::vector<PaperNetwork>& PaperNetworks();
// An ablation of the paper's: the name of its config and what the paper calls it.
struct Ablation {
  std::string name, title;
  std::string quarter;  // the key that ablates AeroCast at a quarter of the width; empty: a size

  std::string quarter_name() const { return "quarter-" + name; }
};
const std::vector<Ablation>& Ablations();

// AeroCast once more, with a floor of σ that allows the NLL the paper prints.
inline constexpr char kOtherFloor[] = "paper-sigma-1mm";
// The full model, trained for as long as its ablations: what they are compared with.
inline constexpr char kAblationFull[] = "ablation-full";
// Short runs want a larger rate than the paper's 300 epochs (docs/training.md); one for all.
inline constexpr char kRate[] = "3e-4";

// How test flights are shifted: arguments of `evaluate`.
struct Shift {
  std::string name, title;
  std::vector<std::string> options;
};
const std::vector<Shift>& Shifts();

// The study of history before manoeuvres and elsewhere: "before-manoeuvres", "other".
const std::vector<std::string>& HistorySubsets();
// Tokens that a trained network is left with; the last is all of them.
inline constexpr std::array<int, 4> kTokensLeft = {5, 10, 15, 20};

// Refuses budgets that a training would refuse, before anything is made.
Status CheckPlan(const PlanOptions& options);
std::vector<Stage> MakePlan(const PlanOptions& options);

}  // namespace aerocast
