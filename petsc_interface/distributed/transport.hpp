// SPDX-License-Identifier: BSD-2-Clause
/// @file transport.hpp  How messages between ranks travel: by MPI from the memory of the kernels, by MPI from
///   host memory (staged), or from device to device (device_ranks.hpp). docs/methods/distributed.md compares
///   them.
#pragma once

#include "../support/messages.hpp"
#include "device_ranks.hpp"

#include <ribbon_petsc/transport.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace ribbon::petsc {

/// Messages between the ranks of a communicator.
struct Link {
  MPI_Comm                     comm      = MPI_COMM_NULL;
  RibbonTransport              transport = RIBBON_TRANSPORT_MPI; ///< never auto
  std::string                  reason; ///< of a replacement, or the times that auto measured
  std::shared_ptr<DeviceRanks> ranks;  ///< set for RIBBON_TRANSPORT_NCCL and _PEER alone

  bool is_staged() const { return transport == RIBBON_TRANSPORT_STAGED; }
  /// For views. Empty on hosts.
  std::string facts(bool device) const;
};

/// Counts and offsets of a message to every rank, as in MPI_Alltoallv().
struct MessageCounts {
  std::vector<PetscMPIInt> count, at;
};

/// Chooses the transport. `auto` measures messages of this size, at most 1 MB, by MPI, and to peers if the
/// devices of all ranks reach each other, else by NCCL. A transport that is not available is replaced by MPI or
/// staged. Collective.
/// @param device   messages are in the memory of a device
/// @param scalars  in a message
/// @param stream   of the kernels that write messages (the default stream is a null pointer); empty without CUDA
PetscErrorCode ChooseLink(MPI_Comm comm, RibbonTransport asked, bool device, std::int64_t scalars,
                          std::optional<void *> stream, Link *link);

/// Messages on their way between buffers of this rank and those of others. Call Finish() before the next
/// Pass(), Gather() or Deal().
template <class Exec>
class Transfer {
public:
  Transfer() = default;
  explicit Transfer(Link link) : link_(std::move(link)) { }

  const Link         &link() const { return link_; }
  MessageBuffer<Exec> buffer(const Exec &exec, std::size_t scalars) const
  {
    return MessageBuffer<Exec>(exec, scalars, link_.is_staged());
  }

  /// Messages to and from two neighbours.
  using Two = std::array<Message, 2>;

  /// Starts messages. Kernels of exec may have written `out` before; messages into `in` may still arrive.
  PetscErrorCode Pass(const Exec &exec, const MessageBuffer<Exec> &out, const Two &sends,
                      const MessageBuffer<Exec> &in, const Two &receives)
  {
    PetscFunctionBegin;
    if (link_.ranks) {
      PetscCall(link_.ranks->Start(*stream(exec), out.data(), sends.data(), in.data(), receives.data(), 2));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(out.to_mpi(exec)); // kernels that read `in` have ended, too
    for (const Message &m : receives)
      PetscCallMPI(
        MPI_Irecv(in.for_mpi() + m.at, m.count, MPIU_SCALAR, m.rank, m.tag, link_.comm, request()));
    for (const Message &m : sends)
      PetscCallMPI(
        MPI_Isend(out.for_mpi() + m.at, m.count, MPIU_SCALAR, m.rank, m.tag, link_.comm, request()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Starts to send n scalars to every rank, and to receive those of all ranks in their order.
  PetscErrorCode Gather(const Exec &exec, const MessageBuffer<Exec> &out, PetscMPIInt n,
                        const MessageBuffer<Exec> &in)
  {
    PetscMPIInt size;
    PetscFunctionBegin;
    if (link_.ranks) {
      PetscCallMPI(MPI_Comm_size(link_.comm, &size));
      std::vector<Message> sends, receives;
      for (PetscMPIInt q = 0; q < size; ++q)
        sends.push_back({q, 0, 0, n}), receives.push_back({q, 0, std::int64_t(q) * n, n});
      PetscCall(PassAll(exec, out, sends, in, receives));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(out.to_mpi(exec));
    PetscCallMPI(
      MPI_Iallgather(out.for_mpi(), n, MPIU_SCALAR, in.for_mpi(), n, MPIU_SCALAR, link_.comm, request()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Starts a message to every rank and from every rank.
  PetscErrorCode Deal(const Exec &exec, const MessageBuffer<Exec> &out, const MessageCounts &sent,
                      const MessageBuffer<Exec> &in, const MessageCounts &received)
  {
    PetscFunctionBegin;
    if (link_.ranks) {
      PetscCall(PassAll(exec, out, messages(sent), in, messages(received)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(out.to_mpi(exec));
    PetscCallMPI(MPI_Ialltoallv(out.for_mpi(), sent.count.data(), sent.at.data(), MPIU_SCALAR, in.for_mpi(),
                                received.count.data(), received.at.data(), MPIU_SCALAR, link_.comm,
                                request()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Kernels of exec may read `in` after it.
  PetscErrorCode Finish(const Exec &exec, const MessageBuffer<Exec> &in)
  {
    PetscFunctionBegin;
    if (link_.ranks) {
      PetscCall(link_.ranks->Finish(*stream(exec)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallMPI(
      MPI_Waitall(static_cast<PetscMPIInt>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
    PetscCall(in.from_mpi(exec));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The stream of messages between devices; empty for other execution spaces than CUDA.
  static std::optional<void *> stream([[maybe_unused]] const Exec &exec)
  {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) return exec.cuda_stream();
#endif
    return std::nullopt;
  }

private:
  /// One message to and from each rank, from device to device.
  PetscErrorCode PassAll(const Exec &exec, const MessageBuffer<Exec> &out, const std::vector<Message> &sends,
                         const MessageBuffer<Exec> &in, const std::vector<Message> &receives) const
  {
    PetscFunctionBegin;
    PetscCall(
      link_.ranks->Start(*stream(exec), out.data(), sends.data(), in.data(), receives.data(), sends.size()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static std::vector<Message> messages(const MessageCounts &of)
  {
    std::vector<Message> all;
    for (std::size_t q = 0; q < of.count.size(); ++q)
      all.push_back({static_cast<PetscMPIInt>(q), 0, of.at[q], of.count[q]});
    return all;
  }
  MPI_Request *request()
  {
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  Link                     link_;
  std::vector<MPI_Request> requests_;
};

} // namespace ribbon::petsc
