// SPDX-License-Identifier: BSD-2-Clause
#include "run.hpp"

#include <petscblaslapack.h>

// PETSc does not declare these functions.
extern "C" {
void PETSCBLAS(gbtrf, GBTRF)(const PetscBLASInt *m, const PetscBLASInt *n, const PetscBLASInt *kl,
                             const PetscBLASInt *ku, PetscScalar *ab, const PetscBLASInt *ldab,
                             PetscBLASInt *ipiv, PetscBLASInt *info);
void PETSCBLAS(gbtrs, GBTRS)(const char *trans, const PetscBLASInt *n, const PetscBLASInt *kl,
                             const PetscBLASInt *ku, const PetscBLASInt *nrhs, const PetscScalar *ab,
                             const PetscBLASInt *ldab, const PetscBLASInt *ipiv, PetscScalar *b,
                             const PetscBLASInt *ldb, PetscBLASInt *info, std::size_t);
}

PetscErrorCode LapackBand::Load(Mat A)
{
  PetscInt           rows, entries;
  const PetscInt    *columns;
  const PetscScalar *values;
  PetscMPIInt        size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-lapack: one rank alone");
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(PetscBLASIntCast(rows, &n));
  for (PetscInt pass = 0; pass < 2; pass++) { // half-bandwidths, then entries
    const PetscInt ld = 2 * kl + ku + 1;
    if (pass > 0) {
      pivots.resize(static_cast<std::size_t>(n));
      ab.assign(static_cast<std::size_t>(ld) * static_cast<std::size_t>(n), PetscScalar(0));
    }
    for (PetscInt i = 0; i < rows; i++) {
      PetscCall(MatGetRow(A, i, &entries, &columns, &values));
      for (PetscInt e = 0; e < entries; e++) {
        const PetscInt j = columns[e];
        if (pass > 0)
          ab[static_cast<std::size_t>(j) * static_cast<std::size_t>(ld) +
             static_cast<std::size_t>(kl + ku + i - j)] = values[e];
        else
          kl = PetscMax(kl, static_cast<PetscBLASInt>(i - j)),
          ku = PetscMax(ku, static_cast<PetscBLASInt>(j - i));
      }
      PetscCall(MatRestoreRow(A, i, &entries, &columns, &values));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LapackBand::Factor()
{
  const PetscBLASInt ld   = 2 * kl + ku + 1;
  PetscBLASInt       info = 0;

  PetscFunctionBeginUser;
  PETSCBLAS(gbtrf, GBTRF)(&n, &n, &kl, &ku, ab.data(), &ld, pivots.data(), &info);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's gbtrf ends with %" PetscBLASInt_FMT, info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LapackBand::Solve(PetscInt columns, PetscScalar *x) const
{
  const PetscBLASInt ld   = 2 * kl + ku + 1;
  PetscBLASInt       info = 0, nrhs;

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(columns, &nrhs));
  PETSCBLAS(gbtrs, GBTRS)("N", &n, &kl, &ku, &nrhs, ab.data(), &ld, pivots.data(), x, &n, &info, 1);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's gbtrs ends with %" PetscBLASInt_FMT, info);
  PetscFunctionReturn(PETSC_SUCCESS);
}
