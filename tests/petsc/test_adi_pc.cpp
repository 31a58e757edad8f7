// SPDX-License-Identifier: BSD-2-Clause
// PC adi: its product, the shifts that it finds, and its refusals.
#include "adi_fixture.hpp"

#include <ribbon_petsc/pcadi.h>

using namespace test;

namespace {

/// A PC adi with vectors.
struct AdiLine : Line {
  AdiLine(const Grid &grid, PetscReal shift) : Line(grid.A, grid.da)
  {
    PCSetType(pc, PCADI);
    PCADISetShift(pc, shift);
  }
};

const std::vector<PetscReal> strength = {1, 3, 0.5};

/// ||(s + B_last) ... (s + B_first) x / s^(n-1) - b|| / ||b||. In a symmetric product every factor but the
/// middle one contains B_d / 2.
PetscReal product_residual(const Line &line, const std::vector<PetscInt> &n, PetscReal shift,
                           const std::vector<std::size_t> &order, bool symmetric)
{
  Vec       y, z;
  PetscReal norm, size;
  VecDuplicate(line.x, &y);
  VecDuplicate(line.x, &z);
  VecCopy(line.x, y);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t      d     = order[order.size() - 1 - k];
    const PetscReal        share = symmetric && k != order.size() / 2 ? 0.5 : 1;
    std::vector<PetscReal> one(3, 0);
    one[d] = share * strength[d];
    const Grid alone(n, one, shift);
    MatMult(alone.A, y, z);
    VecCopy(z, y);
    if (k > 0) VecScale(y, 1 / shift);
  }
  VecAXPY(y, -1, line.b);
  VecNorm(y, NORM_2, &norm);
  VecNorm(line.b, NORM_2, &size);
  VecDestroy(&y);
  VecDestroy(&z);
  return norm / size;
}

/// Relative difference of <M b, c> and <b, M^T c>.
PetscReal transpose_defect(PC pc, Vec b, bool transposed)
{
  Vec         c, mb, mc;
  PetscScalar left, right;
  VecDuplicate(b, &c);
  VecDuplicate(b, &mb);
  VecDuplicate(b, &mc);
  VecSetRandom(c, nullptr);
  PCApply(pc, b, mb);
  if (transposed) PCApplyTranspose(pc, c, mc);
  else PCApply(pc, c, mc);
  VecTDot(mb, c, &left);
  VecTDot(mc, b, &right);
  VecDestroy(&c);
  VecDestroy(&mb);
  VecDestroy(&mc);
  return PetscAbsScalar(left - right) / PetscAbsScalar(left);
}

} // namespace

TEST_F(AdiPC, IsTheProductOfItsDirections)
{
  const PetscReal shift = 4;
  for (std::vector<PetscInt> n : {std::vector<PetscInt>{9, 8}, {6, 5, 8}}) {
    const Grid grid(n, strength, shift);
    AdiLine    adi(grid, shift);
    OK(PCSetUp(adi.pc));
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < n.size(); ++d) order.push_back(d);
    OK(PCApply(adi.pc, adi.b, adi.x));
    EXPECT_LT(product_residual(adi, n, shift, order, false), 1e-12);
    EXPECT_LT(transpose_defect(adi.pc, adi.b, true), 1e-12);
    const PetscInt backwards[] = {2, 1, 0};
    OK(PCADISetDirections(adi.pc, 3, backwards));
    OK(PCApply(adi.pc, adi.b, adi.x));
    EXPECT_LT(product_residual(adi, n, shift, {order.rbegin(), order.rend()}, false), 1e-12);
    OK(PCADISetDirections(adi.pc, 0, nullptr));
    OK(PCADISetSymmetric(adi.pc, PETSC_TRUE));
    OK(PCApply(adi.pc, adi.b, adi.x));
    for (std::size_t d = n.size() - 1; d-- > 0;) order.push_back(d);
    EXPECT_LT(product_residual(adi, n, shift, order, true), 1e-12);
    EXPECT_LT(transpose_defect(adi.pc, adi.b, false), 1e-12);
  }
}

TEST_F(AdiPC, PreconditionsWithAndWithoutAShiftInTheMatrix)
{
  for (PetscReal contained : {0., 0.4}) {
    const Grid grid({24, 24}, {1, 1, 0}, contained);
    for (bool symmetric : {false, true}) {
      KSP                ksp;
      PC                 pc;
      KSPConvergedReason reason;
      PetscInt           its;
      Line               line(grid.A, grid.da);
      PetscReal          norm, size;
      OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
      OK(KSPSetType(ksp, symmetric ? KSPCG : KSPGMRES));
      OK(KSPSetOperators(ksp, grid.A, grid.A));
      OK(KSPGetPC(ksp, &pc));
      OK(PCSetType(pc, PCADI));
      OK(PCADISetShift(pc, 0.4));
      OK(PCADISetSymmetric(pc, symmetric ? PETSC_TRUE : PETSC_FALSE));
      OK(PCSetDM(pc, grid.da));
      OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 60));
      OK(KSPSolve(ksp, line.b, line.x));
      OK(KSPGetConvergedReason(ksp, &reason));
      OK(KSPGetIterationNumber(ksp, &its));
      EXPECT_GT(static_cast<int>(reason), 0) << contained << " " << symmetric;
      EXPECT_LT(its, 50);
      OK(MatMult(grid.A, line.x, line.r));
      OK(VecAXPY(line.r, -1, line.b));
      OK(VecNorm(line.r, NORM_2, &norm));
      OK(VecNorm(line.b, NORM_2, &size));
      EXPECT_LT(norm / size, 1e-7) << "the true residual";
      OK(KSPDestroy(&ksp));
    }
  }
}

TEST_F(AdiPC, RefusesWhereThereIsNoShift)
{
  const Grid grid({8, 8}, {1, 1, 0}, 0);
  AdiLine    adi(grid, 0);
  OK(PCSetOptionsPrefix(adi.pc, "a_"));
  EXPECT_NE(static_cast<int>(PCSetUp(adi.pc)), 0);
  EXPECT_EQ(last_error(), "PC adi needs the shift of a matrix shift M - A, and no time step made this one: "
                          "give it with -a_pc_adi_shift, or solve an elliptic problem with -a_ksp_type adi");
  OK(PCADISetShift(adi.pc, 1e-9));
  EXPECT_NE(static_cast<int>(PCSetUp(adi.pc)), 0);
  EXPECT_TRUE(contains(last_error(), "leaves no shift to factor with")) << last_error();
  // One application is not the solution.
  KSP ksp;
  PC  pc;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCADI));
  OK(PCSetDM(pc, grid.da));
  OK(PCADISetShift(pc, 1));
  EXPECT_NE(static_cast<int>(KSPSolve(ksp, adi.b, adi.x)), 0);
  EXPECT_TRUE(contains(last_error(), "in place of -ksp_type preonly")) << last_error();
  OK(KSPDestroy(&ksp));
}

namespace {

struct Answer {
  PetscErrorCode     error;
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscReal          residual; ///< ||b - A x|| / ||b||
  std::string        view;
};

/// One solve with PC adi and a given shift. `da` may be null.
Answer solve_with(KSPType type, Mat A, DM da, PetscReal shift)
{
  const Line line(A);
  Answer     a;
  KSP        ksp;
  PC         pc;
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetType(ksp, type);
  KSPSetOperators(ksp, A, A);
  KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCADI);
  if (da) PCSetDM(pc, da);
  PCADISetShift(pc, shift);
  a.error = KSPSolve(ksp, line.b, line.x);
  KSPGetConvergedReason(ksp, &a.reason);
  KSPGetIterationNumber(ksp, &a.iterations);
  a.residual = relative_residual(A, line.b, line.x);
  a.view     = printed([&](PetscViewer viewer) { PCView(pc, viewer); });
  KSPDestroy(&ksp);
  return a;
}

} // namespace

/// With any shift, also if the lines of a narrow grid are one band.
TEST_F(AdiPC, OneDirectionIsSolvedExactly)
{
  const Grid along_x({16, 3 * ranks}, {1, 0}, 0.3, false, {1, ranks});
  // 8 x 7 points in natural numbering, as in ksp ex2: a band with 7 entries on either side
  Mat plane = matrix(
    56, [](PetscInt r, PetscInt c) { return r == c ? 4. : -1.; },
    [](PetscInt r, PetscInt c) {
      return r == c || std::abs(r - c) == 7 || (std::abs(r - c) == 1 && r / 7 == c / 7);
    });
  for (PetscReal shift : {1e-9, 0.3, 100.})
    for (int k = 0; k < (ranks == 1 ? 2 : 1); ++k)
      for (KSPType type : {KSPPREONLY, KSPGMRES}) {
        const Answer a = solve_with(type, k == 0 ? along_x.A : plane, k == 0 ? along_x.da : nullptr, shift);
        EXPECT_EQ(static_cast<int>(a.error), 0) << last_error();
        EXPECT_GT(static_cast<int>(a.reason), 0);
        EXPECT_EQ(a.iterations, 1) << shift;
        EXPECT_LT(a.residual, 1e4 * PETSC_MACHINE_EPSILON) << shift << " " << k << type;
        EXPECT_TRUE(contains(a.view, "that of the matrix: there is one direction")) << a.view;
      }
  OK(MatDestroy(&plane));
}

/// Lines along x with diagonal couplings to their neighbours. No direction of the grid has these couplings.
TEST_F(AdiPC, CouplingsAlongNoDirectionAreCountedAndNotLeftOutInSilence)
{
  Mat      A;
  DM       box;
  PetscInt xs, ys, xm, ym;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 16, 4 * ranks, 1,
                  ranks, 1, 1, nullptr, nullptr, &box));
  OK(DMSetUp(box));
  OK(DMDAGetCorners(box, &xs, &ys, nullptr, &xm, &ym, nullptr));
  OK(DMSetMatType(box, MATAIJ));
  OK(DMCreateMatrix(box, &A));
  for (PetscInt j = ys; j < ys + ym; ++j)
    for (PetscInt i = xs; i < xs + xm; ++i) {
      const int         step[4][2] = {{0, 0}, {-1, 0}, {1, 0}, {1, 1}};
      const PetscScalar value[4]   = {3, -1, -1, -0.5};
      for (int k = 0; k < 4; ++k) {
        MatStencil row = {0, j, i, 0}, column = {0, j + step[k][1], i + step[k][0], 0};
        if (column.i < 0 || column.i >= 16 || column.j >= 4 * ranks) continue;
        OK(MatSetValuesStencil(A, 1, &row, 1, &column, &value[k], INSERT_VALUES));
      }
    }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  const std::string mixed = std::to_string(15 * (4 * ranks - 1));
  EXPECT_NE(static_cast<int>(solve_with(KSPPREONLY, A, box, 1).error), 0);
  EXPECT_TRUE(contains(last_error(), "PC adi found x alone and leaves out " + mixed + " couplings"))
    << last_error();
  const Answer a = solve_with(KSPGMRES, A, box, 1);
  EXPECT_EQ(static_cast<int>(a.error), 0) << last_error();
  EXPECT_LT(a.residual, 1e-8);
  EXPECT_TRUE(contains(a.view, "left out: " + mixed + " couplings along no direction")) << a.view;
  EXPECT_TRUE(contains(a.view, "W-methods keep their order")) << a.view;
  OK(MatDestroy(&A));
  OK(DMDestroy(&box));
}

TEST_F(AdiPC, ChecksItsOptions)
{
  const Grid      grid({8, 8}, {1, 1, 0}, 2);
  AdiLine         adi(grid, 2);
  const PetscInt  twice[] = {0, 0}, one[] = {1}, far[] = {3};
  const PetscInt *list;
  PetscInt        n;
  PetscReal       shift;
  PetscBool       symmetric;
  EXPECT_NE(static_cast<int>(PCADISetShift(adi.pc, -1)), 0);
  EXPECT_EQ(last_error(), "PCADISetShift, -pc_adi_shift: -1. is negative, or not a finite number");
  EXPECT_NE(static_cast<int>(PCADISetDirections(adi.pc, 2, twice)), 0);
  EXPECT_EQ(last_error(), "PCADISetDirections, -pc_adi_directions: x is in the list twice");
  EXPECT_NE(static_cast<int>(PCADISetDirections(adi.pc, 1, far)), 0);
  OK(PCADISetDirections(adi.pc, 1, one));
  EXPECT_NE(static_cast<int>(PCSetUp(adi.pc)), 0);
  EXPECT_EQ(last_error(), "PC adi: -pc_adi_directions y leaves out x, along which the matrix couples");
  OK(PCADIGetDirections(adi.pc, &n, &list));
  EXPECT_EQ(n, 1);
  EXPECT_EQ(list[0], 1);
  OK(PCADIGetShift(adi.pc, &shift));
  EXPECT_EQ(shift, 2);
  OK(PCADIGetSymmetric(adi.pc, &symmetric));
  EXPECT_EQ(symmetric, PETSC_FALSE);
  OK(PCSetType(adi.pc, PCNONE));
  OK(PCADISetShift(adi.pc, 3));
  EXPECT_NE(static_cast<int>(PCADIGetShift(adi.pc, &shift)), 0);
}

TEST_F(AdiPC, OptionsOfTheDirectionsThatContradictItAreErrors)
{
  const Grid grid({8, 8}, {1, 3}, 1, false, {1, ranks});
  for (const char *option :
       {"-adi_y_pc_line_omega 0.5", "-adi_y_pc_line_direction x", "-adi_y_pc_line_direction matrix",
        "-adi_y_pc_line_lhs_tol 0.9", "-adi_y_pc_line_iterations 3", "-adi_y_pc_line_ordering zebra"}) {
    const std::string text = option, name = text.substr(0, text.find(' '));
    AdiLine           line(grid, 1);
    reset_options(option);
    EXPECT_NE(static_cast<int>(PCSetUp(line.pc)), 0) << option;
    EXPECT_EQ(last_error().find(name + " contradicts ADI along y: "), 0u) << last_error();
  }
  for (const char *option :
       {"-adi_y_pc_line_omega 1", "-adi_y_pc_line_direction y", "-adi_y_pc_line_lhs_tol 1e-12",
        "-adi_y_pc_line_cut local", "-adi_y_pc_line_lhs per_line"}) {
    AdiLine line(grid, 1);
    reset_options(option);
    OK(PCSetUp(line.pc));
  }
  reset_options();
}

/// The view states facts that a program cannot query.
TEST_F(AdiPC, TheViewSaysThatAProductIsNoInverse)
{
  for (const bool both : {false, true}) {
    const Grid grid({8, 8}, {1, both ? PetscReal(3) : PetscReal(0)}, 1, false, {1, ranks});
    AdiLine    line(grid, 1);
    OK(PCSetUp(line.pc));
    EXPECT_EQ(contains(line.view(), "one application is no inverse of the matrix"), both) << line.view();
    Line alone(grid.A, grid.da);
    OK(PCLineSetDirection(alone.pc, PC_LINE_DIRECTION_X));
    OK(PCSetUp(alone.pc));
    EXPECT_EQ(contains(alone.view(), "one application is no inverse of the matrix"), both) << alone.view();
  }
}

TEST_F(AdiPC, NaNFailsTheSetUp)
{
  const Grid grid({8, 8}, {1, 1, 0}, 2);
  AdiLine    adi(grid, 2);
  OK(PCApply(adi.pc, adi.b, adi.x));
  EXPECT_EQ(failed_reason(adi.pc), PC_NOERROR);
  EXPECT_TRUE(contains(adi.view(), "directions: x,y, from the DMDA of the PC")) << adi.view();
  const PetscInt    row = 0, column = 1;
  const PetscScalar nan = std::nan("");
  if (rank == 0) MatSetValues(grid.A, 1, &row, 1, &column, &nan, INSERT_VALUES);
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(adi.pc));
  EXPECT_NE(failed_reason(adi.pc), PC_NOERROR);
}
