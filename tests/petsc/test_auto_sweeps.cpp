// SPDX-License-Identifier: BSD-2-Clause
// Sweeps that PC line chooses: symmetric and definite ones over a second direction, if many rows prefer it.
#include "sweep_reference.hpp"

using namespace test;

namespace {

/// Refills the matrix of a square. row_of(i, j) sets the entries of the row of a point of this rank.
template <class Row>
void fill(const Grid &grid, const Row &row_of)
{
  PetscInt begin[2], size[2];
  MatZeroEntries(grid.A);
  DMDAGetCorners(grid.da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr);
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) row_of(i, j);
  MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY);
}

/// A symmetric operator that is strong along x in one half of the square and along y in the other.
void fill_two_regions(const Grid &grid, PetscInt n, PetscReal ratio)
{
  fill(grid, [&](PetscInt i, PetscInt j) {
    const MatStencil row = {0, j, i, 0};
    PetscScalar      sum = 0.01;
    for (int d = 0; d < 2; ++d)
      for (int step = -1; step <= 1; step += 2) {
        const PetscInt to = (d == 0 ? i : j) + step;
        if (to < 0 || to >= n) continue;
        MatStencil column              = row;
        (d == 0 ? column.i : column.j) = to;
        const bool        left         = PetscMin(i, column.i) < n / 2;
        const PetscScalar v = (left ? d == 0 : d == 1) ? ratio : 1, minus = -v;
        sum += v;
        MatSetValuesStencil(grid.A, 1, &row, 1, &column, &minus, INSERT_VALUES);
      }
    MatSetValuesStencil(grid.A, 1, &row, 1, &row, &sum, INSERT_VALUES);
  });
}

/// The same with squared second differences: symmetric positive definite, not diagonally dominant, two
/// neighbours on either side.
void fill_two_regions_of_squares(const Grid &grid, PetscInt n, PetscReal ratio)
{
  const PetscScalar difference[3] = {1, -2, 1}, shift = 0.01;
  fill(grid, [&](PetscInt i, PetscInt j) {
    const MatStencil row = {0, j, i, 0};
    MatSetValuesStencil(grid.A, 1, &row, 1, &row, &shift, ADD_VALUES);
    for (int d = 0; d < 2; ++d) {
      const PetscReal weight = (i < n / 2) == (d == 0) ? ratio : 1;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          MatStencil at[2] = {row, row};
          for (int k = 0; k < 2; ++k) (d == 0 ? at[k].i : at[k].j) += (k == 0 ? r : c) - 1;
          if (PetscMin(PetscMin(at[0].i, at[0].j), PetscMin(at[1].i, at[1].j)) < 0 ||
              PetscMax(PetscMax(at[0].i, at[0].j), PetscMax(at[1].i, at[1].j)) >= n)
            continue;
          const PetscScalar v = weight * difference[r] * difference[c];
          MatSetValuesStencil(grid.A, 1, &at[0], 1, &at[1], &v, ADD_VALUES);
        }
    }
  });
}

/// The number of iterations. Without `taken` the solve has to converge.
PetscInt iterations_of_cg(Mat A, const Sweep *sweep, KSPConvergedReason *taken = nullptr)
{
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason reason;
  PetscInt           its = -1;
  Line               vectors(A);
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOperators(ksp, A, A);
  KSPSetType(ksp, KSPCG);
  KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCLINE);
  if (sweep) sweep->set(pc);
  KSPSolve(ksp, vectors.b, vectors.x);
  KSPGetConvergedReason(ksp, &reason);
  KSPGetIterationNumber(ksp, &its);
  KSPDestroy(&ksp);
  if (taken) *taken = reason;
  else EXPECT_GT(reason, 0);
  return its;
}

/// y^H M y / y^H y with y = A e, where e results from many steps e -= M A e. These steps amplify directions
/// in which M is negative, so that the value is below 0 if there is one.
PetscReal least(PC pc, Mat A, Vec b)
{
  Vec         e, y, z;
  PetscScalar value, size;
  VecDuplicate(b, &y);
  VecDuplicate(b, &z);
  VecDuplicate(b, &e);
  VecCopy(b, e);
  for (int k = 0; k <= 200; ++k) {
    VecNormalize(e, nullptr);
    MatMult(A, e, y);
    PCApply(pc, y, z);
    if (k < 200) VecAXPY(e, -1, z);
  }
  VecDot(z, y, &value);
  VecDot(y, y, &size);
  for (Vec *v : {&e, &y, &z}) VecDestroy(v);
  return PetscRealPart(value) / PetscRealPart(size);
}

TEST_F(PCLineSweep, AutoSweepsBothDirectionsWhereManyRowsPreferAnother)
{
  const PetscInt n = 32;
  Grid           grid({n, n}, {1, 1});
  fill_two_regions(grid, n, 1000);
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(line.direction() == "x,y" || line.direction() == "y,x") << line.direction();
  EXPECT_TRUE(contains(line.view(), "% of the rows couple along")) << line.view();
  EXPECT_TRUE(contains(line.view(), "sweep: additive, jacobi, omega 1, iterations 1")) << line.view();
  if (ranks > 1) { // With PC_LINE_CUT_ERROR auto does not add a direction whose lines span ranks.
    OK(PCLineSetCut(line.pc, PC_LINE_CUT_ERROR));
    Grid strips({n, n}, {1, 1}, 1, false, {1, ranks});
    fill_two_regions(strips, n, 1000);
    OK(PCSetOperators(line.pc, strips.A, strips.A));
    OK(PCSetDM(line.pc, strips.da));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "x");
  }
  const Sweep    one = {{0}}, both = {{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_JACOBI, 1, 1};
  const Sweep    average = {{0, 1}, PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_ORDERING_JACOBI, 1, 1};
  const PetscInt single = iterations_of_cg(grid.A, &one), symmetric = iterations_of_cg(grid.A, &both),
                 additive = iterations_of_cg(grid.A, &average), automatic = iterations_of_cg(grid.A, nullptr);
  EXPECT_LT(2 * symmetric, single);
  EXPECT_LT(additive, single);
  EXPECT_EQ(automatic, additive);
}

TEST_F(PCLineSweep, AutoDropsASecondDirectionThatCannotBeFactored)
{
  const PetscInt n = 16;
  Grid           grid({n, n}, {1, 1}, 1, false, {ranks, 1});
  fill_two_regions(grid, n, 1000);
  Line line(grid.A, grid.da);
  OK(PCLineSetAlgorithm(line.pc, PC_LINE_ALGORITHM_THOMAS)); // auto would solve these lines
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x,y");
  if (rank == ranks - 1) { // the pivot of the second row of the last line along y
    const MatStencil  row = {0, 1, n - 1, 0};
    const PetscScalar v   = 1000. * 1000. / (0.01 + 1 + 1000);
    OK(MatSetValuesStencil(grid.A, 1, &row, 1, &row, &v, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
  EXPECT_EQ(line.direction(), "x");
  EXPECT_TRUE(
    contains(line.view(), "along y at least 4 times as strongly, but lines along y cannot be solved)"))
    << line.view();
  EXPECT_TRUE(contains(line.view(), "sweep: multiplicative")) << line.view();
  Sweep{{0, 1}}.set(line.pc); // as a requested direction it fails
  OK(PCSetUp(line.pc));
  EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
}

TEST_F(PCLineSweep, AutoIsDefiniteWhereTheMatrixIs)
{
  const PetscInt n = 16;
  Grid           grid({n, n}, {1, 1}, 1, false, {}, false, 2);
  fill_two_regions_of_squares(grid, n, 10);
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(line.direction() == "x,y" || line.direction() == "y,x") << line.direction();
  EXPECT_GT(iterations_of_cg(grid.A, nullptr), 0);
  const Sweep        symmetric = {{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC};
  KSPConvergedReason reason;
  iterations_of_cg(grid.A, &symmetric, &reason);
  if (!PetscDefined(USE_COMPLEX)) { // complex PETSc does not check definiteness
    EXPECT_EQ(reason, KSP_DIVERGED_INDEFINITE_PC);
  }
  EXPECT_GT(least(line.pc, grid.A, line.b), 0);
  symmetric.set(line.pc);
  EXPECT_LT(least(line.pc, grid.A, line.b), 0);
}

} // namespace
