// SPDX-License-Identifier: BSD-2-Clause
// Mat compact: grids that change, and messages about options with a prefix.
#include "compact_fixture.hpp"

#include <ribbon_petsc/pcadi.h>

using namespace test;

using CompactChanges = Petsc;

namespace {

DM line_of(PetscInt points, DMBoundaryType boundary)
{
  DM da;
  DMDACreate1d(PETSC_COMM_WORLD, boundary, points, 1, 1, nullptr, &da);
  DMSetUp(da);
  return da;
}

/// A u for u_i = i (i + 1) mod 7.
Vec product_of(Mat A, DM da)
{
  Vec          u, y;
  PetscScalar *a;
  PetscInt     begin, count;
  MatCreateVecs(A, &u, &y);
  DMDAGetCorners(da, &begin, nullptr, nullptr, &count, nullptr, nullptr);
  VecGetArrayWrite(u, &a);
  for (PetscInt i = 0; i < count; ++i) a[i] = static_cast<PetscReal>((begin + i) * (begin + i + 1) % 7);
  VecRestoreArrayWrite(u, &a);
  MatMult(A, u, y);
  VecDestroy(&u);
  return y;
}

Mat compact_of(DM da)
{
  Mat A;
  MatCreate(PETSC_COMM_WORLD, &A);
  MatSetDM(A, da);
  MatSetType(A, MATCOMPACT);
  MatSetUp(A);
  return A;
}

} // namespace

/// A new DMDA often gets the address of one that was just destroyed.
TEST_F(CompactChanges, ADMDAAtTheAddressOfAnotherOneIsRead)
{
  DM  ring = line_of(32, DM_BOUNDARY_PERIODIC);
  Mat A    = compact_of(ring);
  Vec y    = product_of(A, ring);
  OK(MatSetDM(A, nullptr));
  OK(DMDestroy(&ring));
  DM  open = line_of(32, DM_BOUNDARY_NONE);
  Mat B    = compact_of(open);
  OK(MatSetDM(A, open));
  Vec now = product_of(A, open), expected = product_of(B, open);
  EXPECT_LE(difference(now, expected), 10 * PETSC_MACHINE_EPSILON);
  EXPECT_GT(difference(y, expected), static_cast<PetscReal>(0.01));
  for (Vec *v : {&y, &now, &expected}) VecDestroy(v);
  MatDestroy(&A);
  MatDestroy(&B);
  DMDestroy(&open);
}

TEST_F(CompactChanges, MessagesHaveThePrefix)
{
  DM  da = line_of(40, DM_BOUNDARY_NONE);
  Mat A  = compact_of(da);
  OK(MatSetOptionsPrefix(A, "dx_"));
  last_error().clear();
  EXPECT_NE(static_cast<int>(MatCompactSetOrder(A, 5)), 0);
  EXPECT_EQ(last_error(), "MatCompactSetOrder, -dx_mat_compact_order: 5 is not 4, 6, 8 or 10");
  MatDestroy(&A);
  DMDestroy(&da);
}

/// Second derivatives with explicit rows of the ends need one row less than those with implicit ones.
TEST_F(CompactChanges, ShortLinesNameTheOrdersAtFault)
{
  if (ranks > 1) GTEST_SKIP() << "lines of a few rows";
  for (PetscInt points : {5, 6}) {
    DM  da = line_of(points, DM_BOUNDARY_NONE);
    Mat A;
    Vec u, y;
    OK(MatCreate(PETSC_COMM_WORLD, &A));
    OK(MatSetDM(A, da));
    OK(MatSetType(A, MATCOMPACT));
    OK(MatCompactSetDerivative(A, 2));
    OK(MatCompactSetOrder(A, 4));
    OK(MatSetUp(A));
    OK(MatCreateVecs(A, &u, &y));
    OK(VecSet(u, 1));
    last_error().clear();
    const PetscErrorCode error = MatMult(A, u, y);
    EXPECT_EQ(static_cast<int>(error) == 0, points == 6);
    EXPECT_EQ(last_error(), points == 6 ? ""
                                        : "Mat compact: lines of 5 rows along x: -mat_compact_order 4 with "
                                          "-mat_compact_ends 4 needs at least 6");
    VecDestroy(&u);
    VecDestroy(&y);
    MatDestroy(&A);
    DMDestroy(&da);
  }
}

/// A conversion would take a product per column.
TEST_F(CompactChanges, AlternatingDirectionsRefuseAMatrixWithoutEntries)
{
  DM  da = line_of(40, DM_BOUNDARY_PERIODIC);
  Mat A  = compact_of(da);
  PC  pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, "adi"));
  OK(PCADISetShift(pc, 1));
  OK(PCSetDM(pc, da));
  OK(PCSetOperators(pc, A, A));
  last_error().clear();
  EXPECT_NE(static_cast<int>(PCSetUp(pc)), 0);
  EXPECT_EQ(last_error(),
            "alternating directions need the entries of a matrix, and one of type compact stores "
            "none: take a matrix of type aij");
  PCDestroy(&pc);
  MatDestroy(&A);
  DMDestroy(&da);
}
