// SPDX-License-Identifier: BSD-2-Clause
// KSP line for other systems than single vectors of scalar lines, the PC that it chooses, its options, and
// solvers that contain it.
#include "kspline_fixture.hpp"

#include <algorithm>
#include <random>
#include <vector>

using namespace test;

namespace {

/// The results line by line: those of KSPLineGetInfo(), and the first row of each line of this rank.
void expect_lines(const Solver &s, PetscInt lines, PetscInt length, PetscInt columns)
{
  PetscInt n, begin;
  OK(VecGetOwnershipRange(s.b, &begin, nullptr));
  OK(KSPLineGetLines(s.ksp, &n, nullptr, nullptr, nullptr, nullptr));
  ASSERT_EQ(n, lines * columns);
  std::vector<PetscInt>  row(static_cast<std::size_t>(n)), column(row), solves(row);
  std::vector<PetscReal> residual(row.size());
  OK(KSPLineGetLines(s.ksp, nullptr, row.data(), column.data(), solves.data(), residual.data()));
  PetscReal worst   = 0;
  PetscInt  refined = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const auto place = static_cast<PetscInt>(k);
    EXPECT_EQ(row[k], begin + length * (place % lines)) << k;
    EXPECT_EQ(column[k], place / lines) << k;
    EXPECT_LE(solves[k], s.iterations()) << k;
    refined += solves[k] > 1;
    worst = std::max(worst, residual[k]);
  }
  OK(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  OK(MPI_Allreduce(MPI_IN_PLACE, &refined, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  EXPECT_EQ(worst, s.info().worst);
  EXPECT_EQ(refined, s.info().refined);
}

TEST_F(KSPLine, ColumnsOfADenseMatrix)
{
  Grid lines({10, 3 * ranks}, {2, 0}, 0.5, false, {1, ranks}),
    plane({10, 3 * ranks}, {2, 0.2}, 0.5, false, {1, ranks});
  for (const Grid *grid : {&lines, &plane})
    for (PetscBool guess : {PETSC_FALSE, PETSC_TRUE}) {
      Solver         s(grid->A, nullptr, grid->da);
      Mat            B, X;
      PetscInt       m;
      const PetscInt columns = 4;
      OK(PCLineSetDirection(s.pc, PC_LINE_DIRECTION_X));
      OK(VecGetLocalSize(s.b, &m));
      OK(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, columns, nullptr, &B));
      OK(MatSetRandom(B, nullptr));
      OK(MatDuplicate(B, MAT_COPY_VALUES, &X));
      for (PetscInt c = 0; c < columns; ++c) { // columns of very different sizes, and one of zeros
        Vec b;
        OK(MatDenseGetColumnVec(B, c, &b));
        OK(VecScale(b, c == 2 ? 0 : PetscPowReal(10, static_cast<PetscReal>(-6 * c))));
        OK(MatDenseRestoreColumnVec(B, c, &b));
      }
      OK(KSPSetTolerances(s.ksp, 1e4 * eps, PETSC_DEFAULT, 1e50, 1000));
      OK(KSPSetInitialGuessNonzero(s.ksp, guess));
      OK(KSPMatSolve(s.ksp, B, X));
      KSPConvergedReason reason;
      OK(KSPGetConvergedReason(s.ksp, &reason));
      EXPECT_GT(reason, 0);
      if (grid == &lines) {
        EXPECT_EQ(s.info().lines, columns * 3 * ranks);
        expect_lines(s, 3, 10, columns);
        EXPECT_LE(s.iterations(), 2);
      } else EXPECT_GT(s.iterations(), 3);
      for (PetscInt c = 0; c < columns; ++c) {
        Vec b, x;
        OK(MatDenseGetColumnVecRead(B, c, &b));
        OK(MatDenseGetColumnVecRead(X, c, &x));
        OK(VecCopy(b, s.b));
        OK(VecCopy(x, s.x));
        OK(MatDenseRestoreColumnVecRead(X, c, &x));
        OK(MatDenseRestoreColumnVecRead(B, c, &b));
        PetscReal size;
        OK(VecNorm(s.x, NORM_2, &size));
        EXPECT_LE(c == 2 ? size : s.residual(), c == 2 ? (guess ? 1e6 * eps : 0) : 1.01e4 * eps) << c;
      }
      OK(MatDestroy(&B));
      OK(MatDestroy(&X));
    }
}

/// The settings of a transposed solve must not affect a solve for a dense matrix.
TEST_F(KSPLine, ColumnsAfterATransposedSolve)
{
  Mat A = matrix(
        40, [](PetscInt r, PetscInt c) { return r == c  ? 4.
                                                : r < c ? 1.
                                                        : 2.; },
        [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; }),
      B, X;
  Solver   s(A);
  PetscInt m;
  OK(KSPSolveTranspose(s.ksp, s.b, s.x));
  OK(VecGetLocalSize(s.b, &m));
  OK(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  OK(KSPMatSolve(s.ksp, B, X));
  EXPECT_LE(residual(A, B, X), 1e3 * eps);
  for (Mat *matrix : {&B, &X, &A}) OK(MatDestroy(matrix));
}

TEST_F(KSPLine, PackedLinesBlocksAndProducts)
{
  // Lines of 1, 2, ..., 9 rows in shuffled numbering: line and place of row r.
  const PetscInt                   n = 45;
  std::vector<std::pair<int, int>> place;
  for (int l = 1; l <= 9; ++l)
    for (int i = 0; i < l; ++i) place.emplace_back(l, i);
  std::shuffle(place.begin(), place.end(), std::mt19937(3));
  const auto at = [&](PetscInt r) { return place[static_cast<std::size_t>(r % n)]; };
  Mat        A  = matrix(
            n * ranks,
            [&](PetscInt r, PetscInt c) {
      return r == c ? PetscScalar(2.5) : PetscScalar(-1) * turned / PetscAbsScalar(turned);
    },
            [&](PetscInt r, PetscInt c) {
      return r / n == c / n && at(r).first == at(c).first && std::abs(at(r).second - at(c).second) <= 1;
    },
            n);
  Solver s(A);
  s.tolerances(1e2 * eps);
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  EXPECT_LT(s.residual(), 1e2 * eps);
  EXPECT_EQ(s.info().lines, 9 * ranks);
  // One row of one line is wrong: only that line is solved.
  OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  PetscInt begin, wrong = 0;
  OK(VecGetOwnershipRange(s.x, &begin, nullptr));
  while (at(wrong).first != 5) ++wrong;
  if (rank == 0) {
    OK(VecSetValue(s.x, wrong, 10, INSERT_VALUES));
  }
  OK(VecAssemblyBegin(s.x));
  OK(VecAssemblyEnd(s.x));
  EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL);
  std::string text = s.view(KSPLineView);
  EXPECT_TRUE(contains(text, "solved once 1, refined 0, left alone " + std::to_string(9 * ranks - 1)))
    << text;
  OK(MatDestroy(&A));

  // blocks of two
  DM da;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 2 * ranks, 1,
                  ranks, 2, 1, nullptr, nullptr, &da));
  OK(DMSetUp(da));
  OK(DMSetMatType(da, MATAIJ));
  OK(DMCreateMatrix(da, &A));
  PetscInt xs, ys, xm, ym;
  OK(DMDAGetCorners(da, &xs, &ys, nullptr, &xm, &ym, nullptr));
  for (PetscInt j = ys; j < ys + ym; ++j)
    for (PetscInt i = xs; i < xs + xm; ++i)
      for (PetscInt step = -1; step <= 1; ++step) {
        if (i + step < 0 || i + step >= 9) continue;
        MatStencil row, column;
        row.i = i, row.j = j, row.k = 0, column.i = i + step, column.j = j, column.k = 0;
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b) {
            const PetscScalar v = step == 0 ? (a == b ? 5. : 0.5 * a) : (a == b ? -1. : 0.3);
            row.c = a, column.c = b;
            OK(MatSetValuesStencil(A, 1, &row, 1, &column, &v, INSERT_VALUES));
          }
      }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  {
    Solver blocks(A);
    blocks.tolerances(1e2 * eps);
    EXPECT_EQ(blocks.solve(), KSP_CONVERGED_RTOL);
    EXPECT_EQ(blocks.info().lines, 2 * ranks);
    if (!PetscDefined(USE_COMPLEX)) {
      OK(KSPLineSetPrecision(blocks.ksp, PC_LINE_PRECISION_SINGLE));
      EXPECT_EQ(blocks.solve(), KSP_CONVERGED_RTOL);
    }
  }
  OK(MatDestroy(&A));
  OK(DMDestroy(&da));

  // three vectors of a product
  Grid line({10, ranks}, {1, 0}, 1, false, {1, ranks});
  Mat  product;
  OK(MatCreateMAIJ(line.A, 3, &product));
  {
    Solver three(product);
    EXPECT_EQ(three.solve(), KSP_CONVERGED_RTOL);
    EXPECT_EQ(three.info().lines, 3 * ranks);
  }
  OK(MatDestroy(&product));
}

std::string type_of(PC pc)
{
  PCType type = nullptr;
  PCGetType(pc, &type);
  return type ? type : "none";
}

TEST_F(KSPLine, ChoosesItsPC)
{
  Grid       grid({12, 2 * ranks}, {1, 0}, 1, false, {1, ranks});
  const auto made = [&](const char *options, PCType before, bool read_before, const char *program,
                        PCType after, bool read) {
    KSP ksp;
    PC  pc;
    reset_options(options);
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, grid.A, grid.A);
    KSPGetPC(ksp, &pc);
    if (before) PCSetType(pc, before);
    if (read_before) KSPSetFromOptions(ksp);
    if (program) KSPSetType(ksp, program);
    if (after) PCSetType(pc, after);
    if (read) KSPSetFromOptions(ksp);
    EXPECT_EQ(KSPSetUp(ksp), 0) << last_error();
    std::string type = type_of(pc);
    if (type == PCLINE) {
      PCLineOrdering ordering;
      PCLineGetOrdering(pc, &ordering);
      if (ordering == PC_LINE_ORDERING_ZEBRA) type += " zebra";
    }
    KSPDestroy(&ksp);
    reset_options();
    return type;
  };
  const char *zebra = "-pc_line_ordering zebra";
  EXPECT_EQ(made(zebra, nullptr, false, KSPLINE, nullptr, false), "line") << "options are not read";
  EXPECT_EQ(made(zebra, nullptr, false, KSPLINE, nullptr, true), "line zebra");
  EXPECT_EQ(made("-ksp_type line -pc_line_ordering zebra", nullptr, false, nullptr, nullptr, true),
            "line zebra");
  EXPECT_EQ(made("-ksp_type line -pc_line_ordering zebra", PCJACOBI, false, nullptr, nullptr, true),
            "line zebra")
    << "the option tops the program";
  EXPECT_EQ(made("", PCJACOBI, false, KSPLINE, nullptr, true), "jacobi") << "the program chose both";
  EXPECT_EQ(made("", nullptr, false, KSPLINE, PCJACOBI, true), "jacobi");
  EXPECT_EQ(made("-ksp_type line", nullptr, true, nullptr, PCJACOBI, false), "jacobi")
    << "what is set later stays";
  EXPECT_EQ(made(zebra, nullptr, true, KSPLINE, nullptr, false), "line zebra")
    << "PETSc chose a type meanwhile";
  EXPECT_EQ(made("-ksp_type line -pc_type sor", nullptr, false, nullptr, nullptr, true),
            ranks == 1 ? "sor" : "sor");
  EXPECT_EQ(made("-ksp_type line -pc_type sor", PCJACOBI, false, nullptr, nullptr, true), "sor");
  EXPECT_EQ(made("-pc_type jacobi", nullptr, false, KSPLINE, nullptr, true), "jacobi");
  EXPECT_EQ(made("-pc_type jacobi", nullptr, false, KSPLINE, nullptr, false), "line")
    << "options are not read";
  KSP ksp; // a later PC, without a type
  PC  pc;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPLINE));
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(KSPSetPC(ksp, pc));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetUp(ksp));
  EXPECT_EQ(type_of(pc), "line");
  OK(PCDestroy(&pc));
  OK(KSPDestroy(&ksp));
}

TEST_F(KSPLine, OptionsAndErrors)
{
  Grid            grid({12, 2 * ranks}, {1, 0}, 1, false, {1, ranks});
  Solver          s(grid.A);
  PCLinePrecision precision;
  PetscInt        lines;
  EXPECT_NE(KSPLineGetInfo(s.ksp, &lines, nullptr, nullptr, nullptr), 0);
  EXPECT_TRUE(contains(last_error(), "call KSPSolve() first")) << last_error();
  EXPECT_NE(KSPLineGetLines(s.ksp, &lines, nullptr, nullptr, nullptr, nullptr), 0);
  EXPECT_TRUE(contains(last_error(), "KSPLineGetLines: call KSPSolve() first")) << last_error();
  OK(PCLineSetPrecision(s.pc, PC_LINE_PRECISION_SINGLE));
  OK(KSPLineGetPrecision(s.ksp, &precision));
  EXPECT_EQ(precision, PC_LINE_PRECISION_SINGLE) << "the PC's, until it is set here";
  OK(KSPLineSetPrecision(s.ksp, PC_LINE_PRECISION_SAME));
  OK(PCLineGetPrecision(s.pc, &precision));
  EXPECT_EQ(precision, PC_LINE_PRECISION_SAME);
  OK(PetscOptionsInsertString(nullptr, "-a_ksp_line_precision single"));
  Solver o(grid.A, nullptr, nullptr, "a_");
  OK(KSPSetFromOptions(o.ksp));
  OK(PCLineGetPrecision(o.pc, &precision));
  EXPECT_EQ(precision, PC_LINE_PRECISION_SINGLE);
  if (PetscDefined(USE_COMPLEX)) {
    EXPECT_NE(KSPSetUp(o.ksp), 0);
    EXPECT_TRUE(contains(last_error(), "-pc_line_precision single")) << last_error();
  } else {
    EXPECT_GT(o.solve(), 0);
    const std::string text = o.view(KSPView);
    EXPECT_TRUE(contains(text, "single precision")) << text;
    EXPECT_TRUE(contains(text, "last solve: " + std::to_string(2 * ranks) + " lines")) << text;
  }
  Solver j(grid.A);
  OK(KSPLineSetPrecision(j.ksp, PC_LINE_PRECISION_SINGLE));
  OK(PCSetType(j.pc, PCJACOBI));
  EXPECT_NE(KSPSetUp(j.ksp), 0);
  EXPECT_TRUE(
    contains(last_error(), "-ksp_line_precision single is for PC line, but the PC is of type jacobi"))
    << last_error();
  OK(KSPSetType(j.ksp, KSPGMRES));
  OK(KSPLineSetPrecision(j.ksp, PC_LINE_PRECISION_SINGLE)); // not for other types
  EXPECT_NE(KSPLineGetPrecision(j.ksp, &precision), 0);
}

TEST_F(KSPLine, StandsInOtherSolvers)
{
  Grid grid({17, 17}, {1, 0.1}, 0.5, false, {1, ranks});
  for (const char *options :
       {"-o_pc_type bjacobi -o_sub_ksp_type line", "-o_pc_type asm -o_sub_ksp_type line -o_sub_ksp_max_it 3",
        "-o_pc_type ksp -o_ksp_ksp_type line -o_ksp_ksp_max_it 4 -o_ksp_type fgmres",
        "-o_pc_type mg -o_pc_mg_levels 3 -o_pc_mg_galerkin -o_mg_levels_ksp_type line -o_mg_coarse_ksp_type "
        "line -o_mg_coarse_ksp_max_it 30",
        "-o_pc_type redundant -o_redundant_ksp_type line"}) {
    reset_options(options);
    Solver s(grid.A, nullptr, nullptr, "o_");
    OK(KSPSetType(s.ksp, KSPFGMRES));
    OK(KSPSetDM(s.ksp, grid.da));
    OK(deactivate_dm(s.ksp));
    OK(KSPSetFromOptions(s.ksp));
    s.tolerances(1e-6, 60);
    EXPECT_EQ(s.solve(), KSP_CONVERGED_RTOL) << options;
    EXPECT_LT(s.residual(), 1e-5) << options;
    const std::string text = s.view(KSPView);
    EXPECT_TRUE(contains(text, "type: line")) << text;
  }
}

/// The reason of every other PC is that of its last set-up: the next matrix clears an earlier failure.
TEST_F(KSPLine, OtherPCsRecoverFromASingularMatrix)
{
  const std::vector<PetscInt> n = {6, 2 * ranks};
  for (const char *options :
       {"-pc_type lu", "-pc_type lu -pc_factor_mat_solver_type multifrontal",
        "-pc_type bjacobi -sub_pc_type line", "-pc_type ksp -ksp_ksp_type preonly -ksp_pc_type line"}) {
    if (ranks > 1 && std::string(options) == "-pc_type lu") continue; // needs another package
    Grid   grid(n, {1, 0}, 1, false, {1, ranks});
    Solver s(grid.A);
    reset_options(options);
    OK(KSPSetFromOptions(s.ksp));
    for (const bool norms : {true, false}) {
      OK(KSPSetNormType(s.ksp, norms ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_NONE));
      s.tolerances(1e-8, norms ? 20 : 2);
      for (const PetscReal shift : {1., 0., 0., 1., 1.}) {
        grid.fill(n, {1, 0}, shift);
        PetscInt begin;
        OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
        if (shift == 0) { // a row of zeros on the last rank
          for (PetscInt c = 0; c < 2 && rank == ranks - 1; ++c) {
            OK(MatSetValue(grid.A, begin, begin + c, 0, INSERT_VALUES));
          }
          OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
          OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
        }
        const KSPConvergedReason reason = s.solve();
        if (shift > 0) {
          EXPECT_GT(reason, 0) << options << ", norms " << norms;
          EXPECT_LT(s.residual(), 1e-8) << options;
        } else {
          EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << options << ", norms " << norms;
        }
      }
    }
  }
}

/// Rows that differ by 2^60. The first residual is rounding of the largest row times unknowns of the
/// smallest, not growth.
TEST_F(KSPLine, RowsInDifferentUnitsAreNoDivergence)
{
  if (sizeof(PetscReal) < 8) return;
  for (const int far : {30, 40})
    for (const bool single : {false, true}) {
#if defined(PETSC_USE_COMPLEX)
      if (single) continue;
#endif
      const auto scale = [&](PetscInt r) {
        return std::ldexp(1., static_cast<int>((r * 7) % (2 * far + 1)) - far);
      };
      Mat A = batch(
        8, [&](PetscInt l, PetscInt r, PetscInt step) { return scale(8 * l + r) * poisson(step, 2); }, ranks);
      Solver    s(A);
      PetscReal error;
      OK(KSPLineSetPrecision(s.ksp, single ? PC_LINE_PRECISION_SINGLE : PC_LINE_PRECISION_SAME));
      EXPECT_GT(s.solve(), 0) << far << ", single " << single;
      OK(KSPLineGetBackwardError(s.ksp, &error, nullptr));
      EXPECT_LT(error, 1e-12) << far << ", single " << single;
      OK(MatDestroy(&A));
    }
}

} // namespace
