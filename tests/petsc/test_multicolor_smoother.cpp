// SPDX-License-Identifier: BSD-2-Clause
// PC multicolor in Richardson's iteration and in multigrid, and residuals that it knows after a sweep.
#include "multicolor_fixture.hpp"

#include <petscksp.h>

namespace {

using namespace test;

/// MatResidual() after a sweep, and after anything else.
TEST_F(PCMulticolorUse, KnowsResidualsAfterASweep) // one rank
{
  const Grid grid({9, 8}, {1, 2});
  Vec        b, r, expected, other;
  OK(MatCreateVecs(grid.A, &r, &expected));
  OK(VecDuplicate(r, &other));
  OK(VecDuplicate(r, &b));
  const auto largest = [&](Vec f, Vec x) { // difference from f - A x
    PetscReal off = PETSC_INFINITY;
    EXPECT_FALSE(MatResidual(grid.A, f, x, r) || MatMult(grid.A, x, expected) || VecAYPX(expected, -1, f) ||
                 VecAXPY(expected, -1, r) || VecNorm(expected, NORM_INFINITY, &off));
    return off;
  };
  const auto zeros = [&] {
    PetscInt count = 0;
    for (const PetscScalar &v : MulticolorPC::all(r)) count += v == PetscScalar(0);
    return count;
  };
  const PetscReal rounding = 100 * PETSC_MACHINE_EPSILON;
  for (MatSORType direction : {SOR_FORWARD_SWEEP, SOR_BACKWARD_SWEEP, SOR_SYMMETRIC_SWEEP}) {
    SCOPED_TRACE(direction);
    MulticolorPC m(grid.A, grid.da);
    OK(PCMulticolorSetSymmetric(m.pc, direction));
    OK(PCMulticolorSetResidual(m.pc, PETSC_TRUE));
    OK(PCSetUp(m.pc));
    EXPECT_TRUE(contains(view_of(m.pc), "residual after a sweep: zero in the last colour"));
    OK(PCApply(m.pc, m.b, m.x));
    EXPECT_LT(largest(m.b, m.x), rounding);
    EXPECT_EQ(zeros(), 36); // half of the points
    OK(VecCopy(m.x, other));
    EXPECT_LT(largest(m.b, other), rounding); // another vector
    EXPECT_LT(zeros(), 36);
    OK(VecScale(m.x, 2));
    EXPECT_LT(largest(m.b, m.x), rounding);
    EXPECT_EQ(zeros(), 0);
    OK(PCApply(m.pc, m.b, m.x));
    OK(MatShift(grid.A, 0.5)); // other values
    EXPECT_LT(largest(m.b, m.x), rounding);
    OK(MatShift(grid.A, -0.5));
    OK(PCSetUp(m.pc));
    OK(PCMulticolorSetOmega(m.pc, PetscReal(1.2)));
    OK(PCSetUp(m.pc));
    EXPECT_TRUE(contains(view_of(m.pc), "residual: by the matrix, because omega is not 1"));
    OK(PCApply(m.pc, m.b, m.x));
    EXPECT_LT(largest(m.b, m.x), rounding);
  }
  {
    MulticolorPC m(grid.A, grid.da), second(grid.A, grid.da);
    for (PC pc : {m.pc, second.pc}) OK(PCMulticolorSetResidual(pc, PETSC_TRUE));
    OK(PCSetUp(m.pc));
    OK(PCSetUp(second.pc)); // takes over
    OK(PCReset(m.pc));
    OK(PCApply(second.pc, m.b, m.x));
    EXPECT_LT(largest(m.b, m.x), rounding);
    EXPECT_EQ(zeros(), 36);
    Mat copy;
    OK(MatDuplicate(grid.A, MAT_COPY_VALUES, &copy));
    OK(MatResidual(copy, m.b, m.x, r));
    OK(MatDestroy(&copy));
  }
  MulticolorPC::fill(b, 1), MulticolorPC::fill(other, 3); // the PCs are gone
  EXPECT_LT(largest(b, other), rounding);
  for (Vec *v : {&b, &r, &expected, &other}) OK(VecDestroy(v));
}

/// Richardson's iteration stops at its tolerance.
TEST_F(PCMulticolorUse, LeavesNormsToRichardson)
{
  const WithoutPhases real;
  const Grid          grid({9, 9}, {1, 1}, 2);
  MulticolorPC        m(grid.A, grid.da);
  KSP                 ksp;
  PetscInt            its;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPRICHARDSON));
  OK(KSPSetPC(ksp, m.pc));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(deactivate_dm(ksp));
  OK(KSPSolve(ksp, m.b, m.x));
  OK(KSPGetIterationNumber(ksp, &its));
  EXPECT_GT(its, 2);
  EXPECT_LT(its, 60);
  EXPECT_LT(relative_residual(grid.A, m.b, m.x), 1e-4);
  OK(KSPDestroy(&ksp));
}

/// A PC that is reused has the old entries. Richardson's iteration is then x += M_old (b - A x), and residuals
/// are those of A.
TEST_F(PCMulticolorUse, ReusedSweepsCorrectResidualsOfTheNewMatrix)
{
  const WithoutPhases real;
  const Grid          grid({9, 8}, {1, 1}, 2);
  MulticolorPC        m(grid.A, grid.da);
  KSP                 ksp;
  Vec                 r, z, expected;
  PetscReal           off;
  OK(PCMulticolorSetResidual(m.pc, PETSC_TRUE));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPRICHARDSON));
  OK(KSPSetNormType(ksp, KSP_NORM_NONE));
  OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  OK(KSPSetPC(ksp, m.pc));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(deactivate_dm(ksp));
  OK(KSPSolve(ksp, m.b, m.x));
  OK(MatShift(grid.A, 1));
  OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  OK(KSPSolve(ksp, m.b, m.x));
  OK(VecDuplicate(m.b, &r));
  OK(VecDuplicate(m.b, &z));
  OK(VecDuplicate(m.b, &expected));
  OK(VecZeroEntries(expected));
  for (int k = 0; k < 3; ++k) {
    OK(MatMult(grid.A, expected, r));
    OK(VecAYPX(r, -1, m.b));
    OK(PCApply(m.pc, r, z));
    OK(VecAXPY(expected, 1, z));
  }
  OK(VecAXPY(expected, -1, m.x));
  OK(VecNorm(expected, NORM_INFINITY, &off));
  EXPECT_LT(off, 100 * PETSC_MACHINE_EPSILON);
  OK(PCApply(m.pc, m.b, m.x));
  OK(MatResidual(grid.A, m.b, m.x, r));
  OK(MatMult(grid.A, m.x, z));
  OK(VecAYPX(z, -1, m.b));
  OK(VecAXPY(z, -1, r));
  OK(VecNorm(z, NORM_INFINITY, &off));
  EXPECT_LT(off, 100 * PETSC_MACHINE_EPSILON);
  for (Vec *v : {&r, &z, &expected}) OK(VecDestroy(v));
  OK(KSPDestroy(&ksp));
}

/// Iterations of multigrid on three levels for a Poisson equation.
PetscInt multigrid_iterations(const std::string &options)
{
  const Grid grid({33, 33}, {1, 1}, 1e-3);
  KSP        ksp;
  Vec        b, x;
  PetscInt   its = -1;
  reset_options(("-pc_type mg -pc_mg_levels 3 -pc_mg_galerkin " + options).c_str());
  const auto solve = [&] {
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetDM(ksp, grid.da));
    OK(deactivate_dm(ksp));
    OK(KSPSetOperators(ksp, grid.A, grid.A));
    OK(KSPSetFromOptions(ksp));
    OK(MatCreateVecs(grid.A, &x, &b));
    MulticolorPC::fill(b, 1);
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetIterationNumber(ksp, &its));
    EXPECT_LT(relative_residual(grid.A, b, x), 1e-4);
    OK(KSPDestroy(&ksp));
    OK(VecDestroy(&b));
    OK(VecDestroy(&x));
  };
  solve();
  reset_options();
  return its;
}

/// The default smoother of multigrid, with the iterations of PCSOR or fewer.
TEST_F(PCMulticolorUse, SmoothsInMultigrid)
{
  const WithoutPhases real;
  const PetscInt      sor = multigrid_iterations("-ksp_type cg");
  EXPECT_GT(sor, 0);
  EXPECT_LE(multigrid_iterations("-ksp_type cg -mg_levels_pc_type multicolor"), sor + 1);
}

TEST_F(PCMulticolorUse, GivesMultigridItsResiduals)
{
  const std::string options = "-ksp_type gmres -mg_levels_ksp_type richardson -mg_levels_pc_type multicolor "
                              "-mg_levels_pc_multicolor_forward -mg_levels_pc_multicolor_residual ";
  const PetscInt    known   = multigrid_iterations(options + "true");
  EXPECT_GT(known, 0);
  EXPECT_EQ(known, multigrid_iterations(options + "false"));
}

} // namespace
