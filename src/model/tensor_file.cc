// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/tensor_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "src/base/check.h"
#include "src/base/file.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
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

std::string Quoted(std::string_view name) { return "'" + Printable(name.substr(0, 60)) + "'"; }

std::uint64_t HeaderLength(std::string_view bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  return length;
}

// --- writing

std::string EncodeHeader(const std::map<std::string, std::string>& metadata,
                         std::span<const TensorView> tensors) {
  OrderedJson header = OrderedJson::object();
  header[kMetadata] = metadata;
  std::uint64_t begin = 0;
  for (const TensorView& tensor : tensors) {
    AEROCAST_CHECK(IsName(tensor.name) && tensor.name != kMetadata);
    AEROCAST_CHECK(!header.contains(tensor.name));
    AEROCAST_CHECK(!tensor.shape.empty() && !tensor.data.empty());
    AEROCAST_CHECK(SizeOf(tensor.shape) == tensor.data.size());
    const std::uint64_t end = begin + tensor.data.size_bytes();
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

// --- reading

struct Entry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes within the data
};

class Decoder {
 public:
  Decoder(std::string_view bytes, std::string_view where, const TensorFileLimits& limits)
      : bytes_(bytes), where_(where), limits_(limits) {}

  Result<TensorFile> Decode() {
    for (const auto step : {&Decoder::CutParts, &Decoder::ReadHeader, &Decoder::CheckLayout,
                            &Decoder::CheckHashes, &Decoder::ReadData}) {
      if (const Status status = (this->*step)(); !status.ok()) return status.error();
    }
    return std::move(file_);
  }

 private:
  Error Bad(const std::string& message) const {
    return {ErrorCode::kBadFormat, where_ + ": " + message};
  }

  // Length, header, data.
  Status CutParts() {
    if (bytes_.size() > limits_.file_bytes) {
      return Bad("is " + std::to_string(bytes_.size()) + " bytes, expected at most " +
                 std::to_string(limits_.file_bytes));
    }
    if (bytes_.size() < kLengthBytes) {
      return Bad("is " + std::to_string(bytes_.size()) +
                 " bytes, expected at least the 8 bytes of the header's length");
    }
    const std::uint64_t length = HeaderLength(bytes_);
    if (length > limits_.header_bytes) {
      return Bad("says that its header is " + std::to_string(length) + " bytes, expected at most " +
                 std::to_string(limits_.header_bytes));
    }
    if (length > bytes_.size() - kLengthBytes) {
      return Bad("says that its header is " + std::to_string(length) + " bytes, but only " +
                 std::to_string(bytes_.size() - kLengthBytes) + " follow: the file was cut off");
    }
    header_ = bytes_.substr(kLengthBytes, length);
    data_ = bytes_.substr(kLengthBytes + length);
    return {};
  }

  Status ReadHeader() {
    if (!header_.starts_with('{')) return Bad("header does not begin with '{'");
    const Result<Json> header = ParseStrictJson(header_, where_ + ": header");
    if (!header.ok()) return header.error();
    if (header->size() > limits_.tensors + 1) {
      return Bad("header has " + std::to_string(header->size()) + " entries, expected at most " +
                 std::to_string(limits_.tensors) + " tensors");
    }
    if (!header->contains(kMetadata)) return Bad("header has no '__metadata__', expected one");
    for (const auto& [name, value] : header->items()) {
      const Status status = name == kMetadata ? ReadMetadata(value) : ReadEntry(name, value);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status ReadMetadata(const Json& metadata) {
    if (!metadata.is_object()) return Bad("'__metadata__' is not an object, expected one of texts");
    for (const auto& [key, value] : metadata.items()) {
      if (!IsName(key)) return Bad("metadata key " + Quoted(key) + " is no printable ASCII name");
      if (!value.is_string()) {
        return Bad("metadata '" + key + "' is " + JsonExcerpt(value) + ", expected a text");
      }
      file_.metadata[key] = value.get<std::string>();
    }
    return {};
  }

  Status ReadEntry(const std::string& name, const Json& json) {
    if (!IsName(name)) return Bad("tensor name " + Quoted(name) + " is no printable ASCII name");
    const std::string what = "tensor '" + name + "'";
    JsonFields fields(json, where_ + ": " + what);
    const std::string dtype = fields.Text("dtype");
    Entry entry = {.name = name, .shape = fields.Integers("shape")};
    const std::vector<std::int64_t> offsets = fields.Integers("data_offsets");
    if (const Status status = fields.Finish(); !status.ok()) return status;
    if (dtype != "F32") return Bad(what + " has dtype " + Quoted(dtype) + ", expected 'F32'");
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

  // The shape fills the bytes between the offsets, and these are within the data.
  Status CheckSize(const Entry& entry) const {
    if (entry.end > data_.size()) {
      return Bad("tensor '" + entry.name + "' ends at byte " + std::to_string(entry.end) +
                 " of the data, but the data has only " + std::to_string(data_.size()));
    }
    const std::uint64_t bytes = entry.end - entry.begin;
    std::uint64_t room = bytes / sizeof(float);  // numbers left for the dimensions still to come
    bool fits = bytes % sizeof(float) == 0;
    for (const std::int64_t d : entry.shape) {
      fits = fits && room % static_cast<std::uint64_t>(d) == 0;
      room /= static_cast<std::uint64_t>(d);
    }
    if (fits && room == 1) return {};
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
    if (at == data_.size()) return {};
    return Bad("has " + std::to_string(data_.size()) + " bytes of data, expected " +
               std::to_string(at) + " as its tensors need");
  }

  Status CheckHashes() {
    const auto stated = file_.metadata.find(kHeaderHash);
    if (stated == file_.metadata.end()) return Bad("metadata has no 'header_sha256'");
    std::string header(header_);
    const std::size_t at = header.find('"' + stated->second + '"');
    if (stated->second.size() != kNoHash.size() || at == std::string::npos) {
      return Bad("metadata 'header_sha256' is " + Quoted(stated->second) +
                 ", expected 64 hexadecimal digits");
    }
    header.replace(at + 1, kNoHash.size(), kNoHash);
    if (Sha256Hex(header) != stated->second) {
      return Bad("header is not the one that was written: its SHA-256 is not 'header_sha256'");
    }
    const auto data = file_.metadata.find(kDataHash);
    if (data == file_.metadata.end()) return Bad("metadata has no 'data_sha256'");
    if (Sha256Hex(data_) != data->second) {
      return Bad("data is not the one that was written: its SHA-256 is not 'data_sha256'");
    }
    return {};
  }

  Status ReadData() {
    for (Entry& entry : entries_) {
      Tensor& tensor = file_.tensors.emplace_back();
      tensor.name = std::move(entry.name);
      tensor.shape = std::move(entry.shape);
      tensor.data.resize((entry.end - entry.begin) / sizeof(float));
      std::memcpy(tensor.data.data(), data_.data() + entry.begin, entry.end - entry.begin);
      if (!AllFinite(tensor.data)) {
        return Bad("tensor '" + tensor.name + "' holds a number that is not finite");
      }
    }
    return {};
  }

  std::string_view bytes_, header_, data_;
  std::string where_;
  TensorFileLimits limits_;
  std::vector<Entry> entries_;
  TensorFile file_;
};

}  // namespace

const Tensor* TensorFile::Find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string DataSha256(std::span<const TensorView> tensors) {
  Sha256 hash;
  for (const TensorView& tensor : tensors) hash.Update(tensor.data);
  return hash.Hex();
}

std::string EncodeTensorFile(const std::map<std::string, std::string>& metadata,
                             std::span<const TensorView> tensors) {
  std::map<std::string, std::string> complete = metadata;
  complete[kDataHash] = DataSha256(tensors);
  complete[kHeaderHash] = kNoHash;
  const std::string header_hash = Sha256Hex(EncodeHeader(complete, tensors));
  complete[kHeaderHash] = header_hash;
  const std::string header = EncodeHeader(complete, tensors);

  std::size_t size = kLengthBytes + header.size();
  for (const TensorView& tensor : tensors) size += tensor.data.size_bytes();
  std::string bytes;
  bytes.reserve(size);
  const std::uint64_t length = header.size();
  bytes.append(reinterpret_cast<const char*>(&length), kLengthBytes);
  bytes += header;
  for (const TensorView& tensor : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size_bytes());
  }
  return bytes;
}

Result<TensorFile> DecodeTensorFile(std::string_view bytes, std::string_view where,
                                    const TensorFileLimits& limits) {
  return Decoder(bytes, where, limits).Decode();
}

Status WriteTensorFile(const std::filesystem::path& file,
                       const std::map<std::string, std::string>& metadata,
                       std::span<const TensorView> tensors, std::uint64_t header_bytes) {
  const auto refuse = [&](const std::string& message) {
    return Error{ErrorCode::kInvalidArgument,
                 file.string() + ": " + message + "; nothing was written"};
  };
  for (const TensorView& tensor : tensors) {
    if (AllFinite(tensor.data)) continue;
    return refuse("tensor " + Quoted(tensor.name) + " holds a number that is not finite");
  }
  const std::string bytes = EncodeTensorFile(metadata, tensors);
  const std::uint64_t length = HeaderLength(bytes);
  if (length > header_bytes) {
    return refuse("the header would be " + std::to_string(length) + " bytes, expected at most " +
                  std::to_string(header_bytes));
  }
  return WriteFileAtomically(file, bytes);
}

Result<TensorFile> ReadTensorFile(const std::filesystem::path& file,
                                  const TensorFileLimits& limits) {
  const Result<std::string> bytes = ReadFile(file, limits.file_bytes);
  if (!bytes.ok()) return bytes.error();
  return DecodeTensorFile(*bytes, file.string(), limits);
}

}  // namespace aerocast
