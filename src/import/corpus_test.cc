// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/corpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/file.h"
#include "src/base/sha256.h"
#include "src/import/import.h"
#include "src/import/split.h"
#include "src/import/test_data.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class CorpusTest : public testing::Test {
 protected:
  static std::vector<Recording> Flights(int n = 12) {
    std::vector<Recording> flights;
    for (int i = n; i > 0; --i) {  // not in natural order
      flights.push_back(MakeFlight(fmt::format("rep{}", i), 0, 20, i));
      flights.back().configuration = fmt::format("c{}", i / 3);
    }
    return flights;
  }
  void Write(const std::vector<Recording>& flights = Flights(), CorpusOptions options = {}) {
    const Status written = WriteCorpus(corpus(), flights, options);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  // Loads after `change` was done to the manifest.
  std::string RefusalAfter(const std::function<void(json&)>& change) {
    const std::string before = *ReadFile(corpus() / "corpus.json");
    json manifest = json::parse(before);
    change(manifest);
    EXPECT_TRUE(WriteFileAtomically(corpus() / "corpus.json", manifest.dump()).ok());
    const Result<Corpus> loaded = LoadCorpus(corpus());
    EXPECT_TRUE(WriteFileAtomically(corpus() / "corpus.json", before).ok());
    return loaded.ok() ? "accepted" : loaded.error().message;
  }
  fs::path corpus() const { return dir_.path() / "corpus"; }
  TemporaryDirectory dir_;
};

TEST_F(CorpusTest, ReadsBackWhatWasWritten) {
  CorpusOptions options;
  options.name = "birds";
  options.min_z = 0.3;
  options.split_seed = 5;
  options.provenance = {{"licence", "BSD-3-Clause"}};
  options.dropped = {{"rep99", "rep1", "same samples"}};
  Write(Flights(), options);
  const Result<Corpus> loaded = LoadCorpus(corpus());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->manifest.name, "birds");
  EXPECT_EQ(loaded->manifest.min_z, 0.3);
  EXPECT_EQ(loaded->manifest.splits.at("flight").seed, 5u);
  EXPECT_EQ(loaded->manifest.provenance, options.provenance);
  EXPECT_EQ(loaded->manifest.dropped, options.dropped);
  ASSERT_EQ(loaded->recordings.size(), 12u);
  for (int i = 0; i < 12; ++i) {
    const Recording& r = loaded->recordings[static_cast<std::size_t>(i)];
    EXPECT_EQ(r.id, fmt::format("rep{}", i + 1)) << "natural order";
    EXPECT_EQ(r.samples, MakeFlight("", 0, 20, i + 1).samples);
    EXPECT_EQ(loaded->manifest.flights[static_cast<std::size_t>(i)].id, r.id);
  }
  const FlightEntry& first = loaded->manifest.flights[0];
  EXPECT_EQ(first.file, "rep1.csv");
  EXPECT_EQ(first.sha256, Sha256Hex(*ReadFile(corpus() / "rep1.csv")));
  EXPECT_EQ(first.samples, 20u);
  EXPECT_EQ(first.duration_s, 1.9);
}

TEST_F(CorpusTest, ShowsTheDigitsOfAnAbsoluteClock) {
  Recording flight = MakeFlight("a");
  for (Observation& o : flight.samples) o.t_ns += 1772421798751000000;
  Write({flight});
  EXPECT_THAT(*ReadFile(corpus() / "corpus.json"), HasSubstr("\"start_s\": 1772421798.751,"));
}

TEST_F(CorpusTest, HasTheSameBytesWhateverTheThreadsAndTheOrder) {
  Write();
  std::vector<Recording> flights = Flights();
  std::reverse(flights.begin(), flights.end());
  CorpusOptions options;
  options.name = "corpus";
  options.threads = 3;
  const fs::path other = dir_.path() / "other";
  ASSERT_TRUE(WriteCorpus(other, flights, options).ok());
  for (const auto& entry : fs::directory_iterator(corpus())) {
    EXPECT_EQ(*ReadFile(entry.path()), *ReadFile(other / entry.path().filename()));
  }
}

TEST_F(CorpusTest, NamesAFileInWhichOneByteChanged) {
  Write();
  std::string bytes = *ReadFile(corpus() / "rep7.csv");
  bytes[bytes.size() - 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(corpus() / "rep7.csv", bytes).ok());
  const Result<Corpus> loaded = LoadCorpus(corpus());
  ASSERT_FALSE(loaded.ok());
  const std::string expected =
      json::parse(*ReadFile(corpus() / "corpus.json"))["flights"][6]["sha256"];
  EXPECT_THAT(loaded.error().message,
              AllOf(HasSubstr("rep7.csv"), HasSubstr(expected), HasSubstr(Sha256Hex(bytes))));
  EXPECT_TRUE(LoadCorpus(corpus(), {.verify = false, .threads = 1}).ok());
}

TEST_F(CorpusTest, NamesAFileThatIsTruncatedOrMissing) {
  Write();
  const std::string bytes = *ReadFile(corpus() / "rep3.csv");
  ASSERT_TRUE(WriteFileAtomically(corpus() / "rep3.csv", bytes.substr(0, 300)).ok());
  EXPECT_THAT(LoadCorpus(corpus()).error().message, HasSubstr("rep3.csv"));
  EXPECT_THAT(LoadCorpus(corpus(), {.verify = false}).error().message, HasSubstr("rep3.csv"));
  fs::remove(corpus() / "rep3.csv");
  EXPECT_THAT(LoadCorpus(corpus()).error().message,
              AllOf(HasSubstr("rep3.csv"), HasSubstr("listed in corpus.json")));
}

TEST_F(CorpusTest, IgnoresOtherFilesInItsDirectory) {
  Write();
  ASSERT_TRUE(WriteFileAtomically(corpus() / "notes.csv", "mine").ok());
  EXPECT_TRUE(LoadCorpus(corpus()).ok());
}

TEST_F(CorpusTest, SaysWhatIsNoCorpusAndHowToMakeOne) {
  EXPECT_THAT(LoadCorpus(corpus()).error().message, HasSubstr("no such directory"));
  EXPECT_THAT(LoadCorpus(dir_.path()).error().message,
              AllOf(HasSubstr("no corpus"), HasSubstr("aerocast import --format csv")));
  ASSERT_TRUE(WriteFileAtomically(dir_.path() / "f", "x").ok());
  EXPECT_THAT(LoadCorpus(dir_.path() / "f").error().message, HasSubstr("expected a corpus dir"));
}

TEST_F(CorpusTest, NamesTheFieldThatIsWrong) {
  Write();
  const std::vector<std::pair<std::function<void(json&)>, std::string>> cases = {
      {[](json& m) { m["format"] = "zip"; }, "'format' is \"zip\""},
      {[](json& m) { m["version"] = 2; }, "'version' is 2"},
      {[](json& m) { m.erase("name"); }, "'name' is missing"},
      {[](json& m) { m["min_z"] = "low"; }, "'min_z' is \"low\", expected a number"},
      {[](json& m) { m["flights"] = 3; }, "'flights' is 3, expected a list"},
      {[](json& m) { m["flights"][2] = nullptr; }, "'flights[2]' is null"},
      {[](json& m) { m["flights"][2]["samples"] = -1; }, "'flights[2].samples' is -1"},
      {[](json& m) { m["flights"][2]["source"] = "x"; }, "'flights[2].source'"},
      {[](json& m) { m["flights"][2]["sha256"] = "ab"; }, "'flights[2].sha256'"},
      {[](json& m) { m["flights"][2]["id"] = "rep1"; }, "'flights[2].id' is \"rep1\""},
      {[](json& m) { m["flights"][2]["file"] = "rep1.csv"; }, "'flights[2].file'"},
      {[](json& m) { m["flights"][2]["split"]["flight"] = "left"; }, "'flights[2].split.flight'"},
      {[](json& m) { m["flights"][2]["split"].erase("paper"); }, "'flights[2].split.paper'"},
      {[](json& m) {
         m["flights"][2]["split"] = {{"flight", 1}};
       },
       "'flights[2].split'"},
      {[](json& m) { m["splits"]["flight"]["seed"] = "one"; }, "'splits.flight.seed'"},
      {[](json& m) { m["dropped"] = {1}; }, "'dropped[0]' is 1, expected an object"},
      {[](json& m) {
         m["provenance"] = {{"a", 1}};
       },
       "'provenance'"},
      {[](json& m) { m["hash"] = "ab"; }, "'hash'"},
      {[](json& m) { m["flights"].erase(2); }, "'hash'"},
  };
  for (const auto& [change, expected] : cases) {
    EXPECT_THAT(RefusalAfter(change), AllOf(HasSubstr("corpus.json"), HasSubstr(expected)));
  }
}

TEST_F(CorpusTest, RefusesFilesOutsideItsDirectory) {
  Write();
  for (const char* file : {"../rep1.csv", "/etc/passwd", "a/../../b.csv", "..", "", "a\\b.csv"}) {
    EXPECT_THAT(RefusalAfter([&](json& m) { m["flights"][0]["file"] = file; }),
                HasSubstr("'flights[0].file'"))
        << file;
  }
}

TEST_F(CorpusTest, NoticesAFlightThatWasMovedToAnotherSideOrRelabelled) {
  Write();
  EXPECT_THAT(RefusalAfter([](json& m) {
                auto& side = m["flights"][0]["split"]["paper"];
                side = side == "test" ? "train" : "test";
              }),
              HasSubstr("'splits.paper.hash'"));
  EXPECT_THAT(RefusalAfter([](json& m) { m["flights"][0]["category"] = "oval"; }),
              AllOf(HasSubstr("rep1.csv"), HasSubstr("'circle'"), HasSubstr("'oval'")));
}

TEST_F(CorpusTest, SaysWhereTheManifestStopsBeingJson) {
  Write();
  const std::string text = *ReadFile(corpus() / "corpus.json");
  ASSERT_TRUE(WriteFileAtomically(corpus() / "corpus.json", text.substr(0, text.size() / 2)).ok());
  EXPECT_THAT(LoadCorpus(corpus()).error().message, HasSubstr("not JSON"));
  for (std::size_t cut = 0; cut < text.size(); cut += 97) {
    EXPECT_FALSE(ParseManifest(text.substr(0, cut), "corpus.json").ok());
  }
}

TEST_F(CorpusTest, RefusesSetsItCannotKeep) {
  const auto refusal = [&](const std::vector<Recording>& flights) {
    return WriteCorpus(corpus(), flights, {}).error().message;
  };
  EXPECT_THAT(refusal({}), HasSubstr("at least one"));
  EXPECT_THAT(refusal({MakeFlight("a"), MakeFlight("a")}), HasSubstr("'a' is there twice"));
  EXPECT_THAT(refusal({MakeFlight("a\nb")}), HasSubstr("'a?b'"));
  EXPECT_THAT(refusal({MakeFlight("a\xFF")}), HasSubstr("'a?'"));
  EXPECT_THAT(refusal({MakeFlight("a", 0, 0)}), HasSubstr("no samples"));
  Recording odd = MakeFlight("a");
  odd.truth.resize(3);
  EXPECT_THAT(refusal({odd}), HasSubstr("true positions"));
  odd = MakeFlight("a");
  odd.samples[4].t_ns = odd.samples[3].t_ns;
  EXPECT_THAT(refusal({odd}), HasSubstr("'a', sample 4"));
  odd = MakeFlight("a");
  odd.samples[2].p_world.y = std::nan("");
  EXPECT_THAT(refusal({odd}), HasSubstr("'a', sample 2"));
  EXPECT_FALSE(fs::exists(corpus()));
}

TEST_F(CorpusTest, KeepsIdsApartThatAreNoFileNames) {
  Write({MakeFlight("a/b", 0, 20, 1), MakeFlight("a:b", 0, 20, 2), MakeFlight("A_B", 0, 20, 3),
         MakeFlight(std::string(5000, 'x'), 0, 20, 4)});
  const Result<Corpus> loaded = LoadCorpus(corpus());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->recordings.size(), 4u);
}

TEST_F(CorpusTest, ReplacesOnlyACorpusAndOnlyWhenTold) {
  Write();
  EXPECT_EQ(WriteCorpus(corpus(), Flights(3), {}).error().code, ErrorCode::kExists);
  EXPECT_EQ(LoadCorpus(corpus())->recordings.size(), 12u);
  CorpusOptions options;
  options.replace = true;
  Write(Flights(3), options);
  EXPECT_EQ(LoadCorpus(corpus())->recordings.size(), 3u);

  const fs::path home = dir_.path() / "home";
  fs::create_directories(home);
  ASSERT_TRUE(WriteFileAtomically(home / "thesis.txt", "years of work").ok());
  EXPECT_THAT(WriteCorpus(home, Flights(), options).error().message, HasSubstr("only a corpus"));
  EXPECT_TRUE(fs::exists(home / "thesis.txt"));
}

// While it lives, no file can grow beyond `bytes`: a disk that fills up, even for root.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int) = nullptr;
};

TEST_F(CorpusTest, LeavesNothingBehindWhenTheDiskIsFull) {
  std::vector<Recording> flights = Flights();
  flights[5] = MakeFlight("long", 0, 5000);
  Status written;
  {
    const FullDisk disk(4096);
    written = WriteCorpus(corpus(), flights, {});
  }
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("long.csv"));
  EXPECT_TRUE(fs::is_empty(dir_.path()));
}

TEST_F(CorpusTest, KeepsTheOldCorpusWhenTheNewOneCannotBeWritten) {
  Write();
  CorpusOptions options;
  options.replace = true;
  {
    const FullDisk disk(100);
    EXPECT_FALSE(WriteCorpus(corpus(), Flights(3), options).ok());
  }
  EXPECT_EQ(LoadCorpus(corpus())->recordings.size(), 12u);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 1);
}

TEST_F(CorpusTest, RefusesATargetThatIsAFile) {
  const fs::path blocked = dir_.path() / "file";
  ASSERT_TRUE(WriteFileAtomically(blocked, "x").ok());
  EXPECT_FALSE(WriteCorpus(blocked, Flights(), {}).ok());
  EXPECT_FALSE(WriteCorpus(blocked / "below", Flights(), {}).ok());
  EXPECT_EQ(*ReadFile(blocked), "x");
}

TEST_F(CorpusTest, GivesTheSidesOfItsSplits) {
  Write();
  const Result<Corpus> loaded = LoadCorpus(corpus());
  ASSERT_TRUE(loaded.ok());
  for (const SplitKind kind : AllSplits()) {
    std::set<const Recording*> seen;
    for (const std::string_view side : SplitSides(kind)) {
      const auto flights = Side(*loaded, SplitName(kind), side);
      ASSERT_TRUE(flights.ok());
      for (const Recording* r : *flights) EXPECT_TRUE(seen.insert(r).second) << r->id;
    }
    EXPECT_EQ(seen.size(), loaded->recordings.size());
    EXPECT_EQ(Side(*loaded, SplitName(kind), "all")->size(), 12u);
  }
  EXPECT_EQ(Side(*loaded, "none", "all")->size(), 12u);
  EXPECT_THAT(Side(*loaded, "none", "test").error().message, HasSubstr("unknown split 'none'"));
  EXPECT_THAT(Side(*loaded, "day", "test").error().message,
              HasSubstr("configuration, flight, paper"));
  EXPECT_THAT(Side(*loaded, "paper", "calibration").error().message,
              HasSubstr("expected one of train, test, all"));
}

TEST_F(CorpusTest, HashDoesNotDependOnTheDirectoryOrTheName) {
  Write();
  ASSERT_TRUE(WriteCorpus(dir_.path() / "elsewhere/", Flights(), {}).ok());
  const auto a = LoadCorpus(corpus()), b = LoadCorpus(dir_.path() / "elsewhere");
  EXPECT_EQ(a->manifest.hash, b->manifest.hash);
  EXPECT_EQ(b->manifest.name, "elsewhere");
}

TEST_F(CorpusTest, KeepsTheRealFlights) {
  const RealFlights data("nanobench");
  if (!data.found()) GTEST_SKIP() << data.where();
  ImportOptions options;
  options.format.format = Format::kNanobench;
  const auto imported = Import({data.path()}, options);
  ASSERT_TRUE(imported.ok());
  CorpusOptions corpus_options;
  corpus_options.min_z = 0.3;
  Write(imported->recordings, corpus_options);
  const Result<Corpus> loaded = LoadCorpus(corpus());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_EQ(loaded->recordings.size(), 71u);
  for (std::size_t i = 0; i < 71; ++i) {
    EXPECT_EQ(loaded->recordings[i].samples, imported->recordings[i].samples);
  }
  EXPECT_EQ(Side(*loaded, "flight", "test")->size() + Side(*loaded, "flight", "train")->size() +
                Side(*loaded, "flight", "calibration")->size() +
                Side(*loaded, "flight", "validation")->size(),
            71u);
  EXPECT_NEAR(static_cast<double>(Side(*loaded, "flight", "train")->size()), 35.5, 1.5);
}

}  // namespace
}  // namespace aerocast
