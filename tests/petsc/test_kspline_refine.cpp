// SPDX-License-Identifier: BSD-2-Clause
// KSP line: refinement in single precision, to the last digit, and with other matrices than that of the PC.
// Also backward errors.
#include "kspline_fixture.hpp"

#include <cmath>

using namespace test;

namespace {

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
  Mat twice; // M is far too large: the iteration diverges
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

/// Residuals in working precision consist of rounding errors here. Refinement with them makes solutions
/// less accurate than those of the PC.
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
    // x is an integer on each line, so that b = A x = x and its product are exact.
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

/// The same for the columns of a dense matrix. One column meets the tolerance from the start.
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
    OK(MatAXPY(X, -1, B, SAME_NONZERO_PATTERN)); // A x = x if x is constant along each line
    OK(MatNorm(X, NORM_FROBENIUS, &error));
    EXPECT_LE(error, 1e3 * eps);
    PetscReal worst;
    EXPECT_NE(static_cast<int>(KSPLineGetBackwardError(s.ksp, &worst, nullptr)), 0) << "of KSPSolve() alone";
  }
  OK(MatDestroy(&X));
  OK(MatDestroy(&B));
  OK(MatDestroy(&A));
}

/// Lines with rows of other ranks, blocks and multiples of a matrix: residuals contain all entries of the
/// matrix.
TEST_F(KSPLine, ResidualsOfEveryKindOfMatrix)
{
  PetscReal  worst;
  PetscInt   row;
  const auto check = [&](Solver &s, const char *what) {
    for (bool transposed : {false, true}) {
      s.tolerances(1e-30); // refines until the residual stagnates
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

} // namespace
