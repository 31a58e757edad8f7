// SPDX-License-Identifier: BSD-2-Clause
/// @file petsc_space.hpp  The queue that PETSc shares with Kokkos kernels, and the bandwidth of copies as a
///   reference. For programs that use PETSc and Kokkos only.
#pragma once

#include <Kokkos_Core.hpp>

#include <petsctime.h>
#include <petscvec.h>
#if defined(PETSC_HAVE_KOKKOS) && PETSC_VERSION_GE(3, 20, 0)
  #include <petsc_kokkos.hpp>
#endif

#include <type_traits>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/// The instance of Exec in which PETSc queues its own work.
template <class Exec>
PetscErrorCode GetSpace(Exec *exec)
{
  PetscFunctionBeginUser;
  *exec = Exec();
#if defined(PETSC_HAVE_KOKKOS) && PETSC_VERSION_GE(3, 20, 0)
  if constexpr (std::is_same_v<Exec, Kokkos::DefaultExecutionSpace>) {
    PetscCall(PetscKokkosInitializeCheck());
    PetscCallCXX(*exec = PetscGetKokkosExecutionSpace());
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Waits on all ranks for all queued work and reads the clock.
inline PetscErrorCode Now(MPI_Comm comm, PetscLogDouble *now)
{
  PetscFunctionBeginUser;
  PetscCallCXX(Kokkos::fence());
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bytes per second that copies of x into y read and write, on all ranks together.
inline PetscErrorCode CopySpeed(Vec x, Vec y, PetscLogDouble *bytes_per_second)
{
  const int      copies = 20;
  const MPI_Comm comm   = PetscObjectComm((PetscObject)x);
  PetscLogDouble begin = 0, end = 0;
  PetscInt       n;

  PetscFunctionBeginUser;
  for (int k = -1; k < copies; k++) { // the first is a warm-up
    if (k == 0) PetscCall(Now(comm, &begin));
    PetscCall(VecCopy(x, y));
  }
  PetscCall(Now(comm, &end));
  PetscCall(VecGetSize(x, &n));
  *bytes_per_second = 2. * sizeof(PetscScalar) * copies * static_cast<PetscLogDouble>(n) / (end - begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}
