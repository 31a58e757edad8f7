/* SPDX-License-Identifier: BSD-2-Clause */
/* initialize_again.c  A program that starts and ends PETSc three times, with a solve in each. The command
   line sets -dll_append and the solver. */
#include <petscksp.h>

static PetscErrorCode solve(void)
{
  const PetscInt n = 40;
  PetscInt       begin, end;
  PetscReal      norm;
  Mat            A;
  Vec            x, b;
  KSP            ksp;
  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 1, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    PetscCall(MatSetValue(A, i, i, 2.5, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecShift(b, -1));
  PetscCall(VecNorm(b, NORM_INFINITY, &norm));
  PetscCheck(norm < 100 * PETSC_MACHINE_EPSILON, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the residual is %g",
             (double)norm);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (int session = 0; session < 3; ++session) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(solve());
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize();
}
