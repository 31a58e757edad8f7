// SPDX-License-Identifier: BSD-2-Clause
// KSP line: batches solved and refined line by line, and what the KSP says of it.
#include "kspline_fixture.hpp"

#include <cmath>
#include <limits>
#include <random>

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
  // every second line is solved, the others have a right-hand side that the norm does not see
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
  // one peak a line: a residual of many small numbers is within the tolerance of the line,
  // and beyond that of the norm
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
  OK(VecAXPY(s.x, rtol / 5, noise)); // 4 + shift times that in the residual at most
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_EQ(s.iterations(), 1);
  EXPECT_LT(s.residual(), rtol);
  OK(VecDestroy(&noise));
  OK(MatDestroy(&A));
}

TEST_F(KSPLine, NeverSaysWhatIsNotSo)
{
  // seeded lines: dominant, graded over many powers of ten, nearly singular, singular
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

TEST_F(KSPLine, SinglePrecisionIsRefined)
{
  if (!std::is_same_v<PetscScalar, double>) GTEST_SKIP() << "no shorter numbers";
  for (PetscReal size : {1., 1e-200, 1e200}) // beyond the range of single precision
    for (PetscInt distinct : {0, 1}) {
      Mat A = batch(
        30,
        [&](PetscInt l, PetscInt, PetscInt step) {
          return size * poisson(step, 0.3 + 0.01 * static_cast<PetscReal>(distinct * l));
        },
        ranks);
      Solver          same(A), s(A);
      PetscReal       here, there;
      PCLinePrecision precision;
      same.solve();
      OK(KSPLineSetPrecision(s.ksp, PC_LINE_PRECISION_SINGLE));
      OK(KSPLineGetPrecision(s.ksp, &precision));
      EXPECT_EQ(precision, PC_LINE_PRECISION_SINGLE);
      s.tolerances(1e-14);
      EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
      EXPECT_GT(s.iterations(), 1);
      EXPECT_LE(s.iterations(), 4);
      EXPECT_LT(s.residual(), 1e-14);
      EXPECT_EQ(s.info().refined, 8 * ranks);
      PetscLogDouble bytes, half;
      OK(PCLineGetInfo(same.pc, nullptr, nullptr, nullptr, nullptr, nullptr, &bytes));
      OK(PCLineGetInfo(s.pc, nullptr, nullptr, nullptr, nullptr, nullptr, &half));
      EXPECT_LT(half, 0.7 * bytes);
      s.tolerances(1e-4); // one solve is enough
      EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
      EXPECT_EQ(s.iterations(), 1);
      EXPECT_GT(s.residual(), 1e-12);
      EXPECT_EQ(s.solve(true), KSP_CONVERGED_RTOL);
      EXPECT_LT(s.residual(true), 1e-4);
      OK(VecNorm(same.x, NORM_INFINITY, &here));
      OK(VecNorm(s.x, NORM_INFINITY, &there));
      EXPECT_NEAR(there / here, 1, 1e-4);
      OK(PCLineSetPrecision(s.pc, PC_LINE_PRECISION_SAME)); // the next solve sets up again
      EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
      EXPECT_LT(s.residual(), 1e-14);
      OK(MatDestroy(&A));
    }
}

TEST_F(KSPLine, EndsWhereNothingIsGained)
{
  Grid   grid({50, 2 * ranks}, {1, 0}, 1e-3, false, {1, ranks});
  Solver s(grid.A);
  s.tolerances(eps * eps);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_HAPPY_BREAKDOWN) << "the answer is as good as it gets";
  EXPECT_LE(s.iterations(), 6);
  EXPECT_LT(s.residual(), 1e4 * eps);
  EXPECT_EQ(s.info().open, 2 * ranks);
  EXPECT_TRUE(contains(s.view(KSPLineView), "exact but for rounding"));
  s.tolerances(eps * eps, 1);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_HAPPY_BREAKDOWN) << "already after one solve";
  Grid   plane({8, 8}, {1, 1}, 0.5, false, {1, ranks}); // lines couple: Richardson's iteration
  Solver p(plane.A, nullptr, plane.da);
  OK(PCLineSetDirection(p.pc, PC_LINE_DIRECTION_X));
  p.tolerances(1e-5);
  EXPECT_EQ(p.solve(), KSP_CONVERGED_RTOL);
  EXPECT_GT(p.iterations(), 20);
  EXPECT_LE(p.residual(), 1e-5);
  EXPECT_EQ(p.info().lines, 0) << "the PC is not the inverse of lines";
  p.tolerances(1e-5, 10);
  EXPECT_EQ(p.solve(), KSP_DIVERGED_ITS);
  EXPECT_EQ(p.iterations(), 10);
  p.tolerances(1e-3 * eps, 10000);
  EXPECT_EQ(p.solve(), KSP_DIVERGED_BREAKDOWN);
  EXPECT_LT(p.iterations(), 1000);
  Mat twice; // M is too large by far: the iteration diverges
  OK(MatDuplicate(plane.A, MAT_COPY_VALUES, &twice));
  OK(MatScale(twice, 3));
  Solver d(twice, plane.A, plane.da);
  EXPECT_EQ(d.solve(), KSP_DIVERGED_DTOL);
  OK(MatDestroy(&twice));
}

namespace {

/// I + lambda D2^T D2 on each line: Whittaker's smoother, with a condition number of about 20 lambda.
PetscScalar whittaker(PetscInt rows, PetscReal lambda, PetscInt i, PetscInt step)
{
  const PetscReal edge[3][3] = {{1, -2, 1}, {-2, 5, -4}, {1, -4, 6}};
  const PetscInt  a = PetscMin(i, i + step), z = rows - 1 - PetscMax(i, i + step), far = std::abs(step);
  const PetscInt  k = PetscMin(PetscMin(a, z), 2);
  const PetscReal d = far == 0 ? edge[k][k] : far == 2 ? 1 : k == 0 ? -2 : -4;
  return lambda * d + (step == 0 ? 1 : 0);
}

PetscReal difference_of(Vec x, Vec y)
{
  Vec       d;
  PetscReal norm, size;
  VecDuplicate(x, &d);
  VecWAXPY(d, -1, x, y);
  VecNorm(d, NORM_INFINITY, &norm), VecNorm(y, NORM_INFINITY, &size);
  VecDestroy(&d);
  return norm / size;
}

} // namespace

/// Residuals of working precision are all rounding here: refinement by them lost the digits that the PC has.
TEST_F(KSPLine, RefinesToTheLastDigitAndNotAway)
{
  if (sizeof(PetscReal) < 8) GTEST_SKIP() << "the condition number is for double precision";
  const PetscInt rows = 20, lines = 8 * ranks;
  const auto in_line = [=](PetscInt r, PetscInt c) { return r / rows == c / rows && std::abs(r - c) <= 2; };
  Mat        A       = matrix(
                 rows * lines, [=](PetscInt r, PetscInt c) { return whittaker(rows, 1e11, r % rows, c - r); }, in_line,
                 8 * rows);
  for (bool transposed : {false, true}) {
    Solver s(A), once(A);
    Vec    known, product;
    OK(VecDuplicate(s.b, &known));
    OK(VecDuplicate(s.b, &product));
    // b = A x where x is a whole number on each line, so that b and its product are exact: b = x
    PetscInt begin, end;
    OK(VecGetOwnershipRange(known, &begin, &end));
    for (PetscInt r = begin; r < end; ++r)
      OK(VecSetValue(known, r, static_cast<PetscReal>(1 + r / rows), INSERT_VALUES));
    OK(VecAssemblyBegin(known));
    OK(VecAssemblyEnd(known));
    OK(VecCopy(known, s.b));
    OK(VecCopy(known, once.b));
    OK(KSPSetType(once.ksp, KSPPREONLY));
    once.solve(transposed);
    const PetscReal direct = difference_of(once.x, known);
    for (KSPNormType norm : {KSP_NORM_UNPRECONDITIONED, KSP_NORM_NONE}) {
      OK(KSPSetNormType(s.ksp, norm));
      s.tolerances(1e-12);
      const KSPConvergedReason reason = s.solve(transposed);
      EXPECT_GT(static_cast<int>(reason), 0) << KSPConvergedReasons[reason];
      const PetscReal refined = difference_of(s.x, known);
      EXPECT_LE(refined, PetscMax(2 * direct, 2 * eps)) << transposed << norm;
      EXPECT_LE(refined, 1e2 * eps) << "two refinements in doubled precision, contraction 1e-3; direct "
                                    << direct;
    }
    OK(VecDestroy(&known));
    OK(VecDestroy(&product));
  }
  OK(MatDestroy(&A));
}

/// The same of the columns of a dense matrix, one of which has the tolerance from the start.
TEST_F(KSPLine, RefinesColumnsToTheLastDigit)
{
  if (sizeof(PetscReal) < 8) GTEST_SKIP() << "the condition number is for double precision";
  const PetscInt rows = 20, lines = 8 * ranks, columns = 3;
  const auto in_line = [=](PetscInt r, PetscInt c) { return r / rows == c / rows && std::abs(r - c) <= 2; };
  Mat        A       = matrix(
                 rows * lines, [=](PetscInt r, PetscInt c) { return whittaker(rows, 1e11, r % rows, c - r); }, in_line,
                 8 * rows);
  Solver   s(A);
  Mat      B, X;
  PetscInt m;
  OK(VecGetLocalSize(s.b, &m));
  OK(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, columns, nullptr, &B));
  for (PetscInt c = 0; c < columns; ++c) {
    Vec b;
    OK(MatDenseGetColumnVecWrite(B, c, &b));
    OK(VecSet(b, static_cast<PetscReal>(c == 1 ? 0 : c + 1)));
    OK(MatDenseRestoreColumnVecWrite(B, c, &b));
  }
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  for (KSPNormType norm : {KSP_NORM_UNPRECONDITIONED, KSP_NORM_NONE}) {
    KSPConvergedReason reason;
    PetscReal          error;
    OK(KSPSetNormType(s.ksp, norm));
    s.tolerances(1e-12);
    OK(KSPMatSolve(s.ksp, B, X));
    OK(KSPGetConvergedReason(s.ksp, &reason));
    EXPECT_GT(static_cast<int>(reason), 0) << KSPConvergedReasons[reason];
    OK(MatAXPY(X, -1, B, SAME_NONZERO_PATTERN)); // A x = x where x is the same all along a line
    OK(MatNorm(X, NORM_FROBENIUS, &error));
    EXPECT_LE(error, 1e3 * eps);
    PetscReal worst;
    EXPECT_NE(static_cast<int>(KSPLineGetBackwardError(s.ksp, &worst, nullptr)), 0) << "of KSPSolve() alone";
  }
  OK(MatDestroy(&X));
  OK(MatDestroy(&B));
  OK(MatDestroy(&A));
}

/// Lines with rows of other ranks, blocks and multiples of a matrix: residuals have all their entries.
TEST_F(KSPLine, ResidualsOfEveryKindOfMatrix)
{
  PetscReal  worst;
  PetscInt   row;
  const auto check = [&](Solver &s, const char *what) {
    for (bool transposed : {false, true}) {
      s.tolerances(1e-30); // refines to the end
      EXPECT_GT(static_cast<int>(s.solve(transposed)), 0) << what;
      OK(KSPLineGetBackwardError(s.ksp, &worst, &row));
      EXPECT_LE(worst, 2 * eps) << what << transposed;
      EXPECT_LT(s.residual(transposed), 1e3 * eps) << what << transposed;
    }
  };
  Grid cut({16 * ranks, 3}, {1, 0}, 0.5, false, {ranks, 1});
  {
    Solver s(cut.A, nullptr, cut.da);
    OK(PCLineSetDirection(s.pc, PC_LINE_DIRECTION_X));
    check(s, "cut lines");
  }
  Grid line({10, ranks}, {1, 0}, 1, false, {1, ranks});
  Mat  other;
  OK(MatCreateMAIJ(line.A, 3, &other));
  {
    Solver s(other);
    check(s, "three vectors of a product");
  }
  OK(MatDestroy(&other));
  if (ranks == 1) {
    OK(MatConvert(line.A, MATBAIJ, MAT_INITIAL_MATRIX, &other));
    Solver s(other);
    check(s, "blocks");
    OK(MatDestroy(&other));
  }
}

TEST_F(KSPLine, ComponentwiseBackwardErrorOnRequest)
{
  const PetscInt rows = 20, wrong = 20 * (8 * ranks - 1) + 7; // on the last rank
  Mat            A = batch(
               rows, [](PetscInt, PetscInt, PetscInt step) { return poisson(step, 0.3); }, ranks);
  Solver    s(A);
  PetscReal worst;
  PetscInt  row;
  EXPECT_NE(static_cast<int>(KSPLineGetBackwardError(s.ksp, &worst, &row)), 0);
  EXPECT_TRUE(contains(last_error(), "call KSPSolve() first")) << last_error();
  s.solve();
  OK(KSPLineGetBackwardError(s.ksp, &worst, &row));
  EXPECT_LT(worst, 50 * eps);
  OK(VecSet(s.x, 1)); // |r| and |A| |x| + |b| are known
  OK(VecSet(s.b, 0.3));
  if (rank == ranks - 1) {
    OK(VecSetValue(s.x, wrong, 1 + 1e-3, INSERT_VALUES));
  }
  OK(VecAssemblyBegin(s.x));
  OK(VecAssemblyEnd(s.x));
  OK(KSPLineGetBackwardError(s.ksp, &worst, &row));
  if (!PetscDefined(USE_COMPLEX)) { // others have phases
    const PetscReal edge = std::abs(0.3 - 1.3) / (2.3 + 1 + 0.3);
    EXPECT_NEAR(worst, edge, 1e-12) << "the first row of a line has one neighbour";
  }
  const std::string text = printed([&](PetscViewer viewer) {
    PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL);
    KSPLineView(s.ksp, viewer);
    PetscViewerPopFormat(viewer);
  });
  EXPECT_TRUE(contains(text, "componentwise backward error: ")) << text;
  EXPECT_TRUE(contains(text, "lines of each power of ten: 1e-1: " + std::to_string(8 * ranks)) ||
              PetscDefined(USE_COMPLEX))
    << text;
  EXPECT_FALSE(contains(s.view(KSPLineView), "componentwise")) << "on request alone";
  OK(KSPSetType(s.ksp, KSPGMRES));
  EXPECT_NE(static_cast<int>(KSPLineGetBackwardError(s.ksp, &worst, &row)), 0);
  OK(MatDestroy(&A));
}

TEST_F(KSPLine, RefinesWithAmat)
{
  Grid lines({16, 4 * ranks}, {4, 0}, 1, false, {1, ranks}),
    plane({16, 4 * ranks}, {4, 0.1}, 1, false, {1, ranks});
  Solver s(plane.A, lines.A);
  s.tolerances(1e4 * eps);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_GT(s.iterations(), 2);
  EXPECT_LT(s.residual(), 1.01e4 * eps);
  EXPECT_EQ(s.info().lines, 0);
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
  OK(VecGetArrayRead(f.x, &x)); // Kokkos vectors leave NaN out of their norms
  // NaN, too
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
