// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/stages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "src/base/file.h"
#include "src/base/sha256.h"
#include "src/reproduce/stage_record.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kLock[] = "lock";
constexpr auto kPoll = std::chrono::milliseconds(20);

Error Failed(const std::string& sentence) { return {ErrorCode::kIo, sentence}; }

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

// In the child: becomes the program. It ends when we do, and gets signals that we have blocked.
[[noreturn]] void Become(char* const* argv, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

// Waits for the child; when we are told to stop, so is it, once. Its exit code, 128 + n for signal
// n.
Result<int> WaitFor(pid_t child, const std::atomic<bool>* stop) {
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) {
      return Failed(fmt::format("lost process {}: {}", child, std::strerror(errno)));
    }
    if (!told && stop != nullptr && *stop) {
      kill(child, SIGTERM);
      told = true;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

// Runs the program with its output going to the end of `log`.
Result<int> Run(const fs::path& program, const std::vector<std::string>& arguments,
                const fs::path& log, const std::atomic<bool>* stop) {
  const Descriptor to(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (to.fd() < 0) return Failed(fmt::format("{}: {}", log.string(), std::strerror(errno)));
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) return Failed(fmt::format("cannot start {}: {}", words[0], std::strerror(errno)));
  if (child == 0) Become(argv.data(), to.fd(), parent);
  return WaitFor(child, stop);
}

bool Nested(const fs::path& a, const fs::path& b) {
  std::error_code code;
  const auto whole = [&](const fs::path& p) { return fs::weakly_canonical(p, code) / ""; };
  const std::string one = whole(a).string(), two = whole(b).string();
  return one.starts_with(two) || two.starts_with(one);
}

// Holds OUT for one process at a time; the descriptor is the lock.
Result<Descriptor> LockDirectory(const fs::path& out) {
  std::error_code code;
  fs::create_directories(out, code);
  if (code) return Failed(fmt::format("{}: {}", out.string(), code.message()));
  const fs::path file = out / kLock;
  Descriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.fd() < 0) return Failed(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  if (flock(lock.fd(), LOCK_EX | LOCK_NB) == 0) return lock;
  return Error{ErrorCode::kExists,
               fmt::format("{}: another process is making stages in this directory", out.string())};
}

class Runner {
 public:
  Runner(std::span<const Stage> stages, const StageOptions& options)
      : stages_(stages), options_(options), state_(stages.size()), reports_(stages.size()) {}

  Result<std::vector<StageReport>> Run() {
    if (Status s = ConsultArchive(); !s.ok()) return s.error();
    std::vector<std::thread> workers;
    for (int i = 1; i < options_.jobs; ++i) workers.emplace_back([this] { Work(); });
    Work();
    for (std::thread& worker : workers) worker.join();
    if (failed_) return *failed_;
    return reports_;
  }

 private:
  fs::path Directory(const Stage& stage) const { return options_.out / stage.name; }

  fs::path Archived(const Stage& stage) const { return options_.archive / stage.name; }

  // What stands under the key that a stage would have: here as a whole, or in the archive.
  struct Found {
    bool here = false;
    std::optional<Record> archived;
    bool whole = false;  // the archive has all of its files
  };

  // Decides which stages are taken from the archive, before anything is made. One that has to be
  // made needs all files of the stages before it: where the archive lacks some, they are made too,
  // and what does not come out the same again takes with it all that was made from it.
  Status ConsultArchive() {
    if (options_.archive.empty()) return {};
    std::set<std::string> refused;
    for (bool settled = false; !settled;) {
      settled = true;
      from_archive_.clear();
      std::map<std::string, Found> found;
      output_.clear();
      for (const Stage& stage : stages_) {
        const Result<Found> one = Look(stage, refused);
        if (!one.ok()) return one.error();
        found[stage.name] = *one;
      }
      std::set<std::string> made;  // in this run, or only their files
      for (std::size_t i = stages_.size(); i-- > 0;) {
        const Stage& stage = stages_[i];
        const Found& own = found[stage.name];
        const bool make = made.contains(stage.name) || (!own.here && !own.archived);
        if (!make && !own.here) from_archive_.insert(stage.name);
        if (!make || stage.reads_kept) continue;
        for (const std::string& need : stage.needs) {
          const Found& before = found[need];
          if (before.here || before.whole || !before.archived) continue;
          made.insert(need);
          if (Find(need).repeatable) continue;
          refused.insert(need);
          settled = false;
        }
      }
    }
    output_.clear();
    return {};
  }

  const Stage& Find(const std::string& name) const {
    return *std::find_if(stages_.begin(), stages_.end(),
                         [&](const Stage& stage) { return stage.name == name; });
  }

  // Sets the stage's output where it is known already.
  Result<Found> Look(const Stage& stage, const std::set<std::string>& refused) {
    Found found;
    if (!IsReady(stage)) return found;
    const Result<std::string> key = KeyOf(stage);
    if (!key.ok()) return key.error();
    const std::optional<Record> here = ReadRecord(Directory(stage));
    found.here = here && here->key == *key && Complete(stage, *here);
    if (found.here) SetOutput(stage, here->output());
    if (found.here || refused.contains(stage.name)) return found;
    std::optional<Record> archived = ReadRecord(Archived(stage));
    if (!archived || archived->key != *key || !Holds(Archived(stage), *archived, &stage.kept)) {
      return found;
    }
    found.whole = Holds(Archived(stage), *archived);
    SetOutput(stage, archived->output());
    found.archived = std::move(archived);
    return found;
  }

  // Nothing was changed, added or lost since it was recorded.
  bool Complete(const Stage& stage, const Record& record) const {
    const Result<FileHashes> files = HashesOf(Directory(stage));
    return files.ok() && *files == record.files;
  }

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
    if (!failed_ && Stopped()) failed_ = Failed("stopped between two stages");
    if (failed_ || alone_) return std::nullopt;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (state_[i] != State::kWaiting || !IsReady(stages_[i])) continue;
      if (stages_[i].alone && running_ > 0) continue;
      return i;
    }
    return std::nullopt;
  }

  bool Stopped() const { return options_.stop != nullptr && *options_.stop; }

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
    hash.Update(fmt::format("aerocast-stage 1\n{}\n{}\n", stage.name, stage.facts));
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
    if (const std::optional<Record> old = ReadRecord(directory);
        old && old->key == *key && Complete(stage, *old)) {
      if (Status s = Keep(stage, *key); !s.ok()) return s.error();
      SetOutput(stage, old->output());
      return StageReport{stage.name, true, old->seconds};
    }
    if (from_archive_.contains(stage.name)) return Take(stage, *key);
    if (options_.begin) {
      const std::lock_guard lock(mutex_);
      options_.begin(stage, i + 1, stages_.size(), Left(i));
    }
    const auto start = std::chrono::steady_clock::now();
    if (Status done = Make(stage, directory, *key); !done.ok()) return done.error();
    std::error_code code;
    fs::remove(directory / kBegun, code);
    for (const fs::path& scratch : stage.scratch) fs::remove_all(directory / scratch, code);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Result<FileHashes> files = HashesOf(directory);
    if (!files.ok()) return files.error();
    const Record record = {*key, *files, seconds};
    if (Status s = WriteRecord(stage, record); !s.ok()) return s.error();
    if (Status s = Keep(stage, *key); !s.ok()) return s.error();
    SetOutput(stage, record.output());
    return StageReport{stage.name, false, seconds};
  }

  // Out of the archive. With all its files it is as if it had been made here.
  Result<StageReport> Take(const Stage& stage, const std::string& key) {
    const std::optional<Record> record = ReadRecord(Archived(stage));
    if (!record || record->key != key) {
      return Failed(
          fmt::format("{}: what it needs came out otherwise than in the archive {}; the "
                      "same call goes on from what is there now",
                      stage.name, options_.archive.string()));
    }
    std::vector<fs::path> names;
    for (const auto& [name, hash] : record->files) names.emplace_back(name);
    if (Holds(Archived(stage), *record)) names.emplace_back(kRecord);
    if (Status s = CopyFiles(Archived(stage), Directory(stage), names); !s.ok()) return s.error();
    if (!Holds(Directory(stage), *record, &stage.kept)) {
      return Failed(fmt::format("{} changed while it was read", Archived(stage).string()));
    }
    SetOutput(stage, record->output());
    return StageReport{stage.name, true, record->seconds};
  }

  // Into the archive, if it does not have it: the record of every stage, since what others were
  // made from has to be known, and the files that it keeps. Not the last one, which sums up the
  // others.
  Status Keep(const Stage& stage, const std::string& key) const {
    if (options_.archive.empty() || stage.reads_kept) return {};
    const std::optional<Record> record = ReadRecord(Archived(stage));
    if (record && record->key == key && Holds(Archived(stage), *record, &stage.kept)) return {};
    std::vector<fs::path> names = stage.kept;
    names.emplace_back(kRecord);
    return CopyFiles(Directory(stage), Archived(stage), names);
  }

  // Expected time of this stage and of all that are to be made yet, shared by the jobs. What is
  // behind a stage that is or was made may have to be made again.
  double Left(std::size_t current) const {
    std::set<std::string> made;
    double left = 0;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      const bool done = state_[i] == State::kDone;
      const bool follows = std::any_of(stage.needs.begin(), stage.needs.end(),
                                       [&](const std::string& n) { return made.contains(n); });
      const bool there =
          from_archive_.contains(stage.name) || ReadRecord(Directory(stage)).has_value();
      const bool pending = !done && (i == current || follows || !there);
      if (pending) left += stage.expected_s;
      if (pending || (done && !reports_[i].cached)) made.insert(stage.name);
    }
    return left / std::max(1, options_.jobs);
  }

  // Whether an attempt at the very same output was cut short where it can go on.
  static bool CanResume(const Stage& stage, const fs::path& directory, const std::string& key) {
    std::error_code code;
    if (stage.resumes.empty() || fs::exists(directory / kRecord, code) ||
        !fs::exists(directory / stage.resumes, code))
      return false;
    const Result<std::string> begun = ReadFile(directory / kBegun);
    return begun.ok() && *begun == key + "\n";
  }

  Status Make(const Stage& stage, const fs::path& directory, const std::string& key) const {
    std::error_code code;
    const bool resumed = CanResume(stage, directory, key);
    if (!resumed) fs::remove_all(directory, code);
    fs::create_directories(directory, code);
    if (code) return Failed(fmt::format("{}: {}", directory.string(), code.message()));
    if (Status s = WriteFileAtomically(directory / kBegun, key + "\n"); !s.ok()) return s;
    if (stage.work) return DoWork(stage, directory);
    const std::vector<StageCommand> resuming = {stage.resume_command};
    for (const StageCommand& command : resumed ? resuming : stage.commands) {
      if (Status s = RunCommand(stage, command, directory / kLog); !s.ok()) return s;
    }
    return {};
  }

  // Files of stages before it may have been tampered with, and JSON throws at what it does not
  // expect.
  Status DoWork(const Stage& stage, const fs::path& directory) const {
    try {
      return stage.work(options_.out, directory);
    } catch (const std::exception& error) {
      return Failed(fmt::format("{}: {}", stage.name, error.what()));
    }
  }

  Status RunCommand(const Stage& stage, const StageCommand& command, const fs::path& log) const {
    const std::vector<std::string> arguments = Resolve(command, stage, options_.out);
    const Result<int> exit = aerocast::Run(options_.program, arguments, log, options_.stop);
    if (!exit.ok()) return exit.error();
    if (*exit == 0) return {};
    if (Stopped()) {
      return Failed(fmt::format("stopped during {}; the same call goes on from there", stage.name));
    }
    return Failed(fmt::format("{}: 'aerocast {}' ended with {}: {}; all it said is in {}",
                              stage.name, fmt::join(arguments, " "), *exit, EndOf(log),
                              log.string()));
  }

  Status WriteRecord(const Stage& stage, const Record& record) const {
    Json json = {{"format", "aerocast-stage"}, {"version", 1},
                 {"name", stage.name},         {"key", record.key},
                 {"seconds", record.seconds},  {"needs", stage.needs},
                 {"commands", stage.commands}, {"files", record.files}};
    return WriteFileAtomically(Directory(stage) / kRecord, json.dump(1) + "\n");
  }

  std::span<const Stage> stages_;
  const StageOptions& options_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<State> state_;
  std::map<std::string, std::string> output_;  // hashes of what is done
  std::set<std::string> from_archive_;         // set before the work begins
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
  if (!options.archive.empty() && Nested(options.out, options.archive)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the archive {} and {} lie in each other, expected two directories",
                             options.archive.string(), options.out.string())};
  }
  const Result<Descriptor> lock = LockDirectory(options.out);
  if (!lock.ok()) return lock.error();
  return Runner(stages, options).Run();
}

}  // namespace aerocast
