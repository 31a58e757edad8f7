// SPDX-License-Identifier: BSD-2-Clause
#include "device_ranks.hpp"

#ifndef RIBBON_WITH_NCCL
namespace ribbon::petsc {
PetscErrorCode ConnectByNccl(MPI_Comm, Connection *made)
{
  PetscFunctionBegin;
  made->why_not = "this build has no NCCL";
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace ribbon::petsc
#else

  #include "../support/format.hpp"
  #include "../support/session.hpp"

  #include <cuda_runtime_api.h>
  #include <nccl.h>

  #include <algorithm>
  #include <vector>

namespace ribbon::petsc {

namespace {

class NcclRanks final : public DeviceRanks {
public:
  explicit NcclRanks(ncclComm_t comm) : comm_(comm) { }
  NcclRanks(const NcclRanks &)            = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;
  ~NcclRanks() override
  {
    if (comm_) (void)ncclCommDestroy(comm_);
  }

  PetscErrorCode Start(void *stream, const Scalar *out, const Message *sends, Scalar *in,
                       const Message *receives, std::size_t count) override
  {
    using Real          = real_t<Scalar>;
    const auto     type = std::is_same_v<Real, double> ? ncclFloat64 : ncclFloat32;
    constexpr auto each = sizeof(Scalar) / sizeof(Real);
    const auto     on   = static_cast<cudaStream_t>(stream);
    PetscFunctionBegin;
    PetscCheck(comm_, PETSC_COMM_SELF, PETSC_ERR_LIB, "Messages by NCCL: an earlier message failed");
    PetscCall(Check(ncclGroupStart(), "ncclGroupStart"));
    for (const Message *m = receives; m < receives + count; ++m)
      if (m->rank != MPI_PROC_NULL && m->count > 0)
        PetscCall(
          Check(ncclRecv(in + m->at, each * static_cast<std::size_t>(m->count), type, m->rank, comm_, on),
                "ncclRecv"));
    for (const Message *m = sends; m < sends + count; ++m)
      if (m->rank != MPI_PROC_NULL && m->count > 0)
        PetscCall(
          Check(ncclSend(out + m->at, each * static_cast<std::size_t>(m->count), type, m->rank, comm_, on),
                "ncclSend"));
    PetscCall(Check(ncclGroupEnd(), "ncclGroupEnd"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Finish(void *) override { return PETSC_SUCCESS; } // the order on the stream

private:
  /// After a failed call the other ranks would wait for ever: ends the communicator.
  PetscErrorCode Check(ncclResult_t result, const char *call)
  {
    PetscFunctionBegin;
    if (result == ncclSuccess) PetscFunctionReturn(PETSC_SUCCESS);
    if (comm_) (void)ncclCommAbort(comm_);
    comm_ = nullptr;
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Messages by NCCL: %s fails: %s", call,
            ncclGetErrorString(result));
  }

  ncclComm_t comm_;
};

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

} // namespace

PetscErrorCode ConnectByNccl(MPI_Comm comm, Connection *made)
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

} // namespace ribbon::petsc
#endif
