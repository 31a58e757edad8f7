// SPDX-License-Identifier: BSD-2-Clause
// Lines that differ by rounding share a matrix.
#include "fixture.hpp"

#include <limits>

using namespace test;

namespace {

class PCLineSharing : public Petsc { };

TEST_F(PCLineSharing, LinesThatDifferByRoundingShareWithATolerance)
{
  const PetscInt columns = 6;
  Grid           grid({columns * ranks, 15}, {0, 1}, 1, false, {ranks, 1});
  PetscInt       begin, end;
  Line           line(grid.A, grid.da);
  const auto     set = [&](PetscReal tol, const char *name, const char *lhs) {
    PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y);
    PCLineSetLhsTol(line.pc, tol);
    PetscOptionsSetValue(nullptr, name, lhs);
    PCSetFromOptions(line.pc);
    PetscOptionsClearValue(nullptr, name);
    return PCSetUp(line.pc);
  };
  OK(MatGetOwnershipRange(grid.A, &begin, &end));
  const PetscReal unit = 4 * PETSC_MACHINE_EPSILON, tol = 1000 * PETSC_MACHINE_EPSILON;
  for (PetscInt r = begin; r < end; ++r) { // every line has another rounding, line 4 a real difference
    const PetscInt l = (r - begin) % columns;
    OK(MatSetValue(grid.A, r, r, l == 4 ? PetscReal(0.5) : unit * static_cast<PetscReal>((3 * r + l) % 5),
                   ADD_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(set(0, "-pc_line_lhs", "classes"));
  EXPECT_GT(line.matrices(), 2);
  OK(set(tol, "-pc_line_lhs", "classes"));
  EXPECT_EQ(line.matrices(), 2);
  EXPECT_LT(line.residual(grid.A), tol);
  OK(set(unit / 1000, "-pc_line_lhs", "classes"));
  EXPECT_GT(line.matrices(), 2);
  EXPECT_NE(set(tol, "-pc_line_lhs", "shared"), 0);
  EXPECT_EQ(last_error(), "PC line: -pc_line_lhs shared, but lines 0 and 4 (first rows 0 and 4) differ; use "
                          "auto, classes or per_line");
  OK(set(0.5, "-pc_line_lhs", "shared"));
  EXPECT_EQ(line.matrices(), 1);
  EXPECT_LT(line.residual(grid.A), 0.5);
  for (PetscInt r = begin; r < end; ++r) { // multiples of one matrix
    const PetscReal factor = static_cast<PetscReal>(1 + (r - begin) % columns % 3);
    OK(MatSetValue(grid.A, r, r, factor * 1000, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(set(tol, "-pc_line_lhs", "classes"));
  EXPECT_EQ(line.matrices(), 3);
  EXPECT_LT(line.residual(grid.A), tol);
}

TEST_F(PCLineSharing, GalerkinLevelsShareWithATolerance)
{
  PetscInt matrices[2], iterations[2];
  for (int with : {0, 1}) {
    Grid grid({13, 61}, {PetscReal(0.1), PetscReal(7.3)}, PetscReal(0.01), false, {1, ranks});
    KSP  ksp;
    PC   pc;
    Line line(grid.A);
    Vec  spacing; // differences of coordinates, which are equal to rounding
    OK(VecDuplicate(line.b, &spacing));
    PetscInt begin, end;
    OK(VecGetOwnershipRange(spacing, &begin, &end));
    for (PetscInt r = begin; r < end; ++r) {
      const PetscReal y    = static_cast<PetscReal>(r / 13) * PetscReal(0.1),
                      next = static_cast<PetscReal>(r / 13 + 1) * PetscReal(0.1);
      OK(VecSetValue(spacing, r, 10 * (next - y), INSERT_VALUES));
    }
    OK(VecAssemblyBegin(spacing));
    OK(VecAssemblyEnd(spacing));
    OK(MatDiagonalScale(grid.A, spacing, nullptr));
    OK(VecDestroy(&spacing));
    OK(DMDASetInterpolationType(grid.da, DMDA_Q1));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetDM(ksp, grid.da));
    OK(deactivate_dm(ksp));
    OK(KSPSetOperators(ksp, grid.A, grid.A));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCMG));
    OK(PetscOptionsInsertString(
      nullptr, "-pc_mg_levels 3 -pc_mg_galerkin both -mg_levels_pc_type line -mg_levels_pc_line_direction x "
               "-mg_levels_pc_line_lhs classes -ksp_rtol 1e-8"));
    if (with) {
      OK(PetscOptionsSetValue(nullptr, "-mg_levels_pc_line_lhs_tol",
                              sizeof(PetscReal) == 4 ? "1e-5" : "1e-12"));
    }
    OK(KSPSetFromOptions(ksp));
    OK(KSPSetUp(ksp));
    KSP smoother;
    PC  level;
    OK(PCMGGetSmoother(pc, 1, &smoother));
    OK(KSPGetPC(smoother, &level));
    OK(KSPSolve(ksp, line.b, line.x));
    OK(KSPGetIterationNumber(ksp, &iterations[with]));
    OK(PCLineGetInfo(level, nullptr, nullptr, nullptr, &matrices[with], nullptr, nullptr));
    for (const char *option :
         {"-pc_mg_levels", "-pc_mg_galerkin", "-mg_levels_pc_type", "-mg_levels_pc_line_direction",
          "-mg_levels_pc_line_lhs", "-ksp_rtol", "-mg_levels_pc_line_lhs_tol"})
      OK(PetscOptionsClearValue(nullptr, option));
    OK(KSPDestroy(&ksp));
  }
  EXPECT_LE(matrices[1], 4) << "the first and the last line of a rank, and those between";
  MPI_Allreduce(MPI_IN_PLACE, matrices, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
  EXPECT_LT(2 * matrices[1], matrices[0]);
  EXPECT_EQ(iterations[0], iterations[1]);
}

TEST_F(PCLineSharing, TheToleranceHasASetAGetAndARange)
{
  Grid      grid({8, 8}, {1, 2});
  Line      line(grid.A, grid.da);
  PetscReal tol;
  OK(PetscOptionsSetValue(nullptr, "-pc_line_lhs_tol", "1e-5"));
  OK(PCSetFromOptions(line.pc));
  OK(PetscOptionsClearValue(nullptr, "-pc_line_lhs_tol"));
  OK(PCLineGetLhsTol(line.pc, &tol));
  EXPECT_EQ(tol, PetscReal(1e-5));
  for (PetscReal bad : {PetscReal(-1), PetscReal(1), std::numeric_limits<PetscReal>::quiet_NaN()}) {
    EXPECT_NE(PCLineSetLhsTol(line.pc, bad), 0);
    EXPECT_TRUE(contains(last_error(), "PCLineSetLhsTol, -pc_line_lhs_tol: ")) << last_error();
  }
}

} // namespace
