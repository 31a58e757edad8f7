// SPDX-License-Identifier: BSD-2-Clause
#include "solvers.hpp"

#include <petscblaslapack.h>

// Eigenvectors as columns of a dense matrix, and its transpose, in the memory of vectors.
static PetscErrorCode Eigenvectors(const Direction &direction, std::vector<PetscReal> *lambda, Mat *V,
                                   Mat *transposed)
{
  Mat                      K, M;
  PetscScalar             *k, *m, *v, *t;
  VecType                  type;
  const PetscInt           n = static_cast<PetscInt>(direction.space.size());
  PetscBLASInt             size, length, info, one = 1;
  std::vector<PetscScalar> work(static_cast<std::size_t>(64 * n));
#if defined(PETSC_USE_COMPLEX)
  std::vector<PetscReal> more(static_cast<std::size_t>(3 * n));
#endif

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(PetscBLASIntCast(64 * n, &length));
  lambda->resize(static_cast<std::size_t>(n));
  PetscCall(MatConvert(direction.stiffness, MATSEQDENSE, MAT_INITIAL_MATRIX, &K));
  PetscCall(MatConvert(direction.mass, MATSEQDENSE, MAT_INITIAL_MATRIX, &M));
  PetscCall(MatDenseGetArray(K, &k));
  PetscCall(MatDenseGetArray(M, &m));
#if defined(PETSC_USE_COMPLEX)
  PetscCallBLAS("LAPACKsygv", LAPACKsygv_(&one, "V", "U", &size, k, &size, m, &size, lambda->data(),
                                          work.data(), &length, more.data(), &info));
#else
  PetscCallBLAS("LAPACKsygv", LAPACKsygv_(&one, "V", "U", &size, k, &size, m, &size, lambda->data(),
                                          work.data(), &length, &info));
#endif
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "LAPACK's sygv of stiffness and mass matrix ends with %" PetscBLASInt_FMT, info);
  PetscCall(MatDenseRestoreArray(M, &m));
  PetscCall(MatGetVecType(direction.mass, &type));
  for (Mat *A : {V, transposed}) PetscCall(iga::CreateDense(PETSC_COMM_SELF, type, n, n, n, A));
  PetscCall(MatDenseGetArrayWrite(*V, &v));
  PetscCall(MatDenseGetArrayWrite(*transposed, &t));
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < n; i++) v[i + n * j] = t[j + n * i] = k[i + n * j];
  PetscCall(MatDenseRestoreArrayWrite(*transposed, &t));
  PetscCall(MatDenseRestoreArrayWrite(*V, &v));
  PetscCall(MatDenseRestoreArray(K, &k));
  for (Mat A : {*V, *transposed}) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatDestroy(&K));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FastDiagonalizationCreate(const Grid &grid, PetscReal stiffness, FastDiagonalization *inverse)
{
  Mat                    V[3] = {}, transposed[3] = {};
  std::vector<PetscReal> lambda[3];
  PetscScalar           *scale;

  PetscFunctionBeginUser;
  lambda[2] = {0};
  for (int d = 0; d < grid.dim; d++)
    PetscCall(Eigenvectors(grid.direction[d], &lambda[d], &V[d], &transposed[d]));
  PetscCall(KroneckerCreate(grid.dim, transposed, false, &inverse->forth));
  PetscCall(KroneckerCreate(grid.dim, V, false, &inverse->back));
  PetscCall(GridVector(grid, grid.unknowns, &inverse->scale));
  PetscCall(VecDuplicate(inverse->scale, &inverse->work));
  PetscCall(VecGetArrayWrite(inverse->scale, &scale));
  for (PetscReal c : lambda[2])
    for (PetscReal b : lambda[1])
      for (PetscReal a : lambda[0]) *scale++ = 1 / (1 + stiffness * (a + b + c));
  scale -= grid.unknowns;
  PetscCall(VecRestoreArrayWrite(inverse->scale, &scale));
  for (int d = 0; d < grid.dim; d++) {
    PetscCall(MatDestroy(&V[d]));
    PetscCall(MatDestroy(&transposed[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FastDiagonalizationDestroy(FastDiagonalization *inverse)
{
  PetscFunctionBeginUser;
  PetscCall(KroneckerDestroy(&inverse->forth));
  PetscCall(KroneckerDestroy(&inverse->back));
  PetscCall(VecDestroy(&inverse->scale));
  PetscCall(VecDestroy(&inverse->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FastDiagonalizationApply(FastDiagonalization &inverse, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(KroneckerApply(inverse.forth, x, inverse.work));
  PetscCall(VecPointwiseMult(inverse.work, inverse.work, inverse.scale));
  PetscCall(KroneckerApply(inverse.back, inverse.work, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyShell(PC pc, Vec x, Vec y)
{
  void *fast;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &fast));
  PetscCall(FastDiagonalizationApply(*static_cast<FastDiagonalization *>(fast), x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A += factor times the product of slopes in one direction and of values in the others. All terms have the
// same pattern.
static PetscErrorCode AddTerm(int dim, int direction, PetscReal factor, const Mat values[],
                              const Mat slopes[], Mat A)
{
  Mat matrices[3] = {values[0], values[1], values[2]}, term;

  PetscFunctionBeginUser;
  matrices[direction] = slopes[direction];
  PetscCall(KroneckerAssemble(dim, matrices, &term));
  PetscCall(MatAXPY(A, factor, term, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&term));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assemble(const Grid &grid, const System &system, Mat *A)
{
  Mat M[3] = {}, K[3] = {}, phi_M[3] = {}, phi_K[3] = {};

  PetscFunctionBeginUser;
  for (int d = 0; d < grid.dim; d++) {
    M[d] = grid.direction[d].mass;
    K[d] = grid.direction[d].stiffness;
    if (system.variation == 0) continue;
    PetscCall(PhiWeighted(grid.direction[d], grid.direction[d].value, &phi_M[d]));
    PetscCall(PhiWeighted(grid.direction[d], grid.direction[d].slope, &phi_K[d]));
  }
  PetscCall(KroneckerAssemble(grid.dim, M, A));
  for (int d = 0; d < grid.dim; d++) {
    if (system.stiffness != 0) PetscCall(AddTerm(grid.dim, d, system.stiffness, M, K, *A));
    if (system.variation != 0)
      PetscCall(AddTerm(grid.dim, d, system.stiffness * system.variation, phi_M, phi_K, *A));
  }
  for (int d = 0; d < grid.dim; d++) {
    PetscCall(MatDestroy(&phi_M[d]));
    PetscCall(MatDestroy(&phi_K[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKSP(const Grid &grid, const System &system, Solver *solver)
{
  PC        pc;
  PetscBool direct;
  PetscReal mean = system.variation;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &solver->ksp));
  PetscCall(KSPSetOperators(solver->ksp, solver->A, solver->A));
  PetscCall(KSPSetType(solver->ksp, KSPCG));
  PetscCall(KSPSetTolerances(solver->ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(solver->ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(solver->ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(KSPSetFromOptions(solver->ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)solver->ksp, KSPPREONLY, &direct));
  PetscCall(KSPSetInitialGuessNonzero(solver->ksp, direct ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSHELL, &solver->has_fast));
  if (solver->has_fast) {
    for (int d = 0; d < grid.dim; d++) mean *= 2 / PETSC_PI; // of phi
    PetscCall(FastDiagonalizationCreate(grid, system.stiffness * (1 + mean), &solver->fast));
    PetscCall(PCShellSetName(pc, "fast diagonalization"));
    PetscCall(PCShellSetContext(pc, &solver->fast));
    PetscCall(PCShellSetApply(pc, ApplyShell));
  }
  PetscCall(KSPSetUp(solver->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolverCreate(const Grid &grid, const System &system, bool inverse, Solver *solver)
{
  Mat factors[3] = {};

  PetscFunctionBeginUser;
  *solver = {};
  if (system.assembled) {
    PetscCall(Assemble(grid, system, &solver->A));
    if (inverse) PetscCall(CreateKSP(grid, system, solver));
  } else {
    for (int d = 0; d < grid.dim; d++) {
      PetscCall(MatDuplicate(grid.direction[d].mass, MAT_COPY_VALUES, &factors[d]));
      if (system.stiffness != 0)
        PetscCall(MatAXPY(factors[d], system.stiffness, grid.direction[d].stiffness, SAME_NONZERO_PATTERN));
    }
    PetscCall(KroneckerCreate(grid.dim, factors, inverse, &solver->product));
    for (int d = 0; d < grid.dim; d++) PetscCall(MatDestroy(&factors[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolverDestroy(Solver *solver)
{
  PetscFunctionBeginUser;
  PetscCall(KroneckerDestroy(&solver->product));
  if (solver->has_fast) PetscCall(FastDiagonalizationDestroy(&solver->fast));
  PetscCall(KSPDestroy(&solver->ksp));
  PetscCall(MatDestroy(&solver->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolverApply(Solver &solver, Vec x, Vec y)
{
  PetscInt iterations;

  PetscFunctionBeginUser;
  if (solver.ksp) {
    PetscCall(KSPSolve(solver.ksp, x, y));
    PetscCall(KSPGetIterationNumber(solver.ksp, &iterations));
    solver.iterations += iterations;
  } else if (solver.A) PetscCall(MatMult(solver.A, x, y));
  else PetscCall(KroneckerApply(solver.product, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
