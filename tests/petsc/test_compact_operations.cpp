// SPDX-License-Identifier: BSD-2-Clause
// Mat compact: operations of Mat other than products with vectors.
#include "compact_fixture.hpp"

using namespace test;

using CompactOperations = Petsc;

namespace {

/// A second derivative on two components along y.
struct Example {
  CompactDMDA grid;
  CompactMat  mat;
  Vec         z = nullptr, w = nullptr;

  explicit Example(PetscMPIInt ranks) : grid({2, 24}, 2, true, {1, ranks}), mat(grid, MAT_COMPACT_Y, 2, 6)
  {
    VecDuplicate(mat.u, &z);
    VecDuplicate(mat.u, &w);
    VecSetRandom(w, nullptr);
  }
  Example(const Example &) = delete;
  ~Example()
  {
    VecDestroy(&z);
    VecDestroy(&w);
  }
};

/// Whether A u is y.
void expect_product(Mat A, const Example &e, Vec y)
{
  Vec u, to;
  OK(MatCreateVecs(A, &u, &to)); // of the type that A multiplies
  OK(VecCopy(e.mat.u, u));
  OK(MatMult(A, u, to));
  OK(VecCopy(to, e.z));
  EXPECT_LE(difference(e.z, y), 100 * PETSC_MACHINE_EPSILON);
  VecDestroy(&u);
  VecDestroy(&to);
}

void expect_error(PetscErrorCode error, const std::string &text)
{
  EXPECT_NE(static_cast<int>(error), 0);
  EXPECT_EQ(last_error(), text);
}

} // namespace

TEST_F(CompactOperations, ShiftsAndScalesInEveryProduct)
{
  const Example e(ranks);
  const Mat     A     = e.mat.A;
  const auto    shift = PetscScalar(3) * turned;
  Vec           d, sum;
  OK(VecDuplicate(e.z, &d));
  OK(VecDuplicate(e.z, &sum));
  OK(MatGetDiagonal(A, d));
  OK(VecScale(d, -2));
  OK(VecShift(d, -2 * shift));
  for (bool transposed : {false, true}) {
    OK(transposed ? MatMultTranspose(A, e.mat.u, e.z) : MatMult(A, e.mat.u, e.z));
    OK(VecAXPY(e.z, shift, e.mat.u));
    OK(VecScale(e.z, -2));
    OK(MatShift(A, shift));
    OK(MatScale(A, -2));
    OK(transposed ? MatMultTranspose(A, e.mat.u, e.mat.y) : MatMult(A, e.mat.u, e.mat.y));
    EXPECT_LE(difference(e.mat.y, e.z), 100 * PETSC_MACHINE_EPSILON);
    OK(VecWAXPY(sum, 1, e.z, e.w));
    OK(transposed ? MatMultTransposeAdd(A, e.mat.u, e.w, e.mat.y) : MatMultAdd(A, e.mat.u, e.w, e.mat.y));
    EXPECT_LE(difference(e.mat.y, sum), 100 * PETSC_MACHINE_EPSILON);
    OK(MatGetDiagonal(A, e.z));
    EXPECT_LE(difference(e.z, d), 100 * PETSC_MACHINE_EPSILON);
    OK(MatScale(A, -0.5));
    OK(MatShift(A, -shift));
  }
  VecDestroy(&d);
  VecDestroy(&sum);
}

TEST_F(CompactOperations, CopiesHaveTheOperatorAndDuplicatesThePrefix)
{
  const Example    e(ranks);
  const CompactMat other(e.grid, MAT_COMPACT_X);
  Mat              copy;
  const char      *prefix;
  OK(MatSetOptionsPrefix(e.mat.A, "d_"));
  OK(MatScale(e.mat.A, 2));
  OK(MatShift(e.mat.A, 1));
  OK(MatMult(e.mat.A, e.mat.u, e.mat.y));
  OK(MatDuplicate(e.mat.A, MAT_DO_NOT_COPY_VALUES, &copy));
  OK(MatGetOptionsPrefix(copy, &prefix));
  EXPECT_STREQ(prefix, "d_");
  expect_product(copy, e, e.mat.y);
  OK(MatCopy(e.mat.A, other.A, SAME_NONZERO_PATTERN));
  expect_product(other.A, e, e.mat.y);
  MatDestroy(&copy);
}

TEST_F(CompactOperations, ConvertsToMatricesWithEntries)
{
  const Example e(ranks);
  OK(MatMult(e.mat.A, e.mat.u, e.mat.y));
  for (const char *type : {MATDENSE, MATAIJ}) {
    Mat B, own;
    OK(MatConvert(e.mat.A, type, MAT_INITIAL_MATRIX, &B));
    expect_product(B, e, e.mat.y);
    OK(MatScale(B, 5));
    OK(MatConvert(e.mat.A, type, MAT_REUSE_MATRIX, &B));
    expect_product(B, e, e.mat.y);
    OK(MatDuplicate(e.mat.A, MAT_COPY_VALUES, &own));
    OK(MatConvert(own, type, MAT_INPLACE_MATRIX, &own));
    expect_product(own, e, e.mat.y);
    MatDestroy(&B);
    MatDestroy(&own);
  }
}

TEST_F(CompactOperations, MultipliesDenseMatrices)
{
  const Example e(ranks);
  Mat           dense, products, wanted, transposed;
  PetscReal     norm, size;
  OK(MatComputeOperator(e.mat.A, MATDENSE, &dense));
  OK(MatMatMult(e.mat.A, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &products));
  OK(MatMatMult(dense, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &wanted));
  OK(MatNorm(wanted, NORM_FROBENIUS, &size));
  OK(MatAXPY(products, -1, wanted, SAME_NONZERO_PATTERN));
  OK(MatNorm(products, NORM_FROBENIUS, &norm));
  EXPECT_LE(norm, 100 * PETSC_MACHINE_EPSILON * size);
  OK(MatTransposeMatMult(e.mat.A, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &transposed));
  OK(MatAXPY(transposed, -1, wanted, SAME_NONZERO_PATTERN)); // a ring's second derivative is symmetric
  OK(MatNorm(transposed, NORM_FROBENIUS, &norm));
  EXPECT_LE(norm, 100 * PETSC_MACHINE_EPSILON * size);
  for (Mat *m : {&dense, &products, &wanted, &transposed}) MatDestroy(m);
}

TEST_F(CompactOperations, VirtualMatricesTransposeAddAndScale)
{
  const Example e(ranks);
  const Mat     A = e.mat.A;
  Mat           T, sum, shell;
  OK(MatCompactSetDerivative(A, 1));
  OK(MatMultTranspose(A, e.mat.u, e.mat.y));
  OK(MatCreateTranspose(A, &T));
  expect_product(T, e, e.mat.y);
  OK(MatMultHermitianTranspose(A, e.mat.u, e.z)); // the entries of A are real, those of u may not be
  EXPECT_LE(difference(e.z, e.mat.y), 100 * PETSC_MACHINE_EPSILON);
  OK(MatMult(A, e.mat.u, e.mat.y));
  OK(VecScale(e.mat.y, 3));
  const Mat both[] = {A, A};
  OK(MatCreateComposite(PETSC_COMM_WORLD, 2, both, &sum));
  OK(MatConvert(A, MATSHELL, MAT_INITIAL_MATRIX, &shell));
  OK(MatAXPY(shell, 2, A, DIFFERENT_NONZERO_PATTERN));
  OK(MatMult(shell, e.mat.u, e.z));
  EXPECT_LE(difference(e.z, e.mat.y), 100 * PETSC_MACHINE_EPSILON);
  OK(MatMult(sum, e.mat.u, e.z));
  OK(VecScale(e.z, 1.5));
  EXPECT_LE(difference(e.z, e.mat.y), 100 * PETSC_MACHINE_EPSILON);
  for (Mat *m : {&T, &sum, &shell}) MatDestroy(m);
}

TEST_F(CompactOperations, EntriesAreRefusedWithAWayOut)
{
  const Example     e(ranks);
  const Mat         A = e.mat.A;
  Mat               B, copy;
  PetscReal         norm;
  PetscInt          row, n;
  PetscBool         has;
  const PetscScalar one   = 1;
  const std::string begin = ": Mat compact stores no entries: call ",
                    dense = "MatComputeOperator(), which makes a matrix with entries";
  OK(VecGetOwnershipRange(e.z, &row, nullptr));
  expect_error(MatGetRow(A, row, &n, nullptr, nullptr), "MatGetRow" + begin + dense);
  expect_error(MatNorm(A, NORM_1, &norm), "MatNorm" + begin + dense);
  expect_error(MatZeroEntries(A), "MatZeroEntries" + begin +
                                    "MatScale() with 0; an implicit time step needs a matrix of type aij");
  expect_error(MatTranspose(A, MAT_INITIAL_MATRIX, &B),
               "MatTranspose" + begin + "MatCreateTranspose(), which multiplies by the transpose");
  expect_error(MatDiagonalScale(A, e.w, nullptr),
               "MatDiagonalScale" + begin + "MatConvert() to type shell, which scales operators");
  expect_error(MatDiagonalSet(A, e.w, ADD_VALUES),
               "MatDiagonalSet" + begin + "MatConvert() to type shell, which adds diagonals");
  expect_error(MatSetValues(A, 1, &row, 1, &row, &one, INSERT_VALUES),
               "MatSetValues" + begin +
                 "MatCompactSetStencil(), or choose the scheme with -mat_compact_derivative and "
                 "-mat_compact_order");
  OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  expect_error(MatAXPY(A, 2, copy, SAME_NONZERO_PATTERN),
               "MatAXPY" + begin + "MatConvert() to type shell, which adds operators, or " + dense);
  OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  expect_error(MatAXPY(B, 2, A, DIFFERENT_NONZERO_PATTERN), "MatGetRow" + begin + dense);
  expect_error(MatAXPY(A, 2, B, DIFFERENT_NONZERO_PATTERN), "MatGetRow" + begin + dense);
  expect_error(MatCopy(A, B, DIFFERENT_NONZERO_PATTERN),
               "MatCopy: Mat compact stores no entries to copy to a matrix of type " +
                 std::string(ranks == 1 ? "seqaij" : "mpiaij") + ": call MatComputeOperator() first");
  for (MatOperation operation : {MATOP_GET_ROW, MATOP_NORM, MATOP_AXPY, MATOP_TRANSPOSE}) {
    OK(MatHasOperation(A, operation, &has));
    EXPECT_FALSE(has) << operation;
  }
  for (MatOperation operation : {MATOP_MULT, MATOP_SHIFT, MATOP_CONVERT, MATOP_GET_DIAGONAL}) {
    OK(MatHasOperation(A, operation, &has));
    EXPECT_TRUE(has) << operation;
  }
  MatDestroy(&B);
  MatDestroy(&copy);
}

TEST_F(CompactOperations, ViewsDescribeTheOperatorInEveryState)
{
  const CompactDMDA grid({3, 24}, 1, true, {1, ranks});
  Mat               A;
  Vec               u, y;
  reset_options("-dm_mat_type compact -mat_type compact -mat_compact_direction y");
  OK(DMSetMatType(grid.da, MATCOMPACT));
  OK(DMCreateMatrix(grid.da, &A));
  reset_options();
  OK(MatCreateVecs(A, &u, &y));
  const auto viewed = [A](PetscViewerFormat format) {
    return printed([&](PetscViewer viewer) {
      PetscViewerPushFormat(viewer, format);
      MatView(A, viewer);
    });
  };
  EXPECT_TRUE(contains(viewed(PETSC_VIEWER_DEFAULT), "scheme: derivative 1, order 6\n"));
  OK(MatScale(A, -2));
  OK(MatMult(A, u, y));
  for (PetscViewerFormat format :
       {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_INFO, PETSC_VIEWER_ASCII_INFO_DETAIL}) {
    const std::string text = viewed(format);
    EXPECT_TRUE(contains(text, "operator: -2 A^-1 B\n")) << text;
    EXPECT_TRUE(contains(text, "kernel")) << text;
  }
  OK(MatShift(A, 3));
  EXPECT_TRUE(contains(viewed(PETSC_VIEWER_DEFAULT), "operator: -2 A^-1 B + 3 I\n"));
  last_error().clear();
  viewed(PETSC_VIEWER_ASCII_MATLAB);
  const std::string entries = " prints entries, and Mat compact stores none: view the matrix of "
                              "MatComputeOperator()";
  EXPECT_EQ(last_error(), "MatView: a viewer of type ascii and format ASCII_MATLAB" + entries);
  PetscViewer viewer;
  OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "/dev/null", FILE_MODE_WRITE, &viewer));
  expect_error(MatView(A, viewer), "MatView: a viewer of type binary and format DEFAULT" + entries);
  PetscViewerDestroy(&viewer);
  MatDestroy(&A);
  VecDestroy(&u);
  VecDestroy(&y);
}
