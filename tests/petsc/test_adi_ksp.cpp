// SPDX-License-Identifier: BSD-2-Clause
// KSP adi: iterations compared with theory, detected properties of a matrix, and the behaviour of PETSc's
// KSPs.
#include "adi_fixture.hpp"

#include <ribbon_petsc/kspadi.h>

using namespace test;

namespace {

class AdiKSP : public test::Adi { };

/// A KSP adi for a matrix, with a random solution.
struct Solver {
  KSP                ksp = nullptr;
  Vec                b = nullptr, x = nullptr, exact = nullptr;
  Mat                A;
  PetscInt           its       = -1;
  KSPConvergedReason reason    = KSP_CONVERGED_ITERATING;
  PetscReal          predicted = 0;
  PetscBool          separable = PETSC_FALSE;

  explicit Solver(Mat matrix, DM da = nullptr, PetscReal rtol = 1e-8) : A(matrix)
  {
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, A, A);
    if (da) {
      KSPSetDM(ksp, da);
      deactivate_dm(ksp);
    }
    KSPSetType(ksp, KSPADI);
    KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, 2000);
    MatCreateVecs(A, &x, &b);
    VecDuplicate(x, &exact);
    VecSetRandom(exact, nullptr);
    MatMult(A, exact, b);
  }
  Solver(const Solver &)            = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver()
  {
    VecDestroy(&b), VecDestroy(&x), VecDestroy(&exact);
    KSPDestroy(&ksp);
  }
  /// ||b - A x|| / ||b|| after a solve.
  PetscReal solve(bool transposed = false)
  {
    if ((transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x)) != 0) return PETSC_INFINITY;
    KSPGetIterationNumber(ksp, &its);
    KSPGetConvergedReason(ksp, &reason);
    KSPADIGetInfo(ksp, nullptr, &predicted, &separable);
    return relative_residual(A, b, x, transposed);
  }
};

} // namespace

TEST_F(AdiKSP, IterationsAreThoseOfTheory)
{
  struct Case {
    std::vector<PetscInt>  n;
    std::vector<PetscReal> strength;
    double                 over; ///< allowed ratio of iterations to those of the theory
  };
  for (const Case &c : {Case{{31, 31}, {1, 1, 0}, 1.15},
                        {{63, 63}, {1, 1, 0}, 1.15},
                        {{127, 127}, {1, 1, 0}, 1.15},
                        {{40, 80}, {50, 1, 0}, 1.15},
                        {{15, 15, 15}, {1, 1, 1}, 1.05},
                        {{24, 16, 31}, {1, 1, 3}, 1.05}}) {
    const Grid grid(c.n, c.strength, 0);
    Solver     s(grid.A, grid.da);
    EXPECT_LT(s.solve(), 1e-8);
    EXPECT_EQ(s.reason, KSP_CONVERGED_RTOL);
    EXPECT_EQ(s.separable, PETSC_TRUE);
    EXPECT_LT(s.its, c.over * static_cast<double>(s.predicted) + 1) << c.n[0];
    EXPECT_GT(s.its, 0.5 * static_cast<double>(s.predicted)) << c.n[0];
  }
}

TEST_F(AdiKSP, BoundariesOfEveryKind)
{
  { // Dirichlet rows with a diagonal entry only
    const Grid grid({33, 33}, {1, 1, 0}, 0, false, {}, true);
    Solver     s(grid.A, grid.da);
    EXPECT_LT(s.solve(), 1e-8);
    EXPECT_LT(s.its, 1.15 * static_cast<double>(s.predicted) + 1);
  }
  { // Periodic in both directions: the constants are a null space.
    const Grid   grid({32, 32}, {1, 1, 0}, 0, true);
    MatNullSpace constants;
    OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
    OK(MatSetNullSpace(grid.A, constants));
    Solver s(grid.A, grid.da);
    EXPECT_LT(s.solve(), 1e-8);
    // Modes that are constant along x are not damped by the factor of x.
    EXPECT_LT(s.its, 2.3 * static_cast<double>(s.predicted) + 1);
    OK(MatNullSpaceDestroy(&constants));
  }
  { // Only one direction has an eigenvalue 0: Jordan's transformation.
    Grid     grid({24, 32}, {1, 1, 0}, 0);
    PetscInt begin[2], size[2];
    OK(DMDAGetCorners(grid.da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
    for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
      for (PetscInt i : {PetscInt(0), PetscInt(23)})
        if (i >= begin[0] && i < begin[0] + size[0]) {
          const MatStencil  row = {0, j, i, 0};
          const PetscScalar v   = -1; // Neumann conditions along x
          OK(MatSetValuesStencil(grid.A, 1, &row, 1, &row, &v, ADD_VALUES));
        }
    OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
    Solver s(grid.A, grid.da);
    EXPECT_LT(s.solve(), 1e-8);
    EXPECT_EQ(s.separable, PETSC_TRUE);
    EXPECT_LT(s.its, 1.15 * static_cast<double>(s.predicted) + 1);
  }
}

TEST_F(AdiKSP, TakesOtherTypesOfMatrices)
{
  const Grid grid({16, 16}, {1, 1, 0}, 0);
  OK(MatSetOption(grid.A, MAT_SYMMETRIC, PETSC_TRUE));
  for (const char *type : {MATBAIJ, MATSBAIJ}) {
    Mat A;
    OK(MatConvert(grid.A, type, MAT_INITIAL_MATRIX, &A));
    Solver s(A, grid.da);
    EXPECT_LT(s.solve(), 1e-8) << type;
    EXPECT_LT(s.its, 1.15 * static_cast<double>(s.predicted) + 1) << type;
    OK(MatDestroy(&A));
  }
}

TEST_F(AdiKSP, OneDirectionIsSolvedAtOnce)
{
  const Grid grid({16, 40}, {0, 1, 0}, 0, false, {ranks, 1, 1});
  Solver     s(grid.A, grid.da);
  EXPECT_LT(s.solve(), 1e-9);
  EXPECT_EQ(s.its, 1);
}

TEST_F(AdiKSP, WhatIsNotSeparableIsFoundAndConverges)
{
  const PetscInt n    = 20;
  const auto     rho  = [](PetscInt i, PetscInt j) { return 1. + (i > 9 && j > 9 ? 9. : 0.); };
  const auto     at   = [](PetscInt r) { return std::pair<PetscInt, PetscInt>{r % 20, r / 20}; };
  const auto     face = [&](PetscInt r, PetscInt c) {
    return -0.5 * (rho(at(r).first, at(r).second) + rho(at(c).first, at(c).second));
  };
  const auto near = [&](PetscInt r, PetscInt c) {
    return std::abs(at(r).first - at(c).first) + std::abs(at(r).second - at(c).second) < 2;
  };
  Mat A = matrix(
    n * n,
    [&](PetscInt r, PetscInt c) -> PetscScalar {
      if (r != c) return face(r, c);
      double sum = 0;
      for (PetscInt k : {r - 1, r + 1, r - n, r + n})
        sum -= k >= 0 && k < n * n && near(r, k) ? face(r, k) : -rho(at(r).first, at(r).second);
      return sum;
    },
    near);
  Solver s(A);
  EXPECT_LT(s.solve(), 1e-8);
  EXPECT_EQ(s.separable, PETSC_FALSE);
  EXPECT_EQ(s.reason, KSP_CONVERGED_RTOL);
  OK(MatDestroy(&A));
}

TEST_F(AdiKSP, BehavesAsOtherSolvers)
{
  Grid      grid({31, 24}, {1, 2, 0}, 0, false, {}, true); // not symmetric: rows of the boundary
  Solver    s(grid.A, grid.da);
  PetscReal history[200];
  OK(KSPSetResidualHistory(s.ksp, history, 200, PETSC_TRUE));
  EXPECT_LT(s.solve(), 1e-8);
  EXPECT_LT(history[s.its], 1e-8 * history[0]);
  EXPECT_GT(history[s.its - 1], 1e-8 * history[0]);
  EXPECT_LT(s.solve(true), 1e-8); // the transposed system
  EXPECT_GT(static_cast<int>(s.reason), 0);
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  OK(VecCopy(s.exact, s.x));
  s.solve();
  EXPECT_EQ(s.its, 0);
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_FALSE));
  grid.fill({31, 24}, {2, 2, 0}, 0, false, true); // the matrix changes between solves
  OK(MatMult(grid.A, s.exact, s.b));
  EXPECT_LT(s.solve(), 1e-8);
  OK(KSPSetTolerances(s.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  s.solve();
  EXPECT_EQ(s.reason, KSP_DIVERGED_ITS);
  EXPECT_EQ(s.its, 3);
  OK(KSPSetNormType(s.ksp, KSP_NORM_NONE));
  s.solve();
  EXPECT_EQ(s.reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(s.its, 3);
}

TEST_F(AdiKSP, IndefiniteDirectionsAreAReason)
{
  const Grid grid({16, 16}, {-1, 4, 0}, 0);
  Solver     s(grid.A, grid.da);
  s.solve();
  EXPECT_EQ(s.reason, KSP_DIVERGED_INDEFINITE_MAT);
}

TEST_F(AdiKSP, ChecksItsOptions)
{
  const Grid grid({16, 16}, {1, 1, 0}, 0);
  Solver     s(grid.A, grid.da);
  PetscReal  least, largest;
  PetscInt   n;
  EXPECT_NE(static_cast<int>(KSPADISetBounds(s.ksp, 2, 1)), 0);
  EXPECT_EQ(last_error(), "KSPADISetBounds, -ksp_adi_bounds: 0 < 2. < 1. does not hold");
  EXPECT_NE(static_cast<int>(KSPADISetShifts(s.ksp, -1)), 0);
  EXPECT_EQ(last_error(), "KSPADISetShifts, -ksp_adi_shifts: -1 is negative");
  EXPECT_NE(static_cast<int>(KSPADISetShifts(s.ksp, 1000000)), 0);
  EXPECT_EQ(
    last_error(),
    "KSPADISetShifts, -ksp_adi_shifts: 1000000 is above 1024; each shift has factors of every direction");
  EXPECT_NE(static_cast<int>(KSPADIGetInfo(s.ksp, &n, nullptr, nullptr)), 0);
  OK(KSPADISetBounds(s.ksp, 0.01, 4));
  OK(KSPADISetShifts(s.ksp, 5));
  OK(KSPADIGetBounds(s.ksp, &least, &largest));
  EXPECT_EQ(least, PetscReal(0.01));
  EXPECT_EQ(largest, 4);
  OK(KSPADIGetShifts(s.ksp, &n));
  EXPECT_EQ(n, 5);
  EXPECT_LT(s.solve(), 1e-8);
  OK(KSPADIGetInfo(s.ksp, &n, nullptr, nullptr));
  EXPECT_EQ(n, 5);
}

TEST_F(AdiKSP, SmoothsOnTheLevelsOfMultigrid)
{
  const Grid     fine({65, 65}, {1, 1, 0}, 0, false, {}, true);
  const PetscInt levels = 4;
  KSP            ksp;
  PC             pc;
  DM             dms[4] = {nullptr, nullptr, nullptr, fine.da};
  PetscInt       its;
  Vec            b, x;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPSetOperators(ksp, fine.A, fine.A));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCMG));
  OK(PCMGSetLevels(pc, levels, nullptr));
  OK(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  for (PetscInt l = levels - 1; l > 0; --l) {
    Mat interpolation;
    KSP smoother;
    OK(DMCoarsen(dms[l], PETSC_COMM_WORLD, &dms[l - 1]));
    OK(DMCreateInterpolation(dms[l - 1], dms[l], &interpolation, nullptr));
    OK(PCMGSetInterpolation(pc, l, interpolation));
    OK(MatDestroy(&interpolation));
    OK(PCMGGetSmoother(pc, l, &smoother));
    OK(KSPSetType(smoother, KSPADI));
    OK(KSPSetDM(smoother, dms[l]));
    OK(deactivate_dm(smoother));
  }
  OK(MatCreateVecs(fine.A, &x, &b));
  OK(VecSet(b, 1));
  OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetIterationNumber(ksp, &its));
  EXPECT_LT(its, 12);
  OK(VecDestroy(&x));
  OK(VecDestroy(&b));
  for (PetscInt l = 0; l < levels - 1; ++l) OK(DMDestroy(&dms[l]));
  OK(KSPDestroy(&ksp));
}
