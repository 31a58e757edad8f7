// SPDX-License-Identifier: BSD-2-Clause
// New values of a matrix with the same pattern: the lines that were found are factored again in place, or, where what
// was found does not hold any more, found anew. Either way the answers are those of a new PC.
#include "fixture.hpp"

#include <pc/line.hpp>

#include <limits>

using namespace test;

namespace {

class PCLineRefresh : public Petsc {
public:
  PetscInt wide = 12, high = 9;

  static PetscInt refreshes(PC pc) { return static_cast<ribbon::petsc::PC_Line *>(pc->data)->refreshes; }
  /// Multiplies row r by factor(r), and adds more(r) to its diagonal.
  template <class Factor, class More>
  static void change(Mat A, const Factor &factor, const More &more)
  {
    Vec          rows, diagonal;
    PetscInt     begin, end;
    PetscScalar *f, *d;
    MatCreateVecs(A, &rows, &diagonal);
    MatGetOwnershipRange(A, &begin, &end);
    VecGetArray(rows, &f), VecGetArray(diagonal, &d);
    for (PetscInt r = begin; r < end; ++r) f[r - begin] = factor(r), d[r - begin] = more(r);
    VecRestoreArray(rows, &f), VecRestoreArray(diagonal, &d);
    MatDiagonalScale(A, rows, nullptr);
    MatDiagonalSet(A, diagonal, ADD_VALUES);
    VecDestroy(&rows), VecDestroy(&diagonal);
  }
  /// Sets the diagonal of the first row of every rank.
  static void first_row(Mat A, PetscScalar value)
  {
    PetscInt begin;
    MatGetOwnershipRange(A, &begin, nullptr);
    MatSetValue(A, begin, begin, value, INSERT_VALUES);
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
  /// Sets up, and whether the lines of the last set-up were kept.
  static bool refreshed(Line &line)
  {
    const PetscInt before = refreshes(line.pc);
    EXPECT_EQ(static_cast<int>(PCSetUp(line.pc)), 0) << last_error();
    return refreshes(line.pc) == before + 1;
  }
  /// How far the applications of a PC are from those of a new one.
  static PetscReal away(Line &line, Mat A, DM da, PCLineDirection direction, bool transposed = false)
  {
    Line      other(A, da);
    PetscReal difference, size;
    Vec       y;
    PetscReal omega;
    VecDuplicate(line.x, &y);
    PCLineSetDirection(other.pc, direction);
    PCLineGetOmega(line.pc, &omega);
    if (omega != 0) PCLineSetOmega(other.pc, omega);
    if (transposed) PCApplyTranspose(other.pc, line.b, y), PCApplyTranspose(line.pc, line.b, line.x);
    else PCApply(other.pc, line.b, y), PCApply(line.pc, line.b, line.x);
    VecNorm(y, NORM_2, &size);
    VecAXPY(y, -1, line.x);
    VecNorm(y, NORM_2, &difference);
    VecDestroy(&y);
    return difference / size;
  }
};

constexpr PetscReal rounding = 100 * PETSC_MACHINE_EPSILON;

TEST_F(PCLineRefresh, OneMatrixPerLine)
{
  for (PCLineDirection direction : {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y}) {
    const bool x = direction == PC_LINE_DIRECTION_X;
    Grid       grid(x ? std::vector<PetscInt>{wide, high * ranks} : std::vector<PetscInt>{wide * ranks, high}, {x ? 2. : 0.3, x ? 0.3 : 2.}, 0.5, false, x ? std::vector<PetscInt>{1, ranks} : std::vector<PetscInt>{ranks, 1});
    const auto rough = [&](PetscInt k) { return [k](PetscInt r) { return 1 + static_cast<PetscReal>((7 * r + 13 * k) % 11) / 10; }; };
    change(grid.A, rough(0), [](PetscInt r) { return static_cast<PetscReal>(r % 5); });
    Line line(grid.A, grid.da);
    OK(PCLineSetDirection(line.pc, direction));
    OK(PCSetUp(line.pc));
    ASSERT_GT(line.matrices(), 1);
    for (PetscInt k = 1; k < 4; ++k) {
      change(grid.A, rough(k), [k](PetscInt r) { return static_cast<PetscReal>((r + k) % 7); });
      EXPECT_TRUE(refreshed(line));
      EXPECT_LT(away(line, grid.A, grid.da, direction), rounding);
      EXPECT_LT(away(line, grid.A, grid.da, direction, true), rounding) << "transposed factors are those of the new values";
    }
    OK(PCLineSetOmega(line.pc, 0.7));
    EXPECT_FALSE(refreshed(line)) << "an option changed";
    change(grid.A, rough(4), [](PetscInt) { return 1; });
    EXPECT_TRUE(refreshed(line));
    EXPECT_LT(away(line, grid.A, grid.da, direction), rounding);
  }
}

TEST_F(PCLineRefresh, SharedMatricesAndClasses)
{
  Grid grid({wide * ranks, high}, {0.3, 2}, 0.5, false, {ranks, 1});
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y));
  OK(PCSetUp(line.pc));
  const PetscInt columns = wide;
  PetscInt       begin;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  const auto one = [](PetscInt) { return 1; };
  const auto on  = [&](PetscInt period) { return [=](PetscInt r) { return (r - begin) % columns % period == 0 ? 1. : 0.; }; }; // of some lines
  const PetscInt shared = line.matrices();
  change(grid.A, [](PetscInt) { return 3; }, one);
  EXPECT_TRUE(refreshed(line));
  EXPECT_EQ(line.matrices(), shared);
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
  change(grid.A, one, on(5));
  EXPECT_FALSE(refreshed(line)) << "lines differ";
  const PetscInt classes = line.matrices();
  EXPECT_GT(classes, shared);
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
  change(grid.A, [](PetscInt) { return 0.5; }, on(5));
  EXPECT_TRUE(refreshed(line)) << "as before";
  EXPECT_EQ(line.matrices(), classes);
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
}

TEST_F(PCLineRefresh, CouplingsThatAppear)
{
  Grid grid({wide, high * ranks}, {2, 0}, 0.5, false, {1, ranks}); // entries along y are stored zeros
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCSetUp(line.pc));
  change(grid.A, [](PetscInt) { return 2; }, [](PetscInt) { return 1; });
  if (ranks == 1) EXPECT_TRUE(refreshed(line));
  else OK(PCSetUp(line.pc)); // entries of other ranks are not looked at
  EXPECT_LT(line.residual(grid.A), rounding);
  grid.fill({wide, high * ranks}, {2, 0.5}, 0.5);
  EXPECT_FALSE(refreshed(line)) << "lines couple now";
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_X), rounding);
}

TEST_F(PCLineRefresh, FailuresComeAndGo)
{
  Grid grid({wide, high * ranks}, {2, 0.1}, 0.5, false, {1, ranks});
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCSetUp(line.pc));
  PCFailedReason reason;
  for (PetscReal bad : {std::numeric_limits<PetscReal>::quiet_NaN(), std::numeric_limits<PetscReal>::infinity()}) {
    first_row(grid.A, bad);
    OK(PCSetUp(line.pc));
    OK(PCGetFailedReason(line.pc, &reason));
    EXPECT_NE(reason, PC_NOERROR) << bad;
    first_row(grid.A, 5);
    OK(PCSetUp(line.pc));
    OK(PCGetFailedReason(line.pc, &reason));
    EXPECT_EQ(reason, PC_NOERROR) << "the next set-up is another one";
    EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_X), rounding);
  }
  change(grid.A, [](PetscInt) { return 0; }, [](PetscInt) { return 0; });
  OK(PCSetUp(line.pc));
  OK(PCGetFailedReason(line.pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
}

TEST_F(PCLineRefresh, RichardsonLeavesNothingOfOldValues)
{
  Grid grid({wide, high * ranks}, {2, 0.1}, 0.5, false, {1, ranks});
  KSP  ksp;
  PC   pc;
  Vec  b, x;
  OK(MatCreateVecs(grid.A, &x, &b));
  OK(VecSet(b, 1));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPRICHARDSON));
  OK(KSPSetNormType(ksp, KSP_NORM_NONE));
  OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCSetDM(pc, grid.da));
  OK(PCLineSetDirection(pc, PC_LINE_DIRECTION_X));
  for (PetscInt k = 0; k < 3; ++k) {
    if (k > 0) change(grid.A, [k](PetscInt r) { return 1 + static_cast<PetscReal>((r + k) % 3); }, [](PetscInt) { return 0.5; });
    OK(KSPSolve(ksp, b, x));
    EXPECT_LT(relative_residual(grid.A, b, x, false), 1e4 * PETSC_MACHINE_EPSILON) << k;
  }
  OK(VecDestroy(&b));
  OK(VecDestroy(&x));
  OK(KSPDestroy(&ksp));
}

} // namespace
