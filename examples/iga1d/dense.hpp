// SPDX-License-Identifier: BSD-2-Clause
/// @file dense.hpp  Differences between versions of PETSc: dense matrices in the memory of vectors.
#pragma once

#include <petscmat.h>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

namespace iga {

/// Creates a dense matrix in the memory of vectors of this type, on the host before PETSc 3.21. `rows` is
/// the local number of rows. Kokkos types on a device are not supported: PETSc (3.24) treats columns there
/// as CUDA or HIP vectors, and crashes.
inline PetscErrorCode CreateDense(MPI_Comm comm, VecType type, PetscInt rows, PetscInt global_rows,
                                  PetscInt columns, Mat *A)
{
  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 21, 0)
  (void)type;
  PetscCall(MatCreateDense(comm, rows, PETSC_DECIDE, global_rows, columns, NULL, A));
#else
  PetscBool kokkos;
  PetscCall(PetscStrcmpAny(type, &kokkos, VECKOKKOS, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  PetscCheck(!kokkos ||
               !(PetscDefined(HAVE_MACRO_KOKKOS_ENABLE_CUDA) || PetscDefined(HAVE_MACRO_KOKKOS_ENABLE_HIP)),
             comm, PETSC_ERR_SUP,
             "-mat_type aijkokkos: PETSc's dense matrices on a device have no columns of Kokkos vectors; "
             "take aijcusparse or aijhipsparse");
  PetscCall(
    MatCreateDenseFromVecType(comm, type, rows, PETSC_DECIDE, global_rows, columns, PETSC_DECIDE, NULL, A));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Array of the columns, one after another, in the memory of the matrix. Call RestoreDense() afterwards.
inline PetscErrorCode GetDense(Mat A, PetscScalar **array, PetscMemType *memory)
{
  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 19, 0)
  *memory = PETSC_MEMTYPE_HOST;
  PetscCall(MatDenseGetArray(A, array));
#else
  PetscCall(MatDenseGetArrayAndMemType(A, array, memory));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode RestoreDense(Mat A, PetscScalar **array)
{
  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 19, 0)
  PetscCall(MatDenseRestoreArray(A, array));
#else
  PetscCall(MatDenseRestoreArrayAndMemType(A, array));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace iga
