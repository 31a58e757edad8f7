// SPDX-License-Identifier: BSD-2-Clause
// Mat compact: how programs make one, options after a set-up, metric, stencils, views, coordinates.
#include "compact_fixture.hpp"

using namespace test;

using CompactUse = Petsc;

namespace {

/// y of another order than that of `mat`, which is not changed.
Vec product_of_order(const CompactDMDA &grid, const CompactMat &mat, PetscInt order)
{
  CompactMat other(grid, MAT_COMPACT_X, 1, order);
  Vec        y;
  VecDuplicate(mat.u, &y);
  MatMult(other.A, mat.u, y);
  return y;
}

} // namespace

TEST_F(CompactUse, OptionsTakeEffectAfterASetUp)
{
  const CompactDMDA grid({40, 4}, 1, true, {1, ranks});
  const CompactMat  mat(grid, MAT_COMPACT_X, 1, 6);
  for (PetscInt order : {10, 4, 6}) {
    Vec wanted = product_of_order(grid, mat, order);
    reset_options(("-mat_type compact -mat_compact_order " + std::to_string(order)).c_str());
    OK(MatSetFromOptions(mat.A));
    OK(MatMult(mat.A, mat.u, mat.y));
    EXPECT_LE(difference(mat.y, wanted), 10 * PETSC_MACHINE_EPSILON) << order;
    VecDestroy(&wanted);
  }
  reset_options();
}

TEST_F(CompactUse, DMCreatesMatricesOfTheType)
{
  const CompactDMDA grid({5, 40}, 2, false, {1, ranks});
  Mat               A;
  Vec               u, y, exact;
  VecType           type, own;
  // the command line may give other types
  reset_options("-dm_mat_type compact -mat_type compact -mat_compact_direction y -mat_compact_order 8");
  OK(DMSetMatType(grid.da, MATCOMPACT));
  OK(DMCreateMatrix(grid.da, &A));
  OK(MatCompactSetEnds(A, 3));
  const Vec f = grid.sample(1, [](PetscReal x) { return wave(0, x); });
  exact       = grid.sample(1, [](PetscReal x) { return wave(1, x); });
  OK(MatCreateVecs(A, &u, &y));
  OK(VecGetType(u, &type));
  OK(VecGetType(f, &own));
  EXPECT_STREQ(type, own);
  OK(VecCopy(f, u));
  OK(MatMult(A, u, y));
  EXPECT_LE(difference(y, exact), 0.03);
  const std::string text = compact_view(A);
  if (rank == 0) {
    EXPECT_TRUE(contains(text, "derivative 1, order 8\n")) << text;
    EXPECT_TRUE(contains(text, "direction: y, lines of 40 rows, spacing 0.16110")) << text;
    EXPECT_TRUE(contains(text, "ends: order 3\n")) << text;
    EXPECT_TRUE(
      contains(text, ranks == 1 ? ", fused with the product\n" : ": sub-lines on their ranks, solved "))
      << text;
  }
  OK(MatCompactSetDirection(A, MAT_COMPACT_X)); // lines of 5 rows
  error_of(A, u, y);
  EXPECT_EQ(last_error(), "Mat compact: lines of 5 rows along x: -mat_compact_order 8 with "
                          "-mat_compact_ends 3 needs at least 7");
  reset_options();
  MatDestroy(&A);
  Vec g = f;
  for (Vec *v : {&u, &y, &exact, &g}) VecDestroy(v);
}

TEST_F(CompactUse, DuplicatesHaveTheSameOptions)
{
  const CompactDMDA grid({40}, 1, true);
  const CompactMat  mat(grid, MAT_COMPACT_X, 2, 8);
  Mat               copy;
  Vec               z;
  OK(MatCompactSetSpacing(mat.A, 2));
  OK(MatScale(mat.A, 3));
  OK(MatDuplicate(mat.A, MAT_COPY_VALUES, &copy));
  OK(MatCompactSetOrder(mat.A, 4)); // not that of the copy
  OK(VecDuplicate(mat.y, &z));
  OK(MatMult(copy, mat.u, z));
  OK(MatCompactSetOrder(mat.A, 8));
  OK(MatMult(mat.A, mat.u, mat.y));
  EXPECT_LE(difference(z, mat.y), 10 * PETSC_MACHINE_EPSILON);
  MatDestroy(&copy);
  VecDestroy(&z);
}

TEST_F(CompactUse, MetricGivesTheDerivativeOnAStretchedGrid)
{
  for (bool transposed : {false, true}) {
    const PetscInt    n = 60;
    const CompactDMDA grid({2, n}, 2, false, {1, ranks});
    const CompactMat  mat(grid, MAT_COMPACT_Y, 1, 6);
    // x = xi + sin(xi) / 2 with xi = i h
    const auto      x_of = [](PetscReal xi) { return xi + PetscSinReal(xi) / 2; };
    const PetscReal h    = turn / static_cast<PetscReal>(n - 1);
    const Vec       f    = grid.sample(1, [&](PetscReal xi) { return wave(0, x_of(xi)); }),
              exact      = grid.sample(1, [&](PetscReal xi) { return wave(1, x_of(xi)); });
    std::vector<PetscReal> metric;
    for (PetscInt i = 0; i < n; ++i)
      metric.push_back(1 / (1 + PetscCosReal(h * static_cast<PetscReal>(i)) / 2));
    OK(MatCompactSetMetric(mat.A, n, metric.data()));
    OK(MatCompactSetSpacing(mat.A, h));
    OK(MatMult(mat.A, f, mat.y));
    EXPECT_LE(difference(mat.y, exact), 2e-3);
    if (transposed) { // <A u, w> = <u, A^T w>
      Vec         z;
      PetscScalar left, right;
      OK(VecDuplicate(f, &z));
      OK(MatMultTranspose(mat.A, mat.u, z));
      OK(VecTDot(mat.y, mat.u, &left));
      OK(VecTDot(f, z, &right));
      EXPECT_LE(PetscAbsScalar(left - right), 1000 * PETSC_MACHINE_EPSILON * PetscAbsScalar(left));
      VecDestroy(&z);
    }
    const PetscReal *values;
    PetscInt         count;
    OK(MatCompactGetMetric(mat.A, &count, &values));
    EXPECT_EQ(std::vector<PetscReal>(values, values + count), metric);
    OK(MatCompactSetMetric(mat.A, 3, metric.data()));
    error_of(mat.A, f, mat.y);
    EXPECT_EQ(last_error(), "MatCompactSetMetric: n is 3, and lines along y have 60 rows");
    Vec a = f, b = exact;
    VecDestroy(&a);
    VecDestroy(&b);
  }
}

TEST_F(CompactUse, StencilsOfTheApplicationReplaceTheScheme)
{
  for (bool periodic : {true, false}) {
    const CompactDMDA grid({40}, 2, periodic);
    const CompactMat  mat(grid, MAT_COMPACT_X, 1, 4);
    const PetscReal   h   = grid.h(0);
    const PetscScalar a[] = {0.25, 1, 0.25}, c = 0.75 / h, b[] = {0, 0, -c, 0, c, 0, 0};
    const PetscScalar a0[] = {0, 1, 3}, a1[] = {3, 1, 0},
                      b0[]    = {0, 0, 0, -17 / (6 * h), 1.5 / h, 1.5 / h, -1 / (6 * h)},
                      b1[]    = {1 / (6 * h), -1.5 / h, -1.5 / h, 17 / (6 * h), 0, 0, 0};
    const PetscInt       ends = periodic ? 0 : 1;
    const MatCompactRows A = {1, a, ends, a0, a1}, B = {3, b, ends, b0, b1};
    MatCompactRows       gA, gB;
    Vec                  z;
    OK(VecDuplicate(mat.y, &z));
    OK(MatMult(mat.A, mat.u, mat.y));
    OK(MatCompactSetStencil(mat.A, &A, &B));
    OK(MatMult(mat.A, mat.u, z));
    EXPECT_LE(difference(z, mat.y), 100 * PETSC_MACHINE_EPSILON);
    OK(MatCompactGetStencil(mat.A, &gA, &gB));
    EXPECT_EQ(gA.width, 1);
    EXPECT_EQ(gB.ends, ends);
    EXPECT_EQ(gB.interior[2], -c);
    OK(MatCompactSetStencil(mat.A, nullptr, nullptr));
    OK(MatCompactSetOrder(mat.A, 6));
    OK(MatMult(mat.A, mat.u, z));
    EXPECT_GE(difference(z, mat.y), 1e-3);
    VecDestroy(&z);
  }
}

TEST_F(CompactUse, SpacingIsThatOfTheCoordinatesOrOfTheOption)
{
  const CompactDMDA grid({40}, 1, true);
  const CompactMat  mat(grid, MAT_COMPACT_X);
  Vec               z, coordinates;
  PetscScalar      *x;
  PetscInt          n;
  OK(VecDuplicate(mat.y, &z));
  OK(MatMult(mat.A, mat.u, mat.y));
  OK(MatCompactSetSpacing(mat.A, 1));
  OK(MatMult(mat.A, mat.u, z));
  OK(VecScale(z, 1 / grid.h(0)));
  EXPECT_LE(difference(z, mat.y), 100 * PETSC_MACHINE_EPSILON);
  OK(MatCompactSetSpacing(mat.A, 0));
  OK(DMGetCoordinates(grid.da, &coordinates));
  OK(VecGetLocalSize(coordinates, &n));
  OK(VecGetArray(coordinates, &x));
  if (rank == ranks - 1) x[n - 1] += 0.01;
  OK(VecRestoreArray(coordinates, &x));
  error_of(mat.A, mat.u, mat.y);
  EXPECT_EQ(last_error(), "Mat compact: the coordinates of the DMDA along x are not uniform and increasing: "
                          "call MatCompactSetMetric(), or give the spacing with -mat_compact_spacing");
  VecDestroy(&z);
}

TEST_F(CompactUse, ViewsBeforeAndAfterASetUp)
{
  const CompactDMDA grid({40}, 1, true);
  const CompactMat  mat(grid, MAT_COMPACT_X, 0, 6);
  OK(MatCompactSetStaggered(mat.A, MAT_COMPACT_STAGGERED_FORWARD));
  std::string text = compact_view(mat.A);
  if (rank == 0) {
    EXPECT_TRUE(contains(text, "scheme: interpolation, order 6, staggered forward\n")) << text;
    EXPECT_TRUE(contains(text, "direction: x (not set up)\n")) << text;
  }
  OK(MatCompactSetStaggered(mat.A, MAT_COMPACT_STAGGERED_NONE));
  OK(MatMult(mat.A, mat.u, mat.y));
  OK(MatMultTranspose(mat.A, mat.u, mat.y));
  text = compact_view(mat.A);
  if (rank == 0) {
    EXPECT_TRUE(contains(text, "scheme: filter 0.45, order 6\n")) << text;
    EXPECT_TRUE(contains(text, "ends: periodic\n")) << text;
    EXPECT_TRUE(contains(text, "transposed kernel")) << text;
  }
}

TEST_F(CompactUse, EverySetHasAGet)
{
  const CompactDMDA   grid({40}, 1, true);
  const CompactMat    mat(grid, MAT_COMPACT_X);
  MatCompactDirection direction;
  MatCompactStaggered staggered;
  PetscInt            derivative, order, ends, nx, ny, nz, dof;
  PetscReal           filter, h;
  PetscBool           periodic;
  reset_options("-mat_type compact -mat_compact_direction z -mat_compact_derivative 2 -mat_compact_order 10 "
                "-mat_compact_ends 3 "
                "-mat_compact_filter 0.25 -mat_compact_staggered backward -mat_compact_spacing 0.5 "
                "-mat_compact_periodic");
  OK(MatSetFromOptions(mat.A));
  reset_options();
  OK(MatCompactGetDirection(mat.A, &direction));
  OK(MatCompactGetStaggered(mat.A, &staggered));
  OK(MatCompactGetDerivative(mat.A, &derivative));
  OK(MatCompactGetOrder(mat.A, &order));
  OK(MatCompactGetEnds(mat.A, &ends));
  OK(MatCompactGetFilter(mat.A, &filter));
  OK(MatCompactGetSpacing(mat.A, &h));
  OK(MatCompactGetPeriodic(mat.A, &periodic));
  EXPECT_EQ(direction, MAT_COMPACT_Z);
  EXPECT_EQ(staggered, MAT_COMPACT_STAGGERED_BACKWARD);
  EXPECT_EQ(derivative, 2);
  EXPECT_EQ(order, 10);
  EXPECT_EQ(ends, 3);
  EXPECT_EQ(filter, 0.25);
  EXPECT_EQ(h, 0.5);
  EXPECT_TRUE(periodic);
  OK(MatCompactSetGrid(mat.A, 4, 5, 6, 7));
  OK(MatCompactGetGrid(mat.A, &nx, &ny, &nz, &dof));
  EXPECT_EQ(nx * 1000 + ny * 100 + nz * 10 + dof, 4567);
}

TEST_F(CompactUse, NewCoordinatesAreNoticed)
{
  const CompactDMDA grid({40}, 1, true);
  const CompactMat  mat(grid, MAT_COMPACT_X);
  Vec               z, coordinates;
  OK(VecDuplicate(mat.y, &z));
  OK(MatMult(mat.A, mat.u, mat.y));
  OK(DMGetCoordinates(grid.da, &coordinates));
  OK(VecScale(coordinates, 2)); // the same vector
  OK(MatMult(mat.A, mat.u, z));
  OK(VecScale(z, 2));
  EXPECT_LE(difference(z, mat.y), 100 * PETSC_MACHINE_EPSILON);
  OK(DMDASetUniformCoordinates(grid.da, 0, 3 * turn, 0, 1, 0, 1)); // another vector
  OK(MatMult(mat.A, mat.u, z));
  OK(VecScale(z, 3));
  EXPECT_LE(difference(z, mat.y), 100 * PETSC_MACHINE_EPSILON);
  VecDestroy(&z);
}

TEST_F(CompactUse, APrefixAfterDMCreateMatrixIsThatOfTheOptions)
{
  const CompactDMDA grid({40}, 1, true);
  Mat               A;
  Vec               u, y;
  reset_options("-dm_mat_type compact -mat_type compact -d_mat_type compact -d_mat_compact_order 10");
  OK(DMSetMatType(grid.da, MATCOMPACT));
  OK(DMCreateMatrix(grid.da, &A));
  OK(MatSetOptionsPrefix(A, "d_"));
  OK(MatSetFromOptions(A));
  reset_options();
  OK(MatCreateVecs(A, &u, &y));
  OK(VecSetRandom(u, nullptr));
  OK(MatMult(A, u, y));
  const CompactMat other(grid, MAT_COMPACT_X, 1, 10);
  OK(MatMult(other.A, u, other.y));
  EXPECT_LE(difference(y, other.y), 10 * PETSC_MACHINE_EPSILON);
  MatDestroy(&A);
  VecDestroy(&u);
  VecDestroy(&y);
}
