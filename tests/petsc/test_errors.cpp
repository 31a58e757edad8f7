// SPDX-License-Identifier: BSD-2-Clause
// Refusals of PC line.
#include "fixture.hpp"

using namespace test;

namespace {

class PCLineErrors : public Petsc { };

// PETSc has no products of device matrices with vectors of another type: it returns arbitrary values or
// crashes. On the host the same vectors are valid.
TEST_F(PCLineErrors, VectorsThatPetscDoesNotMultiplyTheMatrixWith)
{
  for (const char *options :
       {"-test_ksp_type gmres -test_pc_type line", "-test_ksp_type line", "-test_ksp_type adi",
        "-test_ksp_type gmres -test_pc_type adi -test_pc_adi_shift 1"}) {
    Grid     grid({9, 8}, {1, 1});
    MatType  matrix;
    KSP      ksp;
    Vec      b, x;
    PetscInt rows;
    OK(MatGetType(grid.A, &matrix));
    OK(MatGetLocalSize(grid.A, &rows, nullptr));
    OK(VecCreate(PETSC_COMM_WORLD, &b));
    OK(VecSetSizes(b, rows, PETSC_DETERMINE));
    OK(VecSetType(b, VECSTANDARD));
    OK(VecSetRandom(b, nullptr));
    OK(VecDuplicate(b, &x));
    reset_options(options);
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetOperators(ksp, grid.A, grid.A));
    OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
    OK(KSPSetFromOptions(ksp));
    if (contains(matrix, "cusparse") || contains(matrix, "kokkos")) {
      EXPECT_NE(static_cast<int>(KSPSolve(ksp, b, x)), 0) << options;
      const std::string sentence =
        std::string("the matrix is of type ") + matrix + ", which PETSc multiplies with";
      EXPECT_TRUE(contains(last_error(), sentence)) << options << ": " << last_error();
      EXPECT_TRUE(contains(last_error(), "take -vec_type")) << last_error();
    } else {
      // KSP adi chooses its shifts for real spectra.
      constexpr bool     is_complex = !std::is_floating_point_v<PetscScalar>;
      KSPConvergedReason reason;
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_TRUE(relative_residual(grid.A, b, x) < 1e-8 || (is_complex && reason < 0))
        << options << ", reason " << reason;
    }
    reset_options();
    OK(KSPDestroy(&ksp));
    for (Vec *v : {&b, &x}) OK(VecDestroy(v));
  }
}

TEST_F(PCLineErrors, RowsTakesTheCouplingsOfConsecutiveRowsAlone) // one rank: one rank shows it
{
  const PetscInt n = 6; // 5-point operator on a 6 x 6 grid, without a DM
  Mat            A = matrix(
               n * n, [](PetscInt r, PetscInt c) { return r == c ? 5 : -1; },
               [&](PetscInt r, PetscInt c) {
      return r == c || std::abs(r - c) == n || (std::abs(r - c) == 1 && r / n == c / n);
    });
  {
    Line     line(A);
    PetscInt lines, rows;
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_ROWS));
    OK(PCSetUp(line.pc));
    OK(PCLineGetInfo(line.pc, nullptr, &lines, &rows, nullptr, nullptr, nullptr));
    EXPECT_EQ(lines, n);
    EXPECT_EQ(rows, n);
  }
  OK(MatDestroy(&A));
}

/// 7 rings on 2 and 4 ranks: some span ranks, others are whole next to a sub-line. Short rings are a band
/// with all rows.
TEST_F(PCLineErrors, RingsCutByThePartitionAreSolvedPieceByPiece)
{
  const PetscInt lines = 7;
  for (const PetscInt n : {9, 19}) {
    auto distance = [&](PetscInt r, PetscInt c) -> PetscInt {
      return r / n != c / n ? 99 : std::min(std::abs(r - c), n - std::abs(r - c));
    };
    Mat A = matrix(
      n * lines, [](PetscInt r, PetscInt c) { return r == c ? 4 : -1; },
      [&](PetscInt r, PetscInt c) { return distance(r, c) <= 1; });
    {
      Line line(A);
      OK(PCSetUp(line.pc));
      const bool in_pieces = ranks > 1 && n > 9;
      EXPECT_LT(line.residual(A), in_pieces ? 0.6 : 1e-13) << n;
      EXPECT_EQ(contains(line.view(), "each sub-line is solved on its rank"), in_pieces) << line.view();
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineErrors, OnePassSaysWhatItDoesNotTake)
{
  Grid     grid({3 * ranks, 9}, {0, 2}, 1, false, {ranks, 1});
  PetscInt begin;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  OK(MatSetValue(grid.A, begin, begin, 99, INSERT_VALUES)); // 2 matrices for 3 lines
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  Line line(grid.A, grid.da);
  OK(PCLineSetAlgorithm(line.pc, PC_LINE_ALGORITHM_ONE_PASS));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.matrices(), 3);
  EXPECT_LT(line.residual(grid.A), 1e-13);
  OK(PCLineSetLhs(line.pc, PC_LINE_LHS_CLASSES));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.matrices(), 2);
  EXPECT_LT(line.residual(grid.A), 1e-13);
  Grid tiny({ranks, 1}, {2, 0}, 1, false, {ranks, 1}); // sub-lines of one row
  Line short_line(tiny.A, tiny.da);
  OK(PCLineSetDirection(short_line.pc, PC_LINE_DIRECTION_X));
  OK(PCLineSetCut(short_line.pc, PC_LINE_CUT_LOCAL));
  OK(PCLineSetAlgorithm(short_line.pc, PC_LINE_ALGORITHM_ONE_PASS));
  EXPECT_NE(PCSetUp(short_line.pc), 0);
  EXPECT_EQ(
    last_error(),
    "PC line: -pc_line_algorithm one_pass: ribbon: algorithm one_pass: lines of 1 rows are too short");
}

TEST_F(PCLineErrors, ANonSquareMatrix)
{
  Mat A;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 8, 9, 1, nullptr, 1, nullptr, &A));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PC pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCSetOperators(pc, A, A));
  EXPECT_NE(PCSetUp(pc), 0);
  EXPECT_EQ(last_error(), "PC line: the matrix is not square: 8 x 9");
  OK(PCDestroy(&pc));
  OK(MatDestroy(&A));
}

TEST_F(PCLineErrors, ARowWithoutDiagonal)
{
  Mat A = matrix(
    12, [](PetscInt r, PetscInt c) { return r == c ? 4 : -1; },
    [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1 && !(r == 7 && c == 7); });
  {
    Line line(A);
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_EQ(last_error(), "PC line: row 7 stores no diagonal entry");
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineErrors, UnknownDirectionsForThisGrid)
{
  Grid grid({9, 9}, {1, 1});
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Z));
  EXPECT_NE(PCSetUp(line.pc), 0);
  EXPECT_EQ(last_error(), "PC line: -pc_line_direction z: the grid has 2 dimensions");
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y)); // Nothing is half set: the same PC works.
  OK(PCSetUp(line.pc));
  Mat A = matrix(
    12, [](PetscInt r, PetscInt c) { return r == c ? 4 : -1; },
    [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; });
  {
    Line plain(A);
    OK(PCLineSetDirection(plain.pc, PC_LINE_DIRECTION_Y));
    EXPECT_NE(PCSetUp(plain.pc), 0);
    EXPECT_EQ(last_error(), "PC line: -pc_line_direction y needs a grid, but there is no DMDA, and its "
                            "numbering shows no grid; use auto, rows or matrix");
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineErrors, CouplingsThatReachTooFarAndDofAboveOne) // one rank: one rank shows it
{
  Grid grid({24}, {1}, 1, false, {}, false, 1);
  OK(MatSetOption(grid.A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  OK(MatSetOption(grid.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  OK(MatSetValue(grid.A, 3, 12, 0.25, INSERT_VALUES));
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  EXPECT_NE(PCSetUp(line.pc), 0);
  EXPECT_EQ(
    last_error(),
    "PC line: row 3 couples to a row more than 8 away on its line along x; wider bands are not supported");
  const struct {
    PetscInt    dof, width;
    const char *text, *instead; ///< refused text, and the choice of auto
  } bad[] = {
    {9, 1,
     "PC line: row 0 couples to another of the 9 components of its line along x; blocks reach up to 8 "
     "components",
     "matrix"},
    {2, 2,
     "PC line: 2 components couple with each other, and elements with others 2 away on their line along x; "
     "block lines reach the next element only",
     "rows"},
  };
  for (const auto &b : bad) {
    DM  da;
    Mat A;
    OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 8, b.dof, b.width, nullptr, &da));
    OK(DMSetUp(da));
    OK(DMCreateMatrix(da, &A));
    OK(MatShift(A, 1)); // assembled
    PetscInt begin, end;
    OK(MatGetOwnershipRange(A, &begin, &end));
    std::vector<std::vector<PetscInt>> stored;
    for (PetscInt r = begin; r < end; ++r) {
      PetscInt        n;
      const PetscInt *columns;
      OK(MatGetRow(A, r, &n, &columns, nullptr));
      stored.emplace_back(columns, columns + n);
      OK(MatRestoreRow(A, r, &n, &columns, nullptr));
    }
    for (PetscInt r = begin; r < end; ++r) {
      const auto                    &columns = stored[static_cast<std::size_t>(r - begin)];
      const std::vector<PetscScalar> ones(columns.size(), 1);
      OK(MatSetValues(A, 1, &r, static_cast<PetscInt>(columns.size()), columns.data(), ones.data(),
                      INSERT_VALUES));
    }
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    {
      Line two(A, da);
      OK(PCLineSetDirection(two.pc, PC_LINE_DIRECTION_X));
      EXPECT_NE(PCSetUp(two.pc), 0);
      EXPECT_EQ(last_error(), b.text);
      OK(PCLineSetDirection(two.pc, PC_LINE_DIRECTION_AUTO));
      OK(PCSetUp(two.pc));
      EXPECT_EQ(two.direction(), b.instead);
      EXPECT_TRUE(contains(two.view(), b.text + 9)) << two.view(); // the text without the name of the PC
    }
    OK(MatDestroy(&A));
    OK(DMDestroy(&da));
  }
}

TEST_F(PCLineErrors, SharedOnLinesThatDiffer)
{
  Grid     grid({4 * ranks, 6}, {0, 2}, 1, false, {ranks, 1});
  PetscInt begin;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  if (rank == 0) {
    OK(MatSetValue(grid.A, begin + 2, begin + 2, 99, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  Line line(grid.A, grid.da);
  OK(PCLineSetLhs(line.pc, PC_LINE_LHS_SHARED));
  EXPECT_NE(PCSetUp(line.pc), 0);
  EXPECT_EQ(last_error(), "PC line: -pc_line_lhs shared, but lines 0 and 2 (first rows 0 and 2) differ; use "
                          "auto, classes or per_line");
}

TEST_F(PCLineErrors, GetInfoBeforeSetUp)
{
  Grid grid({9, 9}, {1, 1});
  Line line(grid.A, grid.da);
  EXPECT_NE(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(last_error(), "PCLineGetInfo: call PCSetUp() first");
}

TEST_F(PCLineErrors, AfterASetUpThatRaisedAnErrorEveryApplicationRaisesOne)
{
  const std::vector<PetscInt> n = {19, 3 * ranks};
  Grid                        grid(n, {2, 0}, 1, false, {1, ranks}, false, 2);
  Line                        line(grid.A, grid.da);
  Mat                         B, X;
  PetscInt                    begin, rows;
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  OK(MatSetOption(grid.A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  OK(MatSetOption(grid.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  EXPECT_LT(line.residual(grid.A), 1e-13);
  OK(PCMatApply(line.pc, B, X));
  if (rank == ranks - 1) {
    OK(MatSetValue(grid.A, begin, begin + 12, 0.25, INSERT_VALUES)); // 12 rows away on its line
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  EXPECT_NE(PCSetUp(line.pc), 0);
  EXPECT_TRUE(contains(last_error(), "more than 8 away")) << last_error();
  EXPECT_NE(PCApply(line.pc, line.b, line.x), 0);
  EXPECT_NE(PCApplyTranspose(line.pc, line.b, line.x), 0);
  EXPECT_NE(PCMatApply(line.pc, B, X), 0);
  grid.fill(n, {2, 0}, 1, false, false, 2);
  EXPECT_LT(line.residual(grid.A), 1e-13);
  OK(PCMatApply(line.pc, B, X));
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
}

} // namespace
