// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/trainer.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <omp.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <thread>

#include "aerocast/version.h"
#include "src/base/sha256.h"
#include "src/train/checkpoint.h"
#include "src/train/dropout.h"
#include "src/train/loss.h"
#include "src/train/network.h"
#include "src/train/optimizer.h"
#include "src/train/plus_loss.h"
#include "src/train/plus_samples.h"
#include "src/train/schedule.h"
#include "src/train/training_clock.h"

namespace aerocast {
namespace {

constexpr std::size_t kCheckpointsKept = 3;
constexpr std::int64_t kValidationBatch = 128;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What one step does, decided before its batch is built.
struct StepPlan {
  double progress = 0;
  double lr = 0;
  int history = 0;
  int size = 0;          // windows, over all processes
  BatchRequest request;  // this process's slice
};

torch::Tensor View(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return torch::from_blob(const_cast<float*>(values.data()), shape, torch::kFloat32);
}

// Numbers that all processes must agree on after a step, summed over them.
struct StepSums {
  double loss = 0, nll = 0;  // times windows
  double stop = 0;           // processes that were asked to
  double clock_s = 0;        // rank 0's alone
};

// What the loss of some windows adds up to.
struct Judgement {
  torch::Tensor total;        // mean, differentiable
  double nll = 0, ade_m = 0;  // means
};

// What was trained before counts as well: its windows and, so that no table scores the network on
// them, its flights.
void AddBeginning(const Model& start, Provenance& own) {
  own.training =
      fmt::format("# began with '{}', weights {}\n{}", start.name, start.sha256, own.training);
  own.windows_seen += start.provenance.windows_seen;
  own.epochs_seen += start.provenance.epochs_seen;
  const std::vector<std::string>& before = start.provenance.train_flights;
  std::vector<std::string> both;  // stays empty, "too many to name", when one of them is
  if (!before.empty() && !own.train_flights.empty()) {
    std::set_union(before.begin(), before.end(), own.train_flights.begin(), own.train_flights.end(),
                   std::back_inserter(both));
  }
  if (both.size() > kMostRecordingKeys) both.clear();
  own.train_flights = std::move(both);
}

class Trainer {
 public:
  Trainer(const TrainOptions& options, Lesson& lesson, RunDirectory* run, Peers& peers)
      : options_(options),
        config_(options.config.train),
        lesson_(lesson),
        run_(run),
        peers_(peers),
        network_(options.config.model, options.facts.seed),
        optimizer_(network_.flat().numel(), config_),
        stopping_(config_.patience),
        builder_(*lesson.train),
        clock_(options.facts.length.clock) {}

  Result<TrainSummary> Run();

 private:
  Status Resume();
  Status ShareState();
  Result<TrainEnd> Loop();
  StepPlan Plan(std::uint64_t first_window) const;
  Result<StepSums> Step(const Batch& batch, const StepPlan& plan);
  Judgement Judge(const Heads& heads, const torch::Tensor& targets, double progress,
                  bool validating) const;
  Judgement JudgeValidation(const ValidationSet& set, double progress) const;
  void Count(const StepSums& sums, const StepPlan& plan);
  double ChoosingLoss(const CurvePoint& point) const;
  Status Validate(const StepPlan& plan, double progress);
  Status Save();
  Status WriteResult(TrainEnd end);
  void Report(const StepSums& sums, const StepPlan& plan, const CurvePoint* validated);

  std::int64_t Targets() const { return static_cast<std::int64_t>(lesson_.train->targets()); }
  bool ByClock() const { return options_.facts.length.budget_s > 0; }
  double Progress(std::uint64_t windows, double clock_s) const;
  double Progress(std::uint64_t windows) const { return Progress(windows, shared_clock_s_); }
  double Epochs(std::uint64_t windows) const;
  // Whether the n-th validation lies at or before `progress`.
  bool DueBy(int n, double progress) const {
    return progress >= static_cast<double>(n) / config_.validations;
  }
  bool ValidationDue(double progress) const { return DueBy(state_.validations + 1, progress); }
  void FitToLength();
  bool EndedEarly() const;
  torch::Tensor Deployed();  // the weights that are validated and kept: averaged ones if there are
  std::string RunKey() const;
  TrainState Collect();  // its arrays are those of network_ and optimizer_, not copies
  TrainingCurve Curve(const std::string& note) const;
  CurvePoint BestPoint() const;

  const TrainOptions& options_;
  const TrainConfig& config_;
  Lesson& lesson_;
  RunDirectory* run_;
  Peers& peers_;
  Network network_;
  AdamW optimizer_;
  EarlyStopping stopping_;
  BatchBuilder builder_;

  TrainState state_;  // its arrays live in network_ and optimizer_ while training
  TrainingClock clock_;
  double shared_clock_s_ = 0;  // rank 0's, as of the last step
  Clock::time_point start_ = Clock::now(), saved_ = start_, rate_start_ = start_;
  std::uint64_t rate_windows_ = 0;
  double windows_per_s_ = 0;
};

// The objective of the network's family. The distance is computed where it costs nothing or is
// asked for.
Judgement Trainer::Judge(const Heads& heads, const torch::Tensor& targets, double progress,
                         bool validating) const {
  const ModelConfig& model = options_.config.model;
  if (model.plus()) {
    const PlusLoss loss = EvaluatePlusLoss(heads, targets, model, config_, progress);
    return {loss.total, loss.nll, loss.ade_m};
  }
  const torch::Tensor steps = targets.view({-1, model.horizon_steps, 3});
  const Loss loss = MixtureLoss(heads, steps, model, validating ? 0 : config_.mse_weight);
  return {loss.total, loss.nll.item<double>(),
          validating ? PointError(heads, steps, model).mean().item<double>() : 0};
}

double Trainer::Progress(std::uint64_t windows, double clock_s) const {
  const double progress =
      ByClock() ? clock_s / options_.facts.length.budget_s
                : static_cast<double>(windows) / static_cast<double>(options_.facts.length.windows);
  return std::min(progress, 1.0);
}

torch::Tensor Trainer::Deployed() {
  return config_.ema > 0 ? optimizer_.average() : network_.flat().detach();
}

// Weights of one run must not be continued as another's. The length is left out: a budget may grow.
std::string Trainer::RunKey() const {
  const RunFacts& facts = options_.facts;
  return Sha256Hex(fmt::format("{}\n{}\n{}\n{}\n{}", ToToml(options_.config), facts.corpus_hash,
                               facts.split_hash, facts.seed, facts.start_hash));
}

TrainState Trainer::Collect() {
  TrainState state = state_;
  state.weights = network_.flat().detach();
  state.first_moment = optimizer_.first_moment();
  state.second_moment = optimizer_.second_moment();
  state.average = optimizer_.average();
  state.steps = optimizer_.steps();
  state.clock_s = clock_.seconds();
  return state;
}

// The newest checkpoint that can be read; older ones stand in for a broken one. A run without any
// begins.
Status Trainer::Resume() {
  const std::vector<std::filesystem::path> files = run_->Checkpoints();
  for (const auto& file : files) {
    Result<TrainState> read = ReadCheckpoint(file, network_.flat().numel(), RunKey());
    if (!read.ok()) {
      options_.warn(read.error().message +
                    (file == files.back() ? "" : "; falling back to the one before it"));
      continue;
    }
    state_ = std::move(*read);
    const torch::NoGradGuard no_grad;
    network_.flat().copy_(state_.weights);
    optimizer_.first_moment().copy_(state_.first_moment);
    optimizer_.second_moment().copy_(state_.second_moment);
    if (config_.ema > 0) optimizer_.average().copy_(state_.average);
    run_->Log(
        fmt::format("resumed from {} at {} windows", file.filename().string(), state_.windows));
    return {};
  }
  if (files.empty()) {
    if (options_.start) network_.Load(options_.start->tensors);
    return {};
  }
  return Error{ErrorCode::kBadFormat,
               fmt::format("{}: no checkpoint of this run can be read; start it anew with another "
                           "--out",
                           run_->path().string())};
}

// Rank 0's state to all: only rank 0 has the run directory.
Status Trainer::ShareState() {
  if (peers_.size() == 1) return {};
  torch::Tensor numbers = torch::tensor(
      {static_cast<double>(state_.windows), static_cast<double>(state_.steps), state_.clock_s,
       static_cast<double>(state_.validations), state_.best_loss, state_.best_progress,
       state_.points.empty() ? -1.0 : static_cast<double>(state_.points.back().windows),
       state_.points.empty() ? 0.0 : state_.points.back().seconds},
      torch::kFloat64);
  const torch::NoGradGuard no_grad;
  torch::Tensor weights = network_.flat().detach();
  std::vector<torch::Tensor> arrays = {numbers, weights, optimizer_.first_moment(),
                                       optimizer_.second_moment()};
  if (config_.ema > 0) arrays.push_back(optimizer_.average());
  for (torch::Tensor& array : arrays) {
    if (Status s = peers_.CopyFirst(array); !s.ok()) return s;
  }
  const double* n = numbers.data_ptr<double>();
  state_.windows = static_cast<std::uint64_t>(n[0]);
  state_.steps = static_cast<std::int64_t>(n[1]);
  state_.clock_s = n[2];
  state_.validations = static_cast<int>(n[3]);
  state_.best_loss = n[4], state_.best_progress = n[5];
  if (!peers_.first() && n[6] >= 0) {  // of the points, only the last one decides anything
    state_.points.resize(1);
    state_.points[0].windows = static_cast<std::uint64_t>(n[6]);
    state_.points[0].seconds = n[7];
  }
  return {};
}

StepPlan Trainer::Plan(std::uint64_t first_window) const {
  StepPlan plan;
  plan.progress = Progress(first_window);
  plan.lr = LearningRate(config_, plan.progress);
  plan.history = options_.config.model.plus()
                     ? PlusHistory(options_.config, options_.facts.seed, first_window)
                     : CurriculumHistory(config_, options_.config.model.tokens(), plan.progress);
  const RunLength& length = options_.facts.length;
  const auto batch = static_cast<std::uint64_t>(config_.batch);
  const std::uint64_t left = length.windows > first_window ? length.windows - first_window : 0;
  const std::uint64_t size = ByClock() ? batch : std::min(batch, left);
  const auto edge = [&](int rank) {
    return size * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(peers_.size());
  };
  const std::uint64_t begin = edge(peers_.rank()), end = edge(peers_.rank() + 1);
  plan.size = static_cast<int>(size);
  plan.request = {first_window + begin, static_cast<int>(end - begin),
                  Augments(config_, plan.progress), plan.history};
  return plan;
}

Result<StepSums> Trainer::Step(const Batch& batch, const StepPlan& plan) {
  const ModelConfig& model = options_.config.model;
  StepSums sums;
  network_.flat_grad().zero_();
  if (plan.request.size > 0) {
    const std::int64_t n = plan.request.size;
    const Dropout dropout(config_.dropout, options_.facts.seed, plan.request.first_sample);
    ForwardOptions forward;
    forward.history = plan.history;
    if (config_.dropout > 0) forward.dropout = &dropout;
    forward.sigma_gradient = model.plus() ? config_.sigma_gradient : 1;
    const Heads heads =
        network_.Forward(View(batch.tokens, {n, model.tokens(), model.inputs()}), forward);
    const Judgement judged =
        Judge(heads, View(batch.targets, {n, Targets()}), plan.progress, false);
    (judged.total * (static_cast<double>(n) / plan.size)).backward();
    sums.loss = judged.total.item<double>() * static_cast<double>(n);
    sums.nll = judged.nll * static_cast<double>(n);
  }
  if (Status s = peers_.Sum(network_.flat_grad()); !s.ok()) return s.error();
  sums.stop = options_.stop != nullptr && options_.stop->load() ? 1 : 0;
  sums.clock_s = peers_.first() ? clock_.seconds() : 0;
  torch::Tensor shared =
      torch::tensor({sums.loss, sums.nll, sums.stop, sums.clock_s}, torch::kFloat64);
  if (Status s = peers_.Sum(shared); !s.ok()) return s.error();
  const double* values = shared.data_ptr<double>();
  sums = {values[0], values[1], values[2], values[3]};

  const torch::NoGradGuard no_grad;
  const double norm = std::isfinite(sums.loss)
                          ? optimizer_.Step(network_.flat(), network_.flat_grad(), plan.lr)
                          : sums.loss;
  if (!std::isfinite(norm)) {
    return Error{ErrorCode::kIo,
                 fmt::format("the loss is not finite after {} windows (learning rate {:g}); the "
                             "last good checkpoint is kept; try a lower train.lr",
                             state_.windows, plan.lr)};
  }
  return sums;
}

void Trainer::Count(const StepSums& sums, const StepPlan& plan) {
  state_.windows += static_cast<std::uint64_t>(plan.size);
  state_.loss_sum += sums.loss;
  state_.nll_sum += sums.nll;
  state_.summed += static_cast<std::uint64_t>(plan.size);
  shared_clock_s_ = sums.clock_s;
}

// This process's share of the set's means.
Judgement Trainer::JudgeValidation(const ValidationSet& set, double progress) const {
  const ModelConfig& model = options_.config.model;
  const auto n = static_cast<std::int64_t>(set.windows);
  const torch::Tensor tokens = View(set.tokens, {n, model.tokens(), model.inputs()});
  const torch::Tensor targets = View(set.targets, {n, Targets()});
  ForwardOptions forward;
  forward.history = set.history;
  Judgement sums;
  std::int64_t batch = 0;
  for (std::int64_t i = 0; i < n; i += kValidationBatch, ++batch) {
    if (batch % peers_.size() != peers_.rank()) continue;
    const std::int64_t end = std::min(i + kValidationBatch, n);
    const Heads heads = network_.Forward(tokens.slice(0, i, end), forward);
    const Judgement judged = Judge(heads, targets.slice(0, i, end), progress, true);
    const double share = static_cast<double>(end - i) / static_cast<double>(n);
    sums.nll += judged.nll * share;
    sums.ade_m += judged.ade_m * share;
  }
  return sums;
}

// What the weights that are kept are best in: the likelihood, as the paper has it; for plus, whose
// spreads are fitted again by calibration, the point path with and without a long history.
double Trainer::ChoosingLoss(const CurvePoint& point) const {
  if (!options_.config.model.plus()) return point.validation_nll;
  return 0.5 * (point.validation_ade_m + point.validation_ade_short_m);
}

Status Trainer::Validate(const StepPlan& plan, double progress) {
  const torch::NoGradGuard no_grad;
  torch::Tensor trained;
  if (config_.ema > 0) {  // look through the averaged weights
    trained = network_.flat().detach().clone();
    network_.flat().copy_(optimizer_.average());
  }
  std::vector<Judgement> judged;
  for (const ValidationSet& set : lesson_.validation) {
    judged.push_back(JudgeValidation(set, progress));
  }
  if (config_.ema > 0) network_.flat().copy_(trained);
  torch::Tensor sums =
      torch::zeros({static_cast<std::int64_t>(2 * judged.size())}, torch::kFloat64);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    sums[static_cast<std::int64_t>(2 * i)] = judged[i].nll;
    sums[static_cast<std::int64_t>(2 * i + 1)] = judged[i].ade_m;
  }
  if (Status s = peers_.Sum(sums); !s.ok()) return s;

  CurvePoint point;
  point.windows = state_.windows;
  point.epochs = Epochs(state_.windows);
  point.seconds = shared_clock_s_;
  point.lr = plan.lr;
  point.history = plan.history;
  const double summed = static_cast<double>(std::max<std::uint64_t>(state_.summed, 1));
  point.train_loss = state_.loss_sum / summed;
  point.train_nll = state_.nll_sum / summed;
  point.validation_nll = sums[0].item<double>();
  point.validation_ade_m = sums[1].item<double>();
  if (judged.size() > 1) point.validation_ade_short_m = sums[3].item<double>();
  if (!std::isfinite(point.validation_nll) || !std::isfinite(point.validation_ade_m)) {
    return Error{ErrorCode::kIo,
                 fmt::format("the validation loss is not finite after {} windows; the last good "
                             "checkpoint is kept; try a lower train.lr",
                             state_.windows)};
  }
  const double loss = ChoosingLoss(point);
  point.best = stopping_.Observe(loss, progress);
  if (point.best) {
    state_.best = Deployed().clone();
    state_.best_loss = loss;
    state_.best_progress = progress;
    state_.best_windows = state_.windows;
  }
  state_.points.push_back(point);
  state_.loss_sum = state_.nll_sum = 0;
  state_.summed = 0;
  if (run_ == nullptr) return {};
  run_->Log(
      fmt::format("{} windows, epoch {:.2f}: train nll {:.4f}, validation nll {:.4f}, ade "
                  "{}, lr {:.3g}, {} tokens{}",
                  point.windows, point.epochs, point.train_nll, point.validation_nll,
                  ShownAde(point), point.lr, point.history, point.best ? ", best" : ""));
  return run_->WriteCurve(Curve(""));
}

// The validation of the weights that are kept; rank 0 has all of them.
CurvePoint Trainer::BestPoint() const {
  const auto best = std::find_if(state_.points.rbegin(), state_.points.rend(),
                                 [](const CurvePoint& point) { return point.best; });
  return best == state_.points.rend() ? CurvePoint{} : *best;
}

TrainingCurve Trainer::Curve(const std::string& note) const {
  return {.name = options_.config.name,
          .note = note,
          .parameters = static_cast<std::uint64_t>(network_.flat().numel()),
          .train_windows = lesson_.train->epoch(),
          .points = state_.points};
}

Status Trainer::Save() {
  saved_ = Clock::now();
  if (run_ == nullptr) return {};
  if (Status s = WriteCheckpoint(run_->CheckpointFile(state_.windows), Collect(), RunKey());
      !s.ok()) {
    return Error{s.error().code,
                 s.error().message + "; the checkpoints before it are as they were"};
  }
  run_->RemoveOldCheckpoints(kCheckpointsKept);
  return {};
}

Status Trainer::WriteResult(TrainEnd end) {
  if (run_ == nullptr) return {};
  const RunFacts& facts = options_.facts;
  Model model;
  model.name = options_.config.name;
  model.config = options_.config.model;
  model.provenance = {.training = ToToml(options_.config),
                      .corpus_name = facts.corpus_name,
                      .corpus_hash = facts.corpus_hash,
                      .split = facts.split,
                      .split_hash = facts.split_hash,
                      .train_flights = options_.train_flights,
                      .seed = facts.seed,
                      .windows_seen = state_.best_windows,
                      .epochs_seen = Epochs(state_.best_windows),
                      .version = std::string(Version()),
                      .metrics = {{"validation_nll", BestPoint().validation_nll},
                                  {"validation_ade_m", BestPoint().validation_ade_m}}};
  if (model.config.plus()) {
    model.provenance.metrics["validation_ade_short_m"] = BestPoint().validation_ade_short_m;
  }
  if (options_.start) AddBeginning(*options_.start, model.provenance);
  model.tensors = network_.Export(state_.best);
  if (Status s = WriteModel(run_->model_file(), model); !s.ok()) return s;
  const std::string note = end == TrainEnd::kEarly
                               ? "stopped early: no better validation within the patience"
                               : "ran its full length";
  run_->Log(fmt::format("{}; {} windows in {:.0f} s, best validation nll {:.4f}, ade {}", note,
                        state_.windows, clock_.seconds(), BestPoint().validation_nll,
                        ShownAde(BestPoint())));
  return run_->WriteCurve(Curve(note));
}

double Trainer::Epochs(std::uint64_t windows) const {
  return static_cast<double>(windows) / static_cast<double>(lesson_.train->epoch());
}

void Trainer::Report(const StepSums& sums, const StepPlan& plan, const CurvePoint* validated) {
  const double since = SecondsSince(rate_start_);
  if (since > 2 || (windows_per_s_ == 0 && since > 0)) {
    windows_per_s_ = static_cast<double>(state_.windows - rate_windows_) / std::max(since, 1e-9);
    rate_start_ = Clock::now(), rate_windows_ = state_.windows;
  }
  if (options_.log_steps && run_ != nullptr) {
    run_->Log(fmt::format("step {} loss {:.9g}", optimizer_.steps(), sums.loss / plan.size));
  }
  if (!options_.progress) return;
  const RunLength& length = options_.facts.length;
  TrainProgress progress;
  progress.progress = Progress(state_.windows);
  progress.windows = state_.windows;
  progress.epochs = Epochs(state_.windows);
  progress.windows_per_s = windows_per_s_;
  progress.loss = sums.loss / plan.size;
  progress.seconds_left =
      ByClock() ? std::max(0.0, length.budget_s - shared_clock_s_)
                : static_cast<double>(length.windows - state_.windows) / windows_per_s_;
  progress.validated = validated;
  options_.progress(progress);
}

// A resumed run may have become longer: what counts shares of the run counts anew.
void Trainer::FitToLength() {
  const double progress = Progress(state_.windows);
  while (state_.validations > 0 && !DueBy(state_.validations, progress)) --state_.validations;
  if (state_.points.empty()) return;
  stopping_.Restore(state_.best_loss, std::min(state_.best_progress, progress));
}

// Whether the run had ended early already when it was left. Told by its last validation, as in the
// loop, so that a resumed run ends where the undisturbed one does.
bool Trainer::EndedEarly() const {
  if (state_.points.empty()) return false;
  const CurvePoint& last = state_.points.back();
  return stopping_.Exhausted(Progress(last.windows, last.seconds));
}

Result<TrainEnd> Trainer::Loop() {
  if (EndedEarly()) return TrainEnd::kEarly;
  StepPlan plan = Plan(state_.windows);
  builder_.Ask(plan.request);
  while (plan.size > 0 && plan.progress < 1) {
    const Batch& batch = builder_.Take();
    const StepPlan next = Plan(state_.windows + static_cast<std::uint64_t>(plan.size));
    builder_.Ask(next.request);
    const Result<StepSums> sums = Step(batch, plan);
    if (!sums.ok()) return sums.error();
    Count(*sums, plan);

    const double progress = Progress(state_.windows);
    const bool validate = ValidationDue(progress);
    if (validate) {
      if (Status s = Validate(plan, progress); !s.ok()) return s.error();
      while (ValidationDue(progress)) ++state_.validations;
    }
    Report(*sums, plan, validate ? &state_.points.back() : nullptr);
    if (progress >= 1) break;
    if (validate && stopping_.Exhausted(progress)) return TrainEnd::kEarly;
    if (sums->stop > 0) return TrainEnd::kInterrupted;
    if (SecondsSince(saved_) >= options_.checkpoint_every_s) {
      if (Status s = Save(); !s.ok()) return s.error();
    }
    plan = next;
  }
  // A run that was left at its very end has not been judged there.
  if (state_.points.empty() || state_.points.back().windows != state_.windows) {
    if (Status s = Validate(plan, 1); !s.ok()) return s.error();
  }
  return TrainEnd::kFinished;
}

Result<TrainSummary> Trainer::Run() {
  if (run_ != nullptr) {
    if (Status s = Resume(); !s.ok()) return s.error();
  }
  if (Status s = ShareState(); !s.ok()) return s.error();
  optimizer_.set_steps(state_.steps);
  shared_clock_s_ = state_.clock_s;
  const std::uint64_t windows_before = rate_windows_ = state_.windows;
  FitToLength();
  start_ = saved_ = rate_start_ = Clock::now();
  clock_.Start(state_.clock_s);

  const Result<TrainEnd> end = Loop();
  if (!end.ok() && !peers_.lost()) return end.error();
  // A lost peer leaves this process's state whole: a step is taken by all or by none.
  if (Status s = Save(); !s.ok()) return s.error();
  if (!end.ok()) return end.error();
  if (*end != TrainEnd::kInterrupted) {
    if (Status s = WriteResult(*end); !s.ok()) return s.error();
  }
  TrainSummary summary;
  summary.end = *end;
  summary.windows = state_.windows;
  summary.epochs = Epochs(state_.windows);
  summary.seconds = clock_.seconds();
  summary.windows_per_s =
      static_cast<double>(state_.windows - windows_before) / SecondsSince(start_);
  summary.waited_s = builder_.waited_s();
  summary.best = BestPoint();
  return summary;
}

}  // namespace

Result<TrainSummary> Train(const TrainOptions& options, Lesson& lesson, RunDirectory* run,
                           Peers& peers) {
  return Trainer(options, lesson, run, peers).Run();
}

std::string ShownAde(const CurvePoint& point) {
  if (point.validation_ade_short_m == 0) return fmt::format("{:.4f} m", point.validation_ade_m);
  return fmt::format("{:.4f} m ({:.4f} m by a short history)", point.validation_ade_m,
                     point.validation_ade_short_m);
}

std::string PrepareMath(int threads) {
  at::globalContext().setFlushDenormal(true);  // threads made later inherit it
  const int count =
      threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  omp_set_num_threads(count);
  at::set_num_threads(count);
  Dl_info info;
  void* gemm = dlsym(RTLD_DEFAULT, "sgemm_");
  return gemm != nullptr && dladdr(gemm, &info) != 0 ? info.dli_fname : "unknown";
}

}  // namespace aerocast
