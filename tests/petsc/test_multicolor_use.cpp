// SPDX-License-Identifier: BSD-2-Clause
// The use of PC multicolor: new values, failures, options and allocations.
#include "multicolor_fixture.hpp"

#include "allocations.hpp"
#include "chain_fixture.hpp"

#include <petscksp.h>

#include <cmath>

namespace {

using namespace test;

TEST_F(PCMulticolorUse, TakesNewValues)
{
  Grid         grid({9, 7}, {1, 1});
  MulticolorPC m(grid.A, grid.da);
  for (int k = 0; k < 4; ++k) {
    SCOPED_TRACE(k);
    if (k == 3) { // a new entry couples two red points
      OK(MatSetOption(grid.A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
      OK(MatSetOption(grid.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscInt begin, end;
      OK(MatGetOwnershipRange(grid.A, &begin, &end));
      if (end - begin > 2) {
        OK(MatSetValue(grid.A, begin, begin + 2, -0.5, INSERT_VALUES));
      }
      OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
    } else grid.fill({9, 7}, {PetscReal(1 + k), 2}, 1);
    OK(PCSetOperators(m.pc, grid.A, grid.A));
    OK(PCSetUp(m.pc));
    PetscInt colors;
    OK(PCMulticolorGetColors(m.pc, &colors, nullptr, nullptr));
    EXPECT_EQ(colors == 2, k < 3);
    MulticolorPC fresh(grid.A, grid.da);
    OK(PCApply(m.pc, m.b, m.x));
    OK(PCApply(fresh.pc, fresh.b, fresh.x));
    EXPECT_LT(m.difference(MulticolorPC::all(fresh.x)), color_rounding);
  }
}

/// A conversion that drops zeros has another pattern for other values.
TEST_F(PCMulticolorUse, SetsUpConvertedMatricesAnew)
{
  const PetscInt n = 24;
  Mat            A = matrix(
               n, [](PetscInt i, PetscInt j) { return i == j ? 9. : -1.; }, [](PetscInt, PetscInt) { return true; });
  Mat dense;
  OK(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  {
    MulticolorPC m(dense, nullptr, A);
    PetscInt     begin, end;
    OK(MatGetOwnershipRange(dense, &begin, &end));
    for (PetscInt reach : {1, 23, 5, 2}) {
      SCOPED_TRACE(reach);
      for (PetscInt i = begin; i < end; ++i)
        for (PetscInt j = 0; j < n; ++j)
          OK(MatSetValue(dense, i, j, i == j ? 30. : std::abs(i - j) <= reach ? -1. : 0., INSERT_VALUES));
      OK(MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY));
      OK(PCSetOperators(m.pc, dense, dense));
      OK(PCApply(m.pc, m.b, m.x));
      MulticolorPC fresh(dense, nullptr, A);
      OK(PCApply(fresh.pc, fresh.b, fresh.x));
      EXPECT_LT(m.difference(MulticolorPC::all(fresh.x)), color_rounding);
    }
  }
  OK(MatDestroy(&dense));
  OK(MatDestroy(&A));
}

/// An entry that was a stored zero changes the colours, though the pattern is the same.
TEST_F(PCMulticolorUse, ColorsAgainIfAZeroBecomesNonzero)
{
  const PetscInt n     = 30;
  PetscScalar    third = 0;
  const auto     make  = [&] {
    return matrix(
           n,
           [&](PetscInt i, PetscInt j) {
        return i == j ? PetscScalar(4) : std::abs(i - j) == 1 ? PetscScalar(-1) : third;
      },
           [](PetscInt i, PetscInt j) { return std::abs(i - j) <= 2; });
  };
  Mat A = make();
  third = -0.5;
  Mat B = make();
  {
    MulticolorPC m(A);
    PetscInt     colors;
    for (int k = 0; k < 2; ++k) {
      if (k == 1) {
        OK(MatCopy(B, A, SAME_NONZERO_PATTERN));
      }
      OK(PCSetOperators(m.pc, A, A));
      OK(PCSetUp(m.pc));
      OK(PCMulticolorGetColors(m.pc, &colors, nullptr, nullptr));
      EXPECT_EQ(colors, k == 0 ? 2 : 3);
    }
    MulticolorPC fresh(B);
    OK(PCApply(m.pc, m.b, m.x));
    OK(PCApply(fresh.pc, fresh.b, fresh.x));
    EXPECT_LT(m.difference(MulticolorPC::all(fresh.x)), color_rounding);
  }
  OK(MatDestroy(&A));
  OK(MatDestroy(&B));
}

/// Failures have one sentence with the row, on all ranks.
TEST_F(PCMulticolorUse, ReportsBadDiagonals)
{
  const PetscInt n = 24, bad = 17;
  for (int kind = 0; kind < 3; ++kind) {
    SCOPED_TRACE(kind);
    Mat A = matrix(
      n,
      [&](PetscInt i, PetscInt j) {
        return PetscScalar(i != j || i != bad ? (i == j ? 4. : -1.)
                           : kind == 0        ? 0.
                                              : static_cast<double>(NAN));
      },
      [&](PetscInt i, PetscInt j) { return std::abs(i - j) <= 1 && !(kind == 2 && i == bad && j == bad); });
    {
      MulticolorPC m(A);
      OK(PCSetUp(m.pc));
      EXPECT_EQ(failed_reason(m.pc), kind == 1 ? PC_FACTOR_OTHER : PC_FACTOR_NUMERIC_ZEROPIVOT);
      const char *words = kind == 1
                            ? "row 17: an entry, or one of the inverse diagonal, is not a finite number"
                            : "zero pivot: the diagonal of row 17 is zero, or not stored";
      EXPECT_TRUE(contains(view_of(m.pc), words)) << view_of(m.pc);
      OK(PCApply(m.pc, m.b, m.x));
      for (const PetscScalar &v : MulticolorPC::all(m.x)) EXPECT_TRUE(std::isinf(PetscRealPart(v)));
      KSP                ksp;
      KSPConvergedReason reason;
      for (KSPNormType norm : {KSP_NORM_NONE, KSP_NORM_PRECONDITIONED}) {
        OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
        OK(KSPSetType(ksp, KSPRICHARDSON));
        OK(KSPSetPC(ksp, m.pc));
        OK(KSPSetNormType(ksp, norm));
        OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
        OK(KSPSolve(ksp, m.b, m.x));
        OK(KSPGetConvergedReason(ksp, &reason));
        EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
        OK(KSPDestroy(&ksp));
      }
      OK(PCSetErrorIfFailure(m.pc, PETSC_TRUE));
      OK(PCMulticolorSetOmega(m.pc, 1.1)); // set up again
      EXPECT_NE(static_cast<int>(PCSetUp(m.pc)), 0);
      EXPECT_TRUE(contains(last_error(), "PC multicolor: ")) << last_error();
      OK(PCSetErrorIfFailure(m.pc, PETSC_FALSE));
      if (kind == 1) continue;
      OK(PCMulticolorSetDiagonalShift(m.pc, 2));
      OK(PCSetUp(m.pc));
      EXPECT_EQ(failed_reason(m.pc), PC_NOERROR);
      OK(PCApply(m.pc, m.b, m.x));
      EXPECT_LT(m.difference(MulticolorPC::all(m.x)), color_rounding); // finite
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCMulticolorUse, RefusesWhatItCannotDo)
{
  const PetscInt n = 20;
  Mat            A = matrix(
               n, [](PetscInt i, PetscInt j) { return i == j ? 8. : -1.; },
               [](PetscInt i, PetscInt j) { return std::abs(i - j) <= 4 && (i + j) % 3 != 1; });
  Mat shell;
  OK(MatCreateShell(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, nullptr, &shell));
  {
    MulticolorPC m(A);
    PetscInt     colors;
    EXPECT_EQ(error_of([&] { return PCMulticolorGetColors(m.pc, &colors, nullptr, nullptr); }),
              "PCMulticolorGetColors: call PCSetUp() first");
    OK(PCMulticolorSetColoring(m.pc, PC_MULTICOLOR_COLORING_GRID));
    EXPECT_TRUE(
      contains(error_of([&] { return PCSetUp(m.pc); }), "PC multicolor: -pc_multicolor_coloring grid: "));
    OK(PCMulticolorSetColoring(m.pc, PC_MULTICOLOR_COLORING_GREEDY));
    OK(PCMulticolorSetCut(m.pc, PC_MULTICOLOR_CUT_EXACT));
    if (ranks > 1)
      EXPECT_TRUE(contains(error_of([&] { return PCSetUp(m.pc); }), "colours the rows of one rank"))
        << last_error();
    else OK(PCSetUp(m.pc));
    OK(PCMulticolorSetColoring(m.pc, PC_MULTICOLOR_COLORING_AUTO));
    OK(PCSetUp(m.pc));
    EXPECT_TRUE(contains(error_of([&] { return PCApplyTranspose(m.pc, m.b, m.x); }),
                         "PC multicolor: the transpose needs"));
    OK(PCSetOperators(m.pc, shell, shell));
    EXPECT_EQ(error_of([&] { return PCSetUp(m.pc); }),
              "PC multicolor: a matrix of type shell stores no rows; use an assembled AIJ matrix for Pmat");
    OK(PCSetOperators(m.pc, A, A));
    OK(PCApply(m.pc, m.b, m.x)); // is set up from nothing
  }
  {
    MulticolorPC m(A);
    OK(PCSetOptionsPrefix(m.pc, "my_"));
    reset_options("-my_pc_multicolor_local_forward -my_pc_multicolor_cut exact");
    EXPECT_EQ(error_of([&] { return PCSetFromOptions(m.pc); }),
              "PC multicolor: -my_pc_multicolor_local_forward contradicts -my_pc_multicolor_cut exact: take "
              "-my_pc_multicolor_forward for sweeps over all ranks");
    reset_options();
  }
  OK(MatDestroy(&A));
  OK(MatDestroy(&shell));
}

TEST_F(PCMulticolorUse, ReadsTheOptionsOfSor)
{
  const Grid                                             grid({8, 8}, {1, 1});
  const std::vector<std::pair<const char *, MatSORType>> directions = {
    {"", SOR_LOCAL_SYMMETRIC_SWEEP},
    {"-pc_multicolor_forward", SOR_LOCAL_FORWARD_SWEEP},
    {"-pc_multicolor_backward", SOR_LOCAL_BACKWARD_SWEEP},
    {"-pc_multicolor_symmetric -pc_multicolor_cut exact", SOR_SYMMETRIC_SWEEP},
    {"-pc_multicolor_backward -pc_multicolor_cut exact", SOR_BACKWARD_SWEEP},
    {"-pc_multicolor_local_forward", SOR_LOCAL_FORWARD_SWEEP},
    {"-pc_multicolor_local_backward", SOR_LOCAL_BACKWARD_SWEEP},
    {"-pc_multicolor_local_symmetric", SOR_LOCAL_SYMMETRIC_SWEEP}};
  for (const auto &[options, flag] : directions) {
    SCOPED_TRACE(options);
    MulticolorPC m(grid.A, grid.da);
    MatSORType   found;
    reset_options(options);
    OK(PCSetFromOptions(m.pc));
    OK(PCMulticolorGetSymmetric(m.pc, &found));
    EXPECT_EQ(found, flag);
  }
  MulticolorPC m(grid.A, grid.da);
  reset_options(
    "-pc_multicolor_omega 1.5 -pc_multicolor_its 2 -pc_multicolor_lits 3 -pc_multicolor_diagonal_shift "
    "0.25 -pc_multicolor_coloring jp");
  OK(PCSetFromOptions(m.pc));
  OK(PCSetUp(m.pc));
  const std::string text = view_of(m.pc);
  EXPECT_TRUE(
    contains(text, "sweep: symmetric, cut local, iterations 2, local iterations 3, omega 1.5, diagonal shift "
                   "0.25"))
    << text;
  EXPECT_TRUE(contains(text, "by Jones and Plassmann")) << text;
  for (const auto &[options, words] : std::vector<std::pair<const char *, const char *>>{
         {"-pc_multicolor_omega 2", "PCMulticolorSetOmega, -pc_multicolor_omega: 2. is not in (0, 2)"},
         {"-pc_multicolor_its 0", "PCMulticolorSetIterations, -pc_multicolor_its: 0 is not positive"},
         {"-pc_multicolor_lits -1", "PCMulticolorSetIterations, -pc_multicolor_lits: -1 is not positive"},
         {"-pc_multicolor_diagonal_shift nan",
          PETSC_VERSION_LT(3, 20, 0) ? "is not a finite number" : "nan"}}) { // in the words of PETSc
    reset_options(options);
    EXPECT_TRUE(contains(error_of([&] { return PCSetFromOptions(m.pc); }), words)) << options << last_error();
  }
  reset_options();
  EXPECT_EQ(error_of([&] { return PCMulticolorSetSymmetric(m.pc, SOR_EISENSTAT); }),
            "PCMulticolorSetSymmetric: 32 is no sweep forward, backward or symmetric");
}

TEST_F(PCMulticolorUse, AllocatesNothingInAnApplication)
{
  const Grid grid({16, 9, 5}, {1, 2, 1});
  for (PCMulticolorCut cut : {PC_MULTICOLOR_CUT_LOCAL, PC_MULTICOLOR_CUT_EXACT}) {
    MulticolorPC m(grid.A, grid.da);
    OK(PCMulticolorSetCut(m.pc, cut));
    OK(PCMulticolorSetIterations(m.pc, 2, 1));
    OK(PCApply(m.pc, m.b, m.x));
    EXPECT_EQ(allocations_of([&] { PCApply(m.pc, m.b, m.x); }), 0) << allocations();
  }
}

} // namespace
