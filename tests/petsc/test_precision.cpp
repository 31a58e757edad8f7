// SPDX-License-Identifier: BSD-2-Clause
// PC line in single precision with vectors of double: applications are linear to the roundoff of double.
#include "kspline_fixture.hpp"
#include "warnings.hpp"

#include <cctype>

using namespace test;

namespace {

class PCLineInSingle : public Petsc {
protected:
  void SetUp() override
  {
    Petsc::SetUp();
    if (!PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX))
      GTEST_SKIP() << "real double PETSc alone has lines in single precision";
  }
  void TearDown() override
  {
    reset_options();
    Petsc::TearDown();
  }
};

/// A matrix of one line of n rows.
Mat tridiagonal(PetscInt n, PetscReal lower, PetscReal diagonal, PetscReal upper)
{
  return matrix(
    n, [=](PetscInt r, PetscInt c) -> PetscScalar { return r == c  ? diagonal
                                                           : r > c ? lower
                                                                   : upper; },
    [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; });
}

/// Relative residual of a KSP with these options, under a prefix.
PetscReal solved(Mat A, DM da, const std::string &options)
{
  static int         count  = 0;
  const std::string  prefix = "precision" + std::to_string(++count) + "_";
  std::string        prefixed;
  const Line         line(A);
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  for (std::size_t k = 0; k < options.size(); ++k)
    prefixed += options[k] == '-' && (k == 0 || options[k - 1] == ' ') && std::isalpha(options[k + 1])
                  ? "-" + prefix
                  : std::string(1, options[k]);
  PetscOptionsInsertString(nullptr, prefixed.c_str());
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOptionsPrefix(ksp, prefix.c_str());
  KSPSetOperators(ksp, A, A);
  KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 500);
  KSPGetPC(ksp, &pc);
  if (da) PCSetDM(pc, da);
  KSPSetFromOptions(ksp);
  EXPECT_EQ(KSPSolve(ksp, line.b, line.x), 0) << last_error();
  KSPGetConvergedReason(ksp, &reason);
  EXPECT_GT(reason, 0) << options;
  KSPDestroy(&ksp);
  return relative_residual(A, line.b, line.x);
}

TEST_F(PCLineInSingle, KrylovMethodsReportTheResidualThatTheirSolutionHas)
{
  Mat        A = tridiagonal(60 * ranks, -1, 2.05, -1);
  const Grid grid({24, 21}, {50, 1}, 0.1); // coupled lines
  for (const char *ksp :
       {"gmres", "gmres -ksp_pc_side right", "bcgs", "tfqmr", "minres", "cr", "cgs", "cg", "fgmres"})
    for (const char *pc :
         {"-pc_type line -pc_line_precision single",
          "-pc_type line -pc_line_precision single -pc_line_ordering zebra -pc_line_composition symmetric",
          "-pc_type bjacobi -sub_ksp_type preonly -sub_pc_type line -sub_pc_line_precision single",
          "-pc_type asm -sub_pc_type line -sub_pc_line_precision single"}) {
      const std::string options = std::string("-ksp_type ") + ksp + " " + pc;
      if (std::string(pc).find("asm") != std::string::npos && std::string(ksp) != "gmres")
        continue; // restricted, not symmetric
      EXPECT_LT(solved(A, nullptr, options), 1e-11) << options;
      // The tolerance refers to the preconditioned residual.
      EXPECT_LT(solved(grid.A, grid.da, options), 2e-10) << options;
    }
  OK(MatDestroy(&A));
}

/// Largest difference between M (u + 3 v) and M u + 3 M v, and between v^T M u and u^T M^T v, relative to
/// the compared values.
void expect_linear(Mat A, DM da, const char *what, bool spans_ranks, void (*choose)(PC) = nullptr)
{
  Line        line(A, da), other(A, da);
  Vec         w, Mu, Mv, Mw;
  PetscReal   size, norm;
  PetscScalar vMu = 0, uMv = 0;
  if (choose) choose(line.pc);
  OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE));
  OK(PCSetUp(line.pc));
  ASSERT_EQ(failed_reason(line.pc), PC_NOERROR) << what << "\n" << line.view();
  EXPECT_TRUE(contains(line.view(), spans_ranks ? "not in single precision: lines span ranks"
                                                : "in single precision, solves are refined "))
    << what << "\n"
    << line.view();
  OK(VecShift(other.b, 0.25));
  for (Vec *v : {&w, &Mu, &Mv, &Mw}) OK(VecDuplicate(line.b, v));
  OK(VecWAXPY(w, 3, other.b, line.b));
  for (const bool transposed : {false, true}) {
    const auto apply = transposed ? PCApplyTranspose : PCApply;
    OK(apply(line.pc, line.b, Mu));
    OK(apply(line.pc, other.b, Mv));
    OK(apply(line.pc, w, Mw));
    OK(VecNorm(Mw, NORM_INFINITY, &size));
    OK(VecAXPY(Mw, -1, Mu));
    OK(VecAXPY(Mw, -3, Mv));
    OK(VecNorm(Mw, NORM_INFINITY, &norm));
    EXPECT_LT(norm, 1e-13 * size) << what << (transposed ? ", transposed" : "");
    OK(VecDot(transposed ? Mv : Mu, transposed ? line.b : other.b, transposed ? &uMv : &vMu));
    if (!transposed) {
      OK(VecNorm(Mu, NORM_2, &size));
    }
  }
  OK(VecNorm(other.b, NORM_2, &norm));
  EXPECT_LT(PetscAbsScalar(vMu - uMv), 1e-13 * size * norm) << what;
  for (Vec *v : {&w, &Mu, &Mv, &Mw}) OK(VecDestroy(v));
}

TEST_F(PCLineInSingle, ApplicationsAreLinearToRoundingAlongLinesOfAllKinds)
{
  // Lines are whole on ranks, or span them.
  const std::vector<PetscInt> rows = {1, ranks}, columns = {ranks, 1};
  const Grid x({31, 12}, {50, 1}, 0.3, false, rows), y({13, 30}, {1, 50}, 0.3, false, columns),
    ring({24, 8}, {7, 0.1}, 0.3, true, rows), wide({24, 12}, {9, 0.2}, 0.3, false, rows, false, 2);
  const Grid spanning({32, 12}, {50, 1}, 0.3, false, columns);
  expect_linear(x.A, x.da, "x", false);
  expect_linear(y.A, y.da, "y", false);
  expect_linear(ring.A, ring.da, "rings", false);
  expect_linear(wide.A, wide.da, "pentadiagonal", false);
  expect_linear(spanning.A, spanning.da, "spanning", ranks > 1);
  expect_linear(spanning.A, spanning.da, "pieces", false, [](PC pc) { PCLineSetCut(pc, PC_LINE_CUT_LOCAL); });
  expect_linear(x.A, x.da, "x and y, zebra", false, [](PC pc) {
    const PCLineDirection both[] = {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y};
    PCLineSetDirections(pc, 2, both), PCLineSetOrdering(pc, PC_LINE_ORDERING_ZEBRA),
      PCLineSetIterations(pc, 2);
  });
  expect_linear(y.A, nullptr, "matrix", false, [](PC pc) {
    PCLineSetDirection(pc, PC_LINE_DIRECTION_MATRIX), PCLineSetOrdering(pc, PC_LINE_ORDERING_ZEBRA);
  });
  Mat A = matrix(
    48 * ranks,
    [](PetscInt r, PetscInt c) {
      return PetscScalar(r == c ? 5.3 : -0.3 - 0.1 * static_cast<PetscReal>((3 * r + c) % 7));
    },
    [](PetscInt r, PetscInt c) { return std::abs(r / 3 - c / 3) <= 1; }, 48);
  OK(MatSetBlockSize(A, 3));
  expect_linear(A, nullptr, "blocks", ranks > 1);
  OK(MatDestroy(&A));
  A = matrix(
    40 * ranks,
    [](PetscInt r, PetscInt c) {
      return PetscScalar(r == c ? 4.7 + 0.01 * static_cast<PetscReal>(r % 11) : r < c ? -1.3 : -0.7);
    },
    [](PetscInt r, PetscInt c) { return r / 20 == c / 20 && std::abs(r - c) <= 1; }, 40);
  expect_linear(A, nullptr, "two matrices on a rank", false);
  OK(MatDestroy(&A));
}

TEST_F(PCLineInSingle, BatchesAreRefinedAsVectorsAre)
{
  for (const bool interleaved : {false, true}) {
    const Grid grid({interleaved ? 3 * ranks : 30, interleaved ? 30 : 3 * ranks},
                    {interleaved ? 0. : 5., interleaved ? 5. : 0.}, 0.3, false,
                    {interleaved ? ranks : 1, interleaved ? 1 : ranks});
    Line       line(grid.A, grid.da);
    Mat        B, X;
    PetscReal  size, norm;
    OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE));
    B = native_dense(grid.A, 5);
    OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    OK(PCMatApply(line.pc, B, X));
    for (PetscInt c = 0; c < 5; ++c) {
      OK(MatGetColumnVector(B, line.b, c));
      OK(MatGetColumnVector(X, line.r, c));
      OK(PCApply(line.pc, line.b, line.x));
      OK(VecNorm(line.x, NORM_INFINITY, &size));
      OK(VecAXPY(line.r, -1, line.x));
      OK(VecNorm(line.r, NORM_INFINITY, &norm));
      EXPECT_LT(norm, 1e-13 * size) << c;
    }
    OK(MatDestroy(&B));
    OK(MatDestroy(&X));
  }
}

TEST_F(PCLineInSingle, IllConditionedLinesAreRefinedOrRefused) // one rank
{
  PetscRandom random;
  PetscReal   u[3];
  int         refused = 0, refined = 0;
  OK(PetscRandomCreate(PETSC_COMM_SELF, &random));
  for (int trial = 0; trial < 300; ++trial) {
    for (PetscReal &number : u) OK(PetscRandomGetValueReal(random, &number));
    const PetscInt  n = 5 + trial % 97;
    const PetscReal d =
      -2 * PetscCosReal(PETSC_PI * PetscFloorReal(1 + u[0] * static_cast<PetscReal>(n - 1)) /
                        static_cast<PetscReal>(n + 1)) +
      PetscPowReal(10, -1 - 8 * u[1]); // nearly an eigenvalue
    Mat A = tridiagonal(n, 1, d, 1 + (trial % 2 ? 0 : 0.5 * u[2]));
    {
      Line      line(A);
      Vec       once, twice;
      PetscReal rcond, size, defect;
      OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE));
      OK(PCLineSetAlgorithm(line.pc, trial % 3 ? PC_LINE_ALGORITHM_AUTO : PC_LINE_ALGORITHM_THOMAS));
      OK(PCSetUp(line.pc));
      if (failed_reason(line.pc) != PC_NOERROR) {
        ++refused;
        EXPECT_TRUE(contains(line.view(), "-pc_line_precision same has more digits")) << line.view();
        OK(MatDestroy(&A));
        continue;
      }
      ++refined;
      OK(PCLineGetFactorInfo(line.pc, &rcond, nullptr, nullptr, nullptr, nullptr));
      OK(VecDuplicate(line.b, &once));
      OK(VecDuplicate(line.b, &twice));
      OK(PCApply(line.pc, line.b, once)); // M (b + 3 c) - M b - 3 M c with c = b^2
      OK(VecPointwiseMult(line.r, line.b, line.b));
      OK(PCApply(line.pc, line.r, twice));
      OK(VecAXPY(line.b, 3, line.r));
      OK(VecAXPY(once, 3, twice));
      OK(PCApply(line.pc, line.b, line.x));
      OK(VecNorm(line.x, NORM_INFINITY, &size));
      OK(VecNorm(once, NORM_INFINITY, &defect));
      size = PetscMax(size, defect);
      OK(VecAXPY(line.x, -1, once));
      OK(VecNorm(line.x, NORM_INFINITY, &defect));
      EXPECT_LT(defect, 200 * PETSC_MACHINE_EPSILON / rcond * size) << line.view();
      for (Vec *v : {&once, &twice}) OK(VecDestroy(v));
    }
    OK(MatDestroy(&A));
  }
  OK(PetscRandomDestroy(&random));
  EXPECT_GT(refused, 10);
  EXPECT_GT(refined, 200);
}

TEST_F(PCLineInSingle, LinesBeyondTheRangeOfFloatAreNamed)
{
  for (const PetscReal small : {1e-39, 1e-43, 1e-60}) { // subnormal, nearly zero, zero in float
    Mat A = matrix(
      40 * ranks,
      [&](PetscInt r, PetscInt c) { return PetscScalar((r == c ? 4 : -1) * (r % 40 < 20 ? 1 : small)); },
      [](PetscInt r, PetscInt c) { return r / 20 == c / 20 && std::abs(r - c) <= 1; }, 40);
    {
      Line line(A);
      OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE));
      OK(PCSetUp(line.pc));
      EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_OTHER) << small;
      EXPECT_TRUE(contains(line.view(), "lies below the range of float")) << line.view();
      EXPECT_FALSE(contains(line.view(), "-pc_line_zeropivot")) << line.view();
      EXPECT_TRUE(contains(line.view(), "row 20 ") || contains(line.view(), "row 0 of the lines of class 1"))
        << line.view();
      OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SAME));
      OK(PCSetUp(line.pc));
      EXPECT_EQ(failed_reason(line.pc), PC_NOERROR) << small;
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineInSingle, WhoDoesNotRefineIsWarnedOnce)
{
  Mat A = matrix(
    60 * ranks, [](PetscInt r, PetscInt c) { return PetscScalar(r == c ? 2.05 : -1); },
    [](PetscInt r, PetscInt c) { return r / 30 == c / 30 && std::abs(r - c) <= 1; },
    60); // lines are whole on ranks
  {
    Warnings warnings;
    Line     line(A);
    OK(PCSetOptionsPrefix(line.pc, "warned_"));
    OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE_UNREFINED));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(warnings.take(), "");
    OK(PCApply(line.pc, line.b, line.x));
    const std::string text = warnings.take();
    if (rank == 0) {
      EXPECT_TRUE(contains(text, "WARNING! PC line: -warned_pc_line_precision single_unrefined: ")) << text;
      EXPECT_TRUE(contains(text, "use -warned_pc_line_precision single")) << text;
    } else {
      EXPECT_EQ(text, "");
    }
    OK(PCApply(line.pc, line.b, line.x));
    OK(PCApplyTranspose(line.pc, line.b, line.x));
    OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE));
    OK(PCApply(line.pc, line.b, line.x));
    EXPECT_EQ(warnings.take(), "");
    EXPECT_TRUE(contains(line.view(), "refined ")) << line.view();
  }
  {
    Warnings warnings;
    Solver   s(A, nullptr, nullptr, "nobody_");
    OK(PCSetType(s.pc, PCLINE));
    OK(PCLineSetPrecision(s.pc, PC_LINE_PRECISION_SINGLE_UNREFINED));
    s.tolerances(1e-12);
    EXPECT_GT(s.solve(), 0);
    EXPECT_EQ(warnings.take(), "") << "KSP line refines by itself";
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineInSingle, KSPLineRefinesInPlaceOfThePC)
{
  const Grid grid({30, 3 * ranks}, {5, 0}, 0.01, false, {1, ranks});
  Solver     refined(grid.A, nullptr, grid.da), plain(grid.A, nullptr, grid.da);
  PetscReal  norm;
  for (Solver *s : {&refined, &plain}) {
    OK(PCSetType(s->pc, PCLINE));
    OK(PCLineSetPrecision(s->pc,
                          s == &refined ? PC_LINE_PRECISION_SINGLE : PC_LINE_PRECISION_SINGLE_UNREFINED));
    s->tolerances(1e-12);
    EXPECT_GT(s->solve(), 0);
  }
  EXPECT_EQ(refined.iterations(), plain.iterations());
  OK(VecAXPY(plain.x, -1, refined.x));
  OK(VecNorm(plain.x, NORM_INFINITY, &norm));
  EXPECT_EQ(norm, 0) << "the same solves";
  OK(PCApply(refined.pc, refined.b, plain.x)); // afterwards the PC refines again
  OK(PCApply(refined.pc, plain.x, refined.x));
  OK(VecScale(plain.x, 3));
  OK(PCApply(refined.pc, plain.x, plain.b));
  OK(VecAXPY(plain.b, -3, refined.x));
  PetscReal size;
  OK(VecNorm(refined.x, NORM_INFINITY, &size));
  OK(VecNorm(plain.b, NORM_INFINITY, &norm));
  EXPECT_LT(norm, 1e-13 * size);
}

} // namespace
