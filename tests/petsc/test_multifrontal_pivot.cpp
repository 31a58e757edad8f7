// SPDX-License-Identifier: BSD-2-Clause
// -mat_multifrontal_pivot none: right answers where no pivots are needed, and a failure, never a wrong answer, where they are.
#include "chain_fixture.hpp"

using namespace test;

namespace {

class MultifrontalPivot : public Petsc { };

TEST_F(MultifrontalPivot, NoneSolvesChainsOfAllKinds)
{
  const Option none("-chain_mat_multifrontal_pivot", "none");
  for (const char *leaf : {"0", "1", "9"}) {
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    for (const RandomChain &chain : {RandomChain{101, 1, 1}, RandomChain{101, 2, 3}, RandomChain{97, 0, 4}, RandomChain{50, 0, 0}, RandomChain{90, 3, 1, true}, RandomChain{180, 12, 20}, RandomChain{40, 1, 2, true, 4},
                                     RandomChain{120, 2, 2}.shuffle(), RandomChain{99, 1, 1, true}.shuffle(), RandomChain{1, 0, 0}, RandomChain{0, 0, 0}}) {
      SCOPED_TRACE(std::to_string(chain.chains) + " of " + std::to_string(chain.n) + " rows, kl " + std::to_string(chain.kl) + ", ku " + std::to_string(chain.ku) + ", leaf " + leaf);
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
  for (PetscReal diagonal : {0., 1e-20, 1e-9}) { // regular, without pivots in order
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
      EXPECT_TRUE(contains(error_of([&] { return KSPSetUp(by.ksp); }), "-mat_multifrontal_pivot qr")) << last_error();
    }
    {
      const Option    qr("-chain_mat_multifrontal_pivot", "qr");
      const ByOptions by(A);
      EXPECT_LE(by.error(A), rounding);
    }
    PetscOptionsSetValue(nullptr, "-chain_mat_multifrontal_pivot", "none"); // qr went with its Option
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
