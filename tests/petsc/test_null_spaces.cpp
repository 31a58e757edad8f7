// SPDX-License-Identifier: BSD-2-Clause
// Treatment of singular lines, and null spaces.
#include "fixture.hpp"

#include <limits>

using namespace test;

namespace {

class PCLineNullSpaces : public Petsc {
  const WithoutPhases real;
};

constexpr PetscReal small = 1000 * PETSC_MACHINE_EPSILON;

/// Changes the diagonal so that every row sums to zero. With `scaled` it then multiplies rows by different
/// factors.
void make_singular(Mat A, bool scaled = false)
{
  Vec      ones, sums;
  PetscInt begin, end;
  MatCreateVecs(A, &ones, &sums);
  VecSet(ones, 1);
  MatMult(A, ones, sums);
  VecScale(sums, -1);
  MatDiagonalSet(A, sums, ADD_VALUES);
  if (scaled) {
    VecGetOwnershipRange(sums, &begin, &end);
    for (PetscInt r = begin; r < end; ++r)
      VecSetValue(sums, r, static_cast<PetscScalar>(PetscReal(1 + r % 7)), INSERT_VALUES);
    VecAssemblyBegin(sums), VecAssemblyEnd(sums);
    MatDiagonalScale(A, sums, nullptr);
  }
  VecDestroy(&ones), VecDestroy(&sums);
}

/// Largest absolute sum of x over one line. A line consists of the local rows with equal line_of.
PetscReal largest_mean(Vec x, const std::function<PetscInt(PetscInt)> &line_of)
{
  const PetscScalar                            *a;
  PetscInt                                      n;
  std::vector<std::pair<PetscInt, PetscScalar>> sums;
  PetscReal                                     largest = 0, all = 0;
  VecGetLocalSize(x, &n);
  VecGetArrayRead(x, &a);
  for (PetscInt i = 0; i < n; ++i) {
    const auto l = static_cast<std::size_t>(line_of(i));
    if (sums.size() <= l) sums.resize(l + 1);
    sums[l].first++, sums[l].second += a[i];
  }
  VecRestoreArrayRead(x, &a);
  for (const auto &s : sums)
    if (s.first > 0) largest = std::max(largest, PetscAbsScalar(s.second) / static_cast<PetscReal>(s.first));
  MPIU_Allreduce(&largest, &all, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  return all;
}

/// Size of A^H (b - A x) relative to its rounding errors. It is zero for solutions of least squares.
PetscReal least_squares(Mat A, const Line &line)
{
  Vec       g;
  PetscReal norm, size, right, entries;
  VecDuplicate(line.b, &g);
  MatMult(A, line.x, line.r);
  VecAYPX(line.r, -1, line.b);
  MatMultHermitianTranspose(A, line.r, g);
  VecNorm(g, NORM_2, &norm), VecNorm(line.x, NORM_2, &size), VecNorm(line.b, NORM_2, &right);
  MatNorm(A, NORM_INFINITY, &entries);
  VecDestroy(&g);
  return norm / (entries * (entries * size + right));
}

/// Replaces b by A b, which is consistent.
void make_consistent(Mat A, const Line &line)
{
  VecCopy(line.b, line.x);
  MatMult(A, line.x, line.b);
}

/// A null space of the constants, or of one vector.
void attach_null_space(Mat A, bool constants, Vec other = nullptr)
{
  MatNullSpace space;
  MatNullSpaceCreate(PETSC_COMM_WORLD, constants ? PETSC_TRUE : PETSC_FALSE, other ? 1 : 0, &other, &space);
  MatSetNullSpace(A, space);
  MatNullSpaceDestroy(&space);
}

TEST_F(PCLineNullSpaces, PinGivesTheSolutionOfSmallestNorm)
{
  for (bool periodic : {false, true})
    for (PetscInt width : {1, 2})
      for (auto lhs : {PC_LINE_LHS_SHARED, PC_LINE_LHS_CLASSES, PC_LINE_LHS_PER_LINE})
        for (auto ordering : {PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA})
          for (bool scaled : {false, true}) {
            if (scaled && lhs != PC_LINE_LHS_PER_LINE) continue; // factors of rows differ from line to line
            SCOPED_TRACE(std::string(periodic ? "rings" : "open lines") + ", width " + std::to_string(width) +
                         ", " + PCLineLhsTypes[lhs] + ", " + PCLineOrderings[ordering] +
                         (scaled ? ", scaled" : ""));
            const PetscInt columns = 4;
            Grid           grid({columns * ranks, 17}, {0, 1}, 0, periodic, {ranks, 1}, false, width);
            make_singular(grid.A, scaled);
            Line line(grid.A, grid.da);
            OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y));
            OK(PCLineSetLhs(line.pc, lhs));
            OK(PCLineSetOrdering(line.pc, ordering));
            // Every line is solved once.
            OK(PCLineSetComposition(line.pc, PC_LINE_COMPOSITION_MULTIPLICATIVE));
            OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_PIN));
            OK(PCApply(line.pc, line.b, line.x)); // no right-hand side of a line is consistent
            EXPECT_LT(least_squares(grid.A, line), small);
            EXPECT_LT(largest_mean(line.x, [&](PetscInt i) { return i % columns; }), small);
            make_consistent(grid.A, line);
            EXPECT_LT(line.residual(grid.A), small);
            EXPECT_LT(largest_mean(line.x, [&](PetscInt i) { return i % columns; }), small);
            EXPECT_TRUE(contains(line.view(), "singular lines: " + std::to_string(columns * ranks) +
                                                ", solved for the solution of zero mean (asked for)"))
              << line.view();
          }
}

TEST_F(PCLineNullSpaces, ColumnsOfADenseMatrixAndTransposedSolves)
{
  Grid grid({3 * ranks, 12}, {0, 1}, 0, true, {ranks, 1});
  make_singular(grid.A);
  Line line(grid.A, grid.da);
  OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_PIN));
  make_consistent(grid.A, line);
  EXPECT_LT(line.residual(grid.A, true), small);
  Mat      B, X;
  Vec      column;
  PetscInt rows;
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  for (PetscInt c = 0; c < 3; ++c) {
    OK(MatDenseGetColumnVecWrite(B, c, &column));
    OK(VecCopy(line.b, column));
    OK(VecScale(column, static_cast<PetscReal>(c + 1)));
    OK(MatDenseRestoreColumnVecWrite(B, c, &column));
  }
  OK(PCMatApply(line.pc, B, X));
  OK(PCApply(line.pc, line.b, line.x));
  for (PetscInt c = 0; c < 3; ++c) {
    PetscReal norm;
    OK(MatGetColumnVector(X, line.r, c));
    OK(VecAXPY(line.r, -static_cast<PetscReal>(c + 1), line.x));
    OK(VecNorm(line.r, NORM_INFINITY, &norm));
    EXPECT_LT(norm, small);
  }
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
  make_singular(grid.A, true); // rows sum to zero, columns do not
  OK(PCSetUp(line.pc));
  OK(PCApply(line.pc, line.b, line.x));
  EXPECT_NE(PCApplyTranspose(line.pc, line.b, line.x), 0);
  EXPECT_TRUE(contains(last_error(), "PC line: the transposed lines cannot be solved")) << last_error();
}

TEST_F(PCLineNullSpaces, LinesOfAnyLengthBehindEachOther)
{
  // On every rank, Neumann lines of 3, 5 and 8 rows and a regular line of 4 rows.
  const PetscInt length[] = {3, 5, 8, 4}, n = 20;
  const auto     line_of = [&](PetscInt r) {
    PetscInt l = 0;
    for (PetscInt left = r % n; left >= length[l]; ++l) left -= length[l];
    return r / n * 4 + l;
  };
  const auto coupled = [&](PetscInt r, PetscInt c) {
    return c >= 0 && c < n * ranks && std::abs(r - c) == 1 && line_of(r) == line_of(c);
  };
  Mat A = matrix(
    n * ranks,
    [&](PetscInt r, PetscInt c) {
      return r != c ? PetscReal(-1)
                    : PetscReal(coupled(r, r - 1)) + PetscReal(coupled(r, r + 1)) +
                        (line_of(r) % 4 == 3 ? PetscReal(1) : PetscReal(0));
    },
    [&](PetscInt r, PetscInt c) { return r == c || coupled(r, c); }, n);
  for (auto direction : {PC_LINE_DIRECTION_ROWS, PC_LINE_DIRECTION_MATRIX}) {
    Line line(A);
    OK(PCLineSetDirection(line.pc, direction));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
    OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_PIN));
    make_consistent(A, line);
    EXPECT_LT(line.residual(A), small);
    const PetscScalar *x;
    OK(VecGetArrayRead(line.x, &x));
    for (PetscInt l = 0, begin = 0; l < 3; begin += length[l++]) {
      PetscScalar sum = 0;
      for (PetscInt i = begin; i < begin + length[l]; ++i) sum += x[i];
      EXPECT_LT(PetscAbsScalar(sum), small) << l;
    }
    OK(VecRestoreArrayRead(line.x, &x));
    EXPECT_TRUE(contains(line.view(), "singular lines: " + std::to_string(3 * ranks) + ",")) << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineNullSpaces, ANullSpaceWithTheConstantsPins)
{
  Grid grid({3 * ranks, 16}, {0, 1}, 0, true, {ranks, 1});
  make_singular(grid.A);
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  EXPECT_TRUE(contains(line.view(), "-pc_line_shift_type says what becomes of it")) << line.view();
  const auto set_up_again = [&](Mat A, Mat P) {
    PCReset(line.pc);
    PCSetOperators(line.pc, A, P);
    return PCSetUp(line.pc);
  };
  Vec other;
  OK(VecDuplicate(line.x, &other));
  OK(VecCopy(line.b, other));
  OK(VecNormalize(other, nullptr));
  attach_null_space(grid.A, false, other); // some other vector
  OK(set_up_again(grid.A, grid.A));
  EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  OK(VecDestroy(&other)); // the null space keeps it
  OK(VecDuplicate(line.x, &other));
  OK(VecSet(other, 1));
  OK(VecNormalize(other, nullptr));
  attach_null_space(grid.A, false, other); // the constants as a vector
  OK(set_up_again(grid.A, grid.A));
  EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
  EXPECT_TRUE(contains(line.view(), "zero mean (the null space of Pmat has the constants)")) << line.view();
  make_consistent(grid.A, line);
  EXPECT_LT(line.residual(grid.A), small);
  OK(VecDestroy(&other));
  Mat P;
  OK(MatDuplicate(grid.A, MAT_COPY_VALUES, &P));
  OK(MatSetNullSpace(P, nullptr));
  attach_null_space(grid.A, true);
  OK(set_up_again(grid.A, P));
  EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
  EXPECT_TRUE(contains(line.view(), "zero mean (the null space of Amat has the constants)")) << line.view();
  EXPECT_LT(line.residual(grid.A), small);
  OK(MatDestroy(&P));
}

TEST_F(PCLineNullSpaces, PreonlySolvesABatchOfConsistentLines)
{
  Grid grid({5 * ranks, 21}, {0, 1}, 0, false, {ranks, 1});
  make_singular(grid.A);
  attach_null_space(grid.A, true);
  Line               line(grid.A, grid.da);
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason reason;
  PetscReal          norm, size;
  make_consistent(grid.A, line);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(KSPSolve(ksp, line.b, line.x));
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
  OK(MatMult(grid.A, line.x, line.r));
  OK(VecAXPY(line.r, -1, line.b));
  OK(VecNorm(line.r, NORM_2, &norm));
  OK(VecNorm(line.b, NORM_2, &size));
  EXPECT_LT(norm / size, small);
  EXPECT_LT(largest_mean(line.x, [&](PetscInt i) { return i % 5; }), small);
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineNullSpaces, NonzeroShiftsTheDiagonalsOfSingularLines)
{
  for (bool scaled : {false, true})
    for (bool periodic : {false, true}) {
      Grid grid({3 * ranks, 16}, {0, 1}, 0, periodic, {ranks, 1});
      make_singular(grid.A, scaled);
      Line line(grid.A, grid.da);
      OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_NONZERO));
      OK(PCSetUp(line.pc));
      EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
      EXPECT_TRUE(contains(line.view(), "shifted: diagonals by ")) << line.view();
      make_consistent(grid.A, line);
      EXPECT_LT(line.residual(grid.A), PetscReal(1e-3) * PetscSqrtReal(PETSC_SQRT_MACHINE_EPSILON));
      OK(PCLineSetShiftAmount(line.pc, 1e-3)); // large enough to be visible in the result
      OK(PCSetUp(line.pc));
      EXPECT_TRUE(contains(line.view(), "shifted: diagonals by 1.0e-03 of")) << line.view();
      const PetscReal left = line.residual(grid.A);
      EXPECT_GT(left, 1e-5);
      EXPECT_LT(left, 0.2);
      OK(MatShift(grid.A, 1)); // regular lines are not shifted
      EXPECT_LT(line.residual(grid.A), small);
      EXPECT_FALSE(contains(line.view(), "shifted")) << line.view();
    }
}

TEST_F(PCLineNullSpaces, BlocksAndRowsOfZerosTakeAShiftNotAPin)
{
  // 2 x 2 blocks whose rows sum to zero
  const auto entry = [](PetscInt r, PetscInt c) -> PetscScalar {
    return r == c ? 1 : r / 2 == c / 2 ? -1 : 0;
  };
  Mat A = matrix(
    8 * ranks, entry, [](PetscInt r, PetscInt c) { return std::abs(r / 2 - c / 2) <= 1; }, 8);
  Mat Z = matrix(
    8 * ranks, [](PetscInt r, PetscInt c) -> PetscScalar { return r % 8 == 5 ? 0
                                                                  : r == c   ? 4
                                                                             : -1; },
    [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1 && r / 8 == c / 8; }, 8);
  OK(MatSetBlockSize(A, 2));
  for (Mat M : {A, Z}) {
    Line line(M);
    OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_PIN));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
    EXPECT_EQ(contains(line.view(), "; lines of blocks are not pinned"), M == A) << line.view();
    OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_NONZERO));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
    make_consistent(M, line);
    EXPECT_LT(line.residual(M), 0.1);
  }
  OK(MatDestroy(&A));
  OK(MatDestroy(&Z));
}

TEST_F(PCLineNullSpaces, EveryOptionHasASetAGetAndARange)
{
  Grid            grid({8, 8}, {1, 2});
  Line            line(grid.A, grid.da);
  PCLineShiftType type;
  PetscReal       amount;
  OK(PetscOptionsInsertString(nullptr, "-pc_line_shift_type nonzero -pc_line_shift_amount 1e-7"));
  OK(PCSetFromOptions(line.pc));
  for (const char *option : {"-pc_line_shift_type", "-pc_line_shift_amount"})
    OK(PetscOptionsClearValue(nullptr, option));
  OK(PCLineGetShiftType(line.pc, &type));
  OK(PCLineGetShiftAmount(line.pc, &amount));
  EXPECT_EQ(type, PC_LINE_SHIFT_NONZERO);
  EXPECT_EQ(amount, PetscReal(1e-7));
  for (PetscReal bad : {PetscReal(-1), PetscReal(1), std::numeric_limits<PetscReal>::quiet_NaN()}) {
    EXPECT_NE(PCLineSetShiftAmount(line.pc, bad), 0);
    EXPECT_TRUE(contains(last_error(), "PCLineSetShiftAmount, -pc_line_shift_amount: ")) << last_error();
  }
  EXPECT_NE(PCLineSetShiftType(line.pc, static_cast<PCLineShiftType>(3)), 0);
  EXPECT_EQ(last_error(), "PCLineSetShiftType: 3 is no PCLineShiftType");
  OK(PetscOptionsSetValue(nullptr, "-pc_line_shift_type", "positive"));
  EXPECT_NE(PCSetFromOptions(line.pc), 0);
  OK(PetscOptionsClearValue(nullptr, "-pc_line_shift_type"));
}

} // namespace
