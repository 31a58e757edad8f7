// SPDX-License-Identifier: BSD-2-Clause
// Matrices of a DMSTAG. No index formula describes its lines, so that PC line uses the pattern of the
// matrix.
#include "fixture.hpp"

#include <petscdmstag.h>

using namespace test;

namespace {

class PCLineStag : public Petsc { };

/// A grid of n x m elements (m = 0: one dimension) and its matrix, with 4 on the diagonal. Every unknown
/// couples with those at the same place of the neighbouring elements, by -1 along x and -weak along y.
/// Unknowns of faces couple with the two adjacent elements by -weak.
struct Stag {
  DM  dm = nullptr;
  Mat A  = nullptr;
  Stag(PetscInt n, PetscInt m, PetscInt vertices, PetscInt faces, PetscInt elements, PetscReal weak)
  {
    if (m == 0)
      DMStagCreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, vertices, elements, DMSTAG_STENCIL_BOX, 1,
                     nullptr, &dm);
    else
      DMStagCreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, n, m, PETSC_DECIDE, PETSC_DECIDE,
                     vertices, faces, elements, DMSTAG_STENCIL_BOX, 1, nullptr, nullptr, &dm);
    DMSetFromOptions(dm);
    DMSetUp(dm);
    DMCreateMatrix(dm, &A);
    MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
    const PetscInt                     size[2] = {n, m};
    std::vector<DMStagStencilLocation> places;
    if (elements) places.push_back(DMSTAG_ELEMENT);
    if (m == 0 ? vertices : faces) places.push_back(DMSTAG_LEFT);
    if (m > 0 && faces) places.push_back(DMSTAG_DOWN);
    if (m > 0 && vertices) places.push_back(DMSTAG_DOWN_LEFT);
    PetscInt begin[2], local[2], extra[2];
    DMStagGetCorners(dm, &begin[0], &begin[1], nullptr, &local[0], &local[1], nullptr, &extra[0], &extra[1],
                     nullptr);
    const auto exists = [&](DMStagStencilLocation at, PetscInt i, PetscInt j) {
      const bool left = at == DMSTAG_LEFT || at == DMSTAG_DOWN_LEFT,
                 down = at == DMSTAG_DOWN || at == DMSTAG_DOWN_LEFT;
      return i >= 0 && i < size[0] + left && j >= 0 && j < PetscMax(size[1], 1) + down;
    };
    for (PetscInt j = begin[1]; j < (m == 0 ? 1 : begin[1] + local[1] + extra[1]); ++j)
      for (PetscInt i = begin[0]; i < begin[0] + local[0] + extra[0]; ++i)
        for (DMStagStencilLocation at : places) {
          if (!exists(at, i, j)) continue;
          const auto add = [&](DMStagStencilLocation to, PetscInt k, PetscInt l, PetscScalar v) {
            const DMStagStencil row = {at, i, j, 0, 0}, column = {to, k, l, 0, 0};
            if (exists(to, k, l)) DMStagMatSetValuesStencil(dm, A, 1, &row, 1, &column, &v, ADD_VALUES);
          };
          add(at, i, j, 4);
          for (PetscInt step : {-1, 1}) add(at, i + step, j, -1);
          for (PetscInt step : {-1, 1}) add(at, i, m > 0 ? j + step : -1, -weak);
          if (elements && (at == DMSTAG_LEFT || at == DMSTAG_DOWN))
            for (PetscInt back : {0, 1})
              add(DMSTAG_ELEMENT, at == DMSTAG_LEFT ? i - back : i, at == DMSTAG_DOWN ? j - back : j, -weak);
        }
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
  Stag(const Stag &)            = delete;
  Stag &operator=(const Stag &) = delete;
  ~Stag()
  {
    MatDestroy(&A);
    DMDestroy(&dm);
  }
};

TEST_F(PCLineStag, OneDimensionIsALineOfRowsToItsLastVertex)
{
  Stag            stag(8 * ranks, 0, 1, 0, 1, 0.5);
  Line            line(stag.A);
  const PetscReal left = line.residual(stag.A);
  EXPECT_EQ(line.direction(), "rows") << line.view();
  EXPECT_LT(left, 100 * PETSC_MACHINE_EPSILON) << line.view();
}

TEST_F(PCLineStag, ElementsOrVerticesAloneAreAGrid)
{
  for (int vertices : {0, 1}) {
    Stag stag(8, 4 * ranks, vertices, 0, 1 - vertices, 1e-3);
    Line line(stag.A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), "a grid of")) << line.view();
    EXPECT_LT(line.residual(stag.A), ranks == 1 ? 0.01 : 0.6) << line.view();
  }
}

TEST_F(PCLineStag, FacesBesideElementsHaveLinesOfTheGraphOrAClearError)
{
  Stag stag(6 * ranks, 5, 0, 1, 1, 1e-3);
  Line line(stag.A, stag.dm);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  EXPECT_NE(PCSetUp(line.pc), 0);
  EXPECT_EQ(last_error(), "PC line: -pc_line_direction x needs a grid, but its DM of type stag is no DMDA, "
                          "and its numbering shows no grid; use auto, rows or matrix");
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_AUTO));
  const PetscReal left = line.residual(stag.A);
  EXPECT_EQ(line.direction(), "matrix") << line.view();
  EXPECT_LT(left, ranks == 1 ? 0.01 : 0.6) << line.view();
}

} // namespace
