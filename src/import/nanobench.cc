// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/nanobench.h"

#include <algorithm>
#include <array>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/import/flat_yaml.h"
#include "src/import/utf8.h"

namespace aerocast {
namespace {

constexpr double kViconNoise_m = 0.00005;

struct TypeName {
  std::string_view type, category;
};

constexpr std::array<TypeName, 11> kTypes = {{{"circle", "circle"},
                                              {"oval", "oval"},
                                              {"figure_eight", "figure-8"},
                                              {"figure8", "figure-8"},  // as file names spell it
                                              {"helix", "helix"},
                                              {"trefoil", "trefoil"},
                                              {"lissajous", "lissajous"},
                                              {"star", "star"},
                                              {"random_waypoints", "random"},
                                              {"staircase_climb", "staircase"},
                                              {"linear_ramp", "linear ramp"}}};

// "B9_trefoil_slow_rep12" without its repetition.
std::string WithoutRepetition(const std::string& stem) {
  const std::size_t digits = stem.find_last_not_of("0123456789") + 1;
  constexpr std::string_view kMark = "_rep";
  if (digits == stem.size() || digits <= kMark.size()) return stem;
  const std::size_t mark = digits - kMark.size();
  return stem.compare(mark, kMark.size(), kMark) == 0 ? stem.substr(0, mark) : stem;
}

void GuessFromName(const std::string& stem, Recording& recording) {
  const std::string name = Lower(stem);
  recording.configuration = ValidUtf8(WithoutRepetition(stem));
  recording.category = "unlabelled";
  for (const TypeName& known : kTypes) {
    if (name.find(known.type) != std::string::npos) recording.category = known.category;
  }
}

}  // namespace

std::string NanobenchCategory(std::string_view trajectory_type) {
  for (const TypeName& known : kTypes) {
    if (known.type == trajectory_type) return std::string(known.category);
  }
  std::string category(trajectory_type);
  std::replace(category.begin(), category.end(), '_', ' ');
  return ValidUtf8(category);
}

Recording DescribeNanobench(const std::filesystem::path& file, std::vector<ImportNote>& notes) {
  Recording recording;
  recording.id = file.stem().string();
  recording.object = "Crazyflie 2.1";
  recording.frame = "vicon";
  recording.source = Source::kReal;
  recording.noise_m = kViconNoise_m;
  GuessFromName(recording.id, recording);
  const std::string guess = ", so category '" + recording.category + "' and configuration '" +
                            recording.configuration + "' were guessed from the file's name";

  const std::filesystem::path metadata = file.parent_path() / (recording.id + "_metadata.yaml");
  const Result<std::string> text = ReadFile(metadata, 1 << 20);
  if (!text.ok()) {
    notes.push_back({file.string(), 0, 1, "no readable " + metadata.filename().string() + guess});
    return recording;
  }
  Result<std::map<std::string, std::string>> values = ParseFlatYaml(*text, metadata.string());
  if (!values.ok()) {
    notes.push_back({file.string(), 0, 1,
                     "the metadata are unreadable (" + values.error().message + ")" + guess});
    return recording;
  }
  if (!values->contains("trajectory_type") || !values->contains("trajectory_id")) {
    notes.push_back({metadata.string(), 0, 1, "no trajectory_type or no trajectory_id" + guess});
  }
  // The file's name is not trusted: B5_helix_fast_mell_rep1 is one more flight of B5_helix_fast.
  if (values->contains("trajectory_type")) {
    recording.category = NanobenchCategory((*values)["trajectory_type"]);
  }
  if (values->contains("trajectory_id")) {
    recording.configuration = ValidUtf8((*values)["trajectory_id"]);
  }
  return recording;
}

}  // namespace aerocast
