// SPDX-License-Identifier: BSD-2-Clause
// Matrices without factors: reports of the solver type multifrontal, and the solution of the next matrix.
#include "chain_fixture.hpp"

#include <limits>

using namespace test;

namespace {

class MultifrontalFailures : public Petsc { };

TEST_F(MultifrontalFailures, SingularMatricesNameTheirColumn)
{
  for (bool shuffled : {false, true})
    for (const char *leaf : {"0", "6"})
      for (PetscInt bad : {0, 37, 79}) {
        RandomChain chain{80, 2, 1};
        if (shuffled) chain.shuffle();
        SCOPED_TRACE("column " + std::to_string(bad) + " leaf " + leaf + (shuffled ? " shuffled" : ""));
        Mat          A = chain.matrix(), T;
        const Option size("-chain_mat_multifrontal_leaf_size", leaf);
        OK(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
        OK(MatZeroRows(A, 1, &bad, 0, nullptr, nullptr));
        OK(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
        OK(MatSetOption(T, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
        OK(MatZeroRows(T, 1, &bad, 0, nullptr, nullptr));
        {
          const ByOptions by(T);
          OK(KSPSetErrorIfNotConverged(by.ksp, PETSC_TRUE));
          const std::string text = error_of([&] { return KSPSetUp(by.ksp); });
          EXPECT_TRUE(contains(text, "multifrontal: zero pivot in column " + std::to_string(bad) + ": "))
            << text;
        }
        {
          const ByOptions    by(T);
          KSPConvergedReason reason;
          PCFailedReason     failed;
          PC                 pc;
          MatFactorError     error;
          PetscReal          value;
          PetscInt           column;
          Vec                b = random_vector(T), x;
          OK(VecDuplicate(b, &x));
          OK(KSPSolve(by.ksp, b, x));
          OK(KSPGetConvergedReason(by.ksp, &reason));
          EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
          OK(KSPGetPC(by.ksp, &pc));
          OK(PCGetFailedReason(pc, &failed));
          EXPECT_EQ(failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
          OK(MatFactorGetError(by.factor(), &error));
          EXPECT_EQ(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
          OK(MatFactorGetErrorZeroPivot(by.factor(), &value, &column));
          EXPECT_EQ(column, bad);
          EXPECT_LE(value, 100 * PETSC_MACHINE_EPSILON);
          chain.fill(T); // the next matrix is solved
          EXPECT_LE(by.error(T), rounding);
          OK(VecDestroy(&b));
          OK(VecDestroy(&x));
        }
        OK(MatDestroy(&A));
        OK(MatDestroy(&T));
      }
}

// PCFactorSetZeroPivot() between factorizations has the effect that it has for PETSc's own solvers.
TEST_F(MultifrontalFailures, AnotherZeroPivotIsThatOfTheNextFactorization)
{
  const RandomChain chain{80, 1, 1};
  Mat               A = chain.matrix();
  {
    const ByOptions by(A);
    PC              pc;
    OK(KSPGetPC(by.ksp, &pc));
    const auto reason_with = [&](PetscReal zero_pivot) {
      EXPECT_EQ(PCFactorSetZeroPivot(pc, zero_pivot), 0);
      EXPECT_EQ(MatScale(A, 1.5), 0);
      return by.reason(A);
    };
    EXPECT_EQ(reason_with(10), KSP_DIVERGED_PC_FAILED);
    EXPECT_GT(reason_with(1e-30), 0);
    EXPECT_EQ(reason_with(10), KSP_DIVERGED_PC_FAILED);
  }
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalFailures, NumbersThatAreNone)
{
  for (const PetscReal bad :
       {std::numeric_limits<PetscReal>::quiet_NaN(), std::numeric_limits<PetscReal>::infinity()})
    for (const char *leaf : {"0", "6"}) {
      const RandomChain chain{80, 2, 1};
      SCOPED_TRACE(std::string("leaf ") + leaf);
      Mat               A = chain.matrix();
      const Option      size("-chain_mat_multifrontal_leaf_size", leaf);
      const PetscInt    entry  = 41;
      const PetscScalar number = bad;
      PetscInt          begin, end;
      OK(MatGetOwnershipRange(A, &begin, &end));
      if (begin <= 41 && 41 < end) MatSetValue(A, 41, 41, bad, INSERT_VALUES);
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      {
        const ByOptions by(A);
        EXPECT_EQ(by.reason(A), KSP_DIVERGED_PC_FAILED);
        chain.fill(A); // the next matrix is solved
        EXPECT_LE(by.error(A), rounding);
        OK(MatSetValues(A, begin <= 41 && 41 < end ? 1 : 0, &entry, 1, &entry, &number, INSERT_VALUES));
        OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        OK(MatSetErrorIfFailure(A, PETSC_TRUE));
        Factored f(A);
        OK(f.symbolic(A));
        const std::string text = error_of([&] { return f.numeric(A); });
        EXPECT_TRUE(contains(text, "multifrontal: NaN or Inf at column 41")) << text;
      }
      OK(MatDestroy(&A));
    }
}

} // namespace
