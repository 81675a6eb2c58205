// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/tensor_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "src/base/check.h"
#include "src/base/file.h"
#include "src/base/half.h"
#include "src/base/out_of_memory.h"
#include "src/base/planted_bug.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/model/json_object.h"
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxName = 128;
constexpr char kMetadata[] = "__metadata__";
constexpr char kDataHash[] = "data_sha256";
constexpr char kHeaderHash[] = "header_sha256";
constexpr std::string_view kNoHash =  // stands for the header's hash while it is computed
    "0000000000000000000000000000000000000000000000000000000000000000";

constexpr std::size_t kChunk = 1 << 15;  // numbers read at once, to be hashed while they are near

// The types of numbers a file may have. All its tensors have the same.
struct NumberType {
  WeightStorage storage;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<NumberType, 2> kTypes = {
    {{WeightStorage::kSingle, "F32", sizeof(float)}, {WeightStorage::kHalf, "F16", 2}}};

const NumberType& TypeOf(WeightStorage storage) {
  return kTypes[storage == WeightStorage::kSingle ? 0 : 1];
}

const NumberType* TypeNamed(std::string_view name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [name](const NumberType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : found;
}

bool IsHash(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kNoHash.size() && std::all_of(text.begin(), text.end(), digit);
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::size_t SizeOf(const std::vector<std::int64_t>& shape) {
  return std::accumulate(
      shape.begin(), shape.end(), std::size_t{1},
      [](std::size_t n, std::int64_t d) { return n * static_cast<std::size_t>(d); });
}

bool AllFinite(std::span<const float> data) {
  return std::all_of(data.begin(), data.end(), [](float x) { return std::isfinite(x); });
}

bool AllHalves(std::span<const float> data) {
  return std::all_of(data.begin(), data.end(), [](float x) { return std::abs(x) < kHalfOverflow; });
}

std::string Quoted(std::string_view name) { return "'" + Printable(name.substr(0, 60)) + "'"; }

// --- writing

std::string EncodeHeader(const std::map<std::string, std::string>& metadata,
                         std::span<const TensorView> tensors, WeightStorage weights) {
  const NumberType& type = TypeOf(weights);
  JsonObject header, texts;
  for (const auto& [key, value] : metadata) texts.Add(key, value);
  header.AddJson(kMetadata, texts.text());
  std::set<std::string_view> names = {kMetadata};
  std::uint64_t begin = 0;
  for (const TensorView& tensor : tensors) {
    AEROCAST_CHECK(IsName(tensor.name) && names.insert(tensor.name).second);
    AEROCAST_CHECK(!tensor.shape.empty() && !tensor.data.empty());
    AEROCAST_CHECK(SizeOf(tensor.shape) == tensor.data.size());
    const std::array<std::uint64_t, 2> offsets = {begin, begin + tensor.data.size() * type.bytes};
    JsonObject entry;
    entry.Add("dtype", std::string(type.name));
    entry.Add("shape", std::span<const std::int64_t>(tensor.shape));
    entry.Add("data_offsets", std::span<const std::uint64_t>(offsets));
    header.AddJson(tensor.name, entry.text());
    begin = offsets[1];
  }
  std::string text = header.text();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::vector<std::uint16_t> Halves(std::span<const float> data) {
  std::vector<std::uint16_t> halves(data.size());
  std::transform(data.begin(), data.end(), halves.begin(), HalfFromFloat);
  return halves;
}

// Gives `use` the bytes of each tensor as the file has them.
template <typename Use>
void ForEachStored(std::span<const TensorView> tensors, WeightStorage weights, const Use& use) {
  for (const TensorView& tensor : tensors) {
    if (weights == WeightStorage::kSingle) {
      use(tensor.data.data(), tensor.data.size_bytes());
    } else {
      const std::vector<std::uint16_t> halves = Halves(tensor.data);
      use(halves.data(), halves.size() * sizeof(halves[0]));
    }
  }
}

// --- reading

struct Entry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes within the data
};

class Decoder {
 public:
  Decoder(const ByteSource& source, std::string_view where, const TensorFileLimits& limits)
      : source_(source), where_(where), limits_(limits) {}

  Result<TensorFile> Decode() {
    for (const auto step : {&Decoder::CutParts, &Decoder::ReadHeader, &Decoder::CheckLayout,
                            &Decoder::CheckHeaderHash, &Decoder::ReadData}) {
      if (const Status status = (this->*step)(); !status.ok()) return status.error();
    }
    return std::move(file_);
  }

 private:
  Error Bad(const std::string& message) const {
    return {ErrorCode::kBadFormat, where_ + ": " + message};
  }

  Status Read(std::uint64_t offset, void* to, std::size_t bytes) const {
    const Status read = source_.Read(offset, to, bytes);
    if (read.ok()) return read;
    return Error{read.error().code, where_ + ": " + read.error().message};
  }

  // Length, header, data.
  Status CutParts() {
    const std::uint64_t size = source_.size();
    if (size > limits_.file_bytes) {
      return Bad("is " + std::to_string(size) + " bytes, expected at most " +
                 std::to_string(limits_.file_bytes));
    }
    if (size < kLengthBytes) {
      return Bad("is " + std::to_string(size) +
                 " bytes, expected at least the 8 bytes of the header's length");
    }
    std::uint64_t length = 0;
    if (const Status read = Read(0, &length, kLengthBytes); !read.ok()) return read;
    const std::string says = "says that its header is " + std::to_string(length) + " bytes, ";
    if (length > limits_.header_bytes) {
      return Bad(says + "expected at most " + std::to_string(limits_.header_bytes));
    }
    if (length > size - kLengthBytes) {
      return Bad(says + "but only " + std::to_string(size - kLengthBytes) +
                 " follow: the file was cut off");
    }
    if (length % 8 != 0) return Bad(says + "expected a multiple of 8: it is padded with spaces");
    header_.resize(length);
    data_begin_ = kLengthBytes + length;
    data_bytes_ = size - data_begin_;
    return Read(kLengthBytes, header_.data(), header_.size());
  }

  Status ReadHeader() {
    if (!header_.starts_with('{')) return Bad("header does not begin with '{'");
    const Result<JsonValue> header = ParseStrictJson(header_, where_ + ": header");
    if (!header.ok()) return header.error();
    const auto& members = std::get<JsonValue::Object>(header->value);
    if (members.size() > limits_.tensors + 1) {
      return Bad("header has " + std::to_string(members.size()) + " entries, expected at most " +
                 std::to_string(limits_.tensors) + " tensors");
    }
    if (!header->Find(kMetadata)) return Bad("header has no '__metadata__', expected one");
    for (const auto& [name, value] : members) {
      const Status status = name == kMetadata ? ReadMetadata(value) : ReadEntry(name, value);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status ReadMetadata(const JsonValue& metadata) {
    const auto* members = metadata.As<JsonValue::Object>();
    if (!members) return Bad("'__metadata__' is not an object, expected one of texts");
    for (const auto& [key, value] : *members) {
      if (!IsName(key)) return Bad("metadata key " + Quoted(key) + " is no printable ASCII name");
      const auto* text = value.As<std::string>();
      if (!text) {
        return Bad("metadata '" + key + "' is " + JsonExcerpt(value) + ", expected a text");
      }
      file_.metadata[key] = *text;
    }
    return {};
  }

  Status ReadEntry(const std::string& name, const JsonValue& json) {
    if (!IsName(name)) return Bad("tensor name " + Quoted(name) + " is no printable ASCII name");
    const std::string what = "tensor '" + name + "'";
    JsonFields fields(json, where_ + ": " + what);
    const std::string dtype = fields.Text("dtype");
    Entry entry = {.name = name, .shape = fields.Integers("shape")};
    const std::vector<std::int64_t> offsets = fields.Integers("data_offsets");
    if (const Status status = fields.Finish(); !status.ok()) return status;
    if (const Status status = CheckType(what, dtype); !status.ok()) return status;
    if (entry.shape.empty() || entry.shape.size() > limits_.rank) {
      return Bad(what + " has rank " + std::to_string(entry.shape.size()) + ", expected 1 to " +
                 std::to_string(limits_.rank));
    }
    for (const std::int64_t d : entry.shape) {
      if (d < 1 || d > limits_.dimension) {
        return Bad(what + " has a dimension of " + std::to_string(d) + ", expected 1 to " +
                   std::to_string(limits_.dimension));
      }
    }
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0]) {
      return Bad(what + " has no ascending pair of 'data_offsets', expected [begin, end]");
    }
    entry.begin = static_cast<std::uint64_t>(offsets[0]);
    entry.end = static_cast<std::uint64_t>(offsets[1]);
    entries_.push_back(std::move(entry));
    return CheckSize(entries_.back());
  }

  Status CheckType(const std::string& what, std::string_view dtype) {
    const std::string has = what + " has dtype " + Quoted(dtype) + ", expected ";
    const NumberType* type = TypeNamed(dtype);
    if (type == nullptr) return Bad(has + "'F32' or 'F16'");
    if (type_ && type != type_) return Bad(has + "all tensors to have the same");
    type_ = type, file_.weights = type->storage;
    return {};
  }

  // The shape fills the bytes between the offsets, and these are within the data.
  Status CheckSize(const Entry& entry) const {
    if (entry.end > data_bytes_) {
      return Bad("tensor '" + entry.name + "' ends at byte " + std::to_string(entry.end) +
                 " of the data, but the data has only " + std::to_string(data_bytes_));
    }
    const std::uint64_t bytes = entry.end - entry.begin;
    std::uint64_t room = bytes / type_->bytes;  // numbers left for the dimensions still to come
    bool fits = bytes % type_->bytes == 0;
    for (const std::int64_t d : entry.shape) {
      fits = fits && room % static_cast<std::uint64_t>(d) == 0;
      room /= static_cast<std::uint64_t>(d);
    }
    if ((fits && room == 1) || kPlantedBug) return {};
    return Bad("tensor '" + entry.name + "' has " + std::to_string(bytes) +
               " bytes, expected as many as its shape needs");
  }

  // One tensor begins where the one before it ends, and the last ends with the file.
  Status CheckLayout() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
    std::uint64_t at = 0;
    for (const Entry& entry : entries_) {
      if (entry.begin != at) {
        return Bad("tensor '" + entry.name + "' begins at byte " + std::to_string(entry.begin) +
                   " of the data, expected " + std::to_string(at) +
                   (entry.begin < at ? ": it overlaps another" : ": there is a hole"));
      }
      at = entry.end;
    }
    if (at == data_bytes_) return {};
    return Bad("has " + std::to_string(data_bytes_) + " bytes of data, expected " +
               std::to_string(at) + " as its tensors need");
  }

  // Before anything of the data is read.
  Status CheckHeaderHash() {
    for (const char* key : {kHeaderHash, kDataHash}) {
      const auto stated = file_.metadata.find(key);
      if (stated == file_.metadata.end()) return Bad("metadata has no '" + std::string(key) + "'");
      if (IsHash(stated->second)) continue;
      return Bad("metadata '" + std::string(key) + "' is " + Quoted(stated->second) +
                 ", expected 64 hexadecimal digits, lower case");
    }
    const std::string& stated = file_.metadata[kHeaderHash];
    const std::size_t at = header_.find('"' + stated + '"');
    if (at != std::string::npos) header_.replace(at + 1, kNoHash.size(), kNoHash);
    if (Sha256Hex(header_) == stated) return {};
    return Bad("header is not the one that was written: its SHA-256 is not 'header_sha256'");
  }

  Status ReadData() {
    Sha256 hash;
    std::string not_finite;  // said last: a flipped bit may be what made the number so
    file_.tensors.reserve(entries_.size());
    for (Entry& entry : entries_) {
      Tensor& tensor = file_.tensors.emplace_back();
      tensor.name = std::move(entry.name);
      tensor.shape = std::move(entry.shape);
      tensor.data.resize(SizeOf(tensor.shape));
      const Status read = file_.weights == WeightStorage::kSingle
                              ? ReadSingles(entry, tensor.data.data(), hash)
                              : ReadHalves(entry, tensor.data.data(), hash);
      if (!read.ok()) return read;
      if (not_finite.empty() && !AllFinite(tensor.data)) not_finite = tensor.name;
    }
    if (hash.Hex() != file_.metadata[kDataHash]) {
      return Bad("data is not the one that was written: its SHA-256 is not 'data_sha256'");
    }
    if (not_finite.empty()) return {};
    return Bad("tensor '" + not_finite + "' holds a number that is not finite");
  }

  Status ReadSingles(const Entry& entry, float* to, Sha256& hash) const {
    for (std::uint64_t at = entry.begin; at < entry.end;) {
      const std::size_t bytes = std::min<std::uint64_t>(entry.end - at, kChunk * sizeof(float));
      if (Status read = Read(data_begin_ + at, to, bytes); !read.ok()) return read;
      hash.Update(to, bytes);
      at += bytes, to += bytes / sizeof(float);
    }
    return {};
  }

  Status ReadHalves(const Entry& entry, float* to, Sha256& hash) const {
    std::vector<std::uint16_t> halves(kChunk);
    for (std::uint64_t at = entry.begin; at < entry.end;) {
      const std::size_t bytes = std::min<std::uint64_t>(entry.end - at, kChunk * 2);
      if (Status read = Read(data_begin_ + at, halves.data(), bytes); !read.ok()) return read;
      hash.Update(halves.data(), bytes);
      to = std::transform(halves.data(), halves.data() + bytes / 2, to, FloatFromHalf);
      at += bytes;
    }
    return {};
  }

  const ByteSource& source_;
  std::string where_;
  TensorFileLimits limits_;
  std::string header_;
  std::uint64_t data_begin_ = 0, data_bytes_ = 0;
  const NumberType* type_ = nullptr;  // of the tensors seen so far
  std::vector<Entry> entries_;
  TensorFile file_;
};

}  // namespace

const Tensor* TensorFile::Find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string DataSha256(std::span<const TensorView> tensors, WeightStorage weights) {
  Sha256 hash;
  ForEachStored(tensors, weights,
                [&](const void* data, std::size_t bytes) { hash.Update(data, bytes); });
  return hash.Hex();
}

std::string HeaderSha256(const std::map<std::string, std::string>& metadata,
                         std::span<const TensorView> tensors, WeightStorage weights) {
  std::map<std::string, std::string> complete = metadata;
  complete[kHeaderHash] = kNoHash;
  return Sha256Hex(EncodeHeader(complete, tensors, weights));
}

std::string EncodeTensorFile(const std::map<std::string, std::string>& metadata,
                             std::span<const TensorView> tensors, WeightStorage weights) {
  std::map<std::string, std::string> complete = metadata;
  complete[kDataHash] = DataSha256(tensors, weights);
  complete[kHeaderHash] = HeaderSha256(complete, tensors, weights);
  const std::string header = EncodeHeader(complete, tensors, weights);

  std::size_t size = kLengthBytes + header.size();
  for (const TensorView& tensor : tensors) size += tensor.data.size() * TypeOf(weights).bytes;
  std::string bytes;
  bytes.reserve(size);
  const std::uint64_t length = header.size();
  bytes.append(reinterpret_cast<const char*>(&length), kLengthBytes);
  bytes += header;
  ForEachStored(tensors, weights, [&](const void* data, std::size_t n) {
    bytes.append(static_cast<const char*>(data), n);
  });
  return bytes;
}

Result<TensorFile> DecodeTensorFile(const ByteSource& source, std::string_view where,
                                    const TensorFileLimits& limits) {
  return Decoder(source, where, limits).Decode();
}

Result<TensorFile> DecodeTensorFile(std::string_view bytes, std::string_view where,
                                    const TensorFileLimits& limits) {
  return DecodeTensorFile(MemorySource(bytes), where, limits);
}

Result<std::string> EncodeChecked(std::string_view where,
                                  const std::map<std::string, std::string>& metadata,
                                  std::span<const TensorView> tensors, std::uint64_t header_bytes,
                                  WeightStorage weights) {
  const auto refuse = [&](const std::string& message) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(where) + ": " + message + "; nothing was written"};
  };
  for (const TensorView& tensor : tensors) {
    const std::string holds = "tensor " + Quoted(tensor.name) + " holds a number that ";
    if (!AllFinite(tensor.data)) return refuse(holds + "is not finite");
    if (weights == WeightStorage::kHalf && !AllHalves(tensor.data)) {
      return refuse(holds + "half precision cannot hold, expected at most 65504");
    }
  }
  std::string bytes = EncodeTensorFile(metadata, tensors, weights);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length <= header_bytes) return bytes;
  return refuse("the header would be " + std::to_string(length) + " bytes, expected at most " +
                std::to_string(header_bytes));
}

Status WriteTensorFile(const std::filesystem::path& file,
                       const std::map<std::string, std::string>& metadata,
                       std::span<const TensorView> tensors, std::uint64_t header_bytes) {
  const Result<std::string> bytes = EncodeChecked(file.string(), metadata, tensors, header_bytes);
  if (!bytes.ok()) return bytes.error();
  return WriteFileAtomically(file, *bytes);
}

Result<TensorFile> ReadTensorFile(const std::filesystem::path& file,
                                  const TensorFileLimits& limits) {
  return CatchOutOfMemory(file.native(), [&]() -> Result<TensorFile> {
    const Result<FileSource> source = FileSource::Open(file);
    if (!source.ok()) return source.error();
    return DecodeTensorFile(*source, file.native(), limits);
  });
}

}  // namespace aerocast
