// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/stages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "src/base/file.h"
#include "src/base/sha256.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kRecord[] = "stage.json", kLog[] = "log.txt";

Error Failed(const std::string& sentence) { return {ErrorCode::kIo, sentence}; }

// Every file below a directory by name and content, or one file's content.
Result<std::string> HashOf(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    const Result<std::string> content = ReadFile(path);
    if (!content.ok()) return content.error();
    return Sha256Hex(*content);
  }
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator at(path, code), end; at != end; at.increment(code)) {
    if (at->is_regular_file(code)) files.push_back(at->path());
  }
  if (code) return Failed(fmt::format("{}: {}", path.string(), code.message()));
  std::sort(files.begin(), files.end());
  Sha256 hash;
  for (const fs::path& file : files) {
    const std::string name = fs::relative(file, path, code).string();
    if (name == kRecord || name == kLog) continue;
    const Result<std::string> content = ReadFile(file);
    if (!content.ok()) return content.error();
    hash.Update(name + '\n' + Sha256Hex(*content) + '\n');
  }
  return hash.Hex();
}

// What stage.json says of an output that is complete.
struct Record {
  std::string key, output;
  double seconds = 0;
};

std::optional<Record> ReadRecord(const fs::path& directory) {
  const Result<std::string> text = ReadFile(directory / kRecord);
  if (!text.ok()) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("format", "") != "aerocast-stage") return std::nullopt;
  return Record{json.value("key", ""), json.value("output", ""), json.value("seconds", 0.0)};
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The arguments with directories in the place of stages.
std::vector<std::string> Resolve(const StageCommand& command, const Stage& stage,
                                 const fs::path& out) {
  std::vector<std::string> arguments;
  for (std::string text : command) {
    text = Replace(std::move(text), "{}", (out / stage.name).string());
    for (const std::string& need : stage.needs) {
      text = Replace(std::move(text), "{" + need + "}", (out / need).string());
    }
    for (std::size_t i = 0; i < stage.files.size(); ++i) {
      text = Replace(std::move(text), fmt::format("{{file{}}}", i), stage.files[i].string());
    }
    arguments.push_back(std::move(text));
  }
  return arguments;
}

// The last lines of a log, for a message.
std::string EndOf(const fs::path& log) {
  const Result<std::string> text = ReadFile(log);
  if (!text.ok()) return "";
  std::size_t begin = text->find_last_not_of('\n');
  if (begin == text->npos) return "";
  begin = text->rfind('\n', begin);
  return text->substr(begin == text->npos ? 0 : begin + 1);
}

// Runs the program with its output going to the end of `log`; its exit code, 128 + n for signal n.
Result<int> Run(const fs::path& program, const std::vector<std::string>& arguments,
                const fs::path& log) {
  const Descriptor to(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (to.fd() < 0) return Failed(fmt::format("{}: {}", log.string(), std::strerror(errno)));
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return Failed(fmt::format("cannot start {}: {}", words[0], std::strerror(errno)));
  if (child == 0) {
    dup2(to.fd(), STDOUT_FILENO);
    dup2(to.fd(), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Failed(fmt::format("lost {}: {}", words[0], std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Runner {
 public:
  Runner(std::span<const Stage> stages, const StageOptions& options)
      : stages_(stages), options_(options), state_(stages.size()) {}

  Result<std::vector<StageReport>> Run() {
    reports_.resize(stages_.size());
    std::vector<std::thread> workers;
    for (int i = 1; i < options_.jobs; ++i) workers.emplace_back([this] { Work(); });
    Work();
    for (std::thread& worker : workers) worker.join();
    if (failed_) return *failed_;
    return reports_;
  }

 private:
  fs::path Directory(const Stage& stage) const { return options_.out / stage.name; }

  enum class State { kWaiting, kRunning, kDone };

  // Takes stages until there are no more, or one has failed.
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const std::optional<std::size_t> next = Next();
      if (!next && running_ == 0) return changed_.notify_all();
      if (!next) {
        changed_.wait(lock);
        continue;
      }
      state_[*next] = State::kRunning, ++running_;
      alone_ = stages_[*next].alone;
      lock.unlock();
      Result<StageReport> report = RunOne(*next);
      lock.lock();
      --running_, alone_ = false;
      state_[*next] = State::kDone;
      if (report.ok()) {
        reports_[*next] = std::move(*report);
      } else if (!failed_) {
        failed_ = report.error();
      }
      changed_.notify_all();
    }
  }

  // The first stage that can run now.
  std::optional<std::size_t> Next() {
    if (!failed_ && options_.stop != nullptr && *options_.stop)
      failed_ = Failed("stopped between two stages");
    if (failed_ || alone_) return std::nullopt;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (state_[i] != State::kWaiting || !IsReady(stages_[i])) continue;
      if (stages_[i].alone && running_ > 0) continue;
      return i;
    }
    return std::nullopt;
  }

  bool IsReady(const Stage& stage) const {
    return std::all_of(stage.needs.begin(), stage.needs.end(),
                       [&](const std::string& need) { return output_.contains(need); });
  }

  void SetOutput(const Stage& stage, const std::string& hash) {
    const std::lock_guard lock(mutex_);
    output_[stage.name] = hash;
  }

  // What the output depends on; the stages before it are done.
  Result<std::string> KeyOf(const Stage& stage) const {
    Sha256 hash;
    hash.Update(fmt::format("aerocast-stage 1\n{}\n{}\n", stage.name, stage.version));
    for (const StageCommand& command : stage.commands) {
      for (const std::string& word : command) hash.Update(word + '\n');
      hash.Update("\n");
    }
    {
      const std::lock_guard lock(mutex_);
      for (const std::string& need : stage.needs) hash.Update(output_.at(need) + '\n');
    }
    for (const fs::path& file : stage.files) {
      const Result<std::string> content = HashOf(file);
      if (!content.ok()) return content.error();
      hash.Update(file.filename().string() + '\n' + *content + '\n');
    }
    return hash.Hex();
  }

  Result<StageReport> RunOne(std::size_t i) {
    const Stage& stage = stages_[i];
    const fs::path directory = Directory(stage);
    const Result<std::string> key = KeyOf(stage);
    if (!key.ok()) return key.error();
    if (const std::optional<Record> old = ReadRecord(directory); old && old->key == *key) {
      const Result<std::string> output = HashOf(directory);
      if (output.ok() && *output == old->output) {
        SetOutput(stage, *output);
        return StageReport{stage.name, true, old->seconds};
      }
    }
    if (options_.begin) {
      const std::lock_guard lock(mutex_);
      options_.begin(stage, i + 1, stages_.size(), Left(i));
    }
    const auto start = std::chrono::steady_clock::now();
    if (Status done = Make(stage, directory); !done.ok()) return done.error();
    std::error_code code;
    for (const fs::path& scratch : stage.scratch) fs::remove_all(directory / scratch, code);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Result<std::string> output = HashOf(directory);
    if (!output.ok()) return output.error();
    if (Status s = WriteRecord(stage, {*key, *output, seconds}); !s.ok()) return s.error();
    SetOutput(stage, *output);
    return StageReport{stage.name, false, seconds};
  }

  // Expected time of this stage and of all that are not there yet, shared by the jobs.
  double Left(std::size_t current) const {
    double left = 0;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (state_[i] == State::kDone || (i != current && ReadRecord(Directory(stages_[i]))))
        continue;
      left += stages_[i].expected_s;
    }
    return left / std::max(1, options_.jobs);
  }

  Status Make(const Stage& stage, const fs::path& directory) const {
    std::error_code code;
    const bool resumed = !stage.resumes.empty() && !fs::exists(directory / kRecord, code) &&
                         fs::exists(directory / stage.resumes, code);
    if (!resumed) fs::remove_all(directory, code);
    fs::create_directories(directory, code);
    if (code) return Failed(fmt::format("{}: {}", directory.string(), code.message()));
    if (stage.work) return stage.work(options_.out, directory);
    const std::vector<StageCommand> resuming = {stage.resume_command};
    for (const StageCommand& command : resumed ? resuming : stage.commands) {
      const std::vector<std::string> arguments = Resolve(command, stage, options_.out);
      const Result<int> exit = aerocast::Run(options_.program, arguments, directory / kLog);
      if (!exit.ok()) return exit.error();
      if (*exit == 0) continue;
      return Failed(fmt::format("{}: 'aerocast {}' ended with {}: {}; all it said is in {}",
                                stage.name, fmt::join(arguments, " "), *exit,
                                EndOf(directory / kLog), (directory / kLog).string()));
    }
    return {};
  }

  Status WriteRecord(const Stage& stage, const Record& record) const {
    Json json = {{"format", "aerocast-stage"}, {"version", 1},
                 {"name", stage.name},         {"key", record.key},
                 {"output", record.output},    {"seconds", record.seconds},
                 {"needs", stage.needs},       {"commands", stage.commands}};
    return WriteFileAtomically(Directory(stage) / kRecord, json.dump(1) + "\n");
  }

  std::span<const Stage> stages_;
  const StageOptions& options_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<State> state_;
  std::map<std::string, std::string> output_;  // hashes of what is done
  std::vector<StageReport> reports_;
  std::optional<Error> failed_;
  int running_ = 0;
  bool alone_ = false;  // what runs must not be disturbed
};

}  // namespace

Status CheckStages(std::span<const Stage> stages) {
  std::set<std::string> names;
  for (const Stage& stage : stages) {
    for (const std::string& need : stage.needs) {
      if (names.contains(need)) continue;
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("stage {} needs {}, which does not come before it", stage.name, need)};
    }
    if (!names.insert(stage.name).second) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("two stages are named {}", stage.name)};
    }
  }
  return {};
}

Result<std::vector<Stage>> SelectStages(std::span<const Stage> stages,
                                        std::span<const std::string> only) {
  if (only.empty()) return std::vector<Stage>(stages.begin(), stages.end());
  std::set<std::string> wanted;
  for (const std::string& pattern : only) {
    const bool open = pattern.ends_with('*');
    const std::string start = open ? pattern.substr(0, pattern.size() - 1) : pattern;
    bool found = false;
    for (const Stage& stage : stages) {
      if (open ? !stage.name.starts_with(start) : stage.name != start) continue;
      wanted.insert(stage.name);
      found = true;
    }
    if (found) continue;
    std::string names;
    for (const Stage& stage : stages) names += (names.empty() ? "" : ", ") + stage.name;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no stage is called '{}'; there are {}", pattern, names)};
  }
  std::vector<Stage> selected;
  for (std::size_t i = stages.size(); i-- > 0;) {
    if (!wanted.contains(stages[i].name)) continue;
    wanted.insert(stages[i].needs.begin(), stages[i].needs.end());
    selected.insert(selected.begin(), stages[i]);
  }
  return selected;
}

Result<std::vector<StageReport>> RunStages(std::span<const Stage> stages,
                                           const StageOptions& options) {
  if (Status s = CheckStages(stages); !s.ok()) return s.error();
  return Runner(stages, options).Run();
}

}  // namespace aerocast
