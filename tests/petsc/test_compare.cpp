// SPDX-License-Identifier: BSD-2-Clause
// -pc_line_compare, and many right-hand sides of the transpose.
#include "sweep_reference.hpp"

#include <line/pc.hpp>

#include <cstdarg>

using namespace test;

namespace {

class PCLineComparison : public Petsc { };

std::string printed;

PetscErrorCode keep_text(FILE *, const char what[], va_list arguments)
{
  char   text[1024];
  size_t length;
  if (PetscVSNPrintf(text, sizeof text, what, &length, arguments) == 0) printed += text;
  return 0;
}

/// The text that f prints, on all ranks.
std::string text_of(const std::function<void()> &f)
{
  const auto own = PetscVFPrintf;
  printed.clear();
  PetscVFPrintf = keep_text;
  f();
  PetscVFPrintf = own;
  int length    = static_cast<int>(printed.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  printed.resize(static_cast<std::size_t>(length));
  MPI_Bcast(printed.data(), length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return printed;
}

/// The difference that a text reports, or -1.
double difference_in(const std::string &text)
{
  const std::string word = "differs from the serial reference by ";
  const auto        at   = text.find(word);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + word.size()));
}

constexpr double rounding = sizeof(PetscReal) == 4 ? 1e-5 : 1e-13;

TEST_F(PCLineComparison, RightSolvesAgreeToRounding)
{
  for (PetscInt width : {1, 2})
    for (bool periodic : {false, true}) {
      Grid grid({8, 8 + 4 * ranks, 3}, {2, 1, 1}, 0.3, periodic, {1, ranks, 1}, false, width);
      Line line(grid.A, grid.da);
      OK(PCSetOptionsPrefix(line.pc, "inner_"));
      OK(PCLineSetCompare(line.pc, PETSC_TRUE));
      for (const Sweep &sweep :
           {Sweep{{0}}, Sweep{{1, 0}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 0.8, 2},
            Sweep{{0, 1}, PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_ORDERING_JACOBI, 1, 1}}) {
        sweep.set(line.pc);
        OK(PCSetUp(line.pc));
        for (bool transposed : {false, true}) {
          const std::string text = text_of([&] {
            OK(transposed ? PCApplyTranspose(line.pc, line.b, line.x) : PCApply(line.pc, line.b, line.x));
          });
          EXPECT_TRUE(contains(text, "PC line -inner_pc_line_compare: application ")) << text;
          EXPECT_GE(difference_in(text), 0) << text;
          EXPECT_LT(difference_in(text), rounding) << text;
          EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line: " << text;
        }
      }
      OK(PCLineSetCompare(line.pc, PETSC_FALSE));
      EXPECT_EQ(text_of([&] { OK(PCApply(line.pc, line.b, line.x)); }), "");
    }
}

TEST_F(PCLineComparison, RichardsonAndManyRightHandSidesAreCompared)
{
  Grid               grid({8, 2 * ranks}, {3, 1}, 0.3, false, {1, ranks});
  Line               line(grid.A, grid.da);
  KSP                ksp;
  KSPConvergedReason reason;
  Mat                B, X;
  PetscInt           rows;
  OK(PCLineSetCompare(line.pc, PETSC_TRUE));
  Sweep{{0}}.set(line.pc);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPRICHARDSON));
  OK(KSPSetPC(ksp, line.pc));
  OK(KSPSetNormType(ksp, KSP_NORM_NONE));
  OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 4));
  std::string text = text_of([&] { OK(KSPSolve(ksp, line.b, line.x)); });
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_EQ(reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line: " << text;
  EXPECT_TRUE(difference_in(text) >= 0 && difference_in(text) < rounding) << text;
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  text = text_of([&] { OK(PCMatApply(line.pc, B, X)); });
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line: " << text;
  EXPECT_TRUE(difference_in(text) >= 0 && difference_in(text) < rounding) << text;
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineComparison, EverySetOfLinesOfAKroneckerProductIsCompared)
{
  // Lines along y: with interleaved components, one set of lines per plane.
  Grid     grid({4, 5, 3 * ranks}, {0, 2, 0}, 0.5, false, {1, 1, ranks});
  Mat      M, B, X;
  PetscInt rows;
  OK(MatCreateMAIJ(grid.A, 2, &M));
  {
    Line line(M);
    OK(PCLineSetCompare(line.pc, PETSC_TRUE));
    OK(PCSetUp(line.pc));
    std::string text = text_of([&] { OK(PCApply(line.pc, line.b, line.x)); });
    EXPECT_TRUE(difference_in(text) >= 0 && difference_in(text) < rounding) << text;
    OK(MatGetLocalSize(M, &rows, nullptr));
    OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
    OK(MatSetRandom(B, nullptr));
    OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    text = text_of([&] { OK(PCMatApply(line.pc, B, X)); });
    EXPECT_TRUE(difference_in(text) >= 0 && difference_in(text) < rounding) << text;
    OK(MatDestroy(&B));
    OK(MatDestroy(&X));
  }
  OK(MatDestroy(&M));
}

TEST_F(PCLineComparison, BlocksAndLinesOfAGraphAreCompared)
{
  const PetscInt n = 12; // elements of two coupled rows, one line per rank
  Mat            A = matrix(
               2 * n * ranks, [](PetscInt r, PetscInt c) { return r == c           ? 9
                                                                  : r / 2 == c / 2 ? 2
                                                                                   : -1; },
               [&](PetscInt r, PetscInt c) { return r / (2 * n) == c / (2 * n) && std::abs(r / 2 - c / 2) <= 1; },
               2 * n);
  const PetscInt m = 10; // Without a grid: even rows couple with a distant row.
  Mat            G = matrix(
               m * ranks, [](PetscInt r, PetscInt c) { return r == c                 ? 7
                                                              : std::abs(r - c) == 3 ? -2
                                                                                     : -1; },
               [&](PetscInt r, PetscInt c) {
      return r == c || (r / m == c / m && (std::abs(r - c) == 3 || r * c == 2));
    },
               m);
  // One line per rank that couples further than bands reach: it is lumped.
  Mat W = matrix(
    2 * m * ranks,
    [](PetscInt r, PetscInt c) {
      return PetscScalar(r == c ? 9 : -1 / static_cast<double>(std::abs(r - c)));
    },
    [&](PetscInt r, PetscInt c) { return r / (2 * m) == c / (2 * m) && std::abs(r - c) <= 12; }, 2 * m);
  OK(MatSetBlockSize(A, 2));
  for (Mat of : {A, G, W}) {
    Line line(of);
    if (of != A) {
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    }
    OK(PCLineSetCompare(line.pc, PETSC_TRUE));
    OK(PCSetUp(line.pc));
    const std::string text = text_of([&] { OK(PCApply(line.pc, line.b, line.x)); });
    EXPECT_TRUE(difference_in(text) >= 0 && difference_in(text) < rounding) << text << line.view();
    EXPECT_EQ(contains(line.view(), "lumped:"), of == W) << line.view();
  }
  for (Mat *of : {&A, &G, &W}) OK(MatDestroy(of));
}

TEST_F(PCLineComparison, DigitsThatAreLostAreSeen)
{
  Grid grid({12, 2 * ranks}, {1, 0}, 1, false, {1, ranks});
  Line line(grid.A, grid.da);
  Sweep{{0}}.set(line.pc);
  OK(PCLineSetAlgorithm(line.pc, PC_LINE_ALGORITHM_THOMAS));
  OK(PCLineSetCompare(line.pc, PETSC_TRUE));
  // The last line: second differences with almost free ends.
  const PetscReal little = sizeof(PetscReal) == 4 ? 1e-3 : 1e-9;
  grid.fill({12, 2 * ranks}, {1, 0}, 0);
  for (PetscInt i = 0; rank == ranks - 1 && i < 12; i += 11) {
    const MatStencil  row = {0, 2 * ranks - 1, i, 0};
    const PetscScalar v   = 1 + little;
    OK(MatSetValuesStencil(grid.A, 1, &row, 1, &row, &v, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(line.pc));
  ASSERT_EQ(failed_reason(line.pc), PC_NOERROR);
  const std::string text = text_of([&] { OK(PCApply(line.pc, line.b, line.x)); });
  EXPECT_GT(difference_in(text), rounding) << text;
  EXPECT_TRUE(contains(text, "(line 1 of rank " + std::to_string(ranks - 1) + " along x)")) << text;
}

TEST_F(PCLineComparison, PinnedAndShiftedLinesAreComparedWithWhatWasAskedFor)
{
  // On every rank, Neumann lines of 3, 5 and 8 rows and a regular line of 4 rows. Scaled rows make the left
  // null vectors differ from the constants.
  const PetscInt length[] = {3, 5, 8, 4}, n = 20;
  const auto     line_of = [&](PetscInt r) {
    PetscInt l = 0;
    for (PetscInt left = r % n; left >= length[l]; ++l) left -= length[l];
    return r / n * 4 + l;
  };
  const auto coupled = [&](PetscInt r, PetscInt c) {
    return c >= 0 && c < n * ranks && std::abs(r - c) == 1 && line_of(r) == line_of(c);
  };
  for (PetscInt scale : {1, 3}) {
    Mat A = matrix(
      n * ranks,
      [&](PetscInt r, PetscInt c) {
        const PetscReal neighbours = static_cast<PetscReal>(coupled(r, r - 1)) +
                                     static_cast<PetscReal>(coupled(r, r + 1)),
                        more = line_of(r) % 4 == 3 ? 1 : 0;
        return static_cast<PetscReal>(1 + r % scale) * turned * (r != c ? PetscReal(-1) : neighbours + more);
      },
      [&](PetscInt r, PetscInt c) { return r == c || coupled(r, c); }, n);
    for (auto direction : {PC_LINE_DIRECTION_ROWS, PC_LINE_DIRECTION_MATRIX})
      for (auto shift : {PC_LINE_SHIFT_PIN, PC_LINE_SHIFT_NONZERO}) {
        Line line(A);
        OK(PCLineSetDirection(line.pc, direction));
        OK(PCLineSetShiftType(line.pc, shift));
        OK(PCLineSetShiftAmount(line.pc, 1e-3)); // large enough to be seen
        OK(PCLineSetOmega(line.pc, 0.75));
        OK(PCLineSetCompare(line.pc, PETSC_TRUE));
        OK(PCSetUp(line.pc));
        EXPECT_TRUE(contains(line.view(), shift == PC_LINE_SHIFT_PIN ? "zero mean (asked for)"
                                                                     : "shifted: diagonals by 1.0e-03"))
          << line.view();
        for (bool transposed : {false, true}) {
          if (transposed && scale > 1) continue; // columns do not sum to zero
          const std::string text = text_of([&] {
            OK(transposed ? PCApplyTranspose(line.pc, line.b, line.x) : PCApply(line.pc, line.b, line.x));
          });
          EXPECT_GE(difference_in(text), 0) << text;
          EXPECT_LT(difference_in(text), 1e4 * rounding * (shift == PC_LINE_SHIFT_PIN ? 1e-3 : 1))
            << PCLineDirections[direction] << scale << transposed << ": " << text;
        }
      }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineComparison, AWrongNumberIsNamed) // one rank: lines of one rank
{
  using namespace ribbon::petsc;
  Grid        grid({7, 5}, {1, 2}, 0.5);
  LineRequest request;
  request.direction.lines = ribbon::LineSet::box({7, 5, 1}, 1);
  request.omega           = 0.5;
  std::unique_ptr<LineReference> reference;
  LineSource                     source;
  source.rows = source.block = grid.A;
  OK(LineReference::create(source, 100, request, 0, &reference));
  Line line(grid.A, grid.da);
  Sweep{{1}, PC_LINE_COMPOSITION_MULTIPLICATIVE, PC_LINE_ORDERING_JACOBI, 0.5, 1}.set(line.pc);
  OK(PCApply(line.pc, line.b, line.x));
  OK(reference->keep(line.b));
  OK(reference->compare(line.x, false));
  EXPECT_LT(reference->worst.size, rounding);
  PetscScalar *x;
  OK(VecGetArray(line.x, &x));
  x[2 * 7 + 3] += 0.125; // row 2 of line 3
  OK(VecRestoreArray(line.x, &x));
  OK(reference->compare(line.x, false));
  EXPECT_GT(reference->worst.size, 0.01);
  EXPECT_EQ(reference->worst.row, 117);
  EXPECT_EQ(reference->worst.line, 3);
  EXPECT_NEAR(reference->worst.value - reference->worst.wanted, 0.125, rounding);
  OK(VecGetArray(line.x, &x));
  x[0] = NAN;
  OK(VecRestoreArray(line.x, &x));
  OK(reference->compare(line.x, false));
  EXPECT_EQ(reference->worst.row, 100);
  EXPECT_GT(reference->worst.size, 1e300);
}

TEST_F(PCLineComparison, ManyRightHandSidesOfTheTranspose)
{
  Grid     grid({8, 2 * ranks}, {3, 1}, 0.3, false, {1, ranks});
  Vec      scale;
  PetscInt rows;
  Mat      B, X;
  OK(MatCreateVecs(grid.A, nullptr, &scale));
  OK(VecSetRandom(scale, nullptr));
  OK(VecShift(scale, 1));
  OK(MatDiagonalScale(grid.A, scale, nullptr));
  OK(VecDestroy(&scale));
  Line line(grid.A, grid.da);
  Sweep{{0}}.set(line.pc);
  OK(PCSetUp(line.pc));
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
#if PETSC_VERSION_GE(3, 24, 0)
  OK(PCMatApplyTranspose(line.pc, B, X));
#else
  auto &sweep = static_cast<ribbon::petsc::PC_Line *>(line.pc->data)->sweep;
  OK(sweep.transpose(PETSC_COMM_WORLD));
  OK(sweep.groups[0].batches[0].op->solve(B, X, true));
#endif
  for (PetscInt c = 0; c < 3; ++c) {
    PetscReal difference;
    OK(MatGetColumnVector(B, line.b, c));
    OK(MatGetColumnVector(X, line.r, c));
    OK(PCApplyTranspose(line.pc, line.b, line.x));
    OK(VecAXPY(line.x, -1, line.r));
    OK(VecNorm(line.x, NORM_INFINITY, &difference));
    EXPECT_EQ(difference, 0);
    OK(PCApply(line.pc, line.b, line.x));
    OK(VecAXPY(line.x, -1, line.r));
    OK(VecNorm(line.x, NORM_INFINITY, &difference));
    EXPECT_GT(difference, 1e-3) << "not symmetric";
  }
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
}

TEST_F(PCLineComparison, TheOptionHasASetAndAGet)
{
  PC        pc;
  PetscBool compare;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCLineGetCompare(pc, &compare));
  EXPECT_FALSE(compare);
  OK(PetscOptionsSetValue(nullptr, "-pc_line_compare", nullptr));
  OK(PCSetFromOptions(pc));
  OK(PetscOptionsClearValue(nullptr, "-pc_line_compare"));
  OK(PCLineGetCompare(pc, &compare));
  EXPECT_TRUE(compare);
  OK(PCLineSetCompare(pc, PETSC_FALSE));
  OK(PCLineGetCompare(pc, &compare));
  EXPECT_FALSE(compare);
  OK(PCDestroy(&pc));
}

} // namespace
