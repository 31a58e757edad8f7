/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "Implicit vertical diffusion in columns of an atmosphere or an ocean, new coefficients every step.\n\
A plain PETSc program without code for any plugin. It runs with any KSP and PC. Options:\n\
  -columns M -levels N   number of columns, one after another, and number of unknowns of each\n\
  -steps K               systems, which are solved one after another, each with a new matrix\n\
  -shared                all columns have the same coefficients, which are also new in every step\n\n";

/* (I + dt D) u = b, where D is the difference of the fluxes kappa u_z over layers whose thickness dz
   grows by 3% upwards. Row l is -s[l] / dz[l], 1 + (s[l] + s[l + 1]) / dz[l], -s[l + 1] / dz[l]. There
   is no flux through the ends: s[0] = s[N] = 0. The diffusivity is the profile z (1 - z) times a hash of
   the column, the level and the step. b is A times a known vector, and the program compares the solution
   with this vector. */

#include <petscksp.h>

typedef struct {
  PetscInt  columns, levels, first, mine; /* columns of this rank */
  PetscBool shared;
} Problem;

/* A value in [0, 1): splitmix64 (G. L. Steele et al., 2014). */
static PetscReal Hash(PetscInt a, PetscInt b, PetscInt c)
{
  const unsigned long long prime = 0x100000001b3ULL;
  unsigned long long       z     = ((unsigned long long)a * prime + (unsigned long long)b) * prime;
  z                              = (z + (unsigned long long)c + 1) * 0x9e3779b97f4a7c15ULL;
  z                              = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z                              = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (PetscReal)((z ^ (z >> 31)) >> 40) / (PetscReal)(1 << 24);
}

/* Entries of a column, level by level: lower, diagonal, upper, except those beyond the ends. */
static void Column(const Problem *p, PetscInt column, PetscInt step, PetscScalar *values)
{
  const PetscInt which = p->shared ? 0 : column;
  PetscReal      below = 0, above, dz = 1;
  for (PetscInt l = 0; l < p->levels; l++, below = above, dz *= (PetscReal)1.03) {
    const PetscReal z = (PetscReal)(l + 1) / (PetscReal)p->levels;
    above             = 100 * z * (1 - z) * ((PetscReal)0.5 + Hash(which, l, step)); /* 0 at the top */
    if (l > 0) *values++ = -below / dz;
    *values++ = 1 + (below + above) / dz;
    if (l + 1 < p->levels) *values++ = -above / dz;
  }
}

static PetscErrorCode CreateMatrix(const Problem *p, PetscInt entries, Mat *A)
{
  const PetscInt begin = p->first * p->levels;
  PetscInt      *rows, *columns, k = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, p->mine * p->levels, p->mine * p->levels, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscMalloc2(entries, &rows, entries, &columns));
  for (PetscInt r = 0; r < p->mine * p->levels; r++)
    for (PetscInt d = -1; d <= 1; d++) {
      const PetscInt l = r % p->levels + d;
      if (l < 0 || l >= p->levels) continue;
      rows[k]      = begin + r;
      columns[k++] = begin + r + d;
    }
  PetscCall(MatSetPreallocationCOO(*A, entries, rows, columns));
  PetscCall(PetscFree2(rows, columns));
  PetscFunctionReturn(0);
}

/* The known solution: a hash of the index of the unknown. */
static PetscErrorCode FillSolution(Vec x)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = begin; i < end; i++) a[i - begin] = 2 * Hash(i, 0, 0) - 1;
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Problem *p, PetscInt steps)
{
  const PetscInt     each = 3 * p->levels - 2, entries = each * p->mine; /* per column, on this rank */
  Mat                A;
  KSP                ksp;
  Vec                x, b, exact;
  PetscScalar       *values;
  PetscReal          size, difference, error = 0;
  PetscInt           iterations = 0, more;
  KSPConvergedReason reason     = KSP_CONVERGED_ITERATING;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, entries, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(FillSolution(exact));
  PetscCall(VecNorm(exact, NORM_INFINITY, &size));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscMalloc1(entries, &values));
  for (PetscInt step = 0; step < steps && reason >= 0; step++) {
    for (PetscInt c = 0; c < p->mine; c++) Column(p, p->first + c, step, values + c * each);
    PetscCall(MatSetValuesCOO(A, values, INSERT_VALUES));
    PetscCall(MatMult(A, exact, b));
    PetscCall(KSPSetOperators(ksp, A, A)); /* KSPSetUp() then sets the PC up, outside the event KSPSolve */
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &more));
    PetscCall(VecAXPY(x, -1, exact));
    PetscCall(VecNorm(x, NORM_INFINITY, &difference));
    iterations += more;
    if (!(difference / size <= error)) error = difference / size;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns %" PetscInt_FMT "\nreason %s\n", p->columns * p->levels,
                        KSPConvergedReasons[reason]));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "iterations %" PetscInt_FMT "\nerror %.3e\n", iterations, (double)error));
  PetscCall(PetscFree(values));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem     p     = {10000, 80, 0, 0, PETSC_FALSE};
  PetscInt    steps = 4;
  PetscMPIInt size, rank;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Columns", NULL);
  PetscCall(PetscOptionsBoundedInt("-columns", "Columns", NULL, p.columns, &p.columns, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-levels", "Unknowns of a column", NULL, p.levels, &p.levels, NULL, 2));
  PetscCall(PetscOptionsBoundedInt("-steps", "Systems, one after another", NULL, steps, &steps, NULL, 1));
  PetscCall(
    PetscOptionsBool("-shared", "All columns have the same coefficients", NULL, p.shared, &p.shared, NULL));
  PetscOptionsEnd();
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  p.mine  = p.columns / size + (rank < p.columns % size);
  p.first = rank * (p.columns / size) + PetscMin(rank, p.columns % size);
  PetscCall(Run(&p, steps));
  PetscCall(PetscFinalize());
  return 0;
}
