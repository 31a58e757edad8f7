// SPDX-License-Identifier: BSD-2-Clause
// -mat_multifrontal_pivot none: right answers where no pivots are needed, and a failure, never a wrong answer, where they are. Where ranks work alone, with pivots or without.
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

/// Messages of PETSc so far.
PetscLogDouble messages()
{
#ifdef PETSC_USE_LOG
  return petsc_isend_ct + petsc_send_ct + petsc_irecv_ct + petsc_recv_ct + petsc_allreduce_ct + petsc_gather_ct + petsc_scatter_ct;
#else
  return 0;
#endif
}

// Chains and rings that begin and end where ranks do: each rank factors its own, by either elimination, and solves without a message. Rings that a rank boundary cuts are gathered.
TEST_F(MultifrontalPivot, RanksThatDoNotCouple)
{
  const auto        hermitian = Values::hermitian;
  const RandomChain kinds[]   = {{40, 1, 2, true}, {45, 3, 3, true, 1, hermitian}, {37, 2, 1}, {50, 2, 2, false, 1, hermitian}, {9, 0, 0}, {60, 6, 6, true, 1, hermitian}};
  for (const char *pivot : {"qr", "none"})
    for (RandomChain chain : kinds)
      for (bool cut : {false, true}) {
        chain.chains            = ranks * (ranks + 1) / 2 + 1; // rank r has r + 1 of them, the last one more; of more than two the second has none, the first its two, too
        PetscInt   own          = rank + 1 + (rank == ranks - 1 ? 1 : 0);
        const bool is_hermitian = chain.values == hermitian;
        if (ranks > 2 && rank < 2) own = rank == 0 ? 3 : 0;
        PetscInt rows = own * chain.n;
        if (cut && ranks > 1) rows += rank == 0 ? -chain.n / 2 : rank == ranks - 1 ? chain.n / 2 : 0;
        SCOPED_TRACE(name(chain) + ", " + pivot + (cut ? ", cut" : ""));
        const Option elimination("-mat_multifrontal_pivot", pivot);
        Mat          A = chain.matrix(rows), B = dense(A, 3, 1), X = dense(A, 3, 0);
        Vec          b = random_vector(A), x;
        OK(VecDuplicate(b, &x));
        {
          Factored f(A, is_hermitian ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU);
          OK(f.symbolic(A));
          OK(f.numeric(A));
          const std::string said   = printed([&](PetscViewer viewer) {
            OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
            OK(MatView(f.F, viewer));
          });
          const bool        couple = cut && chain.kl > 0, separate = ranks > 1 && !couple;
          EXPECT_EQ(contains(said, "ranks do not couple"), separate) << said;
          EXPECT_EQ(contains(said, "gathered on one rank"), ranks > 1 && couple && (chain.ring || pivot == std::string("none"))) << said;
          const PetscLogDouble before = messages();
          OK(MatSolve(f.F, b, x));
          OK(MatSolveTranspose(f.F, b, x));
          OK(MatMatSolve(f.F, B, X));
          if (separate) {
            EXPECT_EQ(messages(), before);
          } else if (before > 0 && ranks > 1 && rank == 0) {
            EXPECT_GT(messages(), before);
          }
          expect_solved(A, B, X, 3, false);
          OK(MatSolve(f.F, b, x));
          EXPECT_LE(backward_error(A, x, b), rounding);
          OK(MatSolveTranspose(f.F, b, x));
          EXPECT_LE(backward_error(A, x, b, true), rounding);
          if (is_hermitian) {
            PetscInt negative, zero, positive;
            OK(MatGetInertia(f.F, &negative, &zero, &positive));
            EXPECT_EQ(negative + zero, 0);
            EXPECT_EQ(positive, chain.rows());
          }
          const PetscInt bad = chain.rows() - 2;
          PetscInt       begin, end, column;
          MatFactorError error;
          PetscReal      pivot_value;
          OK(MatGetOwnershipRange(A, &begin, &end));
          if (bad >= begin && bad < end) MatSetValue(A, bad, bad, std::nan(""), INSERT_VALUES);
          OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          OK(f.numeric(A));
          OK(MatFactorGetError(f.F, &error));
          OK(MatFactorGetErrorZeroPivot(f.F, &pivot_value, &column));
          EXPECT_NE(error, MAT_FACTOR_NOERROR);
          EXPECT_LE(std::abs(column - bad), 2 * (chain.kl + chain.ku));
        }
        for (Mat *M : {&A, &B, &X}) OK(MatDestroy(M));
        for (Vec *v : {&b, &x}) OK(VecDestroy(v));
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
