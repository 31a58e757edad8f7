// SPDX-License-Identifier: BSD-2-Clause
/// @file device_ranks.hpp  Messages from device to device that kernels of a stream send and receive: the host
///   does not wait. By NCCL (nccl_ranks.cxx), or by stores into the memory of other ranks on the same host
///   (peer_ranks.cxx).
#pragma once

#include "../support/compat.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ribbon::petsc {

/// A part of a buffer, which is sent to a rank or received from it. Ranks may be MPI_PROC_NULL. Tags are 0 or 1.
/// List messages between the same two ranks in the order of their tags: NCCL matches them by order.
struct Message {
  PetscMPIInt  rank, tag;
  std::int64_t at; ///< of the first scalar
  PetscMPIInt  count;
};

/// The ranks of a communicator, connected. All objects of a process that exchange with the same ranks share one.
class DeviceRanks {
public:
  virtual ~DeviceRanks() = default;
  /// Enqueues messages on the stream: `count` of them in either direction. A rank that sends to another one also
  /// receives from it, if only messages without scalars. `out` is in the memory of the device, and so is `in`.
  virtual PetscErrorCode Start(void *stream, const Scalar *out, const Message *sends, Scalar *in,
                               const Message *receives, std::size_t count) = 0;
  /// Enqueues the end of the messages: later work on the stream finds them in `in`. Call it before the next
  /// Start() with the same ranks.
  virtual PetscErrorCode Finish(void *stream) = 0;
};

/// Connected ranks, or why there are none: the same sentence on all ranks.
struct Connection {
  std::shared_ptr<DeviceRanks> ranks;
  std::string                  why_not;
};

/// Connect the ranks of a communicator. Collective.
PetscErrorCode ConnectByNccl(MPI_Comm comm, Connection *made);
PetscErrorCode ConnectPeers(MPI_Comm comm, Connection *made);

} // namespace ribbon::petsc
