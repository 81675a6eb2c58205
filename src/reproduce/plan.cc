// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// To be raised when a verb computes something else from the same inputs, so that nothing older is
// taken for it.
int VersionOf(const std::string& verb) {
  return verb == "calibrate" ? 3 : verb == "evaluate" ? 2 : 1;
}

constexpr double kEvaluateS = 40, kCalibrateS = 30, kBenchS = 15;

const Names kClassical = {"hold", "cv", "ca", "ctrv", "imm", "ridge", "knn"};

// "models/aerocast-plus.safetensors" is plus.
std::string BundledName(const fs::path& file) {
  const std::string stem = file.stem().string(), prefix = "aerocast-";
  return stem.starts_with(prefix) ? stem.substr(prefix.size()) : stem;
}

std::string Join(const Names& words) { return fmt::format("{}", fmt::join(words, ",")); }

class Planner {
 public:
  explicit Planner(const PlanOptions& options) : options_(options) {}

  std::vector<Stage> Make() {
    AddCorpora();
    AddTrainings();
    AddEvaluations();
    AddBenches();
    return std::move(stages_);
  }

 private:
  static constexpr char kBalanced[] = "corpus/balanced";

  Stage& Add(std::string name, Names needs, std::vector<StageCommand> commands, double expected_s) {
    Stage stage;
    stage.name = std::move(name);
    stage.needs = std::move(needs);
    stage.facts = fmt::format("computes {}", VersionOf(commands.front().front()));
    stage.commands = std::move(commands);
    stage.expected_s = expected_s;
    stages_.push_back(std::move(stage));
    return stages_.back();
  }

  void AddCorpora() {
    StageCommand paper = {"generate", "--preset", "paper", "--out", "{}/corpus"};
    StageCommand balanced = {"generate", "--flights", "12",       "--duration",
                             "30",       "--out",     "{}/corpus"};
    Names needs;
    if (!options_.real.empty()) {
      balanced = {"generate", "--preset", "balanced", "--out", "{}/corpus"};
      AddCorpus("corpus/real", {},
                {{"import", "--format", "nanobench", "{file0}", "--out", "{}/corpus"}}, 2)
          .files = {options_.real};
      needs = {"corpus/real"};
      for (StageCommand* command : {&paper, &balanced}) {
        command->insert(command->end(), {"--real", "{corpus/real}/corpus"});
      }
    }
    AddCorpus("corpus/paper", needs, {paper, {"stats", "{}/corpus", "--json", "{}/stats.json"}}, 5);
    AddCorpus(kBalanced, needs, {balanced, {"stats", "{}/corpus", "--json", "{}/stats.json"}}, 3);
    AddCorpus("corpus/fliers", {},
              {{"generate", "--category", "fliers", "--flights", "15", "--duration", "40", "--seed",
                "77", "--out", "{}/corpus"}},
              3);
    if (options_.other.empty()) return;
    AddCorpus("corpus/other", {}, {{"import", "{file0}", "--out", "{}/corpus", "--allow-refused"}},
              2)
        .files = {options_.other};
  }

  // Flights are made anew where they are needed: the same bytes.
  Stage& AddCorpus(const std::string& name, const Names& needs, std::vector<StageCommand> commands,
                   double expected_s) {
    Stage& stage = Add(name, needs, std::move(commands), expected_s);
    stage.repeatable = true;
    stage.kept = {"stats.json"};
    return stage;
  }

  // The stage of a training, with its calibration.
  void AddTraining(const std::string& name, const std::string& config, double budget_s, int seed,
                   const Names& more, bool calibrated) {
    StageCommand train = {"train",
                          "--config",
                          "{file0}",
                          "--corpus",
                          "{corpus/balanced}/corpus",
                          "--budget",
                          fmt::format("{:.0f}s", budget_s),
                          "--seed",
                          std::to_string(seed),
                          "--set",
                          fmt::format("train.lr={}", kRate),
                          "--out",
                          "{}/run"};
    train.insert(train.end(), more.begin(), more.end());
    train.insert(train.end(), options_.train_options.begin(), options_.train_options.end());
    Stage& stage = Add("train/" + name, {kBalanced}, {train}, budget_s + 10);
    stage.files = {options_.configs / (config + ".toml")};
    stage.resumes = "run/run.json";  // the last thing that makes it a run
    stage.scratch = {"run/checkpoints"};
    stage.kept = {"run/curves.json"};
    stage.resume_command = {"train", "--resume", "{}/run"};
    if (!calibrated) return;
    const std::string trained = "train/" + name;
    Stage& calibrate =
        Add("calibrate/" + name, {kBalanced, trained},
            {{"calibrate", "{" + trained + "}/run/model.safetensors", "--corpus",
              "{corpus/balanced}/corpus", "--stride", std::to_string(std::min(options_.stride, 20)),
              "--half", "--out", "{}/model.safetensors"}},
            kCalibrateS);
    if (name.starts_with("quarter-")) calibrate.kept = {"model.safetensors"};
  }

  void AddTrainings() {
    for (const PaperNetwork& n : PaperNetworks()) {
      AddTraining(n.name, n.name, options_.budget_s, 1, {}, true);
    }
    AddTraining(kOtherFloor, kOtherFloor, options_.budget_s, 1, {}, true);
    const double ablation_s = options_.ablation_share * options_.budget_s;
    AddTraining(kAblationFull, "paper", ablation_s, 1, {}, false);
    for (const Ablation& a : Ablations()) AddTraining(a.name, a.name, ablation_s, 1, {}, false);
    const double quarter_s = options_.quarter_share * options_.budget_s;
    // To the end of the budget: the paper's patience would end the baselines' last cycle of rates
    // in its middle, where the rate is still high.
    const Names whole = {"--set", "train.patience=0"};
    for (int seed = 1; seed <= options_.seeds; ++seed) {
      for (const PaperNetwork& n : PaperNetworks()) {
        AddTraining(Quarter(n.name, seed), "quarter-" + n.name, quarter_s, seed, whole, true);
      }
    }
    const auto changed = [&](const std::string& name, const std::string& config,
                             const std::string& key, bool calibrated) {
      Names more = whole;
      more.insert(more.end(), {"--set", key});
      AddTraining(name, config, quarter_s, 1, more, calibrated);
    };
    for (const char* name : {"paper", "gru"}) {
      for (const int tokens : {5, 10}) {
        changed(Short(name, tokens), "quarter-" + std::string(name),
                fmt::format("model.history_steps={}", tokens), true);
      }
    }
    for (const Ablation& a : Ablations()) {
      if (!a.quarter.empty()) changed(a.quarter_name(), "quarter-paper", a.quarter, false);
    }
  }

  static std::string Quarter(const std::string& name, int seed) {
    return fmt::format("quarter-{}-s{}", name, seed);
  }
  static std::string Short(const std::string& name, int tokens) {
    return fmt::format("quarter-{}-t{}", name, tokens);
  }

  // A model for `evaluate --models`, and the stage it comes from, if any.
  struct Contestant {
    std::string name, model, stage;
  };
  struct Contestants {
    std::vector<Contestant> all;
    std::vector<fs::path> files;  // {file0}, {file1}, ... of the models

    void Calibrated(const std::string& name) { AddFrom("calibrate/" + name, "", name); }
    void Raw(const std::string& name) { AddFrom("train/" + name, "run/", name); }
    void Bundled(const PlanOptions& options) {
      files = options.bundled;
      for (std::size_t i = 0; i < files.size(); ++i) {
        all.push_back({BundledName(files[i]), fmt::format("{{file{}}}", i), ""});
      }
    }
    void Classical() {
      for (const std::string& name : kClassical) all.push_back({name, name, ""});
    }

   private:
    void AddFrom(const std::string& stage, const std::string& below, const std::string& name) {
      all.push_back(
          {name, fmt::format("{}={{{}}}/{}model.safetensors", name, stage, below), stage});
    }
  };

  void AddEvaluation(const std::string& name, const Contestants& contestants, const Names& options,
                     const std::string& corpus = kBalanced) {
    Names needs = {kBalanced}, models;
    if (corpus != kBalanced) needs.push_back(corpus);
    for (const Contestant& c : contestants.all) {
      if (!c.stage.empty()) needs.push_back(c.stage);
      models.push_back(c.model);
    }
    StageCommand command = {"evaluate", "{" + corpus + "}/corpus",
                            "--models", Join(models),
                            "--stride", std::to_string(options_.stride),
                            "--json",   "{}/results.json",
                            "--report", "{}/report.html"};
    command.insert(command.end(), options.begin(), options.end());
    Stage& stage = Add("evaluate/" + name, needs, {command},
                       kEvaluateS * static_cast<double>(models.size()) / 10);
    stage.files = contestants.files;
    stage.kept = {"results.json"};
  }

  // Every network by itself, so that one that is trained again leaves the others' results alone.
  void EvaluateEach(const std::string& name, const Contestants& networks, const Names& options) {
    for (const Contestant& c : networks.all) AddEvaluation(name + "/" + c.name, {{c}, {}}, options);
  }
  // Beside them, under the same name, what needs no training.
  void EvaluateOthers(const std::string& name, const Names& options) {
    Contestants bundled, classical;
    bundled.Bundled(options_), classical.Classical();
    AddEvaluation(name + "/bundled", bundled, options);
    AddEvaluation(name + "/classical", classical, options);
  }

  void AddEvaluations() {
    Contestants sizes, quarter, ablations, quarter_ablations, longer, few;
    longer.Bundled(options_), few.Bundled(options_);
    for (const PaperNetwork& n : PaperNetworks()) sizes.Calibrated(n.name);
    sizes.Calibrated(kOtherFloor);
    for (int seed = 1; seed <= options_.seeds; ++seed) {
      for (const PaperNetwork& n : PaperNetworks()) quarter.Calibrated(Quarter(n.name, seed));
    }
    ablations.Raw(kAblationFull);
    for (const Ablation& a : Ablations()) {
      ablations.Raw(a.name);
      if (!a.quarter.empty()) quarter_ablations.Raw(a.quarter_name());
    }
    for (const PaperNetwork& n : PaperNetworks()) few.Calibrated(Quarter(n.name, 1));
    few.Classical();
    longer.all.push_back({"replay", "replay", ""});

    for (const auto& [name, networks] : {std::pair("sizes", &sizes), {"quarter", &quarter}}) {
      const std::string raw = std::string(name) + "-raw";
      EvaluateEach(name, *networks, {});
      EvaluateOthers(name, {});
      EvaluateEach(raw, *networks, {"--uncalibrated"});
      EvaluateOthers(raw, {"--uncalibrated"});
    }
    EvaluateEach("ablations", ablations, {"--uncalibrated"});
    EvaluateEach("quarter-ablations", quarter_ablations, {"--uncalibrated"});
    AddEvaluation("long", longer, {"--history", "10", "--min-history", "2"});
    for (const Shift& shift : Shifts()) AddEvaluation("shift-" + shift.name, few, shift.options);
    AddHistoryStudy();
    const Names elsewhere = {"--side", "all", "--fit-corpus", "{corpus/balanced}/corpus"};
    AddEvaluation("shift-fliers", few, elsewhere, "corpus/fliers");
    if (!options_.other.empty()) AddEvaluation("shift-other", few, elsewhere, "corpus/other");
  }

  // Networks whose history is cut, and networks that never had more.
  void AddHistoryStudy() {
    for (const std::string& subset : HistorySubsets()) {
      for (const int tokens : kTokensLeft) {
        Contestants some;
        for (const char* name : {"paper", "gru"}) {
          some.Calibrated(Quarter(name, 1));
          if (tokens != kTokensLeft.back()) continue;
          for (const int t : {5, 10}) some.Calibrated(Short(name, t));
        }
        Names options = {"--uncalibrated", "--subset", subset};
        if (tokens != kTokensLeft.back()) {
          options.insert(options.end(), {"--newest-tokens", std::to_string(tokens)});
        }
        AddEvaluation(fmt::format("history-{}-{}", subset, tokens), some, options);
      }
    }
    const std::string network = "calibrate/" + Quarter("paper", 1);
    Add("attention", {kBalanced, network},
        {{"attention", "{" + network + "}/model.safetensors", "--corpus",
          "{corpus/balanced}/corpus", "--json", "{}/attention.json"}},
        20)
        .kept = {"attention.json"};
  }

  void AddBenches() {
    for (const PaperNetwork& n : PaperNetworks()) {
      AddBench(n.name, "{train/" + n.name + "}/run/model.safetensors").needs = {"train/" + n.name};
    }
    for (const fs::path& file : options_.bundled) {
      AddBench(BundledName(file), "{file0}").files = {file};
    }
  }

  Stage& AddBench(const std::string& name, const std::string& model) {
    Stage& stage = Add("bench/" + name, {},
                       {{"bench", model, "--calls", "500", "--threads", "1", "--batches", "1",
                         "--json", "{}/bench.json"},
                        {"describe", model, "--json", "{}/describe.json"}},
                       kBenchS);
    stage.alone = true;
    stage.kept = {"bench.json", "describe.json"};
    return stage;
  }

  const PlanOptions& options_;
  std::vector<Stage> stages_;
};

}  // namespace

const std::vector<PaperNetwork>& PaperNetworks() {
  static const std::vector<PaperNetwork> networks = {{"paper", "AeroCast"},
                                                     {"gru", "GRU-MDN"},
                                                     {"lstm", "LSTM-MDN"},
                                                     {"bigru", "BiGRU-MDN"},
                                                     {"mlp", "MLP-MDN"}};
  return networks;
}

const std::vector<Ablation>& Ablations() {
  static const std::vector<Ablation> networks = {
      {"ablation-k3", "K = 3", "model.components=3"},
      {"ablation-k10", "K = 10", "model.components=10"},
      {"ablation-k1", "K = 1", "model.components=1"},
      {"ablation-tiny", "Tiny", ""},
      {"ablation-medium", "Medium", ""},
      {"ablation-small", "Small", ""},
      {"ablation-no-position", "no positional encoding", "model.positional_encoding=false"},
      {"ablation-positions-only", "positions only", "model.velocity=false"}};
  return networks;
}

const std::vector<Shift>& Shifts() {
  static const std::vector<Shift> shifts = {{"noise-5mm", "5 mm of noise", {"--noise", "0.005"}},
                                            {"noise-2cm", "2 cm of noise", {"--noise", "0.02"}},
                                            {"noise-5cm", "5 cm of noise", {"--noise", "0.05"}},
                                            {"drop-10", "10 % of 10 Hz dropped", {"--drop", "0.1"}},
                                            {"drop-30", "30 % of 10 Hz dropped", {"--drop", "0.3"}},
                                            {"outliers-5", "5 % outliers", {"--outliers", "0.05"}},
                                            {"yaw-90", "turned by 90 degrees", {"--yaw", "90"}},
                                            {"time-2", "twice as fast", {"--time-scale", "2"}},
                                            {"scale-3", "three times as large", {"--scale", "3"}},
                                            {"scale-10", "ten times as large", {"--scale", "10"}}};
  return shifts;
}

const std::vector<std::string>& HistorySubsets() {
  static const std::vector<std::string> subsets = {"before-manoeuvres", "other"};
  return subsets;
}

Status CheckPlan(const PlanOptions& options) {
  const std::pair<const char*, double> budgets[] = {
      {"--budget", options.budget_s},
      {"--ablation-share of --budget", options.ablation_share * options.budget_s},
      {"--quarter-share of --budget", options.quarter_share * options.budget_s}};
  for (const auto& [name, seconds] : budgets) {
    if (seconds >= 1) continue;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} is {:.3g} s, expected at least a second", name, seconds)};
  }
  return {};
}

std::vector<Stage> MakePlan(const PlanOptions& options) { return Planner(options).Make(); }

}  // namespace aerocast
