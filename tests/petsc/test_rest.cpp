// SPDX-License-Identifier: BSD-2-Clause
// Richardson's iteration with stored couplings that lines leave out of the matrix.
#include "richardson_fixture.hpp"

#include <utility>

using namespace test;

namespace {

class PCLineRest : public Petsc { };

/// Whether the iteration with stored couplings between lines equals that of PETSc, from zero and from a
/// guess, and calls no product of A.
void expect_the_same(Mat A, DM da, PCLineDirection direction, PetscReal omega)
{
  Mat same;
  OK(MatDuplicate(A, MAT_COPY_VALUES, &same));
  count_products(A);
  {
    Richardson kept(A, A, da, 6), own(same, A, da, 6);
    for (const Richardson *r : {&kept, &own}) {
      OK(PCLineSetDirection(r->pc, direction));
      OK(PCLineSetOmega(r->pc, omega));
      OK(PCLineSetCut(r->pc, PC_LINE_CUT_LOCAL)); // joined lines have entries of other ranks
    }
    for (PetscBool nonzero : {PETSC_FALSE, PETSC_TRUE}) {
      for (const Richardson *r : {&kept, &own}) OK(KSPSetInitialGuessNonzero(r->ksp, nonzero));
      own.solve();
      products = 0;
      kept.solve();
      if (is_kept(A)) {
        EXPECT_EQ(products, 0);
      }
      EXPECT_LT(difference(kept.x, own.x), 1e4 * PETSC_MACHINE_EPSILON) << direction << " " << omega;
    }
  }
  OK(MatDestroy(&same));
}

TEST_F(PCLineRest, WhatLinesLeaveOutIsKept)
{
  for (PetscReal omega : {1., 0.8}) {
    Grid cut({6 * ranks, 5}, {3, 1}, 0.5, false, {ranks, 1}),
      ring({7, 5 * ranks}, {3, 1}, 0.5, true, {1, ranks}),
      wide({9, 9 * ranks}, {1, 0.1}, 1, false, {1, ranks}, false, 2),
      box({4, 5, 3 * ranks}, {1, 2, 3}, 1, false, {1, 1, ranks});
    for (const Grid *grid : {&cut, &ring, &wide}) {
      expect_the_same(grid->A, grid->da, PC_LINE_DIRECTION_X, omega);
      if (grid != &cut) expect_the_same(grid->A, grid->da, PC_LINE_DIRECTION_Y, omega);
    }
    for (PCLineDirection d :
         {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y, PC_LINE_DIRECTION_Z, PC_LINE_DIRECTION_MATRIX})
      expect_the_same(box.A, box.da, d, omega);
  }
  // Blocks of two rows, with couplings between lines.
  DM         da;
  Mat        A;
  PetscInt   xs, ys, xm, ym;
  const auto make = [&](PetscReal scale) {
    OK(MatZeroEntries(A));
    for (PetscInt j = ys; j < ys + ym; ++j)
      for (PetscInt i = xs; i < xs + xm; ++i)
        for (const auto &[di, dj] : {std::pair<PetscInt, PetscInt>{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
          if (i + di < 0 || i + di >= 6 || j + dj < 0 || j + dj >= 3 * ranks) continue;
          MatStencil row, column;
          row.i = i, row.j = j, row.k = 0, column.i = i + di, column.j = j + dj, column.k = 0;
          for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) {
              const PetscScalar v = scale * (di == 0 && dj == 0 ? (a == b ? 6 : 0.5) : a == b ? -1 : 0.2);
              row.c = a, column.c = b;
              OK(MatSetValuesStencil(A, 1, &row, 1, &column, &v, INSERT_VALUES));
            }
        }
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  };
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 6, 3 * ranks, 1,
                  ranks, 2, 1, nullptr, nullptr, &da));
  OK(DMSetUp(da));
  OK(DMSetMatType(da, MATAIJ));
  OK(DMCreateMatrix(da, &A));
  OK(DMDAGetCorners(da, &xs, &ys, nullptr, &xm, &ym, nullptr));
  make(1);
  expect_the_same(A, da, PC_LINE_DIRECTION_X, 1);
  {
    Richardson old(A, A, da, 9); // factors of the old matrix, residuals of the new one
    OK(PCLineSetDirection(old.pc, PC_LINE_DIRECTION_X));
    old.solve();
    make(0.9);
    OK(PCSetReusePreconditioner(old.pc, PETSC_TRUE));
    OK(KSPSetTolerances(old.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    count_products(A);
    old.solve();
    EXPECT_EQ(products, 199);
    Vec       r;
    PetscReal norm, size;
    OK(VecDuplicate(old.b, &r));
    OK(MatResidual(A, old.b, old.x, r));
    OK(VecNorm(r, NORM_2, &norm));
    OK(VecNorm(old.b, NORM_2, &size));
    EXPECT_LT(norm / size, 1e4 * PETSC_MACHINE_EPSILON);
    OK(VecDestroy(&r));
  }
  OK(MatDestroy(&A));
  OK(DMDestroy(&da));
}

} // namespace
