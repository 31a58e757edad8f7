// SPDX-License-Identifier: BSD-2-Clause
#include "transport.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"

#include <algorithm>
#include <map>

const char *const RibbonTransports[] = {
  "auto", "mpi", "staged", "nccl", "peer", "RibbonTransport", "RIBBON_TRANSPORT_", nullptr};

namespace ribbon::petsc {

std::string Link::facts(bool device) const
{
  if (!device) return "";
  return std::string(", messages by ") + RibbonTransports[transport] +
         (reason.empty() ? "" : " (" + reason + ")");
}

namespace {

/// Connections by the ranks of MPI_COMM_WORLD.
using Connections = std::map<std::vector<PetscMPIInt>, Connection>;
Connections &connections(RibbonTransport by)
{
  static Connections nccl, peers;
  return by == RIBBON_TRANSPORT_NCCL ? nccl : peers;
}
PetscErrorCode Disconnect()
{
  PetscFunctionBegin;
  for (RibbonTransport by : {RIBBON_TRANSPORT_NCCL, RIBBON_TRANSPORT_PEER}) connections(by).clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WorldRanks(MPI_Comm comm, std::vector<PetscMPIInt> *world)
{
  MPI_Group   own, all;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  std::vector<PetscMPIInt> ranks(static_cast<std::size_t>(size));
  for (PetscMPIInt q = 0; q < size; ++q) ranks[static_cast<std::size_t>(q)] = q;
  world->resize(ranks.size());
  PetscCallMPI(MPI_Comm_group(comm, &own));
  PetscCallMPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
  PetscCallMPI(MPI_Group_translate_ranks(own, size, ranks.data(), all, world->data()));
  PetscCallMPI(MPI_Group_free(&own));
  PetscCallMPI(MPI_Group_free(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The connection between these ranks. Collective.
PetscErrorCode Connect(MPI_Comm comm, RibbonTransport by, Connection *found)
{
  std::vector<PetscMPIInt> world;
  PetscFunctionBegin;
  PetscCall(WorldRanks(comm, &world));
  const auto at = connections(by).find(world);
  if (at != connections(by).end()) {
    *found = at->second;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (connections(RIBBON_TRANSPORT_NCCL).empty() && connections(RIBBON_TRANSPORT_PEER).empty())
    PetscCall(PetscRegisterFinalize(Disconnect));
  PetscCall((by == RIBBON_TRANSPORT_NCCL ? ConnectByNccl : ConnectPeers)(comm, found));
  PetscCallCXX(connections(by)[world] = *found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

namespace {

/// Scalars of a message that `auto` measures. Messages of whole lines would need as much memory as the vectors.
constexpr std::int64_t largest_measured = std::int64_t(1) << 17;

#ifdef KOKKOS_ENABLE_CUDA
/// Seconds of an exchange with both neighbours on a ring of the ranks, the largest over all ranks.
PetscErrorCode Measure(const Link &link, std::int64_t scalars, void *stream, double *seconds)
{
  const Kokkos::Cuda     exec(static_cast<cudaStream_t>(stream));
  Transfer<Kokkos::Cuda> transfer(link);
  PetscMPIInt            rank, size, n;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(link.comm, &rank));
  PetscCallMPI(MPI_Comm_size(link.comm, &size));
  PetscCall(PetscMPIIntCast(static_cast<PetscInt>(scalars), &n));
  const PetscMPIInt left = (rank + size - 1) % size, right = (rank + 1) % size;
  const auto        out = transfer.buffer(exec, static_cast<std::size_t>(2 * scalars)),
             in         = transfer.buffer(exec, static_cast<std::size_t>(2 * scalars));
  *seconds              = 0;
  for (int round = 0; round < 4; ++round) { // the first one connects
    exec.fence();
    PetscCallMPI(MPI_Barrier(link.comm));
    const double start = MPI_Wtime();
    PetscCall(transfer.Pass(exec, out, {{{right, 0, n, n}, {left, 1, 0, n}}}, in,
                            {{{left, 0, 0, n}, {right, 1, n, n}}}));
    PetscCall(transfer.Finish(exec, in));
    exec.fence();
    const double spent = MPI_Wtime() - start;
    if (round == 1 || (round > 1 && spent < *seconds)) *seconds = spent;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, link.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode Measure(const Link &, std::int64_t, void *, double *seconds)
{
  *seconds = 0;
  return PETSC_SUCCESS;
}
#endif

} // namespace

PetscErrorCode ChooseLink(MPI_Comm comm, RibbonTransport asked, bool device, std::int64_t scalars,
                          std::optional<void *> stream, Link *link)
{
  std::int64_t most    = scalars;
  const bool   is_auto = asked == RIBBON_TRANSPORT_AUTO;
  PetscFunctionBegin;
  *link = {comm, RIBBON_TRANSPORT_MPI, "", nullptr};
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  const bool direct = RibbonMPITakesDevicePointers();
  if (!direct || asked == RIBBON_TRANSPORT_STAGED) link->transport = RIBBON_TRANSPORT_STAGED;
  if (!direct && asked == RIBBON_TRANSPORT_MPI) link->reason = "MPI does not take device memory";
  if (asked == RIBBON_TRANSPORT_MPI || asked == RIBBON_TRANSPORT_STAGED) PetscFunctionReturn(PETSC_SUCCESS);
  // NCCL takes longer to connect: auto asks it only if there are no peers
  for (RibbonTransport by : {RIBBON_TRANSPORT_PEER, RIBBON_TRANSPORT_NCCL}) {
    Connection found;
    if (!is_auto && asked != by) continue;
    if (!stream) found.why_not = std::string(RibbonTransports[by]) + " needs CUDA";
    else PetscCall(Connect(comm, by, &found));
    if (!found.ranks) {
      link->reason += (link->reason.empty() ? "" : "; ") + found.why_not;
      continue;
    }
    Link chosen = {comm, by, "", found.ranks};
    if (is_auto) {
      double by_mpi, by_ranks;
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm));
      most = std::min(most, largest_measured);
      PetscCall(Measure(*link, most, *stream, &by_mpi));
      PetscCall(Measure(chosen, most, *stream, &by_ranks));
      chosen.reason = format("measured: %.3g ms, by %s %.3g ms", 1e3 * by_ranks,
                             RibbonTransports[link->transport], 1e3 * by_mpi);
      link->reason =
        format("measured: %.3g ms, by %s %.3g ms", 1e3 * by_mpi, RibbonTransports[by], 1e3 * by_ranks);
      if (by_ranks >= by_mpi) break;
    }
    *link = chosen;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
