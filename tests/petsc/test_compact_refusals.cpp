// SPDX-License-Identifier: BSD-2-Clause
// Mat compact: values, grids and sequences of calls that are refused.
#include "compact_fixture.hpp"

using namespace test;

using CompactRefusals = Petsc;

TEST_F(CompactRefusals, RefusalsNameTheOption)
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

TEST_F(CompactRefusals, ValuesOfTheApplicationAreCheckedOnAllRanks)
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

TEST_F(CompactRefusals, ContradictionsAreErrorsOfTheFirstProduct)
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

TEST_F(CompactRefusals, AGridIsNeededOfTheSizeOfTheMatrix) // one rank
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

TEST_F(CompactRefusals, SpacingsOutOfRangeAreRefused)
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

TEST_F(CompactRefusals, SetUpsOutOfOrderAreRefused)
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
