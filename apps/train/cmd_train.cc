// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "aerocast/version.h"
#include "apps/cli/program.h"
#include "apps/train/train.h"
#include "src/base/text.h"
#include "src/import/corpus.h"
#include "src/train/golden.h"
#include "src/train/network.h"
#include "src/train/plus_samples.h"
#include "src/train/trainer.h"

namespace aerocast::cli {
namespace {

struct TrainFlags {
  std::string config, corpus, out, resume, from, split, budget, clock, checkpoint_every = "5m";
  std::vector<std::string> set;
  double epochs = 0;
  std::uint64_t windows = 0;
  std::optional<std::uint64_t> seed;
  int threads = 0, processes = 1;
  bool show_config = false, log_steps = false;
};

Error BadValue(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

// What rank 0 decides and tells the others.
struct Assignment {
  RunConfig config;
  RunFacts facts;              // corpus_name and hashes once the corpus is loaded
  double epochs = 0;           // > 0: the length, once the corpus is known
  std::optional<Model> start;  // rank 0's alone
};

Status CheckFlags(const TrainFlags& flags) {
  if (!flags.resume.empty()) {
    if (!flags.config.empty() || !flags.set.empty() || !flags.out.empty() || flags.seed ||
        !flags.from.empty() || !flags.split.empty() || !flags.clock.empty()) {
      return BadValue(
          "--resume goes on with the run's own settings: leave out --config, --set, "
          "--seed, --from, --split, --clock and --out");
    }
  } else if (flags.config.empty()) {
    return BadValue("--config FILE is needed (or --resume DIRECTORY)");
  }
  const int lengths =
      (flags.budget.empty() ? 0 : 1) + (flags.epochs > 0 ? 1 : 0) + (flags.windows > 0 ? 1 : 0);
  if (flags.epochs != 0 && !(flags.epochs > 0 && flags.epochs <= 1e6)) {
    return BadValue("--epochs is out of range, expected a number up to a million");
  }
  if (lengths > 1) return BadValue("--budget, --epochs and --windows exclude each other");
  if (!flags.clock.empty() && flags.budget.empty()) {
    return BadValue("--clock says what --budget counts, and there is no --budget");
  }
  return {};
}

// The run's length as the command line says it; nothing: the config's or the run's own.
Status ReadLength(const TrainFlags& flags, Assignment& work) {
  if (!flags.budget.empty()) {
    const Result<double> budget = ParseDuration("--budget", flags.budget);
    if (!budget.ok()) return budget.error();
    if (*budget < 1) return BadValue("--budget is below a second");
    work.facts.length.windows = 0;
    work.facts.length.budget_s = *budget;
  } else if (flags.windows > 0) {
    work.facts.length.windows = flags.windows;
    work.facts.length.budget_s = 0;
  } else if (flags.epochs > 0) {
    work.epochs = flags.epochs;
  } else if (flags.resume.empty()) {
    work.epochs = work.config.train.epochs;
  }
  if (!flags.clock.empty()) work.facts.length.clock = flags.clock;
  return {};
}

// The network whose weights a run begins with.
Result<Model> ReadStart(const std::filesystem::path& file, const RunConfig& config) {
  Result<Model> start = ReadModel(file);
  if (!start.ok() || start->config == config.model) return start;
  return BadValue(
      fmt::format("{}: another network than the config's ({} parameters, expected {}); "
                  "'aerocast describe' shows its settings, [model] of the config has "
                  "to be the same",
                  file.string(), ParameterCount(start->config), ParameterCount(config.model)));
}

Result<Assignment> NewRun(const TrainFlags& flags) {
  Assignment work;
  Result<RunConfig> config = ReadRunConfig(flags.config, flags.set);
  if (!config.ok()) return config.error();
  work.config = std::move(*config);
  if (!flags.from.empty()) {
    Result<Model> start = ReadStart(flags.from, work.config);
    if (!start.ok()) return start.error();
    work.start = std::move(*start);
    work.facts.start_hash = work.start->sha256;
  }
  work.facts.seed = flags.seed.value_or(1);
  work.facts.split = flags.split.empty() ? "flight" : flags.split;
  if (Status s = ReadLength(flags, work); !s.ok()) return s.error();
  return work;
}

Result<Assignment> OldRun(const TrainFlags& flags, const RunDirectory& run) {
  Assignment work;
  work.config = run.config();
  work.facts = run.facts();
  if (!work.facts.start_hash.empty()) {
    Result<Model> start = ReadStart(run.start_file(), work.config);
    if (!start.ok()) return start.error();
    work.start = std::move(*start);
  }
  if (Status s = ReadLength(flags, work); !s.ok()) return s.error();
  return work;
}

// A corpus with what is trained and validated on.
struct Material {
  Corpus corpus;
  std::optional<ExampleSet> train, validation;  // the paper's family: what `lesson` draws from
  Lesson lesson;
  std::size_t left_out = 0;  // windows of both sides, for a hole in the recording
  std::vector<std::string> train_flights;
  std::string split_hash;
};

// Adds to `left_out` the windows that only a hole keeps from being trained on.
Result<ExampleSet> ReadSide(const Corpus& corpus, const RunFacts& facts, const ModelConfig& model,
                            const std::string& side, std::size_t& left_out) {
  const Result<std::vector<const Recording*>> flights = Side(corpus, facts.split, side);
  if (!flights.ok()) return flights.error();
  WindowSpec spec;
  spec.history_s = spec.min_history_s = model.history_steps * model.dt_s;
  spec.horizon_s = model.horizon_steps * model.dt_s;
  spec.dt_s = model.dt_s;
  const double min_z = corpus.manifest.min_z.value_or(kNoMinZ);
  const std::vector<FlightWindows> windows = CutFlights(*flights, spec, min_z);
  if (windows.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: the {} of side '{}' of split '{}' have no window of {:g} s "
                             "history and {:g} s horizon; training needs some on the train and on "
                             "the validation side",
                             facts.corpus, Count(flights->size(), "flight"), side, facts.split,
                             spec.history_s, spec.horizon_s)};
  }
  Result<ExampleSet> examples = ExampleSet::Make(windows, model);
  if (!examples.ok()) return examples;
  spec.max_gap_s = 1e9;  // as if no gap were too long
  left_out += CountWindows(CutFlights(*flights, spec, min_z)) - examples->size();
  return examples;
}

// The paper's family learns the windows of the corpus.
Status ReadPaperLesson(const Assignment& work, Material& material) {
  for (auto [side, examples] :
       {std::pair("train", &material.train), std::pair("validation", &material.validation)}) {
    Result<ExampleSet> read =
        ReadSide(material.corpus, work.facts, work.config.model, side, material.left_out);
    if (!read.ok()) return read.error();
    *examples = std::move(*read);
  }
  const TrainConfig& train = work.config.train;
  material.lesson.train = std::make_unique<PaperSamples>(*material.train, train, work.facts.seed);
  material.lesson.validation = {
      PaperValidation(*material.validation, static_cast<std::size_t>(train.validation_windows))};
  return {};
}

// Plus draws its samples from the corpus' flights and from generated ones.
Status ReadPlusLesson(const Assignment& work, Material& material) {
  const RunFacts& facts = work.facts;
  const ModelConfig& model = work.config.model;
  const double min_z = material.corpus.manifest.min_z.value_or(kNoMinZ);
  const auto train = Side(material.corpus, facts.split, "train");
  if (!train.ok()) return train.error();
  auto samples = PlusSamples::Make(*train, min_z, work.config, facts.seed, facts.threads);
  if (!samples.ok())
    return Error{samples.error().code, facts.corpus + ": " + samples.error().message};
  material.lesson.train = std::move(*samples);
  const auto validation = Side(material.corpus, facts.split, "validation");
  if (!validation.ok()) return validation.error();
  WindowSpec spec;
  spec.history_s = spec.min_history_s = model.history_steps * model.dt_s;
  spec.horizon_s = model.horizon_steps * model.dt_s;
  spec.dt_s = model.dt_s;
  auto sets = PlusValidation(CutFlights(*validation, spec, min_z), model,
                             static_cast<std::size_t>(work.config.train.validation_windows));
  if (!sets.ok()) return Error{sets.error().code, facts.corpus + ": " + sets.error().message};
  material.lesson.validation = std::move(*sets);
  return {};
}

Status ReadMaterial(const Assignment& work, Material& material) {
  const RunFacts& facts = work.facts;
  Result<Corpus> corpus = LoadCorpus(facts.corpus);
  if (!corpus.ok()) return corpus.error();
  material.corpus = std::move(*corpus);
  const auto split = material.corpus.manifest.splits.find(facts.split);
  if (split != material.corpus.manifest.splits.end()) material.split_hash = split->second.hash;
  const Status read =
      work.config.model.plus() ? ReadPlusLesson(work, material) : ReadPaperLesson(work, material);
  if (!read.ok()) return read;
  const auto flights = Side(material.corpus, facts.split, "train");
  for (const Recording* flight : *flights) {
    const auto n = static_cast<std::size_t>(flight - material.corpus.recordings.data());
    material.train_flights.push_back(RecordingKey(material.corpus.manifest.flights[n].sha256));
  }
  std::sort(material.train_flights.begin(), material.train_flights.end());
  if (material.train_flights.size() > kMostRecordingKeys) material.train_flights.clear();
  return {};
}

// A line that is drawn over on a terminal, and a lasting line per validation.
class Screen {
 public:
  explicit Screen(const RunConfig& config) : name_(config.name) {}
  ~Screen() { Clear(); }

  void Show(const TrainProgress& p) {
    if (p.validated != nullptr) {
      Clear();
      validated_ = fmt::format(", validation nll {:.3f} ade {}", p.validated->validation_nll,
                               ShownAde(*p.validated));
      fmt::print("{} {:3.0f} %: {} windows, epoch {:.2f}, {:.0f} windows/s, train nll {:.3f}{}{}\n",
                 name_, 100 * p.progress, p.windows, p.epochs, p.windows_per_s,
                 p.validated->train_nll, validated_, p.validated->best ? ", best" : "");
      std::fflush(stdout);
    }
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - shown_ < std::chrono::milliseconds(300)) return;
    shown_ = now, drawn_ = true;
    fmt::print(stderr, "\r{} {:4.1f} %: {} windows, {:.0f} windows/s, loss {:.3f}{}, {} left\x1b[K",
               name_, 100 * p.progress, p.windows, p.windows_per_s, p.loss, validated_,
               Clock(p.seconds_left));
    std::fflush(stderr);
  }

 private:
  void Clear() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
    drawn_ = false;
  }

  std::string name_, validated_;
  bool terminal_ = isatty(STDERR_FILENO) != 0, drawn_ = false;
  std::chrono::steady_clock::time_point shown_{};
};

int ThreadsOf(const TrainFlags& flags, const RunFacts& facts) {
  if (flags.threads > 0) return flags.threads;
  if (facts.threads > 0) return facts.threads;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::max(1, cores / std::max(1, flags.processes));
}

// A resumed run is the same to the bit only on the same threads and processes.
void NoteChanges(const TrainFlags& flags, const Peers& peers, const RunFacts& facts) {
  if (flags.resume.empty() || !peers.first()) return;
  if (facts.processes != peers.size()) {
    Warn(fmt::format("the run had {} so far and now has {}: it goes on, but not to the same bits",
                     Count(static_cast<std::size_t>(facts.processes), "rank"), peers.size()));
  }
  if (flags.threads > 0 && flags.threads != facts.threads) {
    Warn(fmt::format("the run had {} so far and now has {}: it goes on, but not to the same bits",
                     Count(static_cast<std::size_t>(facts.threads), "thread"), flags.threads));
  }
}

// What is to be done and, for a resumed run, where.
Result<Assignment> Decide(const TrainFlags& flags, std::optional<RunDirectory>& run) {
  if (flags.resume.empty()) return NewRun(flags);
  Result<RunDirectory> opened = RunDirectory::Open(flags.resume);
  if (!opened.ok()) return opened.error();
  run = std::move(*opened);
  return OldRun(flags, *run);
}

Status ShowConfig(const TrainFlags& flags) {
  std::optional<RunDirectory> run;
  const Result<Assignment> decided = Decide(flags, run);
  if (!decided.ok()) return decided.error();
  fmt::print("{}", ToToml(decided->config));
  return {};
}

Status ShareAssignment(Peers& peers, Assignment& work) {
  std::string config = ToToml(work.config), facts = FactsToJson(work.facts);
  std::string epochs = fmt::format("{}", work.epochs);
  for (std::string* text : {&config, &facts, &epochs}) {
    if (Status s = peers.CopyFirst(*text); !s.ok()) return s;
  }
  Result<RunConfig> parsed = ParseRunConfig(config, "rank 0's config");
  if (!parsed.ok()) return parsed.error();
  Result<RunFacts> read = FactsFromJson(facts, "rank 0's run");
  if (!read.ok()) return read.error();
  work = {std::move(*parsed), std::move(*read), ParseDouble(epochs).value_or(0),
          std::move(work.start)};
  return {};
}

// The facts the corpus decides. A resumed run must find the corpus it began with.
Status Settle(const Material& material, bool resumed, Assignment& work) {
  RunFacts& facts = work.facts;
  const Manifest& manifest = material.corpus.manifest;
  if (resumed && (facts.corpus_hash != manifest.hash || facts.split_hash != material.split_hash)) {
    return BadValue(fmt::format("{}: not the corpus of this run (its hash was {})", facts.corpus,
                                facts.corpus_hash));
  }
  facts.corpus_name = manifest.name;
  facts.corpus_hash = manifest.hash;
  facts.split_hash = material.split_hash;
  facts.version = Version();
  if (work.epochs > 0) {
    facts.length.windows = static_cast<std::uint64_t>(
        std::llround(work.epochs * static_cast<double>(material.lesson.train->epoch())));
    facts.length.budget_s = 0;
  }
  if (facts.length.windows == 0 && facts.length.budget_s == 0) {
    return BadValue("the run is shorter than one window; give more --epochs");
  }
  return {};
}

Status OpenRun(const TrainFlags& flags, const Assignment& work, std::optional<RunDirectory>& run) {
  if (run) return run->SetFacts(work.facts);
  const std::string path = flags.out.empty() ? "runs/" + work.config.name : flags.out;
  Result<RunDirectory> created =
      RunDirectory::Create(path, work.config, work.facts, work.start ? &*work.start : nullptr);
  if (!created.ok()) return created.error();
  run = std::move(*created);
  return {};
}

// Rank 0's part before the others are met.
Status Assign(const TrainFlags& flags, Assignment& work, std::optional<RunDirectory>& run) {
  Result<Assignment> decided = Decide(flags, run);
  if (!decided.ok()) return decided.error();
  work = std::move(*decided);
  if (flags.corpus.empty() && flags.resume.empty()) return BadValue("--corpus DIRECTORY is needed");
  if (!flags.corpus.empty()) work.facts.corpus = flags.corpus;
  return {};
}

// The same assignment on every rank, and what each adds to it.
Status Agree(const TrainFlags& flags, Peers& peers, Assignment& work) {
  if (Status s = ShareAssignment(peers, work); !s.ok()) return s;
  NoteChanges(flags, peers, work.facts);
  work.facts.processes = peers.size();
  work.facts.threads = ThreadsOf(flags, work.facts);
  work.facts.blas = PrepareMath(work.facts.threads);
  if (!flags.corpus.empty()) work.facts.corpus = flags.corpus;  // each machine has its own path
  return {};
}

// The same lesson on every rank.
Status Prepare(const TrainFlags& flags, Peers& peers, Assignment& work, Material& material) {
  if (Status s = ReadMaterial(work, material); !s.ok()) return s;
  if (Status s = Settle(material, !flags.resume.empty(), work); !s.ok()) return s;
  return peers.CheckSame("corpus", work.facts.corpus_hash + work.facts.split_hash);
}

void PrintBeginning(const Assignment& work, const Material& material, const RunDirectory& run,
                    bool resumed) {
  const RunFacts& facts = work.facts;
  const std::size_t train = material.lesson.train->epoch();
  const std::size_t validation = material.validation ? material.validation->size()
                                                     : material.lesson.validation.front().windows;
  const std::size_t windows = train + validation;
  if (!resumed) fmt::print("{}\n", ToToml(work.config));
  if (material.left_out > 0) {
    fmt::print("note: {} of {} windows are left out: their recording has a hole there\n",
               material.left_out, windows + material.left_out);
  }
  fmt::print("{}: {} parameters, {} train and {} validation windows, {}, {} x {}, {}\n",
             work.config.name, ParameterCount(work.config.model), train, validation,
             facts.length.budget_s > 0
                 ? fmt::format("budget {}{}", Clock(facts.length.budget_s),
                               facts.length.clock == "cpu" ? " of computing" : "")
                 : fmt::format("{} windows", facts.length.windows),
             facts.processes == 1 ? "1 process" : fmt::format("{} processes", facts.processes),
             Count(static_cast<std::size_t>(facts.threads), "thread"), run.path().string());
  std::fflush(stdout);
}

void PrintEnd(const TrainSummary& summary, const RunDirectory& run, const RunFacts& facts) {
  fmt::print(
      "{}: {} windows ({:.2f} epochs) in {}, {:.1f} windows/s, waited {:.1f} s for batches\n"
      "best validation nll {:.4f} (the network's units), ade {}\nmodel: {}\n"
      "next: aerocast evaluate {} --models {}\n",
      summary.end == TrainEnd::kEarly ? "stopped early" : "done", summary.windows, summary.epochs,
      Clock(summary.seconds), summary.windows_per_s, summary.waited_s, summary.best.validation_nll,
      ShownAde(summary.best), run.model_file().string(), facts.corpus, run.model_file().string());
}

TrainOptions MakeOptions(const TrainFlags& flags, double checkpoint_every_s, const Assignment& work,
                         const Material& material, const std::atomic<bool>& stop) {
  TrainOptions options;
  options.config = work.config;
  options.facts = work.facts;
  options.train_flights = material.train_flights;
  options.start = work.start;
  options.checkpoint_every_s = checkpoint_every_s;
  options.log_steps = flags.log_steps;
  options.stop = &stop;
  return options;
}

// What is left to say when the training is over, well or not. Only rank 0 has a run.
Status Conclude(const Result<TrainSummary>& summary, const Peers& peers, const RunFacts& facts,
                const std::optional<RunDirectory>& run) {
  if (!summary.ok()) {
    if (!run) return summary.error();
    run->Log("failed: " + summary.error().message);
    if (!peers.lost()) return summary.error();
    return Error{ErrorCode::kIo, fmt::format("{}; 'aerocast train --resume {}' goes on without it",
                                             summary.error().message, run->path().string())};
  }
  if (summary->end == TrainEnd::kInterrupted) {
    return Error{ErrorCode::kIo,
                 run ? fmt::format("interrupted at {} windows; 'aerocast train --resume {}' goes "
                                   "on from there",
                                   summary->windows, run->path().string())
                     : "interrupted"};
  }
  if (run) PrintEnd(*summary, *run, facts);
  return {};
}

// One rank's training, once everything about it is known.
Status TrainRank(TrainOptions options, Lesson& lesson, std::optional<RunDirectory>& run,
                 Peers& peers) {
  Screen screen(options.config);
  if (run) options.progress = [&](const TrainProgress& p) { screen.Show(p); };
  options.warn = [&](const std::string& sentence) {
    Warn(sentence);
    if (run) run->Log("warning: " + sentence);
  };
  const Result<TrainSummary> summary = Train(options, lesson, run ? &*run : nullptr, peers);
  return Conclude(summary, peers, options.facts, run);
}

Status RunTrain(const TrainFlags& flags) {
  if (Status s = CheckFlags(flags); !s.ok()) return s;
  if (flags.show_config) return ShowConfig(flags);
  const Result<PeerAddress> address = PeerAddressFromEnvironment();
  if (!address.ok()) return address.error();
  const Result<double> checkpoint_every =
      ParseDuration("--checkpoint-every", flags.checkpoint_every);
  if (!checkpoint_every.ok()) return checkpoint_every.error();

  Assignment work;
  std::optional<RunDirectory> run;  // rank 0's
  const bool first = address->rank == 0;
  if (first) {
    if (Status s = Assign(flags, work, run); !s.ok()) return s;
  }
  const std::atomic<bool>& stop = StopOnSignals();
  if (flags.processes > 1 && address->size == 1) {
    run.reset();  // its lock is rank 0's to take
    return LaunchRanks(flags.processes, stop);
  }

  Result<std::unique_ptr<Peers>> peers = Peers::Join(*address);
  if (!peers.ok()) return peers.error();
  Material material;
  if (Status s = Agree(flags, **peers, work); !s.ok()) return s;
  if (Status s = Prepare(flags, **peers, work, material); !s.ok()) return s;
  if (first) {
    if (Status s = OpenRun(flags, work, run); !s.ok()) return s;
    PrintBeginning(work, material, *run, !flags.resume.empty());
  }
  return TrainRank(MakeOptions(flags, *checkpoint_every, work, material, stop), material.lesson,
                   run, **peers);
}

struct GoldenFlags {
  std::string config, out;
  std::uint64_t seed = 1;
  int batch = 2;
};

Status RunGolden(const GoldenFlags& flags) {
  const Result<RunConfig> config = ReadRunConfig(flags.config);
  if (!config.ok()) return config.error();
  PrepareMath(1);
  return WriteGolden(flags.out, Network(config->model, flags.seed), flags.seed, flags.batch);
}

}  // namespace

Run AddTrain(CLI::App& verb) {
  auto flags = std::make_shared<TrainFlags>();
  verb.add_option("--config", flags->config, "What to train and how (configs/*.toml)")
      ->type_name("FILE")
      ->check(NotEmpty());
  verb.add_option("--corpus", flags->corpus, "Directory made by 'aerocast import' or 'generate'")
      ->type_name("DIRECTORY")
      ->check(NotEmpty());
  verb.add_option("--out", flags->out, "Directory of the run (default: runs/NAME)")
      ->type_name("DIRECTORY")
      ->check(NotEmpty());
  verb.add_option("--resume", flags->resume, "Go on with the run in this directory")
      ->type_name("DIRECTORY")
      ->check(NotEmpty());
  verb.add_option("--from", flags->from,
                  "Begin with the weights of this model file (the config's network) instead of "
                  "drawn ones, to adapt it to other flights")
      ->type_name("FILE")
      ->check(NotEmpty());
  verb.add_option("--budget", flags->budget,
                  "Train for this long (90s, 20m, 1.5h); rate and curriculum follow the clock")
      ->check(NotEmpty());
  verb.add_option("--clock", flags->clock,
                  "What --budget counts: wall (default), or cpu, the time the training thread "
                  "computes, for machines that do other work as well")
      ->check(CLI::IsMember({"wall", "cpu"}));
  verb.add_option("--epochs", flags->epochs,
                  "Train for so many passes over the train side (default: the config's)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--windows", flags->windows, "Train for exactly so many windows")
      ->check(CLI::PositiveNumber);
  verb.add_option("--split", flags->split, "flight (default) or configuration")->check(NotEmpty());
  verb.add_option("--seed", flags->seed,
                  "Seed of weights, order, dropout and disturbances (default: 1)")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--set", flags->set, "Change a key of the config: --set train.lr=3e-4")
      ->type_name("KEY=VALUE");
  verb.add_option("--threads", flags->threads, "Threads per process (0: share the cores)")
      ->check(CLI::Range(0, 256));
  verb.add_option("--nproc", flags->processes,
                  "Processes on this machine that share every batch; over several machines set "
                  "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT instead")
      ->check(CLI::Range(1, 64));
  verb.add_option("--checkpoint-every", flags->checkpoint_every, "Time between checkpoints")
      ->capture_default_str();
  verb.add_flag("--log-steps", flags->log_steps, "Write the loss of every step to the log");
  verb.add_flag("--show-config", flags->show_config, "Print the resolved config and stop");
  verb.footer(
      "Examples:\n"
      "  aerocast train --config configs/paper.toml --corpus corpus/balanced --budget 20m\n"
      "  aerocast train --resume runs/paper\n"
      "  aerocast train --config configs/plus.toml --from models/aerocast-plus.safetensors "
      "--set train.lr=3e-4 --corpus mine --budget 20m\n"
      "  aerocast train --config configs/gru.toml --corpus corpus/balanced --epochs 3 --nproc 2\n"
      "Ctrl-C ends a run with a checkpoint. docs/training.md has the details.");
  return [flags] { return RunTrain(*flags); };
}

Run AddGolden(CLI::App& verb) {
  auto flags = std::make_shared<GoldenFlags>();
  verb.add_option("--config", flags->config, "Network (configs/*.toml)")->required();
  verb.add_option("--out", flags->out, "File to write")
      ->required()
      ->type_name("FILE")
      ->check(NotEmpty());
  verb.add_option("--seed", flags->seed, "Seed of weights and inputs")->capture_default_str();
  verb.add_option("--batch", flags->batch, "Windows")->check(CLI::Range(1, 256));
  return [flags] { return RunGolden(*flags); };
}

}  // namespace aerocast::cli
