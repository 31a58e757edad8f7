// SPDX-License-Identifier: BSD-2-Clause
// Matrices that are singular to working precision, and inverses that overflow, with the solver type
// multifrontal.
#include "chain_fixture.hpp"

#include <cmath>

using namespace test;

namespace {

/// diag(0, ..., 0, 1, 1) + D^T D with third differences D: integers, rank n - 1.
Mat third_differences(PetscInt n)
{
  const PetscReal d[] = {-1, 3, -3, 1};
  Mat             A;
  PetscInt        first, end;
  MatCreate(PETSC_COMM_WORLD, &A);
  MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n);
  MatSetType(A, MATAIJ);
  MatSetFromOptions(A);
  MatSetUp(A);
  MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(A, &first, &end);
  for (PetscInt i = first; i < end; ++i)
    for (PetscInt j = std::max<PetscInt>(0, i - 3); j <= std::min(n - 1, i + 3); ++j) {
      PetscReal a = i == j && i >= n - 2 ? 1 : 0;
      for (PetscInt k = std::max<PetscInt>(0, std::max(i, j) - 3); k <= std::min({i, j, n - 4}); ++k)
        a += d[i - k] * d[j - k];
      MatSetValue(A, i, j, a, INSERT_VALUES);
    }
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  return A;
}

// No pivot of it is zero. The condition estimate detects it.
TEST_F(MultifrontalScales, SingularIntegersAreRefused)
{
  for (const char *leaf : {"0", "6"}) {
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    for (PetscInt n : {20, 28, 40}) {
      SCOPED_TRACE("n " + std::to_string(n) + " leaf " + leaf);
      Mat             A = third_differences(n);
      const ByOptions by(A);
      PC              pc;
      PCFailedReason  failed;
      EXPECT_EQ(by.reason(A), KSP_DIVERGED_PC_FAILED);
      OK(KSPGetPC(by.ksp, &pc));
      OK(PCGetFailedReason(pc, &failed));
      EXPECT_EQ(failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
      OK(MatShift(A, 1)); // the next matrix is solved
      EXPECT_LE(by.error(A), rounding);
      OK(MatShift(A, -1));
      // on request a solution of any size is returned
      OK(PCFactorSetZeroPivot(pc, is_double ? 1e-30 : 1e-20));
      EXPECT_GT(by.reason(A), 0);
      OK(MatDestroy(&A));
    }
  }
  Mat             A = third_differences(20);
  const ByOptions by(A);
  OK(KSPSetErrorIfNotConverged(by.ksp, PETSC_TRUE));
  const std::string text = error_of([&] { return KSPSetUp(by.ksp); });
  EXPECT_TRUE(
    contains(text, "multifrontal: the matrix is singular to working precision; reciprocal condition estimate "
                   "of the equilibrated matrix") ||
    contains(text, "multifrontal: zero pivot in column "))
    << text;
  OK(MatDestroy(&A));
}

// Boundary rows of 1 next to rows of 10^8. Pivots are small relative to their columns, not to their rows.
// So the solver estimates no condition, and searches for column scales only once.
TEST_F(MultifrontalScales, RowsOfOneSizeOrAnotherAreNotDoubted)
{
  for (const char *leaf : {"0", "6"}) {
    const Option    size("-chain_mat_multifrontal_leaf_size", leaf);
    const PetscReal stencil[] = {1, -4, 6, -4, 1};
    RandomChain     chain{100, 2, 2};
    Mat             A = chain.matrix();
    PetscInt        first, end;
    OK(MatGetOwnershipRange(A, &first, &end));
    for (PetscInt i = first; i < end; ++i)
      for (PetscInt j = std::max<PetscInt>(0, i - 2); j <= std::min<PetscInt>(99, i + 2); ++j) {
        const bool is_boundary = i < 2 || i > 97;
        OK(MatSetValue(A, i, j,
                       is_boundary ? (i == j ? 1. : 0.) : (is_double ? 1e8 : 1e6) * stencil[j - i + 2],
                       INSERT_VALUES));
      }
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    const ByOptions by(A);
    OK(KSPSetUp(by.ksp));
    const std::string text = view_of(by.factor());
    EXPECT_FALSE(contains(text, "condition") || contains(text, "scaled by powers of two")) << text;
    OK(MatDestroy(&A));
  }
}

// If entries are so small that the inverse overflows, the solver returns no solution.
TEST_F(MultifrontalScales, AnInverseThatOverflowsIsRefused)
{
  if (!is_double) GTEST_SKIP() << "the numbers are those of double precision";
  for (const char *leaf : {"0", "6"})
    for (int kind : {0, 1, 2}) {
      SCOPED_TRACE(std::string("leaf ") + leaf + " kind " + std::to_string(kind));
      const Option size("-chain_mat_multifrontal_leaf_size", leaf);
      Mat          A = RandomChain{80, 1, 1}.matrix();
      Vec          r = vector_of(
                     A, [&](PetscInt i) { return kind != 1 && i == 41 ? (kind == 0 ? 1e-310 : 1e-200) : 1.; }),
          c = vector_of(A, [&](PetscInt i) {
            return kind == 1 && i == 41 ? 1e-310 : kind == 2 && i == 41 ? 1e-150 : 1.;
          });
      OK(MatDiagonalScale(A, r, c));
      {
        const ByOptions by(A);
        EXPECT_EQ(by.reason(A), KSP_DIVERGED_PC_FAILED);
        OK(MatShift(A, 8)); // the next matrix is solved
        EXPECT_GT(by.reason(A), 0);
      }
      OK(VecDestroy(&r));
      OK(VecDestroy(&c));
      OK(MatDestroy(&A));
    }
}

} // namespace
