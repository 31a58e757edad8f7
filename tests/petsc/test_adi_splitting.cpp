// SPDX-License-Identifier: BSD-2-Clause
// An assembled Jacobian split by direction, and the line factors of the directions.
#include "adi_fixture.hpp"

using namespace test;
using ribbon::petsc::DirectionFactors;
using ribbon::petsc::DirectionSplitting;

namespace {

class AdiSplitting : public test::Adi { };

/// Splits only the last direction among processes, so that lines along the others are whole.
std::vector<PetscInt> slabs(std::size_t dim, PetscMPIInt ranks)
{
  std::vector<PetscInt> processes(3, 1);
  processes[dim - 1] = ranks;
  return processes;
}

} // namespace

TEST_F(AdiSplitting, EliminatedBoundariesAreSplitExactly)
{
  const std::vector<PetscReal> strength = {1, 10, 0.5};
  const PetscReal              shift    = 3;
  for (std::vector<PetscInt> n : {std::vector<PetscInt>{7, 8}, {5, 6, 8}})
    for (PetscInt width : {1, 2})
      for (bool periodic : {false, true}) {
        const Grid         grid(n, strength, shift, periodic, {}, false, width);
        DirectionSplitting splitting;
        bool               changed = false;
        OK(splitting.update({grid.A, grid.da, shift}, &changed));
        EXPECT_TRUE(changed);
        ASSERT_EQ(splitting.directions(), static_cast<int>(n.size()));
        EXPECT_LT(left_out(splitting, grid.A, shift), 1e-12);
        EXPECT_EQ(splitting.remainder().mixed, 0);
        EXPECT_EQ(splitting.remainder().growth, 0);
        for (int d = 0; d < splitting.directions(); ++d) {
          const Grid alone(n, only(static_cast<std::size_t>(d), strength), 0, periodic, {}, false, width);
          EXPECT_LT(difference(alone.A, splitting.A(d), -1), 1e-12) << "along " << splitting.name(d);
        }
      }
}

TEST_F(AdiSplitting, RefreshesInPlaceAndTellsChanges)
{
  Grid               grid({9, 8}, {1, 2, 0}, 3);
  DirectionSplitting splitting;
  bool               changed = false;
  OK(splitting.update({grid.A, grid.da, 3}, nullptr));
  const Mat        x          = splitting.A(0);
  const PetscInt64 generation = splitting.generation();
  OK(PetscObjectStateIncrease((PetscObject)grid.A)); // PETSc adds and removes the shift of constant Jacobians
  OK(splitting.update({grid.A, grid.da, 3}, &changed));
  EXPECT_FALSE(changed);
  EXPECT_EQ(splitting.generation(), generation);
  grid.fill({9, 8}, {1, 2.5, 0}, 3);
  OK(splitting.update({grid.A, grid.da, 3}, &changed));
  EXPECT_TRUE(changed);
  EXPECT_EQ(splitting.A(0), x);
  EXPECT_LT(left_out(splitting, grid.A, 3), 1e-12);
  grid.fill({9, 8}, {1, 2.5, 0}, 5);
  OK(splitting.update({grid.A, grid.da, 5}, &changed)); // another step size, the same directions
  EXPECT_FALSE(changed);
}

TEST_F(AdiSplitting, GrowthIsLeftOutAndDampingIsShared)
{
  const Grid         grid({8, 8}, {1, 1, 0}, 4, true);
  DirectionSplitting splitting;
  Vec                diagonal;
  PetscReal          least, largest;
  OK(splitting.update({grid.A, grid.da, 5}, nullptr)); // r = -1
  EXPECT_EQ(splitting.remainder().growth, 64);
  EXPECT_NEAR(static_cast<double>(left_out(splitting, grid.A, 5)), 1, 1e-12);
  OK(splitting.update({grid.A, grid.da, 3}, nullptr)); // r = 1
  EXPECT_EQ(splitting.remainder().growth, 0);
  EXPECT_LT(left_out(splitting, grid.A, 3), 1e-12);
  OK(VecDuplicate(splitting.mass(), &diagonal));
  OK(MatGetDiagonal(splitting.A(0), diagonal));
  OK(VecRealPart(diagonal));
  OK(VecMin(diagonal, nullptr, &least));
  OK(VecMax(diagonal, nullptr, &largest));
  EXPECT_NEAR(static_cast<double>(least), -2.5, 1e-12);
  EXPECT_NEAR(static_cast<double>(largest), -2.5, 1e-12);
  OK(VecDestroy(&diagonal));
}

TEST_F(AdiSplitting, UpwindDifferencesAreNoEnds)
{
  const Grid grid({8, 8}, {1, 1, 0}, 0, true); // for its pattern
  PetscInt   begin[2], size[2];
  OK(MatZeroEntries(grid.A));
  OK(DMDAGetCorners(grid.da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
      const MatStencil  row = {0, j, i, 0}, columns[3] = {row, {0, j, i - 1, 0}, {0, j - 1, i, 0}};
      const PetscScalar v[3] = {50 + 20 + 2 + 1, -50, -20}; // u_t + 50 u_x + 20 u_y + u = 0, shift 2
      OK(MatSetValuesStencil(grid.A, 1, &row, 3, columns, v, INSERT_VALUES));
    }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  DirectionSplitting splitting;
  Vec                diagonal;
  OK(splitting.update({grid.A, grid.da, 2}, nullptr));
  ASSERT_EQ(splitting.directions(), 2);
  EXPECT_LT(left_out(splitting, grid.A, 2), 1e-12);
  OK(VecDuplicate(splitting.mass(), &diagonal));
  for (int d = 0; d < 2; ++d) {
    PetscReal norm;
    OK(MatGetDiagonal(splitting.A(d), diagonal));
    OK(VecShift(diagonal, d == 0 ? 50.5 : 20.5)); // directions get equal parts of the reaction
    OK(VecNorm(diagonal, NORM_INFINITY, &norm));
    EXPECT_LT(norm, 1e-12);
  }
  OK(VecDestroy(&diagonal));
}

TEST_F(AdiSplitting, ABatchOnAGridIsOneDirectionAndTakesAll)
{
  const Grid         grid({8, 9}, {0, 3, 0}, 1, false, {ranks, 1, 1});
  DirectionSplitting splitting;
  OK(splitting.update({grid.A, grid.da, 4}, nullptr)); // growth everywhere
  ASSERT_EQ(splitting.directions(), 1);
  EXPECT_STREQ(splitting.name(0), "y");
  EXPECT_LT(left_out(splitting, grid.A, 4), 1e-12);
}

TEST_F(AdiSplitting, AMassMatrixIsForOneDirectionAlone)
{
  const PetscInt n    = 24;
  const auto     near = [](PetscInt r, PetscInt c) { return std::abs(r - c) < 2; };
  Mat            J    = matrix(
                  n, [](PetscInt r, PetscInt c) { return r == c ? 9. : -2.; }, near,
    ranks == 1  ? PETSC_DECIDE
                  : rank == 0 ? n
                              : 0);
  Mat M = matrix(
    n, [](PetscInt r, PetscInt c) { return r == c ? 4. : 1.; }, near,
    ranks == 1  ? PETSC_DECIDE
    : rank == 0 ? n
                : 0);
  const Grid         grid({8, 3}, {1, 1, 0});
  DirectionSplitting splitting;
  DirectionFactors   factors;
  OK(splitting.update({J, nullptr, 2, nullptr, M}, nullptr));
  ASSERT_EQ(splitting.directions(), 1);
  OK(factors.factor(splitting, 0.5, nullptr)); // M - A / shift = J / shift
  Vec b, x, y;
  OK(MatCreateVecs(J, &x, &b));
  OK(VecDuplicate(b, &y));
  OK(VecSet(b, 1));
  OK(factors.solve(0, b, x));
  OK(MatMult(J, x, y));
  OK(VecAXPBY(y, -1, 0.5, b));
  PetscReal norm;
  OK(VecNorm(y, NORM_2, &norm));
  EXPECT_LT(norm, 1e-12);
  EXPECT_NE(static_cast<int>(splitting.update({grid.A, grid.da, 1, nullptr, grid.A}, nullptr)), 0);
  EXPECT_NE(
    last_error().find("ADI in 2 directions needs a mass matrix that is diagonal, or a Kronecker product"),
    std::string::npos)
    << last_error();
  for (Vec *v : {&b, &x, &y}) OK(VecDestroy(v));
  OK(MatDestroy(&M));
  OK(MatDestroy(&J));
}

TEST_F(AdiSplitting, AlgebraicRowsAreSolvedLineByLine)
{
  // Rows of x = 0 and of the far end are 2 x_b - 2 x_next = g. With J x = b for a known x, P_x P_y x with a
  // fixed boundary has to reproduce x.
  const PetscInt nx = 6, ny = 8;
  const Grid     grid({nx, ny}, {1, 2, 0}, 3, false, slabs(2, ranks));
  Vec            mass, x, g, y;
  PetscInt       begin[2], size[2];
  OK(DMCreateGlobalVector(grid.da, &mass));
  OK(VecSet(mass, 1));
  OK(DMDAGetCorners(grid.da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
  PetscScalar **m;
  OK(DMDAVecGetArray(grid.da, mass, &m));
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i : {PetscInt(0), nx - 1}) {
      const MatStencil row = {0, j, i, 0};
      m[j][i]              = 0;
      for (int k = 0; k < 5; ++k) {
        const MatStencil column = {0, j + (k == 3) - (k == 4), i + (k == 1) - (k == 2), 0};
        if (column.i < 0 || column.i >= nx || column.j < 0 || column.j >= ny) continue;
        const bool        inward = k == (i == 0 ? 1 : 2);
        const PetscScalar v      = k == 0 ? 2 : inward ? -2 : 0;
        OK(MatSetValuesStencil(grid.A, 1, &row, 1, &column, &v, INSERT_VALUES));
      }
    }
  OK(DMDAVecRestoreArray(grid.da, mass, &m));
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  DirectionSplitting splitting;
  OK(splitting.update({grid.A, grid.da, 3, mass}, nullptr));
  ASSERT_EQ(splitting.directions(), 2);
  EXPECT_TRUE(splitting.algebraic_couple());
  EXPECT_EQ(splitting.remainder().torn, 0);
  OK(VecDuplicate(mass, &x));
  OK(VecDuplicate(mass, &g));
  OK(VecDuplicate(mass, &y));
  OK(VecSetRandom(x, nullptr));
  OK(MatMult(grid.A, x, g)); // on boundary rows J x, times s_b
  OK(VecPointwiseMult(g, splitting.algebraic(), g));
  OK(VecCopy(x, y));
  OK(VecPointwiseMult(y, mass, y)); // the product loses the boundary values
  OK(splitting.solve_algebraic(g, y));
  OK(VecAXPY(y, -1, x));
  PetscReal norm;
  OK(VecNorm(y, NORM_INFINITY, &norm));
  EXPECT_LT(norm, 1e-12);
  // The transpose: <L(g, x), v> = <g, .> + <x, .>.
  Vec v, gt, xt;
  for (Vec *w : {&v, &gt, &xt}) OK(VecDuplicate(mass, w));
  OK(VecSetRandom(v, nullptr));
  OK(VecSetRandom(g, nullptr));
  OK(VecCopy(x, y));
  OK(splitting.solve_algebraic(g, y));
  OK(VecCopy(v, xt));
  OK(splitting.solve_algebraic_transposed(xt, gt));
  PetscScalar left, right[2];
  OK(VecTDot(y, v, &left));
  OK(VecTDot(g, gt, &right[0]));
  OK(VecTDot(x, xt, &right[1]));
  EXPECT_LT(PetscAbsScalar(left - right[0] - right[1]), 1e-12 * PetscAbsScalar(left));
  // The factor along x contains the equation of the boundary, the one along y only its value.
  if (ranks == 1) {
    DirectionFactors factors;
    OK(factors.factor(splitting, 0.25, nullptr));
    OK(VecCopy(x, y));
    OK(factors.solve(1, x, y));
    OK(VecPointwiseMult(y, splitting.is_algebraic(), y));
    OK(VecPointwiseMult(v, splitting.is_algebraic(), x));
    OK(VecAXPY(y, -1, v));
    OK(VecNorm(y, NORM_INFINITY, &norm));
    EXPECT_LT(norm, 1e-14);
    OK(factors.solve(0, g, y));
    OK(MatMult(grid.A, y, v));
    OK(VecPointwiseMult(v, splitting.algebraic(), v));
    OK(VecPointwiseMult(g, splitting.is_algebraic(), g));
    OK(VecAXPY(v, -1, g));
    OK(VecNorm(v, NORM_INFINITY, &norm));
    EXPECT_LT(norm, 1e-13);
  }
  for (Vec *w : {&mass, &x, &g, &y, &v, &gt, &xt}) OK(VecDestroy(w));
}

TEST_F(AdiSplitting, FactorsSolveEachDirectionAndAreKept)
{
  for (std::vector<PetscInt> n : {std::vector<PetscInt>{9, 8}, {5, 6, 8}}) {
    const std::vector<PetscReal> strength = {1, 2, 3};
    Grid                         grid(n, strength, 3, false, slabs(n.size(), ranks));
    DirectionSplitting           splitting;
    DirectionFactors             factors;
    Vec                          b, x, r;
    bool                         refactored = false;
    OK(splitting.update({grid.A, grid.da, 3}, nullptr));
    OK(factors.factor(splitting, 0.25, &refactored));
    EXPECT_TRUE(refactored);
    OK(factors.factor(splitting, 0.25, &refactored));
    EXPECT_FALSE(refactored);
    OK(VecDuplicate(splitting.mass(), &b));
    OK(VecDuplicate(b, &x));
    OK(VecDuplicate(b, &r));
    OK(VecSetRandom(b, nullptr));
    for (int d = 0; d < splitting.directions(); ++d)
      for (bool transposed : {false, true}) {
        PetscReal norm;
        OK(transposed ? factors.solve_transposed(d, b, x) : factors.solve(d, b, x));
        OK(transposed ? MatMultTranspose(splitting.A(d), x, r) : MatMult(splitting.A(d), x, r));
        OK(VecAXPBYPCZ(r, 1, -1, -0.25, x, b)); // x - A x / 4 - b
        OK(VecNorm(r, NORM_INFINITY, &norm));
        EXPECT_LT(norm, 1e-13) << splitting.name(d) << " " << transposed;
      }
    // Adjacent slots with factors of one matrix.
    OK(factors.factor(splitting, 0, 1, 7, 2, nullptr));
    OK(factors.solve(0, b, x, 0));
    OK(VecCopy(x, r));
    OK(factors.solve(0, b, x, 1));
    OK(factors.solve(0, b, x, 0));
    OK(VecAXPY(r, -1, x));
    PetscReal norm;
    OK(VecNorm(r, NORM_INFINITY, &norm));
    EXPECT_EQ(norm, 0);
    grid.fill(n, {2, 2, 3}, 3);
    OK(splitting.update({grid.A, grid.da, 3}, nullptr));
    OK(factors.factor(splitting, 0.25, &refactored));
    EXPECT_TRUE(refactored);
    for (Vec *v : {&b, &x, &r}) OK(VecDestroy(v));
  }
}

/// Factors that are derived from those of a smaller shift equal the factors of a separate set-up, both for
/// shared matrices and for one matrix per line.
TEST_F(AdiSplitting, FactorsOfSeveralShiftsAreMadeOfEachOther)
{
  const std::vector<PetscInt> n = {9, 8};
  const Grid                  grid(n, {1, 2}, 3, false, slabs(2, ranks));
  Vec                         mass, b, x, r;
  OK(MatCreateVecs(grid.A, nullptr, &mass));
  for (Vec *v : {&b, &x, &r}) OK(VecDuplicate(mass, v));
  OK(VecSetRandom(b, nullptr));
  for (bool varies : {false, true}) {
    DirectionSplitting splitting;
    DirectionFactors   factors;
    OK(VecSetRandom(mass, nullptr));
    OK(VecShift(mass, 1));
    if (!varies) {
      OK(VecSet(mass, 1));
    }
    OK(splitting.update({grid.A, grid.da, 0, mass}, nullptr));
    for (int d = 0; d < 2; ++d)
      for (int slot = 0; slot < 3; ++slot)
        OK(factors.factor(splitting, d, slot, static_cast<PetscReal>(0.1 + slot), 1, nullptr));
    for (int d = 0; d < 2; ++d)
      for (int slot = 0; slot < 3; ++slot) {
        PetscReal norm;
        OK(factors.solve(d, b, x, slot));
        OK(MatMult(splitting.A(d), x, r));
        OK(VecPointwiseMult(x, mass, x));
        OK(VecAXPBYPCZ(r, static_cast<PetscReal>(0.1 + slot), -1, -1, x, b)); // s M x - A x - b
        OK(VecNorm(r, NORM_INFINITY, &norm));
        EXPECT_LT(norm, 1e-12) << splitting.name(d) << " " << slot << " " << varies;
      }
    OK(factors.drop(0, 0));
    OK(factors.solve(0, b, x, 1));
  }
  for (Vec *v : {&mass, &b, &x, &r}) OK(VecDestroy(v));
}
