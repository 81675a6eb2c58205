// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/parallel.h"
#include "src/base/text.h"
#include "src/data/category.h"
#include "src/data/windows.h"

namespace aerocast {
namespace {

constexpr double kMostSamples =
    2e8;  // about 10 GB: beyond it a typing error is likelier than a wish

Error Refuse(std::string message) {
  return {ErrorCode::kInvalidArgument, "generate: " + std::move(message)};
}

std::string NineCategories() {
  std::vector<std::string_view> names;
  for (const Category& category : kCategories) names.push_back(category.name);
  return JoinNames(names);
}

Result<std::vector<int>> ResolveCategories(const std::vector<std::string>& names) {
  std::vector<int> indices;
  for (const std::string& name : names) {
    const int index = CategoryIndex(name);
    if (index < 0) {
      return Refuse(
          fmt::format("there is no category \"{}\"; expected one of {}", name, NineCategories()));
    }
    if (std::find(indices.begin(), indices.end(), index) != indices.end()) {
      return Refuse(fmt::format("category \"{}\" is asked for twice", name));
    }
    indices.push_back(index);
  }
  if (indices.empty()) {
    for (int i = 0; i < static_cast<int>(kCategories.size()); ++i) indices.push_back(i);
  }
  return indices;
}

Status CheckRanges(const GenerateOptions& options, std::size_t categories) {
  if (options.flights_per_category < 1 || options.flights_per_category > 100'000) {
    return Refuse(fmt::format("flights per category must be 1 to 100000, not {}",
                              options.flights_per_category));
  }
  if (!(options.duration_s >= 0.1 && options.duration_s <= 3600)) {
    return Refuse(fmt::format("the duration must be 0.1 to 3600 s, not {}", options.duration_s));
  }
  if (options.noise_m && !(*options.noise_m >= 0 && *options.noise_m <= 10)) {
    return Refuse(fmt::format("the noise must be 0 to 10 m, not {}", *options.noise_m));
  }
  const double samples = static_cast<double>(categories) * options.flights_per_category *
                         static_cast<double>(SamplesFor(options.duration_s));
  if (samples > kMostSamples) {
    return Refuse(
        fmt::format("{:.0f} million samples are more than {:.0f} million; ask for fewer "
                    "or shorter flights",
                    samples * 1e-6, kMostSamples * 1e-6));
  }
  return {};
}

Recording GenerateFlight(const FlightKey& key, const GenerateOptions& options) {
  const FlightPlan plan = DrawPlan(key, options.regime, options.duration_s);
  const std::size_t samples = SamplesFor(options.duration_s);
  const std::vector<Vec3> gusts = GustsOf(key, options.regime, plan.tracking, samples);
  std::vector<Vec3> truth = Fly(plan, options.regime, gusts, samples);
  Place(key, options.regime, kNoMinZ, truth);
  return Record(key, std::move(truth), options.noise_m);
}

}  // namespace

Result<std::vector<Recording>> GenerateFlights(const GenerateOptions& options) {
  const Result<std::vector<int>> categories = ResolveCategories(options.categories);
  if (!categories.ok()) return categories.error();
  const Status ranges = CheckRanges(options, categories->size());
  if (!ranges.ok()) return ranges.error();

  const auto per_category = static_cast<std::size_t>(options.flights_per_category);
  std::vector<Recording> flights(categories->size() * per_category);
  ParallelFor(flights.size(), options.threads, [&](std::size_t i, int) {
    const FlightKey key{options.seed, (*categories)[i / per_category], i % per_category, 0};
    flights[i] = GenerateFlight(key, options);
  });
  return flights;
}

}  // namespace aerocast
