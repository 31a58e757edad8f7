// SPDX-License-Identifier: BSD-2-Clause
// Mat compact: how programs make one, options after a set-up, metric, stencils, views and refusals.
#include "compact_fixture.hpp"

using namespace test;

using CompactUse = Petsc;

namespace {

std::string view_of(Mat A)
{
  return printed([A](PetscViewer viewer) { return MatView(A, viewer); });
}

/// y of another order than that of `mat`, which is not changed.
Vec product_of_order(const CompactDMDA &grid, const CompactMat &mat, PetscInt order)
{
  CompactMat other(grid, MAT_COMPACT_X, 1, order);
  Vec        y;
  VecDuplicate(mat.u, &y);
  MatMult(other.A, mat.u, y);
  return y;
}

/// The message of the first product.
std::string error_of(Mat A, Vec u, Vec y)
{
  last_error().clear();
  EXPECT_NE(static_cast<int>(MatMult(A, u, y)), 0);
  return last_error();
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
  const std::string text = view_of(A);
  if (rank == 0) {
    EXPECT_TRUE(contains(text, "derivative 1, order 8\n")) << text;
    EXPECT_TRUE(contains(text, "direction: y, lines of 40 rows, spacing 0.16110")) << text;
    EXPECT_TRUE(contains(text, "ends: order 3\n")) << text;
    EXPECT_TRUE(
      contains(text, ranks == 1 ? ", fused with the product\n" : "kernel: sub-lines on their ranks, solved "))
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
  std::string text = view_of(mat.A);
  if (rank == 0) {
    EXPECT_TRUE(contains(text, "scheme: interpolation, order 6, staggered forward\n")) << text;
    EXPECT_TRUE(contains(text, "direction: x (not set up)\n")) << text;
  }
  OK(MatCompactSetStaggered(mat.A, MAT_COMPACT_STAGGERED_NONE));
  OK(MatMult(mat.A, mat.u, mat.y));
  OK(MatMultTranspose(mat.A, mat.u, mat.y));
  text = view_of(mat.A);
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

TEST_F(CompactUse, RefusalsNameTheOption)
{
  const CompactDMDA grid({40, 12}, 1, false, {1, ranks});
  const CompactMat  mat(grid, MAT_COMPACT_X);
  const Mat         A       = mat.A;
  const auto        refused = [&](PetscErrorCode error, const std::string &text) {
    EXPECT_NE(static_cast<int>(error), 0);
    EXPECT_EQ(last_error(), text);
  };
  refused(MatCompactSetOrder(A, 5), "MatCompactSetOrder, -mat_compact_order: 5 is not 4, 6, 8 or 10");
  refused(MatCompactSetDerivative(A, 3),
          "MatCompactSetDerivative, -mat_compact_derivative: 3 is not 0, 1 or 2");
  refused(MatCompactSetEnds(A, 2), "MatCompactSetEnds, -mat_compact_ends: 2 is not 3 or 4");
  refused(MatCompactSetFilter(A, 0.5), "MatCompactSetFilter, -mat_compact_filter: 0.5 is not in [0, 1/2)");
  refused(MatCompactSetSpacing(A, -1),
          "MatCompactSetSpacing, -mat_compact_spacing: -1. is negative, or not a finite number");
  refused(MatCompactSetGrid(A, 4, 0, 1, 1), "MatCompactSetGrid: ny is 0: at least 1");
  refused(MatCompactSetGrid(A, PETSC_MAX_INT, 2, 1, 1),
          "MatCompactSetGrid: " + std::to_string(PETSC_MAX_INT) + " x 2 x 1 points with dof 1: at most " +
            std::to_string(PETSC_MAX_INT) + " unknowns (PetscInt)");
}

TEST_F(CompactUse, ValuesOfTheApplicationAreCheckedOnAllRanks)
{
  const CompactDMDA grid({40, 12}, 1, false, {1, ranks});
  const CompactMat  mat(grid, MAT_COMPACT_X);
  const Mat         A       = mat.A;
  const bool        is_last = rank == ranks - 1; // all ranks report the error of one
  const auto        refused = [&](PetscErrorCode error, const std::string &text) {
    EXPECT_NE(static_cast<int>(error), 0);
    EXPECT_EQ(last_error(), text);
  };
  const auto               range = PetscDefined(USE_REAL_SINGLE) ? "1e-31 to 4e+31" : "1e-292 to 4e+292";
  std::vector<PetscReal>   metric(40, 1);
  std::vector<PetscScalar> ones(6, 1), first = ones;
  const PetscReal          nan = std::nan("");
  for (PetscReal wrong : {PetscReal(0), PETSC_INFINITY, nan}) {
    metric[3] = is_last ? wrong : 1;
    EXPECT_NE(static_cast<int>(MatCompactSetMetric(A, 40, metric.data())), 0);
    EXPECT_TRUE(contains(last_error(), "MatCompactSetMetric: dxi_dx[3] is ")) << last_error();
    EXPECT_TRUE(contains(last_error(), std::string(": a size of ") + range)) << last_error();
  }
  metric[3] = is_last ? 1 : 2;
  if (ranks > 1)
    refused(MatCompactSetMetric(A, 40, metric.data()),
            "MatCompactSetMetric: ranks pass different values: pass the same on all ranks");
  refused(MatCompactSetMetric(A, is_last ? 1 : 40, is_last ? nullptr : metric.data()),
          "MatCompactSetMetric: dxi_dx is NULL, and n is 1");
  const auto     none = static_cast<const PetscScalar *>(nullptr);
  MatCompactRows good = {1, ones.data(), 2, ones.data(), ones.data()}, rows = good;
  const auto     set = [&] {
    const MatCompactRows own = is_last ? rows : good;
    rows                     = good;
    return MatCompactSetStencil(A, &good, &own);
  };
  rows.width = 9;
  refused(set(), "MatCompactSetStencil: B->width is 9: 0 to 8");
  rows.ends = -1;
  refused(set(), "MatCompactSetStencil: B->ends is -1: at least 0");
  rows.interior = none;
  refused(set(), "MatCompactSetStencil: B->interior is NULL");
  rows.last = none;
  refused(set(), "MatCompactSetStencil: B->last is NULL");
  first[4]   = nan;
  rows.first = first.data();
  refused(set(), "MatCompactSetStencil: B->first[4] is not a finite number");
  first[4]   = 2;
  rows.first = first.data();
  if (ranks > 1)
    refused(set(), "MatCompactSetStencil: ranks pass different values: pass the same on all ranks");
  refused(MatCompactSetStencil(A, &good, is_last ? nullptr : &good),
          "MatCompactSetStencil: one of A and B is NULL: pass both, or NULL for both");
}

TEST_F(CompactUse, ContradictionsAreErrorsOfTheFirstProduct)
{
  const CompactDMDA grid({40, 12}, 1, false, {1, ranks}), ring({40}, 1, true);
  const CompactMat  mat(grid, MAT_COMPACT_X), round(ring, MAT_COMPACT_X);
  const Mat         A = mat.A;
  OK(MatSetOptionsPrefix(A, "d_"));
  OK(MatCompactSetStaggered(A, MAT_COMPACT_STAGGERED_FORWARD));
  EXPECT_EQ(error_of(A, mat.u, mat.y),
            "Mat compact: staggered schemes have no end rows for open lines (periodic lines), with "
            "-d_mat_compact_derivative 1, -d_mat_compact_order 6 and -d_mat_compact_staggered forward");
  OK(MatCompactSetStaggered(A, MAT_COMPACT_STAGGERED_NONE));
  OK(MatCompactSetDirection(A, MAT_COMPACT_Z));
  EXPECT_EQ(error_of(A, mat.u, mat.y),
            "Mat compact: -d_mat_compact_direction z, and the DMDA has 2 dimensions (x, y)");
  OK(MatCompactSetDirection(A, MAT_COMPACT_Y));
  const std::vector<PetscReal> ones(12, 1);
  OK(MatCompactSetMetric(A, 12, ones.data()));
  OK(MatCompactSetDerivative(A, 2));
  EXPECT_EQ(error_of(A, mat.u, mat.y),
            "MatCompactSetMetric: a metric scales first derivatives, and -d_mat_compact_derivative is 2: 1");
  const PetscScalar    one = 1, none = 0;
  const MatCompactRows with_ends = {0, &one, 1, &one, &one}, singular = {0, &none, 0, nullptr, nullptr};
  OK(MatCompactSetStencil(round.A, &with_ends, &with_ends));
  EXPECT_EQ(error_of(round.A, round.u, round.y),
            "MatCompactSetStencil: ends is 1, and the lines along x are periodic: ends is 0");
  OK(MatCompactSetStencil(round.A, &singular, &singular));
  EXPECT_TRUE(contains(error_of(round.A, round.u, round.y), "Mat compact: A cannot be solved: "));
}

TEST_F(CompactUse, AGridIsNeededOfTheSizeOfTheMatrix) // one rank
{
  Mat A;
  Vec u, y;
  OK(MatCreate(PETSC_COMM_SELF, &A));
  OK(MatSetSizes(A, 12, 12, 12, 12));
  OK(MatSetType(A, MATCOMPACT));
  OK(MatSetUp(A));
  OK(MatCreateVecs(A, &u, &y));
  EXPECT_EQ(error_of(A, u, y),
            "Mat compact: there is no grid: call MatSetDM() with a DMDA, or MatCompactSetGrid()");
  OK(MatCompactSetGrid(A, 5, 2, 1, 1));
  EXPECT_EQ(
    error_of(A, u, y),
    "Mat compact: a rank has 12 rows and 12 columns of the matrix, and 10 points with dof 1 of the grid");
  OK(MatCompactSetGrid(A, 6, 2, 1, 1));
  OK(MatMult(A, u, y));
  MatDestroy(&A);
  VecDestroy(&u);
  VecDestroy(&y);
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

TEST_F(CompactUse, SpacingsOutOfRangeAreRefused)
{
  const CompactDMDA grid({40}, 1, true);
  const CompactMat  mat(grid, MAT_COMPACT_X, 2, 6);
  const bool        is_single = PetscDefined(USE_REAL_SINGLE);
  for (PetscReal h : {static_cast<PetscReal>(is_single ? 1e-30 : 1e-300),
                      static_cast<PetscReal>(is_single ? 1e30 : 1e300)}) {
    OK(MatCompactSetSpacing(mat.A, h));
    const std::string text = error_of(mat.A, mat.u, mat.y);
    EXPECT_TRUE(contains(text, "Mat compact: spacing 1e")) << text;
    EXPECT_TRUE(contains(text, ": 1/h^2 is ")) << text;
    EXPECT_TRUE(contains(text, "): change -mat_compact_spacing, or the coordinates of the DMDA")) << text;
  }
  OK(MatCompactSetSpacing(mat.A, static_cast<PetscReal>(1e-9)));
  OK(MatMult(mat.A, mat.u, mat.y));
}

TEST_F(CompactUse, SetUpsOutOfOrderAreRefused)
{
  DM  da;
  Mat A;
  Vec u;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 40, 1, 1, nullptr, &da));
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetType(A, MATCOMPACT));
  const auto refused = [&](PetscErrorCode error, const std::string &text) {
    EXPECT_NE(static_cast<int>(error), 0);
    EXPECT_EQ(last_error(), text);
  };
  refused(MatSetUp(A), "Mat compact: there is no grid: call MatSetDM() with a DMDA, or MatCompactSetGrid()");
  OK(MatSetDM(A, da));
  refused(MatSetUp(A), "Mat compact: its DMDA is not set up: call DMSetUp() before MatSetUp()");
  refused(MatCreateVecs(A, &u, nullptr), "Mat compact: call MatSetUp() before MatCreateVecs()");
  OK(DMSetUp(da));
  OK(MatSetUp(A));
  OK(MatCreateVecs(A, &u, nullptr));
  VecDestroy(&u);
  MatDestroy(&A);
  DMDestroy(&da);
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
