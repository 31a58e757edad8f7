// SPDX-License-Identifier: BSD-2-Clause
/// @file parcels.hpp  Data that each rank sends to every other rank.
#pragma once

#include "../support/compat.h"

#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace ribbon::petsc {

using Indices = std::vector<PetscInt>;

/// Data for, or from, every rank, rank after rank.
template <class T>
struct Parcels {
  std::vector<T>           data;
  std::vector<PetscMPIInt> begin; ///< position of the data of each rank, and the end

  /// Sets the end of the data of the next rank.
  PetscErrorCode EndRank()
  {
    PetscMPIInt end;
    PetscFunctionBegin;
    if (begin.empty()) begin.push_back(0);
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(data.size()), &end));
    begin.push_back(end);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class T>
MPI_Datatype mpi_type()
{
  static_assert(std::is_same_v<T, PetscInt> || std::is_same_v<T, double> || std::is_same_v<T, Scalar>);
  if constexpr (std::is_same_v<T, PetscInt>) return MPIU_INT;
  else if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  else return MPIU_SCALAR;
}

/// Sends the data for each rank to it. Collective.
template <class T>
PetscErrorCode Exchange(MPI_Comm comm, const Parcels<T> &to, Parcels<T> *from)
{
  const std::size_t        ranks = to.begin.size() - 1;
  std::vector<PetscMPIInt> sent(ranks), got(ranks);
  std::int64_t             all = 0;
  PetscFunctionBegin;
  std::adjacent_difference(to.begin.begin() + 1, to.begin.end(), sent.begin());
  PetscCallMPI(MPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm));
  from->begin.assign(1, 0);
  for (PetscMPIInt count : got) {
    PetscInt    size;
    PetscMPIInt end;
    PetscCall(PetscIntCast(all += count, &size));
    PetscCall(PetscMPIIntCast(size, &end));
    from->begin.push_back(end);
  }
  from->data.resize(static_cast<std::size_t>(all));
  PetscCallMPI(MPI_Alltoallv(to.data.data(), sent.data(), to.begin.data(), mpi_type<T>(), from->data.data(),
                             got.data(), from->begin.data(), mpi_type<T>(), comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
