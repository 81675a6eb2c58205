// SPDX-License-Identifier: BSD-3-Clause
//
// The safetensors layout: 8 bytes of length, a JSON header, raw tensors. Model files, checkpoints
// and golden files are all of this form (docs/model_format.md), so other tools open them.
//
// A file is data. Reading ends in an error or in a file that is whole: header within its limit,
// tensors contiguous with no overlap and no hole, exact length, every number finite, and the
// SHA-256 of header and data as the metadata states them, so that no changed bit passes. The header
// is checked against the file's size before anything is allocated for the data, and each tensor is
// read straight to where it stays: reading a model file takes its size, half-precision numbers
// counted as the floats they become, and at most 16 MB beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/load.h"
#include "aerocast/result.h"
#include "src/base/byte_source.h"

namespace aerocast {

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> data;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;     // text; structured parts are JSON in a string
  std::vector<Tensor> tensors;                     // in the order of their data
  WeightStorage weights = WeightStorage::kSingle;  // how the file has them; here they are floats

  const Tensor* Find(std::string_view name) const;
};

// What a reader accepts. The defaults are those of a model file; checkpoints hold flat arrays.
struct TensorFileLimits {
  std::uint64_t header_bytes = 64 << 10;
  std::size_t tensors = 512;
  std::size_t rank = 4;
  std::int64_t dimension = 65536;
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
};

// A tensor that lives elsewhere, for writing.
struct TensorView {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> data;
};

// SHA-256 of the tensors' data as the file has it, one after the other: what the metadata calls
// `data_sha256`.
std::string DataSha256(std::span<const TensorView> tensors,
                       WeightStorage weights = WeightStorage::kSingle);
// The `header_sha256` of the file that EncodeTensorFile makes; `metadata` has the data's hash.
std::string HeaderSha256(const std::map<std::string, std::string>& metadata,
                         std::span<const TensorView> tensors, WeightStorage weights);

// The bytes of the file; `data_sha256` and `header_sha256` are added to the metadata. The same
// content gives the same bytes. Names are up to 128 printable ASCII characters, no space, each used
// once; shapes have at least one dimension and none that is zero. Half precision rounds to nearest.
std::string EncodeTensorFile(const std::map<std::string, std::string>& metadata,
                             std::span<const TensorView> tensors,
                             WeightStorage weights = WeightStorage::kSingle);
// `where` begins every message: the file's name.
Result<TensorFile> DecodeTensorFile(const ByteSource& source, std::string_view where,
                                    const TensorFileLimits& limits = {});
Result<TensorFile> DecodeTensorFile(std::string_view bytes, std::string_view where,
                                    const TensorFileLimits& limits = {});

// EncodeTensorFile, unless a reader would refuse the result: a tensor that is not finite, or beyond
// the range of half precision, is refused by name, and so is a header longer than `header_bytes`.
Result<std::string> EncodeChecked(std::string_view where,
                                  const std::map<std::string, std::string>& metadata,
                                  std::span<const TensorView> tensors,
                                  std::uint64_t header_bytes = TensorFileLimits{}.header_bytes,
                                  WeightStorage weights = WeightStorage::kSingle);

// EncodeChecked through WriteFileAtomically; what is refused is not written. DecodeTensorFile from
// the open file; running out of memory is an error too.
Status WriteTensorFile(const std::filesystem::path& file,
                       const std::map<std::string, std::string>& metadata,
                       std::span<const TensorView> tensors,
                       std::uint64_t header_bytes = TensorFileLimits{}.header_bytes);
Result<TensorFile> ReadTensorFile(const std::filesystem::path& file,
                                  const TensorFileLimits& limits = {});

}  // namespace aerocast
