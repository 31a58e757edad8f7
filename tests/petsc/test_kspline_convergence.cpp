// SPDX-License-Identifier: BSD-2-Clause
// Information of KSP line about a solve: reasons, failures, history and monitors, norms and guesses.
#include "kspline_fixture.hpp"

#include <limits>
#include <random>

using namespace test;

namespace {

TEST_F(KSPLine, NeverSaysWhatIsNotSo)
{
  // Seeded lines: dominant, graded over many powers of ten, nearly singular, singular.
  std::mt19937                           random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  int                                    converged = 0, exact = 0, other = 0;
  for (int trial = 0; trial < 24; ++trial) {
    const PetscInt           rows = 1 + static_cast<PetscInt>(random() % 40), lines = 8 * ranks;
    const int                kind = trial % 4;
    std::vector<PetscScalar> entries(static_cast<std::size_t>(rows * lines * 3));
    for (PetscInt l = 0; l < lines; ++l)
      for (PetscInt i = 0; i < rows; ++i) {
        PetscScalar    *e    = &entries[static_cast<std::size_t>(3 * (l * rows + i))];
        const PetscReal size = kind == 1 ? PetscPowReal(10, static_cast<PetscReal>(4 * u(random))) : 1;
        e[0] = u(random), e[2] = u(random) * turned,
        e[1] = PetscAbsScalar(e[0]) + PetscAbsScalar(e[2]) + PetscReal(0.1);
        if (kind >= 2)
          e[0] = e[2] = -1, e[1] = 1 + (i > 0 && i < rows - 1) + (kind == 2 && i == 0 ? PetscReal(1e-3) : 0);
        for (int d = 0; d < 3; ++d) e[d] *= size;
      }
    Mat A = batch(
      rows,
      [&](PetscInt l, PetscInt i, PetscInt step) {
        return entries[static_cast<std::size_t>(3 * (l * rows + i) + step + 1)];
      },
      ranks);
    for (PCLinePrecision precision : {PC_LINE_PRECISION_SAME, PC_LINE_PRECISION_SINGLE}) {
      if (PetscDefined(USE_COMPLEX) && precision == PC_LINE_PRECISION_SINGLE) continue;
      Solver s(A);
      OK(KSPLineSetPrecision(s.ksp, precision));
      const PetscReal rtol = PetscPowReal(10, static_cast<PetscReal>(-1 - static_cast<int>(random() % 16)));
      s.tolerances(rtol);
      const KSPConvergedReason reason = s.solve();
      EXPECT_LE(s.iterations(), 40);
      if (reason == KSP_CONVERGED_HAPPY_BREAKDOWN) {
        ++exact;
        EXPECT_LE(line_backward_error(A, s.b, s.x, rows), 46 * eps) << trial;
        EXPECT_GT(s.residual(), rtol) << trial << "it has the tolerance";
      } else if (reason > 0) {
        ++converged;
        EXPECT_LE(s.residual(), rtol * (1 + 1000 * eps)) << trial;
      } else {
        ++other;
        EXPECT_TRUE(reason == KSP_DIVERGED_BREAKDOWN || reason == KSP_DIVERGED_PC_FAILED)
          << trial << KSPConvergedReasons[reason];
        EXPECT_FALSE(reason == KSP_DIVERGED_PC_FAILED && kind < 2 && precision == PC_LINE_PRECISION_SAME)
          << trial;
        EXPECT_TRUE(kind != 0 || precision == PC_LINE_PRECISION_SINGLE || rtol < 100 * eps) << trial;
      }
    }
    OK(MatDestroy(&A));
  }
  EXPECT_GT(converged, 8);
  EXPECT_GT(exact, PetscDefined(USE_COMPLEX) ? 0 : 3); // half of the trials
  EXPECT_GT(other, 0);
}

TEST_F(KSPLine, FailuresAreSaid)
{
  Grid               singular({8, 3 * ranks}, {1, 0}, 0, true, {1, ranks});
  Solver             f(singular.A);
  const PetscScalar *x;
  PetscInt           rows;
  EXPECT_EQ(f.solve(), KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(f.iterations(), 0) << "there is nothing to iterate with";
  OK(VecGetLocalSize(f.x, &rows));
  OK(VecGetArrayRead(f.x, &x)); // norms of Kokkos vectors ignore NaN
  // The negation includes NaN.
  for (PetscInt r = 0; r < rows; ++r)
    EXPECT_FALSE(PetscAbsScalar(x[r]) < PETSC_MAX_REAL / 10)
      << "never a number that could be taken for an answer";
  OK(VecRestoreArrayRead(f.x, &x));
  EXPECT_EQ(f.info().lines, 0);
  OK(KSPSetNormType(f.ksp, KSP_NORM_NONE));
  EXPECT_EQ(f.solve(), KSP_DIVERGED_PC_FAILED);
  OK(KSPSetNormType(f.ksp, KSP_NORM_UNPRECONDITIONED));
  singular.fill({8, 3 * ranks}, {1, 0}, 1, true);
  EXPECT_EQ(f.solve(), KSP_CONVERGED_RTOL) << "the next set-up is another one";
  EXPECT_EQ(f.info().lines, 3 * ranks);
  PetscInt begin;
  OK(VecGetOwnershipRange(f.b, &begin, nullptr));
  if (rank == ranks - 1) {
    OK(VecSetValue(f.b, begin + 1, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
  }
  OK(VecAssemblyBegin(f.b));
  OK(VecAssemblyEnd(f.b));
  EXPECT_EQ(f.solve(), KSP_DIVERGED_NANORINF);
  EXPECT_EQ(f.info().lines, 0);
  OK(KSPSetErrorIfNotConverged(f.ksp, PETSC_TRUE));
  EXPECT_NE(KSPSolve(f.ksp, f.b, f.x), 0);
}

int  tests = 0, monitors = 0;
bool in_order = true;

PetscErrorCode watch(KSP ksp, PetscInt n, PetscReal, void *)
{
  const PetscReal *history;
  PetscInt         length;
  KSPGetResidualHistory(ksp, &history, &length);
  in_order = in_order && length == n + 1 && monitors == n && tests == n;
  ++monitors;
  return PetscErrorCode(0);
}

PetscErrorCode stop_at_three(KSP, PetscInt n, PetscReal norm, KSPConvergedReason *reason, void *)
{
  in_order = in_order && monitors == n + 1 && tests == n && norm >= 0;
  ++tests;
  *reason = n == 3 ? KSP_CONVERGED_ATOL : KSP_CONVERGED_ITERATING;
  return PetscErrorCode(0);
}

TEST_F(KSPLine, HistoryMonitorsAndTestsInThatOrder)
{
  Grid   grid({12, 2 * ranks}, {1, 0}, 1, false, {1, ranks});
  Solver s(grid.A);
  OK(KSPSetResidualHistory(s.ksp, nullptr, 20, PETSC_TRUE));
  OK(KSPMonitorSet(s.ksp, watch, nullptr, nullptr));
  OK(KSPSetConvergenceTest(s.ksp, stop_at_three, nullptr, nullptr));
  tests = monitors = 0, in_order = true;
  EXPECT_EQ(s.solve(), KSP_CONVERGED_ATOL);
  EXPECT_EQ(s.iterations(), 3) << "a test of the program's own decides alone";
  EXPECT_TRUE(in_order);
  EXPECT_EQ(monitors, 4);
  EXPECT_EQ(tests, 4);
  OK(KSPSetConvergenceTest(s.ksp, KSPConvergedSkip, nullptr, nullptr));
  s.tolerances(1e-5, 5);
  tests = monitors = 0;
  EXPECT_EQ(s.solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(s.iterations(), 5);
}

TEST_F(KSPLine, NormsThatAreNotAskedFor)
{
  Grid   grid({12, 2 * ranks}, {1, 0}, 1, false, {1, ranks}), plane({8, 8}, {1, 1}, 1, false, {1, ranks});
  Solver s(grid.A), p(plane.A, nullptr, plane.da);
  for (const Solver *k : {&s, &p}) OK(KSPSetNormType(k->ksp, KSP_NORM_NONE));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(s.iterations(), 2) << "a solve, and a refinement";
  EXPECT_LT(s.residual(), 10 * eps);
  s.tolerances(1e-5, 1);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(s.iterations(), 1);
  p.tolerances(1e-5, 7);
  EXPECT_EQ(p.solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(p.iterations(), 7);
  const std::string text = s.view(KSPLineView);
  EXPECT_TRUE(contains(text, "no norms are asked for")) << text;
  OK(KSPSetNormType(p.ksp, KSP_NORM_PRECONDITIONED));
  EXPECT_NE(KSPSolve(p.ksp, p.b, p.x), 0) << "there is no such norm";
}

TEST_F(KSPLine, AGoodGuessIsKept)
{
  Grid      grid({12, 2 * ranks}, {1, 0}, 1, false, {1, ranks});
  Solver    s(grid.A);
  Vec       kept;
  PetscBool equal;
  s.tolerances(1e3 * eps);
  s.solve();
  OK(VecDuplicate(s.x, &kept));
  OK(VecCopy(s.x, kept));
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_EQ(s.iterations(), 0);
  OK(VecEqual(s.x, kept, &equal));
  EXPECT_TRUE(equal);
  OK(VecSet(s.x, 1));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_EQ(s.iterations(), 1);
  OK(VecSet(s.b, 0)); // relative to the first residual
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_FALSE));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_ATOL);
  EXPECT_EQ(s.iterations(), 0);
  OK(VecDestroy(&kept));
}

} // namespace
