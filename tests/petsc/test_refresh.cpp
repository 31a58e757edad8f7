// SPDX-License-Identifier: BSD-2-Clause
// New values of a matrix with the same pattern. The known lines are factored again in place, or, if they no
// longer hold, detected again. In both cases the solutions are those of a new PC.
#include "refresh_fixture.hpp"

#include <limits>

using namespace test;

namespace {

TEST_F(PCLineRefresh, OneMatrixPerLine)
{
  for (PCLineDirection direction : {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y}) {
    const bool x = direction == PC_LINE_DIRECTION_X;
    Grid       grid(x ? std::vector<PetscInt>{wide, high * ranks} : std::vector<PetscInt>{wide * ranks, high},
              {x ? 2. : 0.3, x ? 0.3 : 2.}, 0.5, false,
              x ? std::vector<PetscInt>{1, ranks} : std::vector<PetscInt>{ranks, 1});
    const auto rough = [&](PetscInt k) {
      return [k](PetscInt r) { return 1 + static_cast<PetscReal>((7 * r + 13 * k) % 11) / 10; };
    };
    change(grid.A, rough(0), [](PetscInt r) { return static_cast<PetscReal>(r % 5); });
    Line line(grid.A, grid.da);
    OK(PCLineSetDirection(line.pc, direction));
    OK(PCSetUp(line.pc));
    ASSERT_GT(line.matrices(), 1);
    for (PetscInt k = 1; k < 4; ++k) {
      change(grid.A, rough(k), [k](PetscInt r) { return static_cast<PetscReal>((r + k) % 7); });
      EXPECT_TRUE(refreshed(line));
      EXPECT_LT(away(line, grid.A, grid.da, direction), rounding);
      EXPECT_LT(away(line, grid.A, grid.da, direction, true), rounding)
        << "transposed factors are those of the new values";
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
  // Rows of some lines.
  const auto on = [&](PetscInt period) {
    return [=](PetscInt r) { return (r - begin) % columns % period == 0 ? 1. : 0.; };
  };
  const PetscInt shared = line.matrices();
  change(
    grid.A, [](PetscInt) { return 3; }, one);
  EXPECT_TRUE(refreshed(line));
  EXPECT_EQ(line.matrices(), shared);
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
  change(grid.A, one, on(5));
  EXPECT_FALSE(refreshed(line)) << "lines differ";
  const PetscInt classes = line.matrices();
  EXPECT_GT(classes, shared);
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
  change(
    grid.A, [](PetscInt) { return 0.5; }, on(5));
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
  change(
    grid.A, [](PetscInt) { return 2; }, [](PetscInt) { return 1; });
  if (ranks == 1) EXPECT_TRUE(refreshed(line));
  else OK(PCSetUp(line.pc)); // entries of other ranks do not count
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
  for (PetscReal bad :
       {std::numeric_limits<PetscReal>::quiet_NaN(), std::numeric_limits<PetscReal>::infinity()}) {
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
  change(
    grid.A, [](PetscInt) { return 0; }, [](PetscInt) { return 0; });
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
    if (k > 0)
      change(
        grid.A, [k](PetscInt r) { return 1 + static_cast<PetscReal>((r + k) % 3); },
        [](PetscInt) { return 0.5; });
    OK(KSPSolve(ksp, b, x));
    EXPECT_LT(relative_residual(grid.A, b, x, false), 1e4 * PETSC_MACHINE_EPSILON) << k;
  }
  OK(VecDestroy(&b));
  OK(VecDestroy(&x));
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineRefresh, WideBands)
{
  const PetscInt rows = 14, lines = 21;
  for (PetscInt h : {3, 4, 8})
    for (bool shared : {false, true}) {
      SCOPED_TRACE(testing::Message() << "half-bandwidth " << h << (shared ? ", shared" : ""));
      PetscInt   k     = 0;
      const auto entry = [&](PetscInt r, PetscInt c) {
        const PetscInt  seed  = shared ? 7 * (r % rows) + 3 * (c % rows) + k : 7 * r + 3 * c + k;
        const PetscReal rough = 1 + static_cast<PetscReal>(seed % 13) / 20;
        return r == c ? PetscScalar(3 * static_cast<PetscReal>(h) * rough) : -rough * turned;
      };
      Mat A = matrix(
        rows * lines * ranks, entry,
        [&](PetscInt r, PetscInt c) { return r / rows == c / rows && PetscAbsInt(r - c) <= h; },
        rows * lines);
      Line line(A);
      OK(PCSetUp(line.pc));
      EXPECT_EQ(line.matrices(), shared ? 1 : lines);
      for (k = 1; k < 4; ++k) {
        PetscInt begin, end;
        OK(MatGetOwnershipRange(A, &begin, &end));
        for (PetscInt r = begin; r < end; ++r)
          for (PetscInt c = PetscMax(begin, r - h); c <= PetscMin(end - 1, r + h); ++c)
            if (r / rows == c / rows) {
              OK(MatSetValue(A, r, c, entry(r, c), INSERT_VALUES));
            }
        OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        EXPECT_TRUE(refreshed(line));
        EXPECT_LT(away(line, A, nullptr, PC_LINE_DIRECTION_AUTO), rounding);
        EXPECT_LT(line.residual(A), 10 * rounding);
      }
      OK(MatDestroy(&A));
    }
}

bool on_host(Mat A)
{
  MatType type;
  MatGetType(A, &type);
  return !contains(type, "cusparse") && !contains(type, "kokkos");
}

/// Directions of auto stay as long as new values select them, and change when new values select others.
TEST_F(PCLineRefresh, DirectionsThatAutoChose)
{
  for (const char *prefix : {"", "mg_levels_1_"}) {
    SCOPED_TRACE(prefix);
    Grid       grid({wide, high * ranks}, {2, 0.1}, 0.5, false, {1, ranks});
    Line       line(grid.A, grid.da);
    const auto of_new = [&] {
      Line        other(grid.A, grid.da);
      PetscReal   difference, size;
      std::string names[2];
      OK(PCSetOptionsPrefix(other.pc, prefix));
      OK(VecCopy(line.b, other.b));
      OK(PCApply(other.pc, other.b, other.x));
      OK(PCApply(line.pc, line.b, line.x));
      OK(VecNorm(other.x, NORM_2, &size));
      OK(VecAXPY(other.x, -1, line.x));
      OK(VecNorm(other.x, NORM_2, &difference));
      for (int o = 0; o < 2; ++o)
        names[o] = static_cast<ribbon::petsc::PC_Line *>((o ? other.pc : line.pc)->data)->names;
      EXPECT_EQ(names[0], names[1]);
      EXPECT_LT(difference, rounding * size);
    };
    OK(PCSetOptionsPrefix(line.pc, prefix));
    change(
      grid.A, [](PetscInt r) { return 1 + static_cast<PetscReal>(7 * r % 11) / 10; },
      [](PetscInt r) { return static_cast<PetscReal>(r % 3); });
    OK(PCSetUp(line.pc));
    for (PetscInt k = 1; k < 3; ++k) {
      change(
        grid.A, [k](PetscInt r) { return 1 + static_cast<PetscReal>((7 * r + 13 * k) % 11) / 10; },
        [](PetscInt r) { return static_cast<PetscReal>(r % 3); });
      EXPECT_TRUE(refreshed(line));
      of_new();
    }
    grid.fill({wide, high * ranks}, {0.1, 2}, 0.5);
    EXPECT_FALSE(refreshed(line)) << "lines along y, now";
    of_new();
    grid.fill({wide, high * ranks}, {0.2, 2}, 0.7);
    EXPECT_EQ(refreshed(line), ranks == 1) << "lines that span ranks are set up anew";
    of_new();
    grid.fill({wide, high * ranks}, {1, 1}, 0.7); // both directions
    EXPECT_FALSE(refreshed(line));
    of_new();
    grid.fill({wide, high * ranks}, {1, 1}, 0.9);
    // Zebra ordering sweeps only the first of them.
    const bool one_direction = *prefix != 0 && on_host(grid.A);
    EXPECT_EQ(refreshed(line), ranks == 1 || one_direction);
    of_new();
  }
}

} // namespace
