// SPDX-License-Identifier: BSD-2-Clause
// KSP line: batches that are solved line by line. Converged lines do not change.
#include "kspline_fixture.hpp"

using namespace test;

namespace {

TEST_F(KSPLine, SolvesABatchOnce)
{
  for (PetscBool periodic : {PETSC_FALSE, PETSC_TRUE}) {
    Grid   grid({16, 4 * ranks}, {3, 0}, 0.5, periodic, {1, ranks});
    Solver s(grid.A);
    EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
    EXPECT_EQ(s.iterations(), 1);
    EXPECT_LT(s.residual(), 50 * eps);
    const auto info = s.info();
    EXPECT_EQ(info.lines, 4 * ranks);
    EXPECT_EQ(info.refined, 0);
    EXPECT_EQ(info.open, 0);
    EXPECT_LT(info.worst, 50 * eps);
    EXPECT_EQ(s.solve(true), KSP_CONVERGED_RTOL);
    EXPECT_LT(s.residual(true), 50 * eps);
    EXPECT_EQ(s.info().lines, 4 * ranks);
  }
}

TEST_F(KSPLine, LinesThatAreDoneAreLeftAlone)
{
  // Every second line is solved. The others have a right-hand side that is negligible in the norm.
  Mat A = batch(
    20, [](PetscInt, PetscInt, PetscInt step) { return poisson(step, 0.3); }, ranks);
  Solver                   s(A);
  PetscInt                 begin, end;
  std::vector<PetscScalar> before;
  s.tolerances(100 * eps);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  OK(VecGetOwnershipRange(s.b, &begin, &end));
  PetscScalar *b, *x;
  OK(VecGetArray(s.b, &b));
  OK(VecGetArray(s.x, &x));
  for (PetscInt r = begin; r < end; ++r)
    if (r / 20 % 2 == 1) b[r - begin] *= eps * eps, x[r - begin] = 0;
  before.assign(x, x + (end - begin));
  OK(VecRestoreArray(s.x, &x));
  OK(VecRestoreArray(s.b, &b));
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  EXPECT_LT(s.residual(), 100 * eps);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_GE(s.iterations(), 1) << "half of the lines are not solved";
  const PetscScalar *y;
  OK(VecGetArrayRead(s.x, &y));
  for (PetscInt r = begin; r < end; ++r)
    if (r / 20 % 2 == 0) {
      ASSERT_EQ(y[r - begin], before[static_cast<std::size_t>(r - begin)]);
    } else {
      ASSERT_NE(y[r - begin], PetscScalar(0));
    }
  OK(VecRestoreArrayRead(s.x, &y));
  const auto info = s.info();
  EXPECT_EQ(info.lines, 8 * ranks);
  EXPECT_EQ(info.open, 0);
  EXPECT_LT(info.worst, 100 * eps);
  const std::string text = s.view(KSPLineView);
  EXPECT_TRUE(contains(text, "left alone " + std::to_string(4 * ranks) + ";")) << text;
  OK(KSPSetConvergenceTest(
    s.ksp,
    [](KSP, PetscInt, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
      *reason = KSP_CONVERGED_ATOL;
      return PetscErrorCode(0);
    },
    nullptr, nullptr));
  OK(VecScale(s.x, 2));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_ATOL) << "the test of a program has the last word";
  EXPECT_EQ(s.iterations(), 0);
  OK(MatDestroy(&A));
}

TEST_F(KSPLine, DoneLinesAreRefinedWhereTheNormAsksForMore)
{
  // One peak per line. A residual of many small entries meets the tolerance of the line but not that of the
  // norm.
  Mat A = batch(
    100, [](PetscInt, PetscInt, PetscInt step) { return poisson(step, 0.01); }, ranks);
  Solver   s(A);
  Vec      noise;
  PetscInt begin, end;
  OK(VecGetOwnershipRange(s.b, &begin, &end));
  OK(VecDuplicate(s.b, &noise));
  OK(VecCopy(s.b, noise));
  OK(VecSet(s.b, 0));
  for (PetscInt r = begin; r < end; ++r)
    if (r % 100 == 50) {
      OK(VecSetValue(s.b, r, 1, INSERT_VALUES));
    }
  OK(VecAssemblyBegin(s.b));
  OK(VecAssemblyEnd(s.b));
  const PetscReal rtol = 1e6 * eps;
  s.tolerances(rtol);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  OK(VecAXPY(s.x, rtol / 5, noise)); // adds at most 4 + shift times this to the residual
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_EQ(s.iterations(), 1);
  EXPECT_LT(s.residual(), rtol);
  OK(VecDestroy(&noise));
  OK(MatDestroy(&A));
}

} // namespace
