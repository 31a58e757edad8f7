// SPDX-License-Identifier: BSD-2-Clause
// PC line solves: batches from a DMDA and from patterns, transposed, many right-hand
// sides, as a preconditioner.
#include "fixture.hpp"

#include "line/column_solver.hpp"
#include "support/session.hpp"

using namespace test;

namespace {

class PCLineSolve : public Petsc { };

// Each rank holds whole lines.
TEST_F(PCLineSolve, BatchesInEveryDirectionOfA3DGrid)
{
  for (std::size_t d = 0; d < 3; ++d)
    for (bool periodic : {false, true})
      for (PetscInt width : {1, 2}) {
        std::vector<PetscReal> s(3, 0);
        std::vector<PetscInt>  processes(3, 1);
        s[d]                      = 3;
        processes[d == 0 ? 1 : 0] = ranks;
        Grid grid({9, 8, 10}, s, 1, periodic, processes, false, width);
        Line line(grid.A, grid.da);
        OK(PCSetUp(line.pc));
        EXPECT_EQ(line.direction(), std::string(1, "xyz"[d]));
        EXPECT_EQ(line.matrices(), 1);
        EXPECT_LT(line.residual(grid.A), 1e-13);
        EXPECT_LT(line.residual(grid.A, true), 1e-13);
      }
}

TEST_F(PCLineSolve, OneDimensionalGrid) // one rank: lines of a 1D grid span all ranks
{
  for (PetscInt n : {1, 2, 3, 4, 5, 17, 1000})
    for (PetscInt width : {1, 2}) {
      Grid grid({n}, {2}, 1, false, {}, false, std::min(width, n));
      Line line(grid.A, grid.da);
      OK(PCSetUp(line.pc)) << n;
      EXPECT_LT(line.residual(grid.A), 1e-13) << n;
    }
}

TEST_F(PCLineSolve, BatchesWithoutADM)
{
  // Blocks of 6 rows: tridiagonal, pentadiagonal, periodic.
  const PetscInt lines = 8, n = 6;
  for (PetscInt h : {1, 2})
    for (bool ring : {false, true}) {
      auto distance = [&](PetscInt r, PetscInt c) -> PetscInt {
        if (r / n != c / n) return 99;
        const PetscInt d = std::abs(r - c);
        return ring ? std::min(d, n - d) : d;
      };
      Mat A = matrix(
        lines * n,
        [&](PetscInt r, PetscInt c) {
          return r == c ? PetscScalar(5 + static_cast<PetscReal>(r % n))
                        : (r < c ? PetscScalar(-1) : -0.5 * turned) / static_cast<PetscReal>(distance(r, c));
        },
        [&](PetscInt r, PetscInt c) { return distance(r, c) <= h; }, lines / ranks * n);
      Line     line(A);
      PetscInt count, rows, bandwidth;
      OK(PCSetUp(line.pc));
      OK(PCLineGetInfo(line.pc, nullptr, &count, &rows, nullptr, &bandwidth, nullptr));
      EXPECT_EQ(line.direction(), "rows");
      EXPECT_EQ(rows, n) << h << ring;
      EXPECT_EQ(count, lines / ranks);
      EXPECT_EQ(bandwidth, h);
      EXPECT_EQ(line.matrices(), 1);
      EXPECT_LT(line.residual(A), 1e-14);
      EXPECT_LT(line.residual(A, true), 1e-14);
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineSolve, LinesOfDifferentLengthsWithoutADM) // one rank: one rank shows it
{
  const std::vector<PetscInt> begin = {0, 3, 10, 11, 25};
  auto run = [&](PetscInt r) { return std::upper_bound(begin.begin(), begin.end(), r) - begin.begin(); };
  Mat  A   = matrix(
       25, [](PetscInt r, PetscInt c) { return r == c ? PetscScalar(4) : -turned; },
       [&](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1 && run(r) == run(c); });
  Line line(A);
  OK(PCSetUp(line.pc));
  EXPECT_LT(line.residual(A), 1e-14);
  OK(MatDestroy(&A));
}

TEST_F(PCLineSolve, ManyRightHandSidesEqualOneByOne)
{
  for (int dimension : {1, 3}) {
    if (dimension == 1 && ranks > 1) continue;
    Grid grid(dimension == 1 ? std::vector<PetscInt>{23} : std::vector<PetscInt>{7, 8, 6},
              dimension == 1 ? std::vector<PetscReal>{2} : std::vector<PetscReal>{0, 2, 0}, 1, false,
              dimension == 1 ? std::vector<PetscInt>{} : std::vector<PetscInt>{ranks, 1, 1});
    Line           line(grid.A, grid.da);
    const PetscInt columns = 5;
    PetscInt       rows;
    Mat            B, X;
    OK(PCSetUp(line.pc));
    OK(MatGetLocalSize(grid.A, &rows, nullptr));
    // lda = rows + 3
    std::vector<PetscScalar> b(static_cast<std::size_t>((rows + 3) * columns)), x((b.size()), 77.0);
    for (std::size_t k = 0; k < b.size(); ++k)
      b[k] = turned * (static_cast<PetscReal>((k * 7919) % 101) - 50);
    OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, b.data(), &B));
    OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, x.data(), &X));
    OK(MatDenseSetLDA(B, rows + 3));
    OK(MatDenseSetLDA(X, rows + 3));
    OK(PCMatApply(line.pc, B, X));
    for (PetscInt c = 0; c < columns; ++c) {
      const PetscScalar *one;
      PetscScalar       *a;
      OK(VecGetArrayWrite(line.b, &a));
      for (PetscInt i = 0; i < rows; ++i) a[i] = b[static_cast<std::size_t>(c * (rows + 3) + i)];
      OK(VecRestoreArrayWrite(line.b, &a));
      OK(PCApply(line.pc, line.b, line.x));
      OK(VecGetArrayRead(line.x, &one));
      for (PetscInt i = 0; i < rows; ++i)
        EXPECT_LT(PetscAbsScalar(x[static_cast<std::size_t>(c * (rows + 3) + i)] - one[i]), 1e-13);
      OK(VecRestoreArrayRead(line.x, &one));
      for (PetscInt i = rows; i < rows + 3; ++i)
        EXPECT_EQ(x[static_cast<std::size_t>(c * (rows + 3) + i)], PetscScalar(77.0))
          << "what lies between the columns was touched";
    }
    OK(MatDestroy(&B));
    OK(MatDestroy(&X));
  }
}

TEST_F(PCLineSolve, ColumnsOfALongLineGetASolverOfTheirOwn) // one rank: the line is not distributed
{
  using Scalar                = ribbon::petsc::Scalar;
  using Exec                  = Kokkos::DefaultHostExecutionSpace;
  const std::int64_t        n = 300;
  const Exec                exec;
  ribbon::LineSolverOptions options;
  std::vector<Scalar>       b(n * 40), x(b.size()), y(b.size());
  OK(ribbon::petsc::EnsureKokkos());
  ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
  bands.values = decltype(bands.values)("test::bands", 1, n, 5);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t d = 0; d < 5; ++d)
      bands.values(0, i, d) =
        Scalar(static_cast<PetscReal>(d == 2 ? 6 : -1 + 0.001 * static_cast<double>(i)));
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = Scalar(static_cast<PetscReal>(k * 7919 % 101) - 50);
  options.algorithm = "partition", options.rows_per_piece = 60;
  const auto batch = [&](std::int64_t lines) { return ribbon::LineSet::contiguous(n, lines); };
  const ribbon::LineSolver<Scalar, Exec>    few(exec, batch(1), bands, options);
  ribbon::petsc::ColumnSolver<Scalar, Exec> columns;
  ASSERT_EQ(few.report().algorithm.rfind("partition", 0), 0U) << few.report().algorithm;
  EXPECT_EQ(&columns.choose(exec, few, bands, options, batch(3)), &few) << "three columns are few";
  for (std::int64_t lines : {40, 20, 40}) {
    const auto &many = columns.choose(exec, few, bands, options, batch(lines));
    EXPECT_EQ(many.lines().lines(), lines);
    EXPECT_EQ(&columns.choose(exec, few, bands, options, batch(lines)), &many);
    many.solve(exec, b.data(), batch(lines), x.data(), batch(lines));
    few.solve(exec, b.data(), batch(lines), y.data(), batch(lines));
    for (std::size_t k = 0; k < static_cast<std::size_t>(n * lines); ++k)
      ASSERT_LT(ribbon::magnitude(x[k] - y[k]), 1e4 * PETSC_MACHINE_EPSILON) << "unknown " << k;
  }
}

// one rank: one 1D matrix on one rank; a device partitions it into segments
TEST_F(PCLineSolve, OneLongLineTakesManyColumns)
{
  const PetscInt n = 4200, reach = 3;
  Mat            A, B, X;
  OK(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 2 * reach + 1, nullptr, &A));
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = std::max<PetscInt>(0, i - reach); j <= std::min(n - 1, i + reach); ++j)
      OK(MatSetValue(A, i, j, i == j ? 9 : -1, INSERT_VALUES));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  Line line(A);
  OK(PCSetUp(line.pc));
  for (PetscInt columns : {3, 20, 33, 20}) { // few, many, another number of columns
    OK(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, nullptr, &B));
    OK(MatSetRandom(B, nullptr));
    OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    OK(PCMatApply(line.pc, B, X));
    for (PetscInt c = 0; c < columns; ++c) {
      PetscReal difference;
      OK(MatGetColumnVector(B, line.b, c));
      OK(PCApply(line.pc, line.b, line.x));
      OK(MatGetColumnVector(X, line.r, c));
      OK(VecAXPY(line.r, -1, line.x));
      OK(VecNorm(line.r, NORM_INFINITY, &difference));
      EXPECT_LT(difference, 1e-14) << "column " << c << " of " << columns;
    }
    OK(MatDestroy(&B));
    OK(MatDestroy(&X));
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineSolve, KSPMatSolveTakesTheBatchInOneCall) // one rank: one 1D matrix on one rank
{
  Grid grid({40}, {3}, 1, true);
  KSP  ksp;
  PC   pc;
  Mat  B, X;
  Line vectors(grid.A);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 40, 70, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  OK(KSPMatSolve(ksp, B, X));
  for (PetscInt c = 0; c < 70; ++c) {
    PetscReal norm, size;
    OK(MatGetColumnVector(X, vectors.x, c));
    OK(MatGetColumnVector(B, vectors.b, c));
    OK(MatMult(grid.A, vectors.x, vectors.r));
    OK(VecAXPY(vectors.r, -1, vectors.b));
    OK(VecNorm(vectors.r, NORM_2, &norm));
    OK(VecNorm(vectors.b, NORM_2, &size));
    EXPECT_LT(norm / size, 1e-13);
  }
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineSolve, PreconditionsAnAnisotropicProblemToTheTrueSolution)
{
  Grid      grid({24, 24}, {1, 400}, 0.01);
  Line      vectors(grid.A);
  KSP       ksp;
  PC        pc;
  PetscInt  its;
  PetscReal norm, size;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPCG));
  OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLINE)); // the DMDA comes from the matrix
  OK(KSPSolve(ksp, vectors.b, vectors.x));
  OK(KSPGetIterationNumber(ksp, &its));
  OK(MatMult(grid.A, vectors.x, vectors.r));
  OK(VecAXPY(vectors.r, -1, vectors.b));
  OK(VecNorm(vectors.r, NORM_2, &norm));
  OK(VecNorm(vectors.b, NORM_2, &size));
  EXPECT_LT(norm / size, 1e-7);
  if (ranks == 1) {
    EXPECT_LT(its, 40);
  }
  OK(KSPDestroy(&ksp));
}

TEST_F(PCLineSolve, OtherMatrixTypesAreConverted)
{
  Grid grid({8, 12}, {0, 2}, 1, false, {ranks, 1});
  OK(MatSetOption(grid.A, PetscDefined(USE_COMPLEX) ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
  for (MatType type : {MATBAIJ, MATSBAIJ}) {
    Mat B;
    OK(MatConvert(grid.A, type, MAT_INITIAL_MATRIX, &B));
    Line line(B, grid.da);
    OK(PCSetUp(line.pc)) << type;
    EXPECT_LT(line.residual(B), 1e-13) << type;
    OK(MatDestroy(&B));
  }
}

TEST_F(PCLineSolve, RichardsonOfManyRightHandSidesConvergesByNorms)
{
  Grid               grid({12, 3 * ranks}, {9, 1}, 0.5, false, {1, ranks});
  Line               line(grid.A, grid.da);
  KSP                ksp;
  KSPConvergedReason reason;
  PetscInt           its;
  VecType            type;
  OK(MatGetVecType(grid.A, &type));
  if (contains(type, "kokkos")) GTEST_SKIP() << "PETSc solves with no columns of a dense matrix of this type";
  Mat B = native_dense(grid.A, 3), X; // the matrix multiplies them itself
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPRICHARDSON));
  OK(KSPSetPC(ksp, line.pc));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPMatSolve(ksp, B, X));
  OK(KSPGetConvergedReason(ksp, &reason));
  OK(KSPGetIterationNumber(ksp, &its));
  EXPECT_EQ(reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(its, 1000);
  EXPECT_LT(residual(grid.A, B, X), 1e-3);
  for (Mat *M : {&B, &X}) OK(MatDestroy(M));
  OK(KSPDestroy(&ksp));
}

} // namespace
