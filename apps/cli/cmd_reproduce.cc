// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "apps/cli/command.h"
#include "apps/cli/program.h"
#include "src/report/machine.h"
#include "src/reproduce/plan.h"
#include "src/reproduce/report.h"

namespace aerocast::cli {
namespace {

namespace fs = std::filesystem;

struct ReproduceFlags {
  std::string out, real, other, configs, budget = "30m", commit, archive;
  std::vector<std::string> only, train_options;
  PlanOptions plan;
  int jobs = 1;
  bool list = false;
};

// Other machines of a training help with that alone: the first one makes the rest.
bool IsHelper() {
  const char* rank = std::getenv("RANK");
  return rank != nullptr && std::string(rank) != "0";
}

// How many machines train together.
int Machines() {
  const char* size = std::getenv("WORLD_SIZE");
  return size == nullptr ? 1 : std::atoi(size);
}

// Of the stages that were chosen, the trainings and what they need.
Result<std::vector<Stage>> OnlyTrainings(const std::vector<Stage>& chosen) {
  std::vector<std::string> trainings;
  for (const Stage& stage : chosen) {
    if (stage.name.starts_with("train/")) trainings.push_back(stage.name);
  }
  if (trainings.empty()) return std::vector<Stage>();
  return SelectStages(chosen, trainings);
}

Result<std::vector<Stage>> MakeStages(ReproduceFlags& flags) {
  PlanOptions& plan = flags.plan;
  const Result<double> budget = ParseDuration("--budget", flags.budget);
  if (!budget.ok()) return budget.error();
  plan.budget_s = *budget;
  if (Status s = CheckPlan(plan); !s.ok()) return s.error();
  if (flags.jobs > 1 && Machines() > 1) {
    return Error{ErrorCode::kInvalidArgument,
                 "--jobs is above 1 on several machines (WORLD_SIZE), which train one network at a "
                 "time together"};
  }
  if (!flags.archive.empty() && Machines() > 1) {
    return Error{ErrorCode::kInvalidArgument,
                 "--archive is given on several machines (WORLD_SIZE), of which one alone has the "
                 "trained network"};
  }
  for (const auto& [from, to] : {std::pair{&flags.real, &plan.real}, {&flags.other, &plan.other}}) {
    std::error_code code;
    if (from->empty()) continue;
    *to = fs::absolute(*from, code);
    if (!fs::is_directory(*to, code)) {
      return Error{ErrorCode::kNotFound, *from + ": no such directory, expected recordings"};
    }
  }
  const Result<fs::path> configs =
      flags.configs.empty() ? FindShared("configs") : Result<fs::path>(fs::path(flags.configs));
  if (!configs.ok()) return configs.error();
  std::error_code code;
  plan.configs = fs::absolute(*configs, code);
  for (const std::string_view name : kBundled) {
    const Result<std::string> file = ResolveModel(std::string(name));
    if (!file.ok()) return file.error();
    plan.bundled.emplace_back(*file);
  }
  std::vector<Stage> stages = MakePlan(plan);
  const ReportFacts facts = {flags.commit, DescribeMachine(), flags.jobs};
  stages.push_back(ReportStage(stages, plan, facts));
  Result<std::vector<Stage>> chosen = SelectStages(stages, flags.only);
  return chosen.ok() && IsHelper() ? OnlyTrainings(*chosen) : chosen;
}

Status RunReproduce(ReproduceFlags& flags) {
  const Result<std::vector<Stage>> stages = MakeStages(flags);
  if (!stages.ok()) return stages.error();
  if (flags.list) {
    for (const Stage& stage : *stages) {
      fmt::print("{:<36} {}\n", stage.name, Clock(stage.expected_s));
    }
    return {};
  }
  StageOptions options;
  std::error_code code;
  fs::create_directories(flags.out, code);
  options.out = fs::canonical(flags.out, code);
  if (code) return Error{ErrorCode::kIo, flags.out + ": " + code.message()};
  options.program = fs::read_symlink("/proc/self/exe", code);
  options.archive = flags.archive;
  options.jobs = flags.jobs;
  options.stop = &StopOnSignals();
  options.begin = [](const Stage& stage, std::size_t number, std::size_t of, double left_s) {
    fmt::print("[{:>3}/{}] {:<36} about {} left\n", number, of, stage.name, Clock(left_s));
    std::fflush(stdout);
  };
  const auto start = std::chrono::steady_clock::now();
  const Result<std::vector<StageReport>> done = RunStages(*stages, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!done.ok()) return done.error();
  const auto made = static_cast<std::size_t>(std::count_if(
      done->begin(), done->end(), [](const StageReport& report) { return !report.cached; }));
  fmt::print("{} made in {}, {} were there already\n", Count(made, "stage"), Clock(took.count()),
             done->size() - made);
  if (fs::exists(options.out / "report/tables.md", code)) {
    fmt::print("tables: {0}/report/tables.md\npage: {0}/report/report.html\n", flags.out);
  }
  return {};
}

}  // namespace

Run AddReproduce(CLI::App& verb) {
  auto flags = std::make_shared<ReproduceFlags>();
  verb.add_option("--out", flags->out, "Directory of the stages; what is there already is kept")
      ->required()
      ->check(NotEmpty());
  verb.add_option("--real", flags->real,
                  "Directory of NanoBench's files (default: only generated flights)")
      ->type_name("DIR");
  verb.add_option("--other", flags->other,
                  "Directory of another vehicle's flights, for a shift test")
      ->type_name("DIR");
  verb.add_option("--configs", flags->configs,
                  "Directory of the networks' configs (default: those that come with AeroCast)")
      ->type_name("DIR");
  verb.add_option("--budget", flags->budget, "Training time of each of the five networks")
      ->capture_default_str();
  verb.add_option("--ablation-share", flags->plan.ablation_share, "Of it, for an ablation")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
  verb.add_option("--quarter-share", flags->plan.quarter_share,
                  "Of it, for a network of a quarter of the width")
      ->check(CLI::Range(0.001, 100.0))
      ->capture_default_str();
  verb.add_option("--seeds", flags->plan.seeds, "Seeds of the networks of a quarter of the width")
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
  verb.add_option("--stride", flags->plan.stride, "Score a window every this many steps of 0.1 s")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb.add_option("--jobs", flags->jobs,
                  "Stages that run at once; latency is measured alone. With 2 on two cores, give "
                  "trainings one: --train-option=--threads=1")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb.add_option("--archive", flags->archive,
                  "Keep results, curves and small networks of every stage here, and take from "
                  "here what was made before, on any machine")
      ->type_name("DIR")
      ->check(NotEmpty());
  verb.add_option("--only", flags->only,
                  "Stages, separated by commas, and what they need: train/gru, evaluate/*, report")
      ->delimiter(',');
  verb.add_option(
          "--train-option", flags->plan.train_options,
          "One more argument of every training, as often as needed: --train-option=--threads=1")
      ->allow_extra_args(false);
  verb.add_option("--commit", flags->commit, "What the report names as its source")
      ->type_name("HASH");
  verb.add_flag("--list", flags->list, "Only say which stages there are, and how long they take");
  verb.footer(
      "Examples:\n  aerocast reproduce --out paper --real ../shared/data/nanobench --budget 30m\n"
      "  aerocast reproduce --out paper --real ../shared/data/nanobench --budget 30m --only "
      "'train/quarter-*'\n"
      "  aerocast reproduce --out quick --budget 5s --seeds 1 --stride 20\n"
      "A stage is made once; deleting its directory makes it again, and what depends on it. "
      "Several machines: set RANK,\n"
      "WORLD_SIZE, MASTER_ADDR and MASTER_PORT as for 'aerocast train'. docs/reproduce.md has the "
      "details.");
  return [flags] { return RunReproduce(*flags); };
}

}  // namespace aerocast::cli
