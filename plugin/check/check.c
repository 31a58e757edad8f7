/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c  Solves a small problem with each type of Ribbon. The program links PETSc only: -dll_append loads
   libribbon.
     mpiexec -n 2 check -dll_append <path>/libribbon.so
   Options: those of PETSc, as -dm_vec_type cuda -dm_mat_type aijcusparse. The exit status is the number of
   types that fail. */
#include <petscdmda.h>
#include <petscksp.h>
#include <petscts.h>

#define N 17 /* points of a side of the square */

/* Prints the result of a type and counts failures. */
static PetscErrorCode Report(const char what[], PetscReal error, PetscReal tol, PetscInt *failures)
{
  const PetscBool passed = (PetscBool)(error <= tol); /* false for NaN */

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-16s %s (error %.1e)\n", what, passed ? "passed" : "FAILED",
                        (double)error));
  if (!passed) ++*failures;
  PetscFunctionReturn((PetscErrorCode)0);
}

/* -u_xx - c u_yy on the square with u = 0 around it, times the squared spacing. */
static PetscErrorCode Assemble(DM da, PetscReal c, PetscScalar scale, PetscScalar shift, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      const PetscInt di[] = {0, -1, 1, 0, 0}, dj[] = {0, 0, 0, -1, 1};
      MatStencil     row = {0}, col[5];
      PetscScalar    entry[5];
      PetscInt       n = 0;

      row.i = i, row.j = j;
      for (PetscInt k = 0; k < 5; ++k) {
        if (i + di[k] < 0 || i + di[k] >= info.mx || j + dj[k] < 0 || j + dj[k] >= info.my) continue;
        col[n]   = row;
        col[n].i = i + di[k], col[n].j = j + dj[k];
        entry[n++] = k == 0 ? shift + scale * (2 + 2 * c) : -scale * (k < 3 ? 1 : c);
      }
      PetscCall(MatSetValuesStencil(A, 1, &row, n, col, entry, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Solves A x = b for a known x. solver: for factorizations, or NULL. */
static PetscErrorCode Solve(Mat A, DM da, const char ksp_type[], const char pc_type[], const char solver[],
                            PetscReal *error)
{
  KSP       ksp;
  PC        pc;
  Vec       b, x, exact;
  PetscReal size;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecSetRandom(exact, NULL));
  PetscCall(MatMult(A, exact, b));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 100 * PETSC_MACHINE_EPSILON, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  if (da) PetscCall(PCSetDM(pc, da));
  if (solver) PetscCall(PCFactorSetMatSolverType(pc, solver));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_2, error));
  PetscCall(VecNorm(exact, NORM_2, &size));
  *error /= size;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* A batch of periodic pentadiagonal systems, 4 on each rank; or one band, for a factorization on one rank. */
static PetscErrorCode Bands(MPI_Comm comm, PetscBool batch, const char ksp_type[], const char pc_type[],
                            const char solver[], PetscReal *error)
{
  const PetscInt length = batch ? 16 : 64;
  Mat            A;
  PetscInt       begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, &A));
  PetscCall(MatSetSizes(A, 64, 64, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; ++row)
    for (PetscInt d = -2; d <= 2; ++d) {
      const PetscInt first = row - row % length, place = row - first + d;

      if (!batch && (place < 0 || place >= length)) continue;
      PetscCall(MatSetValue(A, row, first + (place + length) % length,
                            d == 0  ? 7
                            : d % 2 ? -4
                                    : 1,
                            INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Solve(A, NULL, ksp_type, pc_type, solver, error));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* U' = G(U) is linear and constant: the Jacobian is assembled before the first step. */
static PetscErrorCode Jacobian(TS ts, PetscReal t, Vec U, Mat J, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts, (void)t, (void)U, (void)J, (void)P, (void)ctx;
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Heat equation: the slowest mode of the differences decays by exp(-2 lambda t). */
static PetscErrorCode Steps(DM da, PetscReal *error)
{
  const PetscReal lambda = 2 - 2 * PetscCosReal(PETSC_PI / (N + 1)), final = 10;
  DMDALocalInfo   info;
  PetscScalar   **u;
  TS              ts;
  Mat             J;
  Vec             U, exact;
  PetscReal       size;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, &J));
  PetscCall(Assemble(da, 1, -1, 0, J));
  PetscCall(DMCreateGlobalVector(da, &U));
  PetscCall(VecDuplicate(U, &exact));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArray(da, U, &u));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i)
      u[j][i] = PetscSinReal(PETSC_PI * (i + 1) / (N + 1)) * PetscSinReal(PETSC_PI * (j + 1) / (N + 1));
  PetscCall(DMDAVecRestoreArray(da, U, &u));
  PetscCall(VecCopy(U, exact));
  PetscCall(VecScale(exact, PetscExpReal(-2 * lambda * final)));

  PetscCall(TSCreate(PetscObjectComm((PetscObject)da), &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, J, J, Jacobian, NULL));
  PetscCall(TSSetType(ts, "adi"));
  PetscCall(TSSetTimeStep(ts, final / 20));
  PetscCall(TSSetMaxTime(ts, final));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, U));
  PetscCall(VecAXPY(U, -1, exact));
  PetscCall(VecNorm(U, NORM_2, error));
  PetscCall(VecNorm(exact, NORM_2, &size));
  *error /= size;
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&U));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The derivative of sin x on a ring of 32 points, of order 10. */
static PetscErrorCode Derivative(PetscReal *error)
{
  const PetscInt n = 32;
  DM             ring;
  Mat            D;
  Vec            u, v, cosine;
  PetscScalar   *f, *g;
  PetscInt       begin, count;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, n, 1, 1, NULL, &ring));
  PetscCall(DMSetFromOptions(ring));
  PetscCall(DMSetUp(ring));
  PetscCall(DMCreateGlobalVector(ring, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &cosine));
  PetscCall(DMDAGetCorners(ring, &begin, NULL, NULL, &count, NULL, NULL));
  PetscCall(VecGetArray(u, &f));
  PetscCall(VecGetArray(cosine, &g));
  for (PetscInt i = 0; i < count; ++i) {
    f[i] = PetscSinReal(2 * PETSC_PI * (begin + i) / n);
    g[i] = PetscCosReal(2 * PETSC_PI * (begin + i) / n) * 2 * PETSC_PI / n;
  }
  PetscCall(VecRestoreArray(u, &f));
  PetscCall(VecRestoreArray(cosine, &g));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &D));
  PetscCall(MatSetDM(D, ring));
  PetscCall(MatSetType(D, "compact"));
  PetscCall(MatSetOptionsPrefix(D, "check_"));
  PetscCall(PetscOptionsSetValue(NULL, "-check_mat_compact_order", "10"));
  PetscCall(MatSetFromOptions(D));
  PetscCall(MatSetUp(D));
  PetscCall(MatMult(D, u, v));
  PetscCall(VecAXPY(v, -1, cosine));
  PetscCall(VecNorm(v, NORM_INFINITY, error));
  PetscCall(MatDestroy(&D));
  PetscCall(VecDestroy(&cosine));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&ring));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  const PetscReal tol = 100 * PETSC_SQRT_MACHINE_EPSILON;
  DM              da;
  Mat             A;
  PetscReal       error;
  PetscInt        failures = 0;
  PetscMPIInt     ranks;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Ribbon on %d rank%s:\n", ranks, ranks == 1 ? "" : "s"));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N, N,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Assemble(da, 100, 1, 0, A)); /* strong couplings along y */

  PetscCall(Bands(PETSC_COMM_WORLD, PETSC_TRUE, "line", "line", NULL, &error));
  PetscCall(Report("KSP line", error, tol, &failures));
  PetscCall(Solve(A, da, "cg", "line", NULL, &error));
  PetscCall(Report("PC line", error, tol, &failures));
  PetscCall(Solve(A, da, "gmres", "multicolor", NULL, &error));
  PetscCall(Report("PC multicolor", error, tol, &failures));
  PetscCall(Solve(A, da, "adi", "adi", NULL, &error));
  PetscCall(Report("KSP and PC adi", error, tol, &failures));
  PetscCall(Bands(PETSC_COMM_SELF, PETSC_FALSE, "preonly", "lu", "multifrontal", &error));
  PetscCall(Report("LU multifrontal", error, tol, &failures));
  PetscCall(Derivative(&error));
  PetscCall(Report("Mat compact", error, tol, &failures));
  PetscCall(Steps(da, &error));
  PetscCall(Report("TS adi", error, 1e-3, &failures));

  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return failures;
}
