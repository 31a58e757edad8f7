// SPDX-License-Identifier: BSD-2-Clause
// New values of elements with several components: blocks, shared blocks, and components that start to
// couple.
#include "refresh_fixture.hpp"

#include <limits>

using namespace test;

namespace {

/// A DMDA of elements with `dof` components and a star stencil. Couplings are dense blocks if `joined`,
/// else diagonal blocks.
struct Elements {
  DM       da = nullptr;
  Mat      A  = nullptr;
  PetscInt dof;

  Elements(PetscInt nx, PetscInt ny, PetscInt components, PetscInt px, PetscInt py) : dof(components)
  {
    DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, nx, ny, px, py, dof,
                 1, nullptr, nullptr, &da);
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateMatrix(da, &A);
  }
  Elements(const Elements &)            = delete;
  Elements &operator=(const Elements &) = delete;
  ~Elements()
  {
    MatDestroy(&A);
    DMDestroy(&da);
  }
  /// `joined`: size of the couplings between components
  void fill(PetscReal along_x, PetscReal along_y, PetscReal joined, PetscInt k)
  {
    PetscInt x0, y0, nx, ny, all_x, all_y;
    DMDAGetInfo(da, nullptr, &all_x, &all_y, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                nullptr, nullptr, nullptr);
    DMDAGetCorners(da, &x0, &y0, nullptr, &nx, &ny, nullptr);
    MatZeroEntries(A);
    for (PetscInt j = y0; j < y0 + ny; ++j)
      for (PetscInt i = x0; i < x0 + nx; ++i)
        for (PetscInt c = 0; c < dof; ++c)
          for (PetscInt step = 0; step < 5; ++step)
            for (PetscInt e = 0; e < dof; ++e) {
              const PetscInt dx = step == 1 ? -1 : step == 2 ? 1 : 0, dy = step == 3 ? -1 : step == 4 ? 1 : 0;
              const MatStencil row = {0, j, i, c}, column = {0, j + dy, i + dx, e};
              if (i + dx < 0 || i + dx >= all_x || j + dy < 0 || j + dy >= all_y) continue;
              const PetscReal rough = 1 + static_cast<PetscReal>(
                                            (7 * i + 3 * j + 5 * c + 2 * e + 13 * k + step) % 11) /
                                            20,
                              size     = dx != 0   ? along_x
                                         : dy != 0 ? along_y
                                                   : 1;
              const PetscReal unknowns = static_cast<PetscReal>(dof),
                              diagonal = 4 * (along_x + along_y) * (1 + unknowns * joined) * rough + unknowns;
              PetscScalar v            = c != e ? joined * size * rough : step > 0 ? -size * rough : diagonal;
              MatSetValuesStencil(A, 1, &row, 1, &column, &v, INSERT_VALUES);
            }
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
};

TEST_F(PCLineRefresh, Blocks)
{
  for (PetscInt dof : {2, 3, 5})
    for (PCLineDirection direction : {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y}) {
      SCOPED_TRACE(testing::Message() << "blocks of " << dof << ", direction " << direction);
      const bool x = direction == PC_LINE_DIRECTION_X;
      Elements   grid(x ? wide : wide * ranks, x ? high * ranks : high, dof, x ? 1 : ranks, x ? ranks : 1);
      grid.fill(1, 1, 0.2, 0);
      Line line(grid.A, grid.da);
      OK(PCLineSetDirection(line.pc, direction));
      OK(PCSetUp(line.pc));
      ASSERT_GT(line.matrices(), 1);
      for (PetscInt k = 1; k < 4; ++k) {
        grid.fill(1, 0.5, 0.2, k);
        EXPECT_TRUE(refreshed(line));
        EXPECT_LT(away(line, grid.A, grid.da, direction), rounding);
        EXPECT_LT(away(line, grid.A, grid.da, direction, true), rounding);
      }
      first_row(grid.A, std::numeric_limits<PetscReal>::quiet_NaN());
      OK(PCSetUp(line.pc));
      PCFailedReason reason;
      OK(PCGetFailedReason(line.pc, &reason));
      EXPECT_NE(reason, PC_NOERROR);
      grid.fill(1, 0.5, 0.2, 4);
      first_row(grid.A, 0); // exchanges within the first block
      OK(PCSetUp(line.pc));
      OK(PCGetFailedReason(line.pc, &reason));
      EXPECT_EQ(reason, PC_NOERROR);
      EXPECT_LT(away(line, grid.A, grid.da, direction), rounding);
    }
}

TEST_F(PCLineRefresh, BlocksThatShare)
{
  Elements grid(wide * ranks, high, 3, ranks, 1);
  Line     line(grid.A, grid.da);
  grid.fill(1, 1, 0, 0);
  OK(MatZeroEntries(grid.A));
  const auto fill = [&](PetscScalar size) { // all lines along y are equal
    PetscInt x0, y0, nx, ny;
    OK(DMDAGetCorners(grid.da, &x0, &y0, nullptr, &nx, &ny, nullptr));
    for (PetscInt j = y0; j < y0 + ny; ++j)
      for (PetscInt i = x0; i < x0 + nx; ++i)
        for (PetscInt c = 0; c < 3; ++c)
          for (PetscInt e = 0; e < 3; ++e) {
            const MatStencil  row = {0, j, i, c}, column = {0, j, i, e};
            const PetscScalar v =
              c == e ? size * static_cast<PetscReal>(9 + j) : PetscScalar(static_cast<PetscReal>(1 + c));
            OK(MatSetValuesStencil(grid.A, 1, &row, 1, &column, &v, INSERT_VALUES));
          }
    OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  };
  fill(1);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.matrices(), 1);
  fill(2);
  EXPECT_EQ(refreshed(line), ranks == 1) << "entries of other ranks are not looked at";
  EXPECT_EQ(line.matrices(), 1);
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
  first_row(grid.A, 50);
  EXPECT_FALSE(refreshed(line)) << "lines differ";
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_Y), rounding);
}

TEST_F(PCLineRefresh, ComponentsApart)
{
  Elements grid(wide, high * ranks, 2, 1, ranks);
  grid.fill(1, 0.5, 0, 0);
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCSetUp(line.pc));
  grid.fill(2, 0.5, 0, 1);
  EXPECT_TRUE(refreshed(line));
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_X), rounding);
  grid.fill(2, 0.5, 0.1, 2);
  EXPECT_FALSE(refreshed(line)) << "they join";
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_X), rounding);
  grid.fill(2, 0.5, 0.2, 3);
  EXPECT_TRUE(refreshed(line));
  EXPECT_LT(away(line, grid.A, grid.da, PC_LINE_DIRECTION_X), rounding);
}

} // namespace
