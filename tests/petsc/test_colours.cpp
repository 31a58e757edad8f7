// SPDX-License-Identifier: BSD-2-Clause
// Zebra ordering of packed lines: of grids with distributed lines, and of unstructured lines.
#include "sweep_reference.hpp"

#include <array>

using namespace test;

namespace {

class PCLineColours : public Petsc { };

constexpr PetscReal rounding = 100 * PETSC_MACHINE_EPSILON;

TEST_F(PCLineColours, LinesOfAGraphAreColouredAsThoseOfTheGrid)
{
  Grid grid({7, 8 * ranks}, {9, 1}, 0.3, false, {1, ranks});
  OK(MatScale(grid.A, turned));
  const Dense dense(grid.A, grid.da);
  Line        line(grid.A, grid.da);
  for (PCLineComposition composition : {PC_LINE_COMPOSITION_MULTIPLICATIVE, PC_LINE_COMPOSITION_SYMMETRIC}) {
    const Sweep sweep = {{0}, composition, PC_LINE_ORDERING_ZEBRA, 0.9, 2};
    sweep.set(line.pc);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCApply(line.pc, line.b, line.x));
    EXPECT_TRUE(contains(line.view(), "colours: 2\n")) << line.view();
    const Numbers x = gathered(line.x), wanted = dense.apply(sweep, gathered(line.b));
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_LT(PetscAbsScalar(x[k] - wanted[k]), rounding) << k;
    PetscScalar left, right; // of y . M b and M^T y . b, with y = A b
    OK(MatMult(grid.A, line.b, line.r));
    OK(VecTDot(line.x, line.r, &left));
    OK(PCApplyTranspose(line.pc, line.r, line.x));
    OK(VecTDot(line.x, line.b, &right));
    EXPECT_LT(PetscAbsScalar(left - right), rounding * PetscAbsScalar(left));
  }
}

TEST_F(PCLineColours, AGridThatRanksCutAmidALineIsColouredByGlobalNumbers)
{
  // Odd lines couple to even ones but not vice versa, and rows of different ranks do not couple. Even lines
  // first is exact.
  for (const auto &n : {std::array<PetscInt, 3>{6, 7, 1}, {3, 3, 5}}) {
    const PetscInt all    = n[0] * n[1] * n[2];
    const auto     line   = [&](PetscInt r) { return r / n[0]; };
    const auto     is_odd = [&](PetscInt r) { return (r / n[0] % n[1] + r / (n[0] * n[1])) % 2 == 1; };
    const auto     owner  = [&](PetscInt r) { // the row distribution of PETSc
      const PetscInt each = all / ranks, more = all % ranks;
      return r < more * (each + 1) ? r / (each + 1) : more + (r - more * (each + 1)) / each;
    };
    const auto stored = [&](PetscInt r, PetscInt c) {
      const PetscInt away = std::abs(r - c);
      return away == 0 || (away == 1 && line(r) == line(c)) ||
             (away == n[0] && line(r) / n[1] == line(c) / n[1]) || away == n[0] * n[1];
    };
    Mat A = matrix(
      all,
      [&](PetscInt r, PetscInt c) {
        return r == c                                                      ? PetscScalar(5)
               : owner(r) == owner(c) && (line(r) == line(c) || is_odd(r)) ? -turned
                                                                           : PetscScalar(0);
      },
      stored);
    {
      Line solver(A);
      OK(PCLineSetDirection(solver.pc, PC_LINE_DIRECTION_X));
      EXPECT_GT(solver.residual(A), 0.01);
      OK(PCLineSetOrdering(solver.pc, PC_LINE_ORDERING_ZEBRA));
      EXPECT_LT(solver.residual(A), rounding) << solver.view();
      EXPECT_TRUE(contains(solver.view(), "colours: 2\n")) << solver.view();
      EXPECT_EQ(contains(solver.view(), "packed: "), ranks > 1) << solver.view();
      EXPECT_EQ(contains(solver.view(), "a grid of 3 x 3 x"), n[2] > 1) << solver.view();
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineColours, LinesThatCoupleWithEachOtherHaveColoursOfTheirOwnUpToFour)
{
  const PetscInt length = 9;
  for (PetscInt lines : {1, 3, 6})        // lines of each rank; every line couples with those before it
    for (PetscInt dof : {1, 2})           // rows of an element
      for (bool blocks : {false, true}) { // which couple
        if (dof == 1 && blocks) continue;
        const PetscInt n      = lines * length * dof;
        const auto     number = [=](PetscInt r) { return r / (length * dof); };
        const auto     along  = [=](PetscInt r, PetscInt c) {
          return number(r) == number(c) && std::abs(r / dof - c / dof) <= 1;
        };
        const auto before = [=](PetscInt r, PetscInt c) {
          return r / n == c / n && number(c) < number(r) && (r - c) % (length * dof) == 0;
        };
        Mat A = matrix(
          n * ranks,
          [&](PetscInt r, PetscInt c) {
            return r == c ? PetscScalar(4) : along(r, c) ? -turned : PetscScalar(-0.05);
          },
          [&](PetscInt r, PetscInt c) {
            return (along(r, c) && (blocks || r % dof == c % dof)) || before(r, c);
          },
          n);
        OK(MatSetBlockSize(A, dof));
        {
          Line line(A);
          OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
          const PetscReal jacobi = line.residual(A);
          OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_ZEBRA));
          const PetscReal zebra = line.residual(A);
          EXPECT_TRUE(contains(line.view(), lines == 1   ? "colours: 1, as jacobi"
                                            : lines == 3 ? "colours: 3\n"
                                                         : "colours: 4\n"))
            << line.view();
          EXPECT_EQ(contains(line.view(), "block tridiagonal"), blocks) << line.view();
          if (lines <= 3) EXPECT_LT(zebra, rounding) << lines << dof << blocks;
          else EXPECT_TRUE(zebra > rounding && zebra < jacobi) << zebra << " " << jacobi;
          if (lines == 3) {
            EXPECT_LT(line.residual(A, true), rounding) << "colours backwards";
            EXPECT_GT(jacobi, 1e-3);
          }
        }
        OK(MatDestroy(&A));
      }
}

} // namespace
