// SPDX-License-Identifier: BSD-2-Clause
// Lines of a DMDA with several components: scalar lines, or block lines if components couple.
#include "lines_fixture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

using namespace test;

namespace {

/// A DMDA with a matrix whose entries are `couples(component, other component, steps in each direction)`.
struct Components {
  DM  da = nullptr;
  Mat A  = nullptr;
  Components(int dim, PetscInt n, PetscInt dof, PetscInt width, bool periodic,
             std::vector<PetscInt>                                                           processes,
             const std::function<bool(PetscInt, PetscInt, const std::array<PetscInt, 3> &)> &couples)
  {
    processes.resize(3, 1);
    DMDACreate(PETSC_COMM_WORLD, &da);
    DMSetDimension(da, dim);
    DMDASetSizes(da, n, dim > 1 ? n - 1 : 1, dim > 2 ? n - 2 : 1);
    const DMBoundaryType b = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    DMDASetBoundaryType(da, b, b, b);
    DMDASetStencilType(da, DMDA_STENCIL_STAR);
    DMDASetStencilWidth(da, width);
    DMDASetDof(da, dof);
    DMDASetNumProcs(da, processes[0], processes[1], processes[2]);
    DMSetUp(da);
    DMCreateMatrix(da, &A);
    PetscInt begin[3], size[3];
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    const PetscInt all[3] = {n, dim > 1 ? n - 1 : 1, dim > 2 ? n - 2 : 1};
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i)
          for (PetscInt a = 0; a < dof; ++a)
            for (int d = 0; d < dim; ++d)
              for (PetscInt step = -width; step <= width; ++step)
                for (PetscInt c = 0; c < dof; ++c) {
                  const PetscInt at[3] = {i, j, k};
                  if ((step == 0 && d > 0) || (!periodic && (at[d] + step < 0 || at[d] + step >= all[d])))
                    continue;
                  std::array<PetscInt, 3> away      = {0, 0, 0};
                  away[static_cast<std::size_t>(d)] = step;
                  if (!couples(a, c, away) && !(a == c && step == 0)) continue;
                  const MatStencil  row = {k, j, i, a}, column = {k + away[2], j + away[1], i + away[0], c};
                  const PetscScalar v = a == c && step == 0
                                          ? entry(0, 0)
                                          : entry(((k * 50 + j) * 50 + i) * dof + a, 17 * step + 3 * c + d);
                  MatSetValuesStencil(A, 1, &row, 1, &column, &v, INSERT_VALUES);
                }
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
  Components(const Components &)            = delete;
  Components &operator=(const Components &) = delete;
  ~Components()
  {
    MatDestroy(&A);
    DMDestroy(&da);
  }
};

TEST_F(PCLineLines, ComponentsThatDoNotCoupleAreScalarLines)
{
  for (int dim : {1, 2, 3})
    for (int d = 0; d < dim; ++d)
      for (PetscInt width : {1, 3})
        for (bool periodic : {false, true}) {
          std::vector<PetscInt> processes(3, 1);
          processes[d == 0 ? 1 : 0] = dim > 1 ? ranks : 1;
          if (dim == 1 && ranks > 1) continue; // every line would span ranks
          const Components grid(dim, 14, 3, width, periodic, processes,
                                [&](PetscInt a, PetscInt c, const std::array<PetscInt, 3> &away) {
                                  return a == c && away[static_cast<std::size_t>(d)] != 0;
                                });
          Line             line(grid.A, grid.da);
          OK(PCLineSetDirection(line.pc, static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + d)));
          EXPECT_LT(line.residual(grid.A), 1e-13)
            << dim << " dimensions, along " << d << ", width " << width << ", periodic " << periodic;
          EXPECT_LT(line.residual(grid.A, true), 1e-13);
          EXPECT_FALSE(contains(line.view(), "block")) << line.view();
        }
}

TEST_F(PCLineLines, ComponentsThatCoupleAreBlockLines)
{
  for (PetscInt dof : {2, 3, 4, 8})
    for (int dim : {2, 3})
      for (int d = 0; d < dim; ++d)
        for (bool periodic : {false, true}) {
          std::vector<PetscInt> processes(3, 1);
          processes[d == 0 ? 1 : 0] = ranks;
          const Components grid(dim, 6, dof, 1, periodic, processes,
                                [&](PetscInt a, PetscInt c, const std::array<PetscInt, 3> &away) {
                                  return away[static_cast<std::size_t>(d)] != 0 || a + 1 == c;
                                });
          Line             line(grid.A, grid.da);
          OK(PCLineSetDirection(line.pc, static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + d)));
          OK(PCSetUp(line.pc));
          EXPECT_TRUE(contains(line.view(), "block tridiagonal")) << line.view();
          EXPECT_TRUE(contains(line.view(), "blocks of " + std::to_string(dof))) << line.view();
        }
}

TEST_F(PCLineLines, BlockLinesAreSolvedExactly)
{
  for (PetscInt dof : {2, 5})
    for (int d = 0; d < 3; ++d)
      for (bool periodic : {false, true}) {
        std::vector<PetscInt> processes(3, 1);
        processes[d == 0 ? 1 : 0] = ranks;
        const Components grid(3, 6, dof, 1, periodic, processes,
                              [&](PetscInt, PetscInt, const std::array<PetscInt, 3> &away) {
                                bool along = true;
                                for (int k = 0; k < 3; ++k)
                                  along = along && (k == d || away[static_cast<std::size_t>(k)] == 0);
                                return along;
                              });
        Line             line(grid.A, grid.da);
        OK(PCLineSetDirection(line.pc, static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + d)));
        EXPECT_LT(line.residual(grid.A), 1e-13) << dof << " along " << d;
        EXPECT_LT(line.residual(grid.A, true), 1e-13);
        OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_ZEBRA));
        EXPECT_LT(line.residual(grid.A), 1e-13);
      }
}

TEST_F(PCLineLines, ZebraOfComponents)
{
  for (int d = 0; d < 3; ++d) {
    std::vector<PetscInt> processes(3, 1);
    processes[d == 0 ? 1 : 0] = ranks;
    const Components grid(3, 7, 2, 1, false, processes,
                          [&](PetscInt a, PetscInt c, const std::array<PetscInt, 3> &away) {
                            return a == c && away[static_cast<std::size_t>(d)] != 0;
                          });
    Line             line(grid.A, grid.da);
    OK(PCLineSetDirection(line.pc, static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + d)));
    OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_ZEBRA));
    EXPECT_LT(line.residual(grid.A), 1e-13) << "along " << d;
  }
}

} // namespace
