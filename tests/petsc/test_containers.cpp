// SPDX-License-Identifier: BSD-2-Clause
// PC line inside other preconditioners, with other DMs, and with operators that store no matrix.
#include "fixture.hpp"

#include <gtest/gtest.h>
#include <petscdmshell.h>
#include <petscdmstag.h>
#include <petscksp.h>

using namespace test;

namespace {

class PCLineContainers : public Petsc { };

/// Solves with these options, under a prefix that hides them from other solvers, and stores the view. The
/// true residual has to decrease.
struct Solve {
  std::string        view;
  PetscInt           iterations = -1;
  KSPConvergedReason reason     = KSP_CONVERGED_ITERATING;
  PetscReal          residual   = -1;

  Solve(Mat A, Mat P, DM dm, const std::vector<std::pair<const char *, const char *>> &options)
  {
    KSP  ksp;
    PC   pc;
    Line line(P); // right-hand side
    for (const auto &o : options)
      PetscOptionsSetValue(nullptr, ("-containers_" + std::string(o.first)).c_str(), o.second);
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOptionsPrefix(ksp, "containers_");
    KSPSetOperators(ksp, A, P);
    KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300);
    KSPGetPC(ksp, &pc);
    if (dm) PCSetDM(pc, dm);
    KSPSetFromOptions(ksp);
    EXPECT_EQ(KSPSolve(ksp, line.b, line.x), 0);
    KSPGetConvergedReason(ksp, &reason);
    KSPGetIterationNumber(ksp, &iterations);
    PetscReal size = 1;
    MatMult(A, line.x, line.r);
    VecAXPY(line.r, -1, line.b);
    VecNorm(line.r, NORM_2, &residual);
    VecNorm(line.b, NORM_2, &size);
    residual /= size;
    KSPDestroy(&ksp);
    for (const auto &o : options)
      PetscOptionsClearValue(nullptr, ("-containers_" + std::string(o.first)).c_str());
    EXPECT_GT(reason, 0) << options.front().second;
    // the tolerance refers to the preconditioned residual
    EXPECT_LT(residual, 1e-5) << options.front().second;
  }
};

TEST_F(PCLineContainers, BlocksOfRows)
{
  const Grid  grid({24, 20}, {50, 1}, 0.1);
  const Solve jacobi(grid.A, grid.A, grid.da,
                     {{"pc_type", "bjacobi"}, {"sub_pc_type", "jacobi"}, {"sub_ksp_type", "preonly"}});
  const Solve line(grid.A, grid.A, grid.da,
                   {{"pc_type", "bjacobi"}, {"sub_pc_type", "line"}, {"sub_ksp_type", "preonly"}});
  const Solve overlap(grid.A, grid.A, grid.da,
                      {{"pc_type", "asm"}, {"sub_pc_type", "line"}, {"sub_ksp_type", "preonly"}});
  const Solve two(grid.A, grid.A, grid.da,
                  {{"pc_type", "bjacobi"},
                   {"pc_bjacobi_local_blocks", "2"},
                   {"sub_pc_type", "line"},
                   {"sub_ksp_type", "preonly"}});
  EXPECT_LT(line.iterations, jacobi.iterations);
  EXPECT_LT(overlap.iterations, jacobi.iterations);
  EXPECT_LT(two.iterations, jacobi.iterations);
}

TEST_F(PCLineContainers, FieldsOfAGridWithTwoComponents)
{
  DM  da;
  Mat A;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 20, 16,
                  PETSC_DECIDE, PETSC_DECIDE, 2, 1, nullptr, nullptr, &da));
  OK(DMSetUp(da));
  OK(DMCreateMatrix(da, &A));
  PetscInt begin[2], size[2];
  OK(DMDAGetCorners(da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i)
      for (PetscInt c = 0; c < 2; ++c) {
        const MatStencil  row = {0, j, i, c}, other = {0, j, i, 1 - c};
        const PetscReal   x = c == 0 ? 20 : 1, y = c == 0 ? 1 : 20; // u along x, v along y
        const PetscScalar diagonal = 2 * (x + y) + 0.1, coupling = 0.01;
        OK(MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
        OK(MatSetValuesStencil(A, 1, &row, 1, &other, &coupling, INSERT_VALUES));
        for (int step = -1; step <= 1; step += 2) {
          MatStencil        left = row, down = row;
          const PetscScalar a = -x, b = -y;
          left.i += step, down.j += step;
          if (left.i >= 0 && left.i < 20) {
            OK(MatSetValuesStencil(A, 1, &row, 1, &left, &a, INSERT_VALUES));
          }
          if (down.j >= 0 && down.j < 16) {
            OK(MatSetValuesStencil(A, 1, &row, 1, &down, &b, INSERT_VALUES));
          }
        }
      }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  const Solve jacobi(A, A, da, {{"pc_type", "jacobi"}});
  const Solve line(A, A, da, {{"pc_type", "line"}, {"pc_line_direction", "x,y"}});
  const Solve fields(A, A, da,
                     {{"pc_type", "fieldsplit"},
                      {"fieldsplit_0_pc_type", "line"},
                      {"fieldsplit_1_pc_type", "line"},
                      {"fieldsplit_0_ksp_type", "preonly"},
                      {"fieldsplit_1_ksp_type", "preonly"}});
  EXPECT_LT(line.iterations, jacobi.iterations);
  EXPECT_LT(fields.iterations, jacobi.iterations);
  OK(MatDestroy(&A));
  OK(DMDestroy(&da));
}

TEST_F(PCLineContainers, LevelsThatTheMatrixMakes)
{
  const Grid grid({33, 33}, {1, 100}, 0.1);
  const Mat  A = grid.A;
  for (const char *direction : {"auto", "y", "x,y"}) {
    const Solve galerkin(A, A, grid.da,
                         {{"ksp_type", "gmres"},
                          {"pc_type", "mg"},
                          {"pc_mg_levels", "3"},
                          {"pc_mg_galerkin", "pmat"},
                          {"mg_levels_pc_type", "line"},
                          {"mg_levels_pc_line_direction", direction}});
    EXPECT_LT(galerkin.iterations, 15) << direction;
  }
  for (const char *direction : {"auto", "matrix"}) {
    const Solve aggregates(A, A, nullptr,
                           {{"ksp_type", "gmres"},
                            {"pc_type", "gamg"},
                            {"mg_levels_pc_type", "line"},
                            {"mg_levels_pc_line_direction", direction}});
    EXPECT_LT(aggregates.iterations, 30) << direction;
  }
}

PetscErrorCode MultiplyShell(Mat shell, Vec x, Vec y)
{
  Mat A;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(0);
}

TEST_F(PCLineContainers, OperatorsThatStoreNothing)
{
  const Grid grid({20, 12}, {9, 1}, 0.5);
  Mat        shell;
  PetscInt   rows;
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(MatCreateShell(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, grid.A, &shell));
  OK(MatShellSetOperation(shell, MATOP_MULT, reinterpret_cast<void (*)(void)>(MultiplyShell)));
  const Solve assembled(grid.A, grid.A, grid.da, {{"pc_type", "line"}});
  const Solve product(shell, grid.A, grid.da, {{"pc_type", "line"}});
  EXPECT_EQ(assembled.iterations, product.iterations);
  {
    Line line(grid.A);
    OK(PCSetOperators(line.pc, shell, shell));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "PC line: a matrix of type shell")) << last_error();
    EXPECT_TRUE(contains(last_error(), "use an assembled AIJ matrix for Pmat")) << last_error();
    OK(PCSetOperators(line.pc, shell, grid.A));
    OK(PCApply(line.pc, line.b, line.x));
  }
  OK(MatDestroy(&shell));
}

TEST_F(PCLineContainers, DMsThatAreNoDMDA)
{
  const Grid grid({20, 12}, {9, 1}, 0.5, false, {1, ranks});
  DM         shell, stag;
  OK(DMShellCreate(PETSC_COMM_WORLD, &shell));
  OK(DMStagCreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 20 * ranks, 1, 1, DMSTAG_STENCIL_BOX, 1, nullptr,
                    &stag));
  OK(DMSetUp(stag));
  for (DM dm : {shell, stag}) { // the matrix has a DMDA, too
    const Solve found(grid.A, grid.A, dm, {{"pc_type", "line"}, {"pc_line_direction", "x"}});
    EXPECT_LT(found.iterations, 40);
  }
  Mat A; // On the staggered grid: two unknowns per element, and one more point at the end.
  OK(DMCreateMatrix(stag, &A));
  PetscInt begin, end;
  OK(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    PetscInt all;
    OK(MatGetSize(A, &all, nullptr));
    for (PetscInt c = PetscMax(0, r - 1); c <= PetscMin(all - 1, r + 1); ++c)
      OK(MatSetValue(A, r, c, r == c ? 3 : -1, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  const Solve staggered(A, A, stag, {{"pc_type", "line"}});
  EXPECT_LE(staggered.iterations, ranks == 1 ? 1 : 30);
  OK(MatDestroy(&A));
  OK(DMDestroy(&stag));
  OK(DMDestroy(&shell));
}

} // namespace
