// SPDX-License-Identifier: BSD-3-Clause
//
// The processes that train one network together, over c10d with Gloo: on one machine or several.
// One process alone is the same thing without a network.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "aerocast/result.h"

namespace aerocast {

struct PeerAddress {
  int rank = 0;
  int size = 1;      // processes in all
  std::string host;  // of rank 0; "file:PATH" for processes of one machine
  int port = 0;
  double timeout_s = 300;  // how long a silent peer is waited for
};

// From RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and its like set them; without
// RANK and WORLD_SIZE one process alone. Refuses half of them, and numbers out of range, by name.
Result<PeerAddress> PeerAddressFromEnvironment();

class Peers {
 public:
  // Waits for all to come.
  static Result<std::unique_ptr<Peers>> Join(const PeerAddress& address);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  int rank() const { return address_.rank; }
  int size() const { return address_.size; }
  bool first() const { return address_.rank == 0; }

  bool lost() const { return lost_; }  // whether a peer has been

  // Every process calls these in the same order. Errors: a peer was lost; nothing works afterwards.
  Status Sum(torch::Tensor& values);        // over all, in place
  Status CopyFirst(torch::Tensor& values);  // rank 0's to all
  Status CopyFirst(std::string& text);
  // Refuses when a process has another text than rank 0: "rank 1 has another WHAT than rank 0".
  Status CheckSame(const std::string& what, const std::string& text);

 private:
  struct Group;
  explicit Peers(const PeerAddress& address);

  template <typename Call>
  Status Collective(Call call);

  PeerAddress address_;
  std::unique_ptr<Group> group_;  // none: alone
  bool lost_ = false;
};

}  // namespace aerocast
