// SPDX-License-Identifier: BSD-2-Clause
#include "transport.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"

#include <map>

#ifdef RIBBON_WITH_NCCL
  #include <cuda_runtime_api.h>
  #include <nccl.h>
#endif

const char *const RibbonTransports[] = {
  "auto", "mpi", "staged", "nccl", "RibbonTransport", "RIBBON_TRANSPORT_", nullptr};

namespace ribbon::petsc {

std::string Link::facts(bool device) const
{
  if (!device) return "";
  return std::string(", messages by ") + RibbonTransports[transport] +
         (reason.empty() ? "" : " (" + reason + ")");
}

#ifdef RIBBON_WITH_NCCL

class NcclRanks {
public:
  NcclRanks(ncclComm_t comm) : comm_(comm) { }
  NcclRanks(const NcclRanks &)            = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;
  ~NcclRanks()
  {
    if (comm_) (void)ncclCommDestroy(comm_);
  }
  ncclComm_t get() const { return comm_; }
  /// After a failed call the other ranks would wait for ever. Later messages fail, too.
  void abort()
  {
    if (comm_) (void)ncclCommAbort(comm_);
    comm_ = nullptr;
  }

private:
  ncclComm_t comm_;
};

namespace {

PetscErrorCode CheckNccl(ncclResult_t result, NcclRanks &ranks, const char *call)
{
  PetscFunctionBegin;
  if (result == ncclSuccess) PetscFunctionReturn(PETSC_SUCCESS);
  ranks.abort();
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Messages by NCCL: %s fails: %s", call, ncclGetErrorString(result));
}

/// Communicators by the ranks of MPI_COMM_WORLD, and why there is none.
struct Known {
  std::shared_ptr<NcclRanks> ranks;
  std::string                why_not;
};
std::map<std::vector<PetscMPIInt>, Known> &known()
{
  static std::map<std::vector<PetscMPIInt>, Known> all;
  return all;
}
PetscErrorCode ForgetNccl()
{
  PetscFunctionBegin;
  known().clear();
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

/// Whether all ranks have different devices, as NCCL needs it.
PetscErrorCode CompareDevices(MPI_Comm comm, std::string *why_not)
{
  constexpr int words = 192;
  PetscMPIInt   size;
  int           device = -1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  std::vector<char> mine(words, '\0'), all(static_cast<std::size_t>(words) * static_cast<std::size_t>(size));
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetPCIBusId(mine.data(), 32, device) != cudaSuccess)
    *why_not = "the device of a rank is unknown";
  PetscCall(PetscGetHostName(mine.data() + 32, words - 32));
  PetscCallMPI(MPI_Allgather(mine.data(), words, MPI_CHAR, all.data(), words, MPI_CHAR, comm));
  for (PetscMPIInt p = 0; p < size; ++p)
    for (PetscMPIInt q = 0; q < p; ++q)
      if (why_not->empty() && std::equal(mine.size() * static_cast<std::size_t>(p) + all.begin(),
                                         mine.size() * static_cast<std::size_t>(p + 1) + all.begin(),
                                         mine.size() * static_cast<std::size_t>(q) + all.begin()))
        *why_not =
          format("ranks %d and %d of a line use one device", static_cast<int>(q), static_cast<int>(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateNccl(MPI_Comm comm, Known *made)
{
  ncclUniqueId id     = {};
  ncclComm_t   nccl   = nullptr;
  int          number = 0;
  PetscMPIInt  rank, size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(CompareDevices(comm, &made->why_not));
  if (rank == 0 && ncclGetUniqueId(&id) != ncclSuccess) made->why_not = "NCCL does not start";
  PetscCall(AgreeOnSentence(comm, &made->why_not, &number));
  if (!made->why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&id, static_cast<PetscMPIInt>(sizeof(id)), MPI_BYTE, 0, comm));
  const ncclResult_t result = ncclCommInitRank(&nccl, size, id, rank);
  if (result != ncclSuccess)
    made->why_not = std::string("NCCL does not connect: ") + ncclGetErrorString(result);
  PetscCall(AgreeOnSentence(comm, &made->why_not, &number));
  if (made->why_not.empty()) PetscCallCXX(made->ranks = std::make_shared<NcclRanks>(nccl));
  else if (nccl) (void)ncclCommAbort(nccl);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The communicator of NCCL for these ranks. Collective.
PetscErrorCode FindNccl(MPI_Comm comm, Known *found)
{
  std::vector<PetscMPIInt> world;
  PetscFunctionBegin;
  PetscCall(WorldRanks(comm, &world));
  const auto at = known().find(world);
  if (at != known().end()) {
    *found = at->second;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (known().empty()) PetscCall(PetscRegisterFinalize(ForgetNccl));
  PetscCall(CreateNccl(comm, found));
  PetscCallCXX(known()[world] = *found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PassByNccl(NcclRanks &ranks, void *stream, const Scalar *out, const Message *sends, Scalar *in,
                          const Message *receives, std::size_t count)
{
  using Real          = real_t<Scalar>;
  const auto     type = std::is_same_v<Real, double> ? ncclFloat64 : ncclFloat32;
  constexpr auto each = sizeof(Scalar) / sizeof(Real);
  const auto     on   = static_cast<cudaStream_t>(stream);
  PetscFunctionBegin;
  PetscCheck(ranks.get(), PETSC_COMM_SELF, PETSC_ERR_LIB, "Messages by NCCL: an earlier message failed");
  PetscCall(CheckNccl(ncclGroupStart(), ranks, "ncclGroupStart"));
  for (const Message *m = receives; m < receives + count; ++m)
    if (m->rank != MPI_PROC_NULL && m->count > 0)
      PetscCall(CheckNccl(
        ncclRecv(in + m->at, each * static_cast<std::size_t>(m->count), type, m->rank, ranks.get(), on),
        ranks, "ncclRecv"));
  for (const Message *m = sends; m < sends + count; ++m)
    if (m->rank != MPI_PROC_NULL && m->count > 0)
      PetscCall(CheckNccl(
        ncclSend(out + m->at, each * static_cast<std::size_t>(m->count), type, m->rank, ranks.get(), on),
        ranks, "ncclSend"));
  PetscCall(CheckNccl(ncclGroupEnd(), ranks, "ncclGroupEnd"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

class NcclRanks { };

namespace {

struct Known {
  std::shared_ptr<NcclRanks> ranks;
  std::string                why_not = "this build has no NCCL";
};
PetscErrorCode FindNccl(MPI_Comm, Known *)
{
  return PETSC_SUCCESS;
}

} // namespace

PetscErrorCode PassByNccl(NcclRanks &, void *, const Scalar *, const Message *, Scalar *, const Message *,
                          std::size_t)
{
  return PETSC_ERR_SUP;
}

#endif

namespace {

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
                          void *stream, Link *link)
{
  Known        nccl;
  std::int64_t most = scalars;
  PetscFunctionBegin;
  *link = {comm, RIBBON_TRANSPORT_MPI, "", nullptr};
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  const bool direct = RibbonMPITakesDevicePointers();
  if (!direct || asked == RIBBON_TRANSPORT_STAGED) link->transport = RIBBON_TRANSPORT_STAGED;
  if (!direct && asked == RIBBON_TRANSPORT_MPI) link->reason = "MPI does not take device memory";
  if (asked == RIBBON_TRANSPORT_MPI || asked == RIBBON_TRANSPORT_STAGED) PetscFunctionReturn(PETSC_SUCCESS);
  if (!stream) nccl.why_not = "NCCL needs CUDA";
  else PetscCall(FindNccl(comm, &nccl));
  link->reason = nccl.why_not;
  if (!nccl.ranks) PetscFunctionReturn(PETSC_SUCCESS);
  Link direct_link = {comm, RIBBON_TRANSPORT_NCCL, "", nccl.ranks};
  if (asked == RIBBON_TRANSPORT_AUTO) {
    double by_mpi, by_nccl;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm));
    PetscCall(Measure(*link, most, stream, &by_mpi));
    PetscCall(Measure(direct_link, most, stream, &by_nccl));
    direct_link.reason = format("measured: %.3g ms, by %s %.3g ms", 1e3 * by_nccl,
                                RibbonTransports[link->transport], 1e3 * by_mpi);
    link->reason       = format("measured: %.3g ms, by nccl %.3g ms", 1e3 * by_mpi, 1e3 * by_nccl);
    if (by_nccl >= by_mpi) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *link = direct_link;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
