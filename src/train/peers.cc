// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/peers.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "src/base/sha256.h"

namespace aerocast {
namespace {

Result<int> ReadNumber(const char* variable, int low, int high) {
  const char* text = std::getenv(variable);
  int number = 0;
  const std::string_view view = text == nullptr ? "" : text;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  if (error != std::errc() || end != view.data() + view.size() || number < low || number > high) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} is '{}', expected a number from {} to {} (WORLD_SIZE, RANK, "
                             "MASTER_ADDR and MASTER_PORT go together)",
                             variable, view, low, high)};
  }
  return number;
}

constexpr std::string_view kFilePrefix = "file:";

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host.starts_with(kFilePrefix);
}

// Where processes leave their addresses for each other.
c10::intrusive_ptr<c10d::Store> MakeStore(const PeerAddress& address,
                                          std::chrono::milliseconds timeout) {
  if (address.host.starts_with(kFilePrefix)) {
    auto store =
        c10::make_intrusive<c10d::FileStore>(address.host.substr(kFilePrefix.size()), address.size);
    store->setTimeout(timeout);
    return store;
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(address.port);
  options.isServer = address.rank == 0;
  options.numWorkers = static_cast<std::size_t>(address.size);
  options.timeout = timeout;
  return c10::make_intrusive<c10d::TCPStore>(address.host, options);
}

std::shared_ptr<::gloo::transport::Device> MakeDevice(const std::string& host) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  if (IsLoopback(host)) return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

// The library's messages begin with a source position and go on with a backtrace.
std::string FirstLine(std::string_view what) {
  if (what.starts_with('[')) {
    if (const auto end = what.find("] "); end != what.npos) what.remove_prefix(end + 2);
  }
  return std::string(what.substr(0, what.find('\n')));
}

}  // namespace

Result<PeerAddress> PeerAddressFromEnvironment() {
  PeerAddress address;
  if (std::getenv("WORLD_SIZE") == nullptr && std::getenv("RANK") == nullptr) return address;
  const Result<int> size = ReadNumber("WORLD_SIZE", 1, 1024);
  if (!size.ok()) return size.error();
  if (*size == 1) return address;
  const Result<int> rank = ReadNumber("RANK", 0, *size - 1);
  if (!rank.ok()) return rank.error();
  const char* host = std::getenv("MASTER_ADDR");
  if (host == nullptr || *host == '\0') {
    return Error{ErrorCode::kInvalidArgument,
                 "MASTER_ADDR is not set, expected the name of the machine with RANK 0"};
  }
  address.rank = *rank, address.size = *size, address.host = host;
  if (address.host.starts_with(kFilePrefix)) return address;
  const Result<int> port = ReadNumber("MASTER_PORT", 1, 65535);
  if (!port.ok()) return port.error();
  address.port = *port;
  return address;
}

struct Peers::Group {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
};

Peers::Peers(const PeerAddress& address) : address_(address) {}
Peers::~Peers() = default;

Result<std::unique_ptr<Peers>> Peers::Join(const PeerAddress& address) {
  std::unique_ptr<Peers> peers(new Peers(address));
  if (address.size == 1) return peers;
  const auto timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(address.timeout_s * 1000));
  try {
    const auto store = MakeStore(address, timeout);
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(MakeDevice(address.host));
    peers->group_ = std::make_unique<Group>();
    peers->group_->gloo =
        c10::make_intrusive<c10d::ProcessGroupGloo>(store, address.rank, address.size, options);
  } catch (const std::exception& error) {
    return Error{ErrorCode::kIo,
                 fmt::format("rank {} of {} cannot meet the others at {}:{}: {}", address.rank,
                             address.size, address.host, address.port, FirstLine(error.what()))};
  }
  return peers;
}

// Runs a collective call; what it throws becomes an error.
template <typename Call>
Status Peers::Collective(Call call) {
  try {
    call()->wait();
    return {};
  } catch (const std::exception& error) {
    lost_ = true;
    return Error{ErrorCode::kIo, fmt::format("rank {} of {} lost a peer: {}", rank(), size(),
                                             FirstLine(error.what()))};
  }
}

Status Peers::Sum(torch::Tensor& values) {
  if (!group_) return {};
  std::vector<torch::Tensor> list = {values};
  return Collective([&] { return group_->gloo->allreduce(list); });
}

Status Peers::CopyFirst(torch::Tensor& values) {
  if (!group_) return {};
  std::vector<torch::Tensor> list = {values};
  return Collective([&] { return group_->gloo->broadcast(list); });
}

Status Peers::CopyFirst(std::string& text) {
  if (!group_) return {};
  torch::Tensor size = torch::full({1}, static_cast<std::int64_t>(text.size()), torch::kInt64);
  if (Status s = CopyFirst(size); !s.ok()) return s;
  text.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  torch::Tensor bytes = torch::from_blob(text.data(), {size.item<std::int64_t>()}, torch::kUInt8);
  return CopyFirst(bytes);
}

Status Peers::CheckSame(const std::string& what, const std::string& text) {
  if (!group_) return {};
  const std::string own = Sha256Hex(text);
  torch::Tensor first = torch::empty({static_cast<std::int64_t>(own.size())}, torch::kUInt8);
  std::memcpy(first.data_ptr(), own.data(), own.size());
  if (Status s = CopyFirst(first); !s.ok()) return s;
  const bool same = std::memcmp(first.data_ptr(), own.data(), own.size()) == 0;
  // All must know, or the others would wait for one that has left.
  torch::Tensor differing = torch::full({1}, same ? 0.0 : 1.0, torch::kFloat64);
  if (Status s = Sum(differing); !s.ok()) return s;
  if (differing.item<double>() == 0) return {};
  return Error{ErrorCode::kInvalidArgument,
               same ? fmt::format("another process has another {} than rank 0", what)
                    : fmt::format("rank {} has another {} than rank 0", rank(), what)};
}

}  // namespace aerocast
