// SPDX-License-Identifier: BSD-2-Clause
// PC adi in time steps: it keeps the orders of W-methods, and finds the shift of a step.
#include "adi_fixture.hpp"

#include <petscts.h>

using namespace test;

namespace {

/// u' + A u = cos t on a grid. M = 1, except for Dirichlet rows, where u = 0.
struct Heat {
  Mat A;
  Vec mass;
};

PetscErrorCode function(TS, PetscReal t, Vec u, Vec v, Vec f, void *context)
{
  const auto *heat = static_cast<Heat *>(context);
  PetscFunctionBegin;
  PetscCall(MatMult(heat->A, u, f));
  PetscCall(VecAXPY(f, -PetscCosReal(t), heat->mass));
  Vec w;
  PetscCall(VecDuplicate(v, &w));
  PetscCall(VecPointwiseMult(w, heat->mass, v));
  PetscCall(VecAXPY(f, 1, w));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

PetscErrorCode jacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat J, Mat P, void *context)
{
  const auto *heat = static_cast<Heat *>(context);
  Vec         m;
  PetscFunctionBegin;
  PetscCall(MatCopy(heat->A, P, SAME_NONZERO_PATTERN));
  PetscCall(VecDuplicate(heat->mass, &m));
  PetscCall(VecCopy(heat->mass, m));
  PetscCall(VecScale(m, shift));
  PetscCall(MatDiagonalSet(P, m, ADD_VALUES));
  PetscCall(VecDestroy(&m));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

/// The solution at time 0.2 with `steps` steps of a W-method, with one application of a PC as the linear
/// solver. Returns the largest number of iterations with GMRES.
void integrate(const Grid &grid, Heat *heat, const char *method, PCType type, PetscInt steps, Vec u,
               PetscInt *iterations)
{
  TS   ts;
  SNES snes;
  KSP  ksp;
  PC   pc;
  Mat  J;
  OK(MatDuplicate(grid.A, MAT_DO_NOT_COPY_VALUES, &J));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, grid.da));
  OK(TSSetType(ts, method ? TSROSW : TSBEULER));
  OK(TSRosWSetType(ts, method ? method : TSROSW2M)); // other types ignore it
  OK(TSSetIFunction(ts, nullptr, function, heat));
  OK(TSSetIJacobian(ts, J, J, jacobian, heat));
  OK(TSSetMaxTime(ts, 0.2));
  OK(TSSetTimeStep(ts, 0.2 / static_cast<PetscReal>(steps)));
  OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  TSAdapt adapt;
  OK(TSGetAdapt(ts, &adapt));
  OK(TSAdaptSetType(adapt, TSADAPTNONE));
  OK(TSGetSNES(ts, &snes));
  OK(SNESGetKSP(snes, &ksp));
  OK(KSPSetType(ksp, iterations ? KSPGMRES : KSPPREONLY));
  OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, type));
  OK(VecSet(u, 0));
  OK(TSSolve(ts, u));
  PetscInt all, taken;
  OK(TSGetKSPIterations(ts, &all));
  OK(TSGetStepNumber(ts, &taken));
  if (iterations) *iterations = all / taken;
  OK(TSDestroy(&ts));
  OK(MatDestroy(&J));
}

} // namespace

TEST_F(AdiPC, KeepsTheOrdersOfWMethodsAndFindsTheShiftOfATimeStep) // one rank: lines would span ranks
{
  const std::vector<PetscInt> n = {12, 12};
  const Grid                  grid(n, {40, 40, 0}, 0, false, {}, true); // Dirichlet rows: 1 on the diagonal
  Heat                        heat{grid.A, nullptr};
  Vec                         u, reference;
  OK(DMCreateGlobalVector(grid.da, &heat.mass));
  PetscScalar **m;
  OK(VecSet(heat.mass, 1));
  OK(DMDAVecGetArray(grid.da, heat.mass, &m));
  PetscInt first[2], size[2];
  OK(DMDAGetCorners(grid.da, &first[0], &first[1], nullptr, &size[0], &size[1], nullptr));
  for (PetscInt j = first[1]; j < first[1] + size[1]; ++j)
    for (PetscInt i = first[0]; i < first[0] + size[0]; ++i)
      if (i == 0 || i == 11 || j == 0 || j == 11) m[j][i] = 0;
  OK(DMDAVecRestoreArray(grid.da, heat.mass, &m));
  OK(VecDuplicate(heat.mass, &u));
  OK(VecDuplicate(heat.mass, &reference));
  integrate(grid, &heat, TSROSWRA34PW2, PCLU, 1000, reference, nullptr);
  for (auto [method, order] :
       {std::pair<const char *, double>{TSROSW2M, 2}, {TSROSW2P, 2}, {TSROSWRA3PW, 3}, {TSROSWRA34PW2, 3}}) {
    PetscReal error[2];
    for (PetscInt k = 0; k < 2; ++k) {
      integrate(grid, &heat, method, PCADI, k == 0 ? 80 : 160, u, nullptr);
      OK(VecAXPY(u, -1, reference));
      OK(VecNorm(u, NORM_INFINITY, &error[k]));
    }
    EXPECT_GT(std::log2(static_cast<double>(error[0] / error[1])), order - 0.35)
      << method << " " << error[0] << " " << error[1];
  }
  PetscInt iterations = 0;
  integrate(grid, &heat, nullptr, PCADI, 40, u, &iterations);
  EXPECT_GT(iterations, 0);
  EXPECT_LT(iterations, 8);
  for (Vec *v : {&u, &reference, &heat.mass}) OK(VecDestroy(v));
}
