// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/base/file.h"
#include "src/base/parallel.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/import/columns.h"
#include "src/import/formats.h"
#include "src/import/natural.h"
#include "src/import/split.h"
#include "src/import/utf8.h"

namespace aerocast {
namespace fs = std::filesystem;
namespace {

Error Invalid(const std::string& message) { return {ErrorCode::kInvalidArgument, message}; }

// One line of a recording's head and the manifest can hold it and give it back unchanged.
bool FitsOnALine(const std::string& text) {
  return Trim(text) == text && ValidUtf8(text) == text &&
         text.find_first_of(std::string_view("\n\r\0", 3)) == text.npos;
}

// What ReadRecording would refuse must not be written.
Status CheckSamples(const Recording& r) {
  const std::string id = Excerpt(r.id);
  if (r.samples.empty()) return Invalid("recording '" + id + "' has no samples");
  if (r.has_truth() && r.truth.size() != r.samples.size()) {
    return Invalid("recording '" + id + "' has not as many true positions as samples");
  }
  const auto usable = [](const Vec3& p) {
    return std::abs(p.x) < 1e7 && std::abs(p.y) < 1e7 && std::abs(p.z) < 1e7;
  };
  for (std::size_t i = 0; i < r.samples.size(); ++i) {
    const bool later = i == 0 || r.samples[i].t_ns > r.samples[i - 1].t_ns;
    if (later && usable(r.samples[i].p_world) && usable(r.target(i))) continue;
    return Invalid(fmt::format(
        "recording '{}', sample {}: expected increasing stamps and positions below 1e7 m", id, i));
  }
  return {};
}

Status CheckRecordings(const std::vector<Recording>& recordings) {
  if (recordings.empty()) return Invalid("a corpus needs at least one recording, found none");
  std::set<std::string_view> ids;
  for (const Recording& r : recordings) {
    const std::string id = Excerpt(r.id);
    if (r.id.empty() || !FitsOnALine(r.id)) {
      return Invalid("id '" + id +
                     "' is not usable, expected one line of UTF-8 without outer blanks");
    }
    if (!ids.insert(r.id).second) return Invalid("id '" + id + "' is there twice");
    for (const std::string* text : {&r.category, &r.configuration, &r.object, &r.frame}) {
      if (!FitsOnALine(*text)) {
        return Invalid("recording '" + id + "' has '" + Excerpt(*text) +
                       "', expected one line of UTF-8 without outer blanks");
      }
    }
    if (Status status = CheckSamples(r); !status.ok()) return status;
  }
  return {};
}

// Only what this program wrote may be deleted: --force on a home directory must not be a disaster.
Status CheckTarget(const fs::path& directory, bool replace) {
  std::error_code code;
  if (!replace || !fs::is_directory(directory, code) || fs::is_empty(directory, code)) return {};
  const Result<std::string> text = ReadFile(directory / kManifestFile);
  const Result<Manifest> old =
      text.ok() ? ParseManifest(*text, (directory / kManifestFile).string()) : text.error();
  if (!old.ok()) {
    return Error{ErrorCode::kExists, directory.string() + ": holds files but no readable " +
                                         std::string(kManifestFile) +
                                         ", and only a corpus is replaced; name another directory"};
  }
  std::set<fs::path> ours = {directory / kManifestFile};
  for (const FlightEntry& flight : old->flights) ours.insert(directory / flight.file);
  for (const auto& entry : fs::directory_iterator(directory, code)) {
    if (ours.contains(entry.path())) continue;
    return Error{ErrorCode::kExists, entry.path().string() +
                                         ": not a part of the corpus that is to be replaced; move "
                                         "it elsewhere first"};
  }
  return {};
}

std::vector<const Recording*> InNaturalOrder(const std::vector<Recording>& recordings) {
  std::vector<const Recording*> sorted;
  for (const Recording& r : recordings) sorted.push_back(&r);
  std::sort(sorted.begin(), sorted.end(),
            [](const Recording* a, const Recording* b) { return NaturalLess(a->id, b->id); });
  return sorted;
}

FlightEntry Describe(const Recording& r) {
  FlightEntry flight;
  flight.id = r.id;
  flight.category = r.category;
  flight.configuration = r.configuration;
  flight.object = r.object;
  flight.source = r.source;
  flight.noise_m = r.noise_m;
  flight.samples = r.samples.size();
  // Rounded once, so that JSON shows the digits of the stamp: int64 does not fit into a double.
  const auto seconds = [](TimeNs t_ns) {
    return static_cast<double>(static_cast<long double>(t_ns) / 1e9L);
  };
  flight.start_s = seconds(r.samples.front().t_ns);
  flight.end_s = seconds(r.samples.back().t_ns);
  flight.duration_s = seconds(r.samples.back().t_ns - r.samples.front().t_ns);
  return flight;
}

// File names that differ in more than case, for disks that do not tell "A.csv" from "a.csv".
std::vector<std::string> FileNames(const std::vector<const Recording*>& recordings) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Recording* r : recordings) {
    const std::string base = SafeName(r->id);
    std::string name = base;
    for (int n = 2; !taken.insert(Lower(name)).second; ++n) name = fmt::format("{}_{}", base, n);
    names.push_back(name + ".csv");
  }
  return names;
}

void AddSplits(const std::vector<Recording>& recordings, std::uint64_t seed, Manifest& manifest) {
  const std::vector<SplitUnit> units = SplitUnits(recordings);
  for (const SplitKind kind : AllSplits()) {
    Split split = MakeSplit(kind, seed, units);
    const std::string name(SplitName(kind));
    for (FlightEntry& flight : manifest.flights) flight.split[name] = split.side[flight.id];
    manifest.splits[name] = {split.seed, std::move(split.hash), std::move(split.notes)};
  }
}

// Writes every recording and notes the hash of its bytes.
Status WriteFlights(const fs::path& directory, const std::vector<const Recording*>& recordings,
                    int threads, std::vector<FlightEntry>& flights) {
  std::vector<Status> written(recordings.size());
  ParallelFor(recordings.size(), threads, [&](std::size_t i, int) {
    const std::string bytes = FormatRecording(*recordings[i]);
    flights[i].sha256 = Sha256Hex(bytes);
    written[i] = WriteFileAtomically(directory / flights[i].file, bytes);
  });
  for (const Status& status : written) {
    if (!status.ok()) return status;
  }
  return {};
}

Result<std::string> ReadManifest(const fs::path& directory) {
  std::error_code code;
  const fs::file_status status = fs::status(directory, code);
  if (!fs::exists(status)) {
    return Error{ErrorCode::kNotFound, directory.string() + ": no such directory"};
  }
  const std::string how =
      "; make one with `aerocast import --format csv " + directory.string() + " --out CORPUS`";
  if (!fs::is_directory(status)) {
    return Error{ErrorCode::kBadFormat,
                 directory.string() + ": a file, expected a corpus directory" + how};
  }
  if (!fs::exists(directory / kManifestFile, code)) {
    return Error{ErrorCode::kNotFound, directory.string() + ": no corpus, expected a " +
                                           std::string(kManifestFile) + " in it" + how};
  }
  return ReadFile(directory / kManifestFile, std::uint64_t{1} << 28);
}

// The manifest repeats what the recording says; where they differ one of them was changed.
Status CheckAgreement(const FlightEntry& flight, const Recording& r, const std::string& name) {
  const auto differ = [&](std::string_view what, const std::string& stated,
                          const std::string& found) {
    return Status(Error{ErrorCode::kBadFormat,
                        fmt::format("{}: {} is '{}', expected '{}' as {} says", name, what,
                                    Excerpt(found), Excerpt(stated), kManifestFile)});
  };
  if (r.id != flight.id) return differ("id", flight.id, r.id);
  if (r.category != flight.category) return differ("category", flight.category, r.category);
  if (r.configuration != flight.configuration) {
    return differ("configuration", flight.configuration, r.configuration);
  }
  if (r.source != flight.source) {
    return differ("source", std::string(SourceName(flight.source)),
                  std::string(SourceName(r.source)));
  }
  if (r.samples.size() != flight.samples) {
    return differ("number of samples", std::to_string(flight.samples),
                  std::to_string(r.samples.size()));
  }
  return {};
}

Status LoadFlight(const fs::path& file, const FlightEntry& flight, bool verify, Recording& out) {
  const Result<std::string> bytes = ReadFile(file);
  if (!bytes.ok()) {
    return Error{bytes.error().code, bytes.error().message + " (listed in " +
                                         std::string(kManifestFile) + " as flight '" +
                                         Excerpt(flight.id) + "')"};
  }
  if (verify) {
    const std::string found = Sha256Hex(*bytes);
    if (found != flight.sha256) {
      return Error{
          ErrorCode::kBadFormat,
          fmt::format("{}: changed since the corpus was made, expected sha256 {}, found {}",
                      file.string(), flight.sha256, found)};
    }
  }
  Result<Recording> recording = ParseRecording(*bytes, file.string());
  if (!recording.ok()) return recording.error();
  out = std::move(*recording);
  return CheckAgreement(flight, out, file.string());
}

std::vector<std::string_view> SidesOf(const Manifest& manifest, const std::string& split) {
  std::set<std::string_view> sides;
  for (const FlightEntry& flight : manifest.flights) sides.insert(flight.split.at(split));
  for (const SplitKind kind : AllSplits()) {
    if (SplitName(kind) == split) return SplitSides(kind);
  }
  return {sides.begin(), sides.end()};
}

}  // namespace

Status WriteCorpus(const fs::path& directory, const std::vector<Recording>& recordings,
                   const CorpusOptions& options) {
  if (Status s = CheckRecordings(recordings); !s.ok()) return s;
  if (Status s = CheckTarget(directory, options.replace); !s.ok()) return s;

  const std::vector<const Recording*> sorted = InNaturalOrder(recordings);
  const std::vector<std::string> files = FileNames(sorted);
  Manifest manifest;
  const fs::path target = directory.has_filename() ? directory : directory.parent_path();
  manifest.name = options.name.empty() ? target.filename().string() : options.name;
  manifest.min_z = options.min_z;
  manifest.provenance = options.provenance;
  manifest.dropped = options.dropped;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    manifest.flights.push_back(Describe(*sorted[i]));
    manifest.flights[i].file = files[i];
  }
  AddSplits(recordings, options.split_seed, manifest);

  Result<StagedDirectory> staged = StagedDirectory::Create(directory, options.replace);
  if (!staged.ok()) return staged.error();
  if (Status s = WriteFlights(staged->path(), sorted, options.threads, manifest.flights); !s.ok()) {
    return s;
  }
  manifest.hash = CorpusHash(manifest.flights);
  if (Status s = WriteFileAtomically(staged->path() / kManifestFile, FormatManifest(manifest));
      !s.ok()) {
    return s;
  }
  return staged->Commit();
}

Result<Corpus> LoadCorpus(const fs::path& directory, const LoadCorpusOptions& options) {
  const Result<std::string> text = ReadManifest(directory);
  if (!text.ok()) return text.error();
  Result<Manifest> manifest = ParseManifest(*text, (directory / kManifestFile).string());
  if (!manifest.ok()) return manifest.error();
  Corpus corpus{std::move(*manifest), {}};
  const std::vector<FlightEntry>& flights = corpus.manifest.flights;
  corpus.recordings.resize(flights.size());
  std::vector<Status> loaded(flights.size());
  ParallelFor(flights.size(), options.threads, [&](std::size_t i, int) {
    loaded[i] =
        LoadFlight(directory / flights[i].file, flights[i], options.verify, corpus.recordings[i]);
  });
  for (const Status& status : loaded) {
    if (!status.ok()) return status.error();
  }
  return corpus;
}

Result<std::vector<const Recording*>> Side(const Corpus& corpus, std::string_view split,
                                           std::string_view side) {
  const std::string split_name(split);
  const bool all = side == "all";
  if (!corpus.manifest.splits.contains(split_name) && !(all && split == "none")) {
    std::vector<std::string_view> known;
    for (const auto& [name, entry] : corpus.manifest.splits) known.push_back(name);
    return Invalid("unknown split '" + Excerpt(split) + "', expected one of " + JoinNames(known));
  }
  if (!all) {
    std::vector<std::string_view> known = SidesOf(corpus.manifest, split_name);
    if (std::ranges::count(known, side) == 0) {
      known.push_back("all");
      return Invalid("unknown side '" + Excerpt(side) + "' of split " + split_name +
                     ", expected one of " + JoinNames(known));
    }
  }
  std::vector<const Recording*> chosen;
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    if (all || corpus.manifest.flights[i].split.at(split_name) == side) {
      chosen.push_back(&corpus.recordings[i]);
    }
  }
  return chosen;
}

}  // namespace aerocast
