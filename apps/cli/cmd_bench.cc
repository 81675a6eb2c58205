// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/cli/command.h"
#include "apps/cli/latency.h"
#include "src/report/machine.h"
#include "src/report/table.h"

namespace aerocast::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  std::string model{kBundled[0]}, json, target;
  bool half = false;
  int calls = 2000;
  std::vector<int> threads = {1, 2}, batches = {1, 4, 16, 64, 256};
  double rate_hz = 0, seconds = 60;
};

struct Measured {
  std::string what;
  LatencyOptions options;
  Latency latency;
};

// Bytes this process has asked for and not given back.
std::size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double LoadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::string Ms(double s) { return fmt::format("{:.3f}", 1e3 * s); }
std::string Mb(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

std::vector<Measured> MeasureSingle(const Forecaster& forecaster, const BenchFlags& flags) {
  std::vector<Measured> all;
  for (const int threads : flags.threads) {
    for (const Condition condition : {Condition::kWarm, Condition::kCold, Condition::kBusy}) {
      // Both others are slow to measure and broad: fewer calls say as much.
      const int calls = condition == Condition::kWarm ? flags.calls : std::max(flags.calls / 10, 1);
      const LatencyOptions options = {condition, threads, 1, calls};
      all.push_back({ConditionName(condition), options, MeasureLatency(forecaster, options)});
    }
  }
  const LatencyOptions warm = all.front().options;
  all.push_back({"this machine, only counting",
                 {Condition::kWarm, 1, 1, warm.calls},
                 MeasureMachine(all.front().latency.p50_s, warm.calls)});
  return all;
}

std::vector<Measured> MeasureBatches(const Forecaster& forecaster, const BenchFlags& flags) {
  std::vector<Measured> all;
  for (const int threads : flags.threads) {
    for (const int batch : flags.batches) {
      const LatencyOptions options = {.threads = threads,
                                      .batch = batch,
                                      .calls = std::clamp(flags.calls / batch, 10, flags.calls),
                                      .warm_up = 3};
      all.push_back({"batch", options, MeasureLatency(forecaster, options)});
    }
  }
  return all;
}

std::string LatencyTable(const std::vector<Measured>& all) {
  TextTable table;
  table.AddColumn("one forecast, ms", TextTable::Align::kLeft);
  for (const char* header : {"threads", "calls", "p50", "p99", "p99.9", "max"}) {
    table.AddColumn(header);
  }
  for (const Measured& m : all) {
    table.AddRow({m.what, std::to_string(m.options.threads), FormatCount(m.options.calls),
                  Ms(m.latency.p50_s), Ms(m.latency.p99_s), Ms(m.latency.p999_s),
                  Ms(m.latency.max_s)});
  }
  return table.Render();
}

std::string BatchTable(const std::vector<Measured>& all) {
  TextTable table;
  for (const char* header : {"batch", "threads", "p50 ms", "ms per forecast", "forecasts/s"}) {
    table.AddColumn(header);
  }
  for (const Measured& m : all) {
    const double each = m.latency.p50_s / m.options.batch;
    table.AddRow({std::to_string(m.options.batch), std::to_string(m.options.threads),
                  Ms(m.latency.p50_s), Ms(each), FormatNumber(1 / each)});
  }
  return table.Render();
}

Json ToJson(const Latency& l) {
  return {{"calls", l.calls}, {"mean_s", l.mean_s}, {"sd_s", l.sd_s},  {"p50_s", l.p50_s},
          {"p99_s", l.p99_s}, {"p999_s", l.p999_s}, {"max_s", l.max_s}};
}

Json ToJson(const std::vector<Measured>& all) {
  Json list = Json::array();
  for (const Measured& m : all) {
    list.push_back({{"condition", m.what},
                    {"threads", m.options.threads},
                    {"batch", m.options.batch},
                    {"latency", ToJson(m.latency)}});
  }
  return list;
}

// The report for people is printed as it comes, since all of it takes a while.
class Reporter {
 public:
  explicit Reporter(bool quiet) : quiet_(quiet) {}
  void Say(const std::string& text) const {
    if (quiet_) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  }

 private:
  bool quiet_;
};

Json MeasureLoop(const Forecaster& forecaster, const BenchFlags& flags, const Reporter& out) {
  const LoopResult loop = RunLoop(forecaster, flags.rate_hz, flags.seconds);
  out.Say(fmt::format(
      "loop at {:g} Hz for {:g} s, one thread: {} forecasts, {} missed their deadline, worst "
      "lateness {} ms\n"
      "compute p50 {} p99 {} p99.9 {} max {} ms; the system woke us up to {} ms late\n",
      flags.rate_hz, flags.seconds, loop.periods, loop.missed, Ms(loop.worst_lateness_s),
      Ms(loop.compute.p50_s), Ms(loop.compute.p99_s), Ms(loop.compute.p999_s),
      Ms(loop.compute.max_s), Ms(loop.worst_wake_s)));
  return {{"rate_hz", flags.rate_hz},
          {"periods", loop.periods},
          {"missed", loop.missed},
          {"worst_lateness_s", loop.worst_lateness_s},
          {"worst_wake_s", loop.worst_wake_s},
          {"compute", ToJson(loop.compute)}};
}

Json MeasureAll(const Forecaster& forecaster, const BenchFlags& flags, const Reporter& out) {
  Json json;
  const std::vector<Measured> single = MeasureSingle(forecaster, flags);
  out.Say(LatencyTable(single) + "\n");
  json["latency"] = ToJson(single);
  const std::vector<Measured> batches = MeasureBatches(forecaster, flags);
  out.Say(BatchTable(batches) + "\n");
  json["batches"] = ToJson(batches);
  const Latency paper = MeasureLatency(forecaster, {.calls = 50, .warm_up = 10});
  out.Say(fmt::format("the paper's protocol, 50 runs after warm-up, one thread: {} ± {} ms\n",
                      Ms(paper.mean_s), Ms(paper.sd_s)));
  json["paper_protocol"] = ToJson(paper);
  return json;
}

Status RunBench(const BenchFlags& flags) {
  if (Status s = CheckOutput(flags.json); !s.ok()) return s;
  const std::size_t before = BytesInUse();
  LoadOptions options;
  options.target = flags.target;
  if (flags.half) options.weights = WeightStorage::kHalf;
  const auto forecaster = OpenForecaster(flags.model, options);
  if (!forecaster.ok()) return forecaster.error();
  const std::size_t loaded = BytesInUse();
  if (!Answers(**forecaster)) {
    return Error{ErrorCode::kBadFormat,
                 flags.model +
                     ": does not answer made-up tracks itself, so its speed would be the "
                     "fallback's; is the model sound?"};
  }
  std::size_t workspace = 0;
  {
    const auto made = (*forecaster)->MakeWorkspace();
    workspace = BytesInUse() - loaded;
  }
  std::error_code code;
  const auto program = std::filesystem::file_size("/proc/self/exe", code);
  const ForecasterInfo& info = (*forecaster)->info();
  const std::string target = flags.target.empty() ? SimdTargets().front() : flags.target;
  const Reporter out(flags.json == "-");
  out.Say(fmt::format("{}: {}\n{}, {} cores, {}; load average {:.2f}\n", info.name,
                      info.description, CpuName(), std::thread::hardware_concurrency(), target,
                      LoadAverage()));
  out.Say(fmt::format("memory: forecaster {}, workspace {}; this program {}\n",
                      Mb(static_cast<double>(loaded - before)), Mb(static_cast<double>(workspace)),
                      Mb(static_cast<double>(program))));
  if (LoadAverage() > 0.5) {
    out.Say("note: the machine is not idle; only the busy rows mean what they say\n");
  }
  Json json = {{"format", "aerocast-bench"},
               {"version", 1},
               {"model", info.name},
               {"description", info.description},
               {"cpu", CpuName()},
               {"target", target},
               {"load_average", LoadAverage()},
               {"forecaster_bytes", loaded - before},
               {"workspace_bytes", workspace},
               {"program_bytes", program}};
  const std::string signature = BehaviourSignature(**forecaster);
  out.Say("behaviour signature: " + signature + "\n\n");
  json["signature"] = signature;
  json.update(flags.rate_hz > 0 ? Json{{"loop", MeasureLoop(**forecaster, flags, out)}}
                                : MeasureAll(**forecaster, flags, out));
  return flags.json.empty() ? Status() : WriteOutput(flags.json, json.dump(1) + "\n");
}

}  // namespace

Run AddBench(CLI::App& verb) {
  auto flags = std::make_shared<BenchFlags>();
  verb.add_option("model", flags->model,
                  "plus, plus-small, a model file, or hold, cv, ca, ctrv, imm, replay")
      ->type_name("NAME|FILE.safetensors")
      ->capture_default_str()
      ->check(NotEmpty());
  verb.add_flag("--half", flags->half, "Keep the weights in 16 bits");
  verb.add_option(
      "--target", flags->target,
      "Instructions to use (default: the best of this CPU; 'aerocast check' lists them)");
  verb.add_option("--calls", flags->calls, "Calls to measure per row (the slow rows a tenth)")
      ->check(CLI::Range(10, 10'000'000))
      ->capture_default_str();
  verb.add_option("--threads", flags->threads, "Threads that work on one call, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb.add_option("--batches", flags->batches, "Objects per call, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  verb.add_option("--rate", flags->rate_hz,
                  "Instead: a forecast every 1/RATE s, counting missed deadlines")
      ->type_name("HZ")
      ->check(CLI::Range(0.1, 100000.0));
  verb.add_option("--seconds", flags->seconds, "How long the loop of --rate runs")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Examples:\n  aerocast bench\n"
      "  aerocast bench runs/paper/model.safetensors --half\n"
      "  aerocast bench imm --calls 100000\n"
      "  aerocast bench plus-small --rate 100 --seconds 60");
  return [flags] { return RunBench(*flags); };
}

}  // namespace aerocast::cli
