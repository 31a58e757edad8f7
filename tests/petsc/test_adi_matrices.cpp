// SPDX-License-Identifier: BSD-2-Clause
// Matrices that are split into directions: without a DM, of other types, and given by the application.
#include "adi_fixture.hpp"

#include <array>

using namespace test;
using ribbon::petsc::DirectionFactors;
using ribbon::petsc::DirectionSplitting;

namespace {

class AdiMatrices : public test::Adi { };

} // namespace

TEST_F(AdiMatrices, GridsWithoutADM) // one rank: lines would span ranks
{
  for (PetscInt components : {1, 2}) { // coupled blocks
    const std::array<PetscInt, 3> n  = {11, 12, 10};
    const auto                    at = [&](PetscInt r) {
      const PetscInt e = r / components;
      return std::array<PetscInt, 3>{e % n[0], e / n[0] % n[1], e / (n[0] * n[1])};
    };
    const auto entry = [&](PetscInt r, PetscInt c) -> PetscScalar {
      const auto a = at(r), b = at(c);
      PetscInt   apart = 0;
      for (std::size_t d = 0; d < 3; ++d) apart += std::abs(a[d] - b[d]);
      if (apart == 0) return r == c ? 7. : 0.25;
      return apart == 1 && r % components == c % components ? -1. : 0.;
    };
    Mat J = matrix(n[0] * n[1] * n[2] * components, entry,
                   [&](PetscInt r, PetscInt c) { return entry(r, c) != PetscScalar(0); });
    OK(MatSetBlockSize(J, components));
    DirectionSplitting splitting;
    DirectionFactors   factors;
    Vec                b, x, r;
    PetscReal          norm;
    OK(splitting.update({J, nullptr, 1}, nullptr));
    ASSERT_EQ(splitting.directions(), 3);
    EXPECT_LT(left_out(splitting, J, 1), 1e-12);
    OK(factors.factor(splitting, 0.5, nullptr));
    OK(MatCreateVecs(J, &x, &b));
    OK(VecDuplicate(b, &r));
    OK(VecSetRandom(b, nullptr));
    for (int d = 0; d < 3; ++d) {
      OK(factors.solve(d, b, x));
      OK(MatMult(splitting.A(d), x, r));
      OK(VecAXPBYPCZ(r, 1, -1, -0.5, x, b));
      OK(VecNorm(r, NORM_INFINITY, &norm));
      EXPECT_LT(norm, 1e-13) << components << " components, along " << splitting.name(d);
    }
    for (Vec *v : {&b, &x, &r}) OK(VecDestroy(v));
    OK(MatDestroy(&J));
  }
}

TEST_F(AdiMatrices, OtherTypesAreConverted)
{
  const Grid grid({8, 8}, {1, 2, 0}, 3);
  for (const char *type : {MATBAIJ, MATSBAIJ}) {
    Mat                J;
    DirectionSplitting splitting;
    OK(MatSetOption(grid.A, MAT_SYMMETRIC, PETSC_TRUE));
    OK(MatConvert(grid.A, type, MAT_INITIAL_MATRIX, &J));
    OK(splitting.update({J, grid.da, 3}, nullptr));
    EXPECT_EQ(splitting.directions(), 2);
    EXPECT_LT(left_out(splitting, grid.A, 3), 1e-12) << type;
    OK(MatDestroy(&J));
  }
}

TEST_F(AdiMatrices, GivenDirections)
{
  const std::vector<PetscReal> strength = {1, 2};
  const Grid                   grid({8, 8}, strength, 3), x({8, 8}, {1, 0}, 0), y({8, 8}, {0, 2}, 0);
  DirectionSplitting           splitting;
  Vec                          mass;
  bool                         changed = false;
  OK(MatScale(x.A, -1));
  OK(MatScale(y.A, -1));
  OK(splitting.update({x.A, y.A}, {grid.A, grid.da, 3}, &changed));
  EXPECT_TRUE(changed);
  ASSERT_EQ(splitting.directions(), 2);
  EXPECT_LT(left_out(splitting, grid.A, 3), 1e-12);
  OK(splitting.update({x.A, y.A}, {grid.A, grid.da, 3}, &changed));
  EXPECT_FALSE(changed);
  // Row 0 becomes an algebraic equation along y: A_x has no entries in it.
  OK(DMCreateGlobalVector(grid.da, &mass));
  OK(VecSet(mass, 1));
  OK(VecSetValue(mass, 0, 0, INSERT_VALUES));
  OK(VecAssemblyBegin(mass));
  OK(VecAssemblyEnd(mass));
  PetscInt row = 0;
  OK(MatSetOption(x.A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  OK(MatZeroRows(x.A, rank == 0 ? 1 : 0, &row, 0, nullptr, nullptr));
  OK(splitting.update({x.A, y.A}, {grid.A, grid.da, 3, mass}, &changed));
  EXPECT_TRUE(changed);
  EXPECT_TRUE(splitting.algebraic_couple());
  if (rank == 0) {
    PetscScalar v;
    PetscInt    zero = 0;
    OK(MatGetValues(splitting.A(0), 1, &zero, 1, &zero, &v));
    EXPECT_EQ(v, PetscScalar(-1));
    OK(MatGetValues(splitting.A(1), 1, &zero, 1, &zero, &v));
    EXPECT_EQ(v, PetscScalar(-1));
    OK(VecGetValues(splitting.algebraic(), 1, &zero, &v));
    EXPECT_EQ(v, PetscScalar(0.25));
  }
  OK(MatSetOption(x.A, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
  OK(MatZeroRows(x.A, rank == 0 ? 1 : 0, &row, 0, nullptr, nullptr));
  EXPECT_NE(static_cast<int>(splitting.update({x.A, y.A}, {grid.A, grid.da, 3, mass}, &changed)), 0);
  EXPECT_EQ(last_error(), "ADI: the matrix that is given for direction x stores no diagonal entry in row 0");
  OK(VecDestroy(&mass));
}

TEST_F(AdiMatrices, NoLinesAreOneError)
{
  const PetscInt n = 60;
  Mat            J = matrix(
               n, [n](PetscInt r, PetscInt c) { return r == c ? PetscScalar(n) : PetscScalar(-1); },
               [](PetscInt, PetscInt) { return true; });
  DirectionSplitting splitting;
  EXPECT_NE(static_cast<int>(splitting.update({J, nullptr, 1}, nullptr)), 0);
  EXPECT_TRUE(contains(last_error(), "ADI needs the lines of a grid, but there is no DMDA")) << last_error();
  OK(MatDestroy(&J));
}

/// Rows of given matrices that become algebraic change the structure, and their line ends disappear.
TEST_F(AdiMatrices, NewAlgebraicRowsOfGivenMatricesAreNoEndsOfLines)
{
  DirectionSplitting           splitting;
  ribbon::petsc::SplitJacobian jacobian;
  const PetscInt               n = 8;
  Mat                          A, ends;
  Vec                          u;
  PetscInt                     first, last;
  PetscInt64                   structure = -1;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, nullptr, 1, nullptr, &A));
  OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    for (PetscInt column = PetscMax(row - 1, 0); column < PetscMin(row + 2, n); ++column)
      OK(MatSetValue(A, row, column, row == column ? -2 : 1, INSERT_VALUES));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  OK(MatCreateVecs(A, &u, &jacobian.mass));
  OK(VecSet(jacobian.mass, 1));
  jacobian.shift = 1;
  for (bool algebraic : {false, true}) { // the last row
    SCOPED_TRACE(algebraic);
    if (algebraic && last == n) {
      OK(VecSetValue(jacobian.mass, n - 1, 0, INSERT_VALUES));
    }
    OK(VecAssemblyBegin(jacobian.mass));
    OK(VecAssemblyEnd(jacobian.mass));
    OK(splitting.update({A}, jacobian, nullptr));
    EXPECT_NE(splitting.structure(), structure);
    structure = splitting.structure();
    OK(splitting.update({A}, jacobian, nullptr));
    EXPECT_EQ(splitting.structure(), structure);
    OK(splitting.line_ends(0, u, &ends));
    PetscReal norm;
    OK(MatNorm(ends, NORM_FROBENIUS, &norm));
    EXPECT_NEAR(norm * norm, algebraic ? 2 : 4, 1e-4); // without a grid, 1 and -1 in a row for each end
    OK(MatDestroy(&ends));
  }
  OK(VecDestroy(&jacobian.mass));
  OK(VecDestroy(&u));
  OK(MatDestroy(&A));
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
/// Splitting again on a device after a change of values copies nothing between host and device.
TEST_F(AdiMatrices, ADeviceSplittingCrossesTheBusZeroTimes) // one rank
{
  Grid               grid({64, 64}, {1, 2}, 3);
  DirectionSplitting splitting;
  bool               changed = false;
  OK(splitting.update({grid.A, grid.da, 3}, nullptr));
  if (!is_on_device(splitting.mass())) GTEST_SKIP() << "host vectors";
  OK(MatScale(grid.A, 1.5));
  OK(splitting.update({grid.A, grid.da, 4.5}, &changed));
  OK(MatScale(grid.A, 2));
  const PetscLogDouble up = petsc_ctog_ct, down = petsc_gtoc_ct;
  OK(splitting.update({grid.A, grid.da, 9}, &changed));
  EXPECT_TRUE(changed);
  OK(splitting.update({grid.A, grid.da, 9}, &changed));
  EXPECT_FALSE(changed);
  EXPECT_EQ(petsc_ctog_ct, up);
  EXPECT_EQ(petsc_gtoc_ct, down);
}
#endif
