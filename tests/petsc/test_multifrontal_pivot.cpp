// SPDX-License-Identifier: BSD-2-Clause
// -mat_multifrontal_pivot none: accurate solutions if no pivoting is needed, and a failure if it is.
#include "chain_fixture.hpp"

using namespace test;

namespace {

TEST_F(MultifrontalPivot, NoneSolvesChainsOfAllKinds)
{
  const Option none("-chain_mat_multifrontal_pivot", "none");
  for (const char *leaf : {"0", "1", "9"}) {
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    for (const RandomChain &chain :
         {RandomChain{101, 1, 1}, RandomChain{101, 2, 3}, RandomChain{97, 0, 4}, RandomChain{50, 0, 0},
          RandomChain{90, 3, 1, true}, RandomChain{180, 12, 20}, RandomChain{40, 1, 2, true, 4},
          RandomChain{120, 2, 2}.shuffle(), RandomChain{99, 1, 1, true}.shuffle(), RandomChain{1, 0, 0},
          RandomChain{0, 0, 0}}) {
      SCOPED_TRACE(std::to_string(chain.chains) + " of " + std::to_string(chain.n) + " rows, kl " +
                   std::to_string(chain.kl) + ", ku " + std::to_string(chain.ku) + ", leaf " + leaf);
      Mat A = chain.matrix();
      {
        const ByOptions by(A);
        EXPECT_LE(by.error(A), rounding);
        EXPECT_LE(by.error(A, true), rounding) << "transposed";
        OK(MatScale(A, 3)); // the same tree
        EXPECT_LE(by.error(A), rounding);
      }
      OK(MatDestroy(&A));
    }
  }
}

TEST_F(MultifrontalPivot, NoneFailsWhereDigitsAreLost)
{
  const Option none("-chain_mat_multifrontal_pivot", "none");
  for (PetscReal diagonal : {0., 1e-20, 1e-9}) { // regular, but elimination in order fails
    SCOPED_TRACE(diagonal);
    const PetscInt n = 80;
    Mat            A = RandomChain{n, 1, 1, false, 1, Values::wave}.matrix();
    PetscInt       begin, end;
    OK(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt i = begin; i < end; ++i) MatSetValue(A, i, i, diagonal, INSERT_VALUES);
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    {
      const ByOptions by(A);
      EXPECT_EQ(by.reason(A), KSP_DIVERGED_PC_FAILED);
    }
    {
      const ByOptions by(A);
      OK(KSPSetErrorIfNotConverged(by.ksp, PETSC_TRUE));
      EXPECT_TRUE(contains(error_of([&] { return KSPSetUp(by.ksp); }), "-mat_multifrontal_pivot qr"))
        << last_error();
    }
    {
      const Option    qr("-chain_mat_multifrontal_pivot", "qr");
      const ByOptions by(A);
      EXPECT_LE(by.error(A), rounding);
    }
    PetscOptionsSetValue(nullptr, "-chain_mat_multifrontal_pivot", "none"); // the Option qr no longer exists
    OK(MatDestroy(&A));
  }
}

// A ring of splines, singular or nearly singular. The solution of a random right-hand side is so large that
// every residual is small relative to it. That of a smooth right-hand side is not.
TEST_F(MultifrontalPivot, NoneFailsWhereSmoothSolutionsLoseDigits)
{
  const Option   none("-chain_mat_multifrontal_pivot", "none");
  const PetscInt n      = 1000;
  int            failed = 0, solved = 0;
  for (const char *leaf : {"0", "64"})
    for (PetscReal shift : {0., 1e-15, 1e-13, 1e-11, 1e-3}) {
      SCOPED_TRACE(testing::Message() << "leaf " << leaf << ", shift " << shift);
      const Option size("-chain_mat_multifrontal_leaf_size", leaf);
      Mat          A = RandomChain{n, 2, 2, true, 1, Values::splines}.matrix();
      Vec          x, b, v;
      PetscInt     begin, end;
      OK(MatShift(A, shift));
      OK(MatCreateVecs(A, &x, &b));
      OK(VecDuplicate(x, &v));
      OK(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt i = begin; i < end; ++i)
        VecSetValue(v, i, 1 + std::sin(2 * PETSC_PI * static_cast<PetscReal>(i) / n), INSERT_VALUES);
      OK(VecAssemblyBegin(v));
      OK(VecAssemblyEnd(v));
      OK(MatMult(A, v, b));
      {
        const ByOptions    by(A);
        KSPConvergedReason reason;
        PetscReal          size_of_x, residual;
        OK(KSPSolve(by.ksp, b, x));
        OK(KSPGetConvergedReason(by.ksp, &reason));
        if (reason == KSP_DIVERGED_PC_FAILED) ++failed;
        else {
          OK(VecNorm(x, NORM_INFINITY, &size_of_x));
          OK(MatMult(A, x, v));
          OK(VecAXPY(v, -1, b));
          OK(VecNorm(v, NORM_INFINITY, &residual));
          EXPECT_LE(residual, 1e5 * PETSC_MACHINE_EPSILON * 2 * size_of_x);
          ++solved;
        }
      }
      for (Vec *w : {&x, &b, &v}) OK(VecDestroy(w));
      OK(MatDestroy(&A));
    }
  EXPECT_GE(failed, ranks == 1 ? 2 : 0) << "ranks cut a ring elsewhere";
  EXPECT_GE(solved, 2);
}

// One small pivot in a well-conditioned matrix: a failure, or accurate solutions.
TEST_F(MultifrontalPivot, NoneFailsOrIsRightWhereOnePivotIsSmall)
{
  const Option none("-chain_mat_multifrontal_pivot", "none");
  int          failed = 0, solved = 0;
  for (PetscInt n : {50, 80, 131})
    for (PetscReal small : {3.35e-9, 1e-9, 7.7e-9, 1e-8, 3.1e-7, 1e-6, 1e-4}) {
      SCOPED_TRACE(testing::Message() << "n " << n << ", " << small);
      Mat      A = RandomChain{n, 1, 1, false, 1, Values::wave}.matrix();
      PetscInt begin, end;
      OK(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt i = begin; i < end; ++i) MatSetValue(A, i, i, i == 0 ? small : 4, INSERT_VALUES);
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      {
        const ByOptions by(A);
        if (by.reason(A) == KSP_DIVERGED_PC_FAILED) ++failed;
        else {
          ++solved;
          // Not PETSc's random values, which the probe uses.
          for (std::uint64_t k = 0; k < 10; ++k) {
            Vec          b = random_vector(A), x;
            PetscScalar *a;
            OK(VecDuplicate(b, &x));
            OK(VecGetArray(b, &a));
            for (PetscInt i = begin; i < end; ++i)
              a[i - begin] = static_cast<PetscReal>(Draw::noise(k + 7, i, 0));
            OK(VecRestoreArray(b, &a));
            OK(k % 2 == 1 ? KSPSolveTranspose(by.ksp, b, x) : KSPSolve(by.ksp, b, x));
            EXPECT_LE(backward_error(A, x, b, k % 2 == 1), 1e5 * PETSC_MACHINE_EPSILON);
            for (Vec *v : {&b, &x}) OK(VecDestroy(v));
          }
        }
      }
      OK(MatDestroy(&A));
    }
  EXPECT_GE(failed, 3);
  EXPECT_GE(solved, sizeof(PetscReal) < 8 ? 0 : 3);
}

// A solution is smooth along the chain in any order of rows. A rough solution for this many rows is
// hundreds of times less accurate.
TEST_F(MultifrontalPivot, NoneSolvesALongChainInAnyOrder)
{
  const Option none("-chain_mat_multifrontal_pivot", "none"), size("-chain_mat_multifrontal_leaf_size", "64");
  const std::string words = "backward error of the probe ";
  for (bool shuffled : {false, true}) {
    SCOPED_TRACE(shuffled ? "shuffled" : "in order");
    RandomChain chain{200000, 2, 2, false, 1, Values::splines};
    if (shuffled) chain.shuffle();
    Mat A = chain.matrix();
    {
      const ByOptions by(A);
      EXPECT_LE(by.error(A), rounding);
      const std::string text = printed([&](PetscViewer viewer) {
        PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO);
        return MatView(by.factor(), viewer);
      });
      ASSERT_TRUE(contains(text, words)) << text;
      EXPECT_LE(std::stod(text.substr(text.find(words) + words.size())), 20 * PETSC_MACHINE_EPSILON);
    }
    OK(MatDestroy(&A));
  }
}

// The ring by orthogonal elimination is singular to rounding for any leaves and ranks. The failure names
// one of its columns.
TEST_F(MultifrontalPivot, QrRefusesASingularRing)
{
  for (const char *leaf : {"0", "64"})
    for (PetscInt n : {50, 1000}) {
      SCOPED_TRACE(testing::Message() << "leaf " << leaf << ", " << n << " rows");
      const Option size("-chain_mat_multifrontal_leaf_size", leaf);
      Mat          A = RandomChain{n, 2, 2, true, 1, Values::splines}.matrix();
      {
        const ByOptions by(A);
        Mat             F;
        PC              pc;
        PetscReal       value;
        PetscInt        column;
        EXPECT_EQ(by.reason(A), KSP_DIVERGED_PC_FAILED);
        OK(KSPGetPC(by.ksp, &pc));
        OK(PCFactorGetMatrix(pc, &F));
        OK(MatFactorGetErrorZeroPivot(F, &value, &column));
        EXPECT_LT(value, 100 * PETSC_MACHINE_EPSILON);
        EXPECT_TRUE(column >= 0 && column < n) << column;
      }
      OK(MatDestroy(&A));
    }
}

TEST_F(MultifrontalPivot, IsSetAndRead)
{
  Mat A = RandomChain{30, 1, 1}.matrix();
  {
    Factored             f(A);
    MatMultifrontalPivot pivot;
    OK(MatMultifrontalGetPivot(f.F, &pivot));
    EXPECT_EQ(pivot, MAT_MULTIFRONTAL_PIVOT_QR);
    OK(MatMultifrontalSetPivot(f.F, MAT_MULTIFRONTAL_PIVOT_NONE));
    OK(MatMultifrontalGetPivot(f.F, &pivot));
    EXPECT_EQ(pivot, MAT_MULTIFRONTAL_PIVOT_NONE);
    const Option unknown("-mat_multifrontal_pivot", "rook");
    EXPECT_NE(f.symbolic(A), 0);
  }
  OK(MatDestroy(&A));
}

} // namespace
