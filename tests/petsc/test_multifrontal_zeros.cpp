// SPDX-License-Identifier: BSD-2-Clause
// Stored zeros of a matrix with the solver type multifrontal.
#include "chain_fixture.hpp"

using namespace test;

namespace {

/// A tridiagonal matrix with stored zeros along row 7.
Mat with_row_of_zeros(PetscInt n)
{
  Mat      A;
  PetscInt first, end;
  MatCreate(PETSC_COMM_WORLD, &A);
  MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n);
  MatSetType(A, MATAIJ);
  MatSetFromOptions(A);
  MatSetUp(A);
  MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(A, &first, &end);
  for (PetscInt i = first; i < end; ++i)
    for (PetscInt j = i == 7 ? 0 : std::max<PetscInt>(i - 1, 0); j < (i == 7 ? n : std::min(i + 2, n)); ++j)
      MatSetValue(A, i, j, i == j ? 2.1 : std::abs(i - j) == 1 ? -1 : 0, INSERT_VALUES);
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  return A;
}

// Stored zeros do not widen a band. Nonzero values in their places are detected.
TEST_F(MultifrontalScales, StoredZeros)
{
  const PetscInt  n = 1000;
  Mat             A = with_row_of_zeros(n);
  const ByOptions by(A);
  const auto      put = [&](PetscInt j, PetscScalar a, PetscInt last = 0) { // into columns j to last
    PetscInt first, end;
    OK(MatGetOwnershipRange(A, &first, &end));
    const PetscInt row = 7;
    for (; j <= std::max(j, last); ++j) {
           OK(MatSetValues(A, first <= 7 && 7 < end ? 1 : 0, &row, 1, &j, &a, INSERT_VALUES));
           if (j >= last) break;
    }
         OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  };
  EXPECT_LE(by.error(A), rounding);
  const std::string text = view_of(by.factor());
  EXPECT_TRUE(contains(text, "kl 1, ku 1") && contains(text, "entries that are zero are left out")) << text;
  put(7, 4.2); // a new value of a nonzero entry
  EXPECT_LE(by.error(A), rounding);
  put(12, 0.5); // a value in place of a zero
  EXPECT_LE(by.error(A), rounding);
  put(12, 0);
  EXPECT_LE(by.error(A), rounding);
  put(700, 0.5); // reverse Cuthill-McKee finds a band
  EXPECT_LE(by.error(A), rounding);
  put(12, 0.5, 700); // neither entry
  OK(KSPSetOperators(by.ksp, A, A));
  const std::string refusal = error_of([&] { return KSPSetUp(by.ksp); });
  EXPECT_TRUE(
    contains(refusal, "multifrontal: the matrix is no chain: half-bandwidth 693 in its own order") &&
    contains(refusal, "(zeros that the matrix stores left out)"))
    << refusal;
  OK(MatDestroy(&A));
}

// The same for blocks, of which an AIJ copy is kept, and for zeros that would widen a band from 2 to 20.
TEST_F(MultifrontalScales, StoredZerosOfABand)
{
  for (MatType type : {MATAIJ, MATBAIJ}) {
    SCOPED_TRACE(type);
    RandomChain wide{120, 10, 10};
    Mat         A = wide.matrix(PETSC_DECIDE, type, 2), twin;
    PetscInt    first, end;
    OK(MatGetOwnershipRange(A, &first, &end));
    OK(MatZeroEntries(A));
    const RandomChain narrow{120, 1, 1};
    narrow.fill(A);
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &twin));
    const ByOptions by(A);
    EXPECT_LE(by.error(twin), rounding);
    const std::string text = view_of(by.factor());
    EXPECT_TRUE(contains(text, "kl 1, ku 1")) << text;
    OK(MatDestroy(&twin));
    wide.fill(A);
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &twin));
    EXPECT_LE(by.error(twin), rounding);
    OK(MatDestroy(&twin));
    OK(MatDestroy(&A));
  }
}

} // namespace
