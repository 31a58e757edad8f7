// SPDX-License-Identifier: BSD-2-Clause
// Matrices that PC line cannot factor.
#include "fixture.hpp"
#include "warnings.hpp"

#include <cmath>
#include <limits>

using namespace test;

namespace {

class PCLineFailures : public Petsc { };

/// Solves with a KSP whose matrix has one bad row on the last rank; all ranks see one reason;
/// afterwards a good matrix works.
void expect_failure(PetscMPIInt ranks, PetscMPIInt rank, PetscScalar bad, PCFailedReason expected,
                    const std::string &text)
{
  const std::vector<PetscInt> n = {3 * ranks, 9};
  Grid                        grid(n, {0, 2}, 1, false, {ranks, 1});
  Line                        vectors(grid.A);
  KSP                         ksp;
  PC                          pc;
  KSPConvergedReason          reason;
  PetscInt                    begin, end;
  auto                        spoil = [&] {
    MatGetOwnershipRange(grid.A, &begin, &end);
    if (rank == ranks - 1) MatSetValue(grid.A, begin, begin, bad, INSERT_VALUES);
    MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY);
  };
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCLineSetAlgorithm(pc, PC_LINE_ALGORITHM_THOMAS)); // auto would solve a regular matrix with a zero pivot
  spoil();
  OK(KSPSolve(ksp, vectors.b, vectors.x));
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(failed_reason(pc), expected);
  grid.fill(n, {0, 2}, 1);
  OK(KSPSolve(ksp, vectors.b, vectors.x));
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
  EXPECT_EQ(failed_reason(pc), PC_NOERROR);
  spoil();
  OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  EXPECT_NE(KSPSolve(ksp, vectors.b, vectors.x), 0);
  EXPECT_TRUE(contains(last_error(), text)) << last_error();
  EXPECT_NE(PCApply(pc, vectors.b, vectors.x), 0) << "on every rank";
  EXPECT_NE(PCLineGetInfo(pc, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), 0) << "on every rank";
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineFailures, AZeroPivotOnOneRank)
{
  expect_failure(ranks, rank, 0, PC_FACTOR_NUMERIC_ZEROPIVOT, "PC line: zero pivot in row ");
}

TEST_F(PCLineFailures, ANaNOnOneRank)
{
  expect_failure(ranks, rank, std::numeric_limits<PetscReal>::quiet_NaN(), PC_FACTOR_OTHER,
                 "has an entry that is not a finite number");
}

/// Coarse matrices of smoothed aggregation can contain rows of zeros. Lines with a shift are solved.
TEST_F(PCLineFailures, RowsOfZeros)
{
  Grid        grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
  Line        line(grid.A, grid.da);
  PetscScalar value = 0;
  PetscInt    begin, n;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  const PetscInt        row = begin;
  std::vector<PetscInt> columns;
  const PetscInt       *stored;
  OK(MatGetRow(grid.A, row, &n, &stored, nullptr));
  if (rank == ranks - 1) columns.assign(stored, stored + n);
  OK(MatRestoreRow(grid.A, row, &n, &stored, nullptr));
  for (PetscInt column : columns) OK(MatSetValues(grid.A, 1, &row, 1, &column, &value, INSERT_VALUES));
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  EXPECT_TRUE(contains(line.view(), "the matrix has rows of zeros (1, row ")) << line.view();
  EXPECT_TRUE(contains(line.view(), "-pc_line_shift_type nonzero solves them")) << line.view();
  OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_NONZERO));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
}

TEST_F(PCLineFailures, AnEntryThatIsNotFiniteIsAWarningOnce) // SNES and TS drop the reason
{
  Grid     grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
  Line     line(grid.A, grid.da);
  Warnings warnings;
  PetscInt begin;
  OK(PCSetOptionsPrefix(line.pc, "infinite_"));
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  for (int time = 0; time < 2; ++time) {
    const PetscInt row = begin + time;
    if (rank == ranks - 1) {
      OK(MatSetValue(grid.A, row, row, std::numeric_limits<PetscReal>::infinity(), INSERT_VALUES));
    }
    OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_OTHER);
    const std::string text = warnings.take();
    if (rank > 0 || time > 0) {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_TRUE(contains(text, "WARNING! PC line: row ")) << text;
      EXPECT_TRUE(contains(text, " has an entry that is not a finite number\n")) << text;
    }
  }
}

TEST_F(PCLineFailures, AnEntryOffTheLinesThatIsNotFiniteEndsTheSolve)
{
  Grid               grid({3 * ranks, 9}, {1, 2}, 1, false, {ranks, 1});
  Line               line(grid.A, grid.da);
  KSP                ksp;
  KSPConvergedReason reason;
  PetscInt           begin;
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y));
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  if (rank == ranks - 1) {
    OK(MatSetValue(grid.A, begin, begin + 1, std::numeric_limits<PetscReal>::infinity(), INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPSetPC(ksp, line.pc));
  OK(KSPSolve(ksp, line.b, line.x));
  EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_EQ(reason, KSP_DIVERGED_NANORINF);
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineFailures, RankZeroShowsWhatAnotherRankFound)
{
  Grid     grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
  Line     line(grid.A, grid.da);
  PetscInt begin;
  OK(PCLineSetAlgorithm(line.pc, PC_LINE_ALGORITHM_THOMAS));
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  if (rank == ranks - 1) {
    OK(MatSetValue(grid.A, begin, begin, 0, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "failed: PC line: zero pivot in row ")) << line.view();
}

TEST_F(PCLineFailures, PivotsThatAreSmallInTheirColumnsAreSolvedTransposed)
{
  const PetscReal tiny = PETSC_MACHINE_EPSILON; // a pivot as large as its row, not as its column
  Mat             A    = matrix(
                   2 * ranks,
                   [&](PetscInt r, PetscInt c) -> PetscScalar {
      return r < 2 * ranks - 2 ? (r == c ? 4 : -1) : r % 2 == 0 ? tiny : r == c ? 5 : 1;
    },
                   [](PetscInt r, PetscInt c) { return r / 2 == c / 2; }, 2);
  {
    Line line(A);
    OK(PCLineSetAlgorithm(line.pc, PC_LINE_ALGORITHM_THOMAS));
    OK(PCApply(line.pc, line.b, line.x));
    EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
    OK(PCApplyTranspose(line.pc, line.b, line.x));
    EXPECT_LT(line.residual(A, true), 1e-13) << "units of equations are those of the transposed unknowns";
    OK(MatShift(A, 1));
    OK(PCLineSetZeroPivot(line.pc, 0.6)); // a limit that rows pass and columns do not
    EXPECT_LT(line.residual(A, true), 1e-13);
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineFailures, OfABatchTheOtherLinesAreSolvedAndTheFailedOneIsListed)
{
  Grid               grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
  Line               line(grid.A, grid.da);
  Mat                B, X;
  const PetscScalar *x;
  PetscInt           begin, rows, lda;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  if (rank == 0) {
    OK(MatSetValue(grid.A, begin, begin, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  OK(PCMatApply(line.pc, B, X));
  OK(MatDenseGetLDA(X, &lda));
  OK(MatDenseGetArrayRead(X, &x));
  for (PetscInt c = 0; c < 3; ++c)
    for (PetscInt r = 0; r < rows; ++r) {
      const bool failed = rank == 0 && r % 3 == 0; // the first line along y of three
      if (failed) EXPECT_TRUE(PetscIsNanScalar(x[c * lda + r])) << c << " " << r;
      else EXPECT_EQ(x[c * lda + r], PetscScalar(0)) << c << " " << r;
    }
  OK(MatDenseRestoreArrayRead(X, &x));
  EXPECT_TRUE(contains(line.view(), "not a finite number")) << line.view();
  EXPECT_TRUE(contains(line.view(), "not solved: 1 lines or classes")) << line.view();
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
}

TEST_F(PCLineFailures, OfAllLinesTheViewNamesNoOthers)
{
  Grid     grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
  Line     line(grid.A, grid.da);
  PetscInt begin;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  for (PetscInt r = begin; r < begin + 3; ++r)
    OK(MatSetValue(grid.A, r, r, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "not solved: " + std::to_string(3 * ranks) + " lines or classes"))
    << line.view();
  EXPECT_FALSE(contains(line.view(), "the others are solved")) << line.view();
}

TEST_F(PCLineFailures, WithoutAProbeTheViewPrintsNoAccuracy)
{
  Grid grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1}); // lines that share a matrix have no certificate
  Line line(grid.A, grid.da);
  OK(PCLineSetProbe(line.pc, PC_LINE_PROBE_NEVER));
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "accuracy not known (-pc_line_probe never)")) << line.view();
  EXPECT_TRUE(contains(line.view(), "condition not estimated (-pc_line_probe never)")) << line.view();
  EXPECT_FALSE(contains(line.view(), "nan")) << line.view();
}

/// Lines along x of three rows and more on every rank, the second of which is made singular, or
/// has NaN where `bad` is that.
void expect_others_solved(PetscMPIInt ranks, PetscScalar bad, bool krylov)
{
  Grid               grid({5, 3 * ranks}, {1, 0}, 1, false, {1, ranks});
  Line               line(grid.A, grid.da);
  KSP                ksp;
  PC                 pc;
  Vec                b;
  KSPConvergedReason reason;
  const PetscScalar *x, *expected;
  PetscInt           begin, rows;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(PCApply(line.pc, line.b, line.x)); // of the regular matrix
  for (PetscInt c = 0; c < 5; ++c) {
    const PetscInt row = begin + 7, column = begin + 5 + c;
    if (PetscAbsInt(row - column) > 1) continue;
    OK(MatSetValue(grid.A, row, column, bad, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, krylov ? KSPLINE : KSPPREONLY));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCSetDM(pc, grid.da));
  OK(VecDuplicate(line.b, &b));
  OK(KSPSolve(ksp, line.b, b));
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
  OK(VecGetArrayRead(b, &x));
  OK(VecGetArrayRead(line.x, &expected));
  for (PetscInt r = 0; r < rows; ++r) {
    if (r / 5 == 1) {
      EXPECT_TRUE(PetscIsNanScalar(x[r])) << r;
    } else {
      EXPECT_LT(PetscAbsScalar(x[r] - expected[r]), 1e-12) << r;
    }
  }
  OK(VecRestoreArrayRead(line.x, &expected));
  OK(VecRestoreArrayRead(b, &x));
  OK(VecDestroy(&b));
  OK(KSPDestroy(&ksp));
}

/// What -ksp_converged_reason would print.
PetscErrorCode keep_reason(KSP ksp, void *seen)
{
  return KSPGetConvergedReason(ksp, static_cast<KSPConvergedReason *>(seen));
}

TEST_F(PCLineFailures, KSPSeesTheFailureOfAllLinesBeforeItPrints)
{
  Grid               grid({5, 3 * ranks}, {1, 0}, 1, false, {1, ranks});
  Line               line(grid.A, grid.da);
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason seen = KSP_CONVERGED_ITERATING;
  PetscReal          size;
  OK(MatZeroEntries(grid.A));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCSetDM(pc, grid.da));
  OK(KSPConvergedReasonViewSet(ksp, keep_reason, &seen, nullptr));
  OK(KSPSolve(ksp, line.b, line.x));
  EXPECT_EQ(seen, KSP_DIVERGED_PC_FAILED);
  OK(VecNorm(line.x, NORM_INFINITY, &size));
  EXPECT_FALSE(std::isfinite(size)) << "no number that looks like a solution";
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineFailures, TheOtherLinesOfEveryRankAreSolved)
{
  for (const PetscReal bad : {PetscReal(0), std::numeric_limits<PetscReal>::quiet_NaN()})
    for (const bool krylov : {false, true}) expect_others_solved(ranks, bad, krylov);
}

TEST_F(PCLineFailures, NaNIsNoDifferenceBetweenLinesThatShare)
{
  for (const PetscReal tolerance : {0., 0.1}) {
    Grid     grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
    Line     line(grid.A, grid.da);
    PetscInt begin;
    OK(PCLineSetLhs(line.pc, PC_LINE_LHS_SHARED));
    OK(PCLineSetLhsTol(line.pc, tolerance));
    OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
    if (rank == ranks - 1) {
      OK(MatSetValue(grid.A, begin, begin, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
    }
    OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_OTHER);
    EXPECT_TRUE(contains(line.view(), "has an entry that is not a finite number")) << line.view();
  }
}

TEST_F(PCLineFailures, ARoundingSizePivotDependsOnTheTolerance)
{
  Grid grid({2 * ranks, 16}, {0, 1}, 0, true, {ranks, 1}); // periodic Laplacian: singular
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  EXPECT_TRUE(contains(line.view(), "failed: PC line: zero pivot")) << line.view();
  grid.fill({2 * ranks, 16}, {0, 1}, 1e-6, true);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
  OK(PCLineSetZeroPivot(line.pc, 1e-3));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
}

TEST_F(PCLineFailures, AMatrixThatNeedsPivotingIsSolvedOrRefused) // one rank: one rank shows it
{
  Mat A = matrix(
    256, [](PetscInt r, PetscInt c) { return r == c  ? 1
                                             : r > c ? -1e4
                                                     : 1e4; },
    [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; });
  {
    Line line(A);
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
    EXPECT_TRUE(contains(line.view(), "algorithm: pivoted")) << line.view();
    EXPECT_LE(line.residual(A), 1e-12);
    EXPECT_LE(line.residual(A, true), 1e-12);
    OK(PCLineSetAlgorithm(line.pc, PC_LINE_ALGORITHM_ONE_PASS));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_OTHER);
    EXPECT_TRUE(contains(line.view(), "is inaccurate with algorithm one_pass")) << line.view();
  }
  OK(MatDestroy(&A));
}

} // namespace
