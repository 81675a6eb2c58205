// SPDX-License-Identifier: BSD-3-Clause
//
// Any bytes as a model file end in a refusal or in a model that holds what model_file.h promises.
// The mutator knows the format: without it every mutation would end at one of the two hashes.
#include <cmath>
#include <cstring>
#include <vector>

#include "fuzz/fuzz.h"
#include "src/base/rng.h"
#include "src/model/forge_testing.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace aerocast {
namespace {

void CheckModel(const Model& model, std::string_view bytes) {
  AEROCAST_CHECK(Validate(model.config).ok());
  const std::vector<TensorSpec> specs = TensorsOf(model.config);
  AEROCAST_CHECK(model.tensors.size() == specs.size());
  for (std::size_t n = 0; n < specs.size(); ++n) {
    const Tensor& tensor = model.tensors[n];
    AEROCAST_CHECK(tensor.name == specs[n].name && tensor.shape == specs[n].shape);
    AEROCAST_CHECK(tensor.data.size() == specs[n].size());
    for (const float x : tensor.data) AEROCAST_CHECK(std::isfinite(x));
  }
  AEROCAST_CHECK(model.sha256 == Sha256Hex(Cut(bytes)->data));
  const Result<std::string> again = EncodeModel(model, "fuzz.model", model.stored);
  AEROCAST_CHECK(again.ok() && *again == bytes);
}

// --- mutations of a header

const char* const kNumbers[] = {"0",
                                "-1",
                                "1",
                                "2",
                                "3",
                                "4",
                                "16",
                                "512",
                                "65535",
                                "65536",
                                "65537",
                                "2147483648",
                                "4294967297",
                                "4611686018427387904",
                                "9223372036854775807",
                                "9223372036854775808",
                                "18446744073709551612",
                                "1.0",
                                "1e2",
                                "1e300",
                                "null",
                                "\"1\"",
                                "[]",
                                "{}"};

const char* const kTokens[] = {",",
                               ":",
                               "[",
                               "]",
                               "{",
                               "}",
                               "\"",
                               "\\\"",
                               "[1,1]",
                               "[0,4]",
                               "\"F32\"",
                               "\"F16\"",
                               "\"F64\"",
                               "\"dtype\"",
                               "\"shape\"",
                               "true",
                               "\"a\":1,",
                               "\"gru\"",
                               "\"lstm\"",
                               "\"mlp\"",
                               "\"bigru\"",
                               "false",
                               "\\u0000",
                               "\\ud800",
                               "\"transformer\"",
                               "\"data_offsets\"",
                               "\"__metadata__\"",
                               "\"format_version\""};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Where whole numbers begin; none within words and hashes.
std::vector<std::size_t> NumbersIn(const std::string& header) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < header.size(); ++i) {
    if (IsDigit(header[i]) && std::strchr("[,:", header[i - 1])) found.push_back(i);
  }
  return found;
}

void ChangeNumber(std::string& header, Rng& rng) {
  const std::vector<std::size_t> numbers = NumbersIn(header);
  if (numbers.empty()) return;
  const std::size_t begin = numbers[rng.Below(numbers.size())];
  std::size_t end = begin;
  while (end < header.size() && IsDigit(header[end])) ++end;
  const std::string old = header.substr(begin, end - begin);
  std::string number = kNumbers[rng.Below(std::size(kNumbers))];
  if (rng.Chance(0.5) && old.size() < 18) {  // near what it was
    number = std::to_string(std::stoll(old) + static_cast<long long>(rng.Below(17)) - 8);
  }
  header.replace(begin, old.size(), number);
}

void InsertToken(std::string& header, Rng& rng) {
  header.insert(rng.Below(header.size() + 1), kTokens[rng.Below(std::size(kTokens))]);
}

// A piece between two commas is dropped, doubled or moved.
void ChangePiece(std::string& header, Rng& rng) {
  const std::size_t from = header.find(',', rng.Below(header.size() + 1));
  const std::size_t to = from == header.npos ? from : header.find(',', from + 1);
  if (to == header.npos) return;
  const std::string piece = header.substr(from, to - from);
  const std::uint64_t way = rng.Below(3);
  if (way != 0) header.erase(from, piece.size());
  if (way == 1) return;
  const std::size_t at = way == 0 ? from : header.find(',', rng.Below(header.size() + 1));
  header.insert(std::min(at, header.size()), piece);
}

void ChangeBytes(std::string& text, Rng& rng, std::size_t more) {
  const std::size_t size = text.size();
  text.resize(size + rng.Below(more + 1));
  if (text.empty()) return;
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
}

void ChangeHeader(std::string& header, Rng& rng) {
  const std::uint64_t way = rng.Below(8);
  if (way < 4) return ChangeNumber(header, rng);
  if (way < 5) return InsertToken(header, rng);
  if (way < 7) return ChangePiece(header, rng);
  ChangeBytes(header, rng, 16);
}

std::string Mutated(std::string_view bytes, Rng& rng) {
  std::optional<HeaderAndData> parts = Cut(bytes);
  if (!parts || rng.Chance(1.0 / 16)) {
    std::string raw(bytes);
    ChangeBytes(raw, rng, 64);
    return raw;
  }
  for (std::uint64_t n = 0, changes = 1 + rng.Below(3); n < changes; ++n) {
    if (rng.Chance(0.75)) {
      ChangeHeader(parts->header, rng);
    } else {
      ChangeBytes(parts->data, rng, 16);
    }
  }
  if (rng.Chance(1.0 / 32)) return Raw(parts->header, parts->data);
  const std::size_t end = parts->header.find_last_not_of(' ');
  parts->header.resize(end == std::string::npos ? 0 : end + 1);
  return Forge(parts->header, parts->data);
}

}  // namespace
}  // namespace aerocast

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  aerocast::Rng rng(seed);
  const std::string mutated = aerocast::Mutated(aerocast::AsText(data, size), rng);
  const std::size_t kept = std::min(mutated.size(), max_size);
  std::memcpy(data, mutated.data(), kept);
  return kept;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = aerocast::AsText(data, size);
  const aerocast::Result<aerocast::Model> model = aerocast::DecodeModel(bytes, "fuzz.model");
  if (model.ok()) {
    aerocast::CheckModel(*model, bytes);
  } else {
    aerocast::CheckRefusal(model.error(), "fuzz.model: ");
  }
  return 0;
}
