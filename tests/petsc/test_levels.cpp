// SPDX-License-Identifier: BSD-2-Clause
// Defaults of PC line on multigrid levels: directions, ordering, and the couplings that lines leave out.
#include "fixture.hpp"
#include "sweep_reference.hpp"

#include <cmath>

using namespace test;

namespace {

class PCLineLevels : public Petsc { };

/// A symmetric operator whose couplings between two neighbours along d are strength(d, cell). `cell` holds
/// the smaller indices of the two.
template <class Strength>
void fill(const Grid &grid, const std::array<PetscInt, 3> &n, const Strength &strength)
{
  PetscInt begin[3], size[3];
  MatZeroEntries(grid.A);
  DMDAGetCorners(grid.da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
  for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
    for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
      for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
        const MatStencil row = {k, j, i, 0};
        PetscScalar      sum = 0.01;
        for (std::size_t d = 0; d < 3; ++d)
          for (PetscInt step : {-1, 1}) {
            std::array<PetscInt, 3> to = {i, j, k}, cell = to;
            to[d] += step;
            if (to[d] < 0 || to[d] >= n[d]) continue;
            cell[d]                  = PetscMin(cell[d], to[d]);
            const MatStencil  column = {to[2], to[1], to[0], 0};
            const PetscScalar v = strength(d, cell), minus = -v;
            sum += v;
            MatSetValuesStencil(grid.A, 1, &row, 1, &column, &minus, INSERT_VALUES);
          }
        MatSetValuesStencil(grid.A, 1, &row, 1, &row, &sum, INSERT_VALUES);
      }
  MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY);
}

/// A PC line with the options of a level.
struct Level : Line {
  explicit Level(const Grid &grid) : Line(grid.A, grid.da) { PCSetOptionsPrefix(pc, "mg_levels_1_"); }
};

/// Matrices on a device keep jacobi ordering, since LineRest keeps the couplings between lines only on
/// hosts.
bool keeps_jacobi(const Grid &grid, const Level &level)
{
  MatType type;
  MatGetType(grid.A, &type);
  if (!contains(type, "cusparse") && !contains(type, "kokkos")) return false;
  EXPECT_TRUE(contains(level.view(), "jacobi")) << level.view();
  EXPECT_FALSE(contains(level.view(), "zebra")) << level.view();
  return true;
}

/// Largest difference between the results of two PCs for the same vector, relative to the largest entry.
PetscReal difference(const Line &one, const Line &other)
{
  PetscReal most, size;
  EXPECT_EQ(PCApply(one.pc, one.b, one.x), 0) << last_error();
  EXPECT_EQ(PCApply(other.pc, one.b, one.r), 0) << last_error();
  VecNorm(one.r, NORM_INFINITY, &size);
  VecAXPY(one.r, -1, one.x);
  VecNorm(one.r, NORM_INFINITY, &most);
  return most / size;
}

TEST_F(PCLineLevels, EachDirectionThatSomeRowsPreferIsSweptInZebraOrdering)
{
  const std::array<PetscInt, 3> n = {24, 15, 1};
  Grid                          grid({24, 15}, {1, 1});
  Level                         level(grid);
  // A quarter of the rows couples along y.
  fill(grid, n, [](std::size_t d, const std::array<PetscInt, 3> &cell) {
    return (d == 0) == (cell[0] < 18) ? 50. : 1.;
  });
  OK(PCSetUp(level.pc));
  if (keeps_jacobi(grid, level)) return;
  EXPECT_EQ(level.direction(), "x,y");
  EXPECT_TRUE(
    contains(level.view(),
             "rows that couple along it at least 3 times as strongly as along each other direction: x 7"))
    << level.view();
  EXPECT_TRUE(contains(level.view(), "sweep: symmetric")) << level.view();
  EXPECT_TRUE(contains(level.view(), "zebra (auto: on a multigrid level), omega 1,")) << level.view();
  Line named(grid.A, grid.da);
  Sweep{{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 1}.set(named.pc);
  EXPECT_LT(difference(level, named), 1e3 * PETSC_MACHINE_EPSILON);
  // One column in 24 is too little to count.
  fill(grid, n, [](std::size_t d, const std::array<PetscInt, 3> &cell) {
    return (d == 0) == (cell[0] < 23) ? 50. : 1.;
  });
  OK(PCSetUp(level.pc));
  EXPECT_EQ(level.direction(), "x");
}

TEST_F(PCLineLevels, DirectionsThatTieInPlanesAddNothing)
{
  const PetscInt                n     = 12;
  const std::array<PetscInt, 3> sizes = {n, n, n};
  Grid                          grid({n, n, n}, {1, 1, 1});
  Level                         level(grid);
  // A third of the layers is strong along one direction, the others equally along both other ones.
  for (std::size_t strong : {2, 0, 1}) {
    fill(grid, sizes, [strong, n](std::size_t d, const std::array<PetscInt, 3> &cell) {
      return (d == strong) == (cell[strong] < n / 3) ? 50. : 1.;
    });
    OK(PCSetUp(level.pc));
    if (keeps_jacobi(grid, level)) continue;
    EXPECT_EQ(level.direction(), std::string(1, "xyz"[strong]));
    EXPECT_TRUE(contains(level.view(), "all colours twice")) << level.view();
  }
}

TEST_F(PCLineLevels, OneDirectionIsSweptTwice)
{
  Grid flat({14, 15}, {1, 1}, 0.1), cube({8, 7, 9}, {1, 1, 1}, 0.1), ring({12, 10}, {1, 1}, 0.1, true),
    odd({9, 12}, {1, 1}, 0.1, true, {1, ranks});
  for (const Grid *grid : {&flat, &cube, &ring, &odd}) {
    Level     level(*grid);
    PetscReal norm;
    OK(PCSetUp(level.pc));
    if (keeps_jacobi(*grid, level)) continue;
    EXPECT_EQ(level.direction(), "x");
    EXPECT_TRUE(contains(level.view(), "within 10% of the strongest: the first of them")) << level.view();
    EXPECT_TRUE(contains(level.view(),
                         "symmetric (auto: multiplicative under a KSP that takes any preconditioner), "
                         "zebra (auto: on a multigrid level), all colours twice, omega 1"))
      << level.view();
    Line twice(grid->A, grid->da);
    Sweep{{0}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 2}.set(twice.pc);
    if (grid != &odd) { // if a colour couples with itself, its last solve is not redundant
      EXPECT_LT(difference(level, twice), 1e3 * PETSC_MACHINE_EPSILON);
    }
    // The PC is symmetric, and it uses the current values.
    PetscScalar one, other;
    OK(VecPointwiseMult(level.r, level.b, level.b));
    OK(PCApply(level.pc, level.b, level.x));
    OK(VecDot(level.x, level.r, &one));
    OK(PCApply(level.pc, level.r, level.x));
    OK(VecDot(level.b, level.x, &other));
    OK(VecNorm(level.x, NORM_2, &norm));
    EXPECT_LT(PetscAbsScalar(one - other), 1e4 * PETSC_MACHINE_EPSILON * norm);
    OK(MatScale(grid->A, 2));
    OK(PCSetUp(level.pc));
    OK(PCSetUp(twice.pc));
    if (grid != &odd) {
      EXPECT_LT(difference(level, twice), 1e3 * PETSC_MACHINE_EPSILON);
    }
  }
}

TEST_F(PCLineLevels, JacobiWhereZebraDoesNotSuit)
{
  Grid wide({12, 12}, {1, 1}, 0.2, false, {}, false, 2), batch({6, 3 * ranks}, {2, 0}, 1, false, {1, ranks}),
    grid({12, 12}, {1, 1}, 0.2);
  for (const Grid *g : {&wide, &batch}) { // two neighbours on either side; no couplings across lines
    Level level(*g);
    OK(PCSetUp(level.pc));
    EXPECT_TRUE(contains(level.view(), ", jacobi, omega")) << level.view();
  }
  Mat other; // the PC does not keep the couplings that lines leave out of it
  OK(MatConvert(grid.A, MATBAIJ, MAT_INITIAL_MATRIX, &other));
  {
    Line blocks(other, grid.da);
    OK(PCSetOptionsPrefix(blocks.pc, "mg_levels_1_"));
    OK(PCSetUp(blocks.pc));
    EXPECT_TRUE(contains(blocks.view(), ", jacobi, omega")) << blocks.view();
  }
  OK(MatDestroy(&other));
  Level additive(grid), asked(grid);
  OK(PCLineSetComposition(additive.pc, PC_LINE_COMPOSITION_ADDITIVE));
  OK(PCLineSetOrdering(asked.pc, PC_LINE_ORDERING_JACOBI));
  Line outside(grid.A, grid.da);
  for (const Line *line : {static_cast<Line *>(&additive), static_cast<Line *>(&asked), &outside}) {
    OK(PCSetUp(line->pc));
    EXPECT_TRUE(contains(line->view(), ", jacobi, omega")) << line->view();
    EXPECT_EQ(line->direction(), "x,y");
  }
}

TEST_F(PCLineLevels, WhatLinesLeaveOutIsThatOfTheMatrixOverAllRanks)
{
  Grid grid({8 * ranks, 5}, {3, 1}, 0.2, false, {ranks, 1}),
    box({4, 5, 3 * ranks}, {1, 2, 3}, 0.3, false, {1, 1, ranks}),
    odd({5, 3 * ranks}, {1, 1}, 0.5, true, {1, ranks});
  for (const Grid *g : {&grid, &box, &odd}) {
    const std::vector<int> all = g == &box ? std::vector<int>{2, 0, 1} : std::vector<int>{1, 0};
    for (PetscReal omega : {1., 0.7}) {
      const Sweep sweep = {all, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, omega, 2};
      Mat         same;
      OK(MatDuplicate(g->A, MAT_COPY_VALUES, &same));
      {
        Line kept(g->A, g->da), residuals(same, g->da);
        sweep.set(kept.pc), sweep.set(residuals.pc);
        OK(PCSetUp(kept.pc));
        OK(PCSetUp(residuals.pc));
        EXPECT_TRUE(contains(kept.view(), "what lines leave out") || !contains(kept.view(), "held on host"))
          << kept.view();
        OK(PCSetReusePreconditioner(residuals.pc, PETSC_TRUE));
        // The values are unchanged, but the state of the matrix is new. Residuals are those of the matrix.
        OK(MatScale(same, 2));
        OK(MatScale(same, 0.5));
        EXPECT_LT(difference(kept, residuals), 1e4 * PETSC_MACHINE_EPSILON) << omega;
      }
      OK(MatDestroy(&same));
    }
  }
}

TEST_F(PCLineLevels, LinesOfOneRowAreNamed)
{
  Grid flat({8 * ranks, 1}, {1, 1}, 0.1, false, {ranks, 1});
  Line line(flat.A, flat.da);
  for (auto list :
       {std::vector<PCLineDirection>{PC_LINE_DIRECTION_Y}, {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y}}) {
    OK(PCLineSetDirections(line.pc, static_cast<PetscInt>(list.size()), list.data()));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(
      contains(last_error(), ": lines along y have one row each; the grid has lines of more along x"))
      << last_error();
  }
  for (const char *prefix : {"", "mg_levels_1_"}) {
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_AUTO));
    OK(PCSetOptionsPrefix(line.pc, prefix));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "x");
    EXPECT_TRUE(contains(line.view(), "; lines along y have one row each)")) << line.view();
  }
  if (ranks == 1) {
    Grid point({1, 1}, {1, 1}, 0.1); // no direction has more than one row
    Line alone(point.A, point.da);
    OK(PCLineSetDirection(alone.pc, PC_LINE_DIRECTION_Y));
    OK(PCSetUp(alone.pc));
    EXPECT_TRUE(contains(alone.view(), "(asked for; lines along y have one row each)")) << alone.view();
  }
}

} // namespace
