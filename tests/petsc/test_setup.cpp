// SPDX-License-Identifier: BSD-2-Clause
// Data that a set-up of PC line detects, keeps and refreshes.
#include "fixture.hpp"

#include <Kokkos_Core.hpp>

#include <petsc/private/petscimpl.h>

using namespace test;

namespace {

class PCLineSetUp : public Petsc { };

TEST_F(PCLineSetUp, EveryOptionHasASetAndAGet)
{
  Grid            grid({8, 8}, {1, 2});
  Line            line(grid.A, grid.da);
  PCLineDirection direction;
  PCLineLhs       lhs;
  PCLineCut       cut;
  PCLineAlgorithm algorithm;
  PetscReal       tol;
  OK(PetscOptionsInsertString(nullptr, "-pc_line_direction x -pc_line_lhs per_line -pc_line_cut local "
                                       "-pc_line_algorithm thomas -pc_line_zeropivot 1e-9"));
  OK(PCSetFromOptions(line.pc));
  OK(PCLineGetDirection(line.pc, &direction));
  OK(PCLineGetLhs(line.pc, &lhs));
  OK(PCLineGetCut(line.pc, &cut));
  OK(PCLineGetAlgorithm(line.pc, &algorithm));
  OK(PCLineGetZeroPivot(line.pc, &tol));
  EXPECT_EQ(direction, PC_LINE_DIRECTION_X);
  EXPECT_EQ(lhs, PC_LINE_LHS_PER_LINE);
  EXPECT_EQ(cut, PC_LINE_CUT_LOCAL);
  EXPECT_EQ(algorithm, PC_LINE_ALGORITHM_THOMAS);
  EXPECT_EQ(tol, 1e-9);
  for (const char *option :
       {"-pc_line_direction", "-pc_line_lhs", "-pc_line_cut", "-pc_line_algorithm", "-pc_line_zeropivot"})
    OK(PetscOptionsClearValue(nullptr, option));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x");
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y)); // takes effect at the next set-up
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "y");
  EXPECT_NE(PCLineSetZeroPivot(line.pc, -1), 0);
  EXPECT_TRUE(contains(last_error(), "-pc_line_zeropivot")) << last_error();
  EXPECT_NE(PCLineSetDirection(line.pc, static_cast<PCLineDirection>(7)), 0);
  PC other;
  OK(PCCreate(PETSC_COMM_WORLD, &other));
  OK(PCSetType(other, PCJACOBI));
  OK(PCLineSetDirection(other, PC_LINE_DIRECTION_Y)); // ignored, as PETSc's own setters do
  OK(PCDestroy(&other));
}

TEST_F(PCLineSetUp, AutoTakesTheStrongestDirection)
{
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<PetscReal> s = {1, 1, 1};
    s[d]                     = 30;
    Grid grid({8, 9, 10}, s);
    Line line(grid.A, grid.da);
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), std::string(1, "xyz"[d]));
  }
  Grid equal({9, 9, 9}, {1, 1, 1}, 0.1);
  Line line(equal.A, equal.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x,y,z") << "all that are equally strong";
  EXPECT_TRUE(contains(line.view(), "direction: x,y,z (largest median")) << line.view();
}

/// Without a diagonal the strengths of couplings are undefined. A direction without couplings is still
/// excluded.
TEST_F(PCLineSetUp, ADirectionWithoutCouplingsIsNotSweptWhereDiagonalsAreZero)
{
  Grid grid({8, 3 * ranks}, {1, 0}, 0, false, {1, ranks});
  OK(MatShift(grid.A, -2));
  for (const PCLineShiftType shift : {PC_LINE_SHIFT_NONE, PC_LINE_SHIFT_PIN, PC_LINE_SHIFT_NONZERO}) {
    Line line(grid.A, grid.da);
    OK(PCLineSetShiftType(line.pc, shift));
    EXPECT_LT(line.residual(grid.A), 1e-13) << line.view();
    EXPECT_EQ(line.direction(), "x");
  }
}

TEST_F(PCLineSetUp, DirichletRowsDoNotVoteAndMakeClasses) // one rank: counts of one rank
{
  Grid grid({5, 40}, {1, 5}, 0, false, {}, true); // 2 of 5 y-lines are boundary lines: identity
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "y");
  OK(PCLineSetLhs(line.pc, PC_LINE_LHS_CLASSES));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.matrices(), 2);
  EXPECT_TRUE(contains(line.view(), "matrices: classes, 2 distinct")) << line.view();
}

TEST_F(PCLineSetUp, KeepsAsFewMatricesAsTheValuesAllow) // one rank: counts of one rank
{
  PetscLogDouble shared, per_line;
  Grid           grid({60, 20}, {0, 3}, 1);
  Line           line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.matrices(), 1);
  OK(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, nullptr, &shared));
  OK(PCLineSetLhs(line.pc, PC_LINE_LHS_PER_LINE));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.matrices(), 60);
  OK(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, nullptr, &per_line));
  EXPECT_GT(per_line, 20 * shared);
  EXPECT_LT(line.residual(grid.A), 1e-13);
  // Two classes for 60 lines are kept as classes, 20 are not: they would hold more than a quarter.
  for (PetscInt distinct : {2, 20}) {
    for (PetscInt l = 0; l < 60; ++l)
      for (PetscInt i = 0; i < 20; ++i)
        OK(MatSetValue(grid.A, i * 60 + l, i * 60 + l, 7.0 + static_cast<double>(l % distinct),
                       INSERT_VALUES));
    OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
    OK(PCLineSetLhs(line.pc, PC_LINE_LHS_AUTO));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.matrices(), distinct == 2 ? 2 : 60);
    EXPECT_LT(line.residual(grid.A), 1e-13);
    EXPECT_LT(line.residual(grid.A, true), 1e-13);
  }
}

TEST_F(PCLineSetUp, RefreshesWhatWasDerivedFromValues)
{
  const std::vector<PetscInt> n = {16, 14};
  Grid                        grid(n, {9, 1});
  Line                        line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x");
  grid.fill(n, {1, 9}, 2); // the same pattern with other values: another direction
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "y");
  grid.fill(n, {0, 2}, 2);
  OK(PCSetUp(line.pc));
  if (ranks == 1) {
    EXPECT_LT(line.residual(grid.A), 1e-13);
  }
  OK(PCSetReusePreconditioner(line.pc, PETSC_TRUE));
  grid.fill(n, {0, 70}, 2);
  OK(PCSetUp(line.pc));
  EXPECT_GT(line.residual(grid.A), 1e-3) << "the old factor was to be kept";
  OK(PCSetReusePreconditioner(line.pc, PETSC_FALSE));
  OK(PCSetUp(line.pc));
  if (ranks == 1) {
    EXPECT_LT(line.residual(grid.A), 1e-13);
  }
}

TEST_F(PCLineSetUp, BandwidthAndRingInUseAreThoseOfTheValues) // one rank: one rank shows it
{
  const std::vector<PetscInt> n = {20};
  Grid                        grid(n, {2}, 1, true, {}, false, 2);
  Line                        line(grid.A, grid.da);
  PetscInt                    h;
  OK(PCSetUp(line.pc));
  OK(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, &h, nullptr));
  EXPECT_EQ(h, 2);
  EXPECT_TRUE(contains(line.view(), "periodic pentadiagonal"));
  grid.fill(n, {2}, 1, false, false, 1); // the pattern is the same, most stored couplings are zero
  OK(PCSetUp(line.pc));
  OK(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, &h, nullptr));
  EXPECT_EQ(h, 1);
  EXPECT_TRUE(contains(line.view(), "20 rows, tridiagonal")) << line.view();
  EXPECT_LT(line.residual(grid.A), 1e-14);
}

TEST_F(PCLineSetUp, AnotherMatrixAnotherSizeAnotherType)
{
  Grid small({6, 12}, {0, 2}, 1, false, {ranks, 1}), large({10, 15}, {0, 3}, 1, false, {ranks, 1}, false, 2);
  Line line(small.A, small.da);
  OK(PCSetUp(line.pc));
  EXPECT_LT(line.residual(small.A), 1e-13);
  OK(PCReset(line.pc));
  OK(PCSetDM(line.pc, large.da));
  OK(PCSetOperators(line.pc, large.A, large.A));
  line.vectors(large.A);
  OK(PCSetUp(line.pc));
  EXPECT_LT(line.residual(large.A), 1e-13);
  Mat B;
  OK(MatConvert(large.A, MATBAIJ, MAT_INITIAL_MATRIX, &B));
  OK(PCSetOperators(line.pc, B, B));
  OK(PCSetUp(line.pc));
  EXPECT_LT(line.residual(large.A), 1e-13);
  OK(MatDestroy(&B));
}

/// Otherwise PCApply() would set up again. MatConvert() of MATMPIBAIJ raises the state.
TEST_F(PCLineSetUp, SetUpsKeepTheStateOfPmat)
{
  Grid grid({9, 8}, {1, 1}, 1);
  OK(MatSetOption(grid.A, MAT_SYMMETRIC, PETSC_TRUE));
  for (MatType type : {MATBAIJ, MATSBAIJ})
    for (PCType name : {PCLINE, PCMULTICOLOR}) {
      Mat              A;
      PC               pc;
      PetscObjectState before, after, pattern_before, pattern_after;
      OK(MatConvert(grid.A, type, MAT_INITIAL_MATRIX, &A));
      OK(PCCreate(PETSC_COMM_WORLD, &pc));
      OK(PCSetOperators(pc, A, A));
      OK(PCSetType(pc, name));
      OK(PetscObjectStateGet((PetscObject)A, &before));
      OK(MatGetNonzeroState(A, &pattern_before));
      OK(PCSetUp(pc));
      OK(PetscObjectStateGet((PetscObject)A, &after));
      OK(MatGetNonzeroState(A, &pattern_after));
      EXPECT_EQ(before, after) << type << ", " << name;
      EXPECT_EQ(pattern_before, pattern_after) << type << ", " << name;
      OK(PCDestroy(&pc));
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineSetUp, ADMThatDoesNotFitIsNotUsed) // one rank: one rank shows it
{
  Grid grid({12}, {1}), other({5, 5}, {1, 1});
  Line line(grid.A, other.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x") << "from the DMDA of the matrix";
  EXPECT_LT(line.residual(grid.A), 1e-14);
  EXPECT_TRUE(contains(line.view(), "from the DMDA of the matrix")) << line.view();
}

TEST_F(PCLineSetUp, CutLinesAreSolvedPieceByPieceAndCounted)
{
  Grid grid({12, 5}, {7, 1}, 1, false, {ranks, 1});
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x");
  if (ranks > 1) {
    EXPECT_TRUE(contains(line.view(), "lines that span ranks: 5 of 5 lines")) << line.view();
    OK(PCLineSetCut(line.pc, PC_LINE_CUT_ERROR));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "lines span ranks: 5 along x, " + std::to_string(ranks) +
                                         " ranks; use -da_processors_x 1"))
      << last_error();
  } else {
    EXPECT_LT(line.residual(grid.A), 1.0);
  }
}

TEST_F(PCLineSetUp, AnApplyAllocatesNothing)
{
  static int allocations = 0;
  Grid       grid({16, 16}, {0, 2}, 1, false, {ranks, 1});
  Line       line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  OK(PCApply(line.pc, line.b, line.x));
  PetscLogDouble before, after;
  OK(PetscMallocGetCurrentUsage(&before));
  Kokkos::Tools::Experimental::set_allocate_data_callback(
    [](const Kokkos::Tools::SpaceHandle, const char *, const void *, std::uint64_t) { ++allocations; });
  for (int k = 0; k < 3; ++k) OK(PCApply(line.pc, line.b, line.x));
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  OK(PetscMallocGetCurrentUsage(&after));
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(before, after);
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
TEST_F(PCLineSetUp, ADeviceApplyCrossesTheBusZeroTimes)
{
  Grid grid({64, 64}, {0, 2}, 1, false, {ranks, 1});
  Line line(grid.A, grid.da);
  expect_no_bus(line);
}
#endif

TEST_F(PCLineSetUp, GridsWithoutADMOnRanksWithoutRows)
{
  const PetscInt n = 6;
  Mat            A = matrix(
               n * n, [](PetscInt r, PetscInt c) { return r == c ? 5 : -1; },
               [&](PetscInt r, PetscInt c) {
      return r == c || std::abs(r - c) == n || (std::abs(r - c) == 1 && r / n == c / n);
    },
    rank == ranks - 1 ? n * n : 0);
  {
    Line                  line(A);
    const PCLineDirection both[] = {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y};
    OK(PCLineSetDirections(line.pc, 2, both));
    OK(PCLineSetCut(line.pc, PC_LINE_CUT_ERROR)); // no line spans ranks
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "x,y");
    EXPECT_LT(line.residual(A), 0.5);
  }
  OK(MatDestroy(&A));
}

} // namespace
