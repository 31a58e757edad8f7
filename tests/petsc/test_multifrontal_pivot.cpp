// SPDX-License-Identifier: BSD-2-Clause
// -mat_multifrontal_pivot none: right answers where no pivots are needed, and a failure, never a wrong
// answer, where they are. Where ranks work alone, with pivots or without.
#include "chain_fixture.hpp"

using namespace test;

namespace {

class MultifrontalPivot : public Petsc { };

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
      EXPECT_TRUE(contains(error_of([&] { return KSPSetUp(by.ksp); }), "-mat_multifrontal_pivot qr"))
        << last_error();
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

// A ring of splines, singular or nearly: a random right-hand side has a solution so large that no residual
// counts beside it, a smooth one has not.
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

// One small pivot in a matrix of good condition: a failure, or right answers.
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
          // not the random numbers of PETSc, which are those of the probe
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

// What is smooth is so along the chain, whatever the order of rows: a rough solution of so many loses
// hundreds of times as much.
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

// The ring by orthogonal elimination: singular to rounding, however it is cut, and
// refused with a column of it.
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

/// Messages of PETSc so far.
PetscLogDouble messages()
{
#ifdef PETSC_USE_LOG
  return petsc_isend_ct + petsc_send_ct + petsc_irecv_ct + petsc_recv_ct + petsc_allreduce_ct +
         petsc_gather_ct + petsc_scatter_ct;
#else
  return 0;
#endif
}

// Chains and rings that begin and end where ranks do: each rank factors its own, by either elimination, and
// solves without a message. Rings that a rank boundary cuts are gathered.
TEST_F(MultifrontalPivot, RanksThatDoNotCouple)
{
  const auto        hermitian = Values::hermitian;
  const RandomChain kinds[]   = {{40, 1, 2, true}, {45, 3, 3, true, 1, hermitian},
                                 {37, 2, 1},       {50, 2, 2, false, 1, hermitian},
                                 {9, 0, 0},        {60, 6, 6, true, 1, hermitian}};
  for (const char *pivot : {"qr", "none"})
    for (RandomChain chain : kinds)
      for (bool cut : {false, true}) {
        // rank r has r + 1 of them, the last one more; of more than two the second has
        // none, the first its two, too
        chain.chains            = ranks * (ranks + 1) / 2 + 1;
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
          EXPECT_EQ(contains(said, "gathered on one rank"), ranks > 1 && couple && chain.ring) << said;
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
          expect_solves(f.F, A, b, x);
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

/// What MatView() says behind log|det|.
double log_abs_det(Mat F)
{
  const std::string said = printed([&](PetscViewer viewer) {
    OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
    OK(MatView(F, viewer));
  });
  EXPECT_FALSE(contains(said, "gathered")) << said;
  return contains(said, "log|det| ") ? std::stod(said.substr(said.find("log|det| ") + 9)) : std::nan("");
}

// Ranks that couple factor their own rows without pivots, too, in pieces as short as they may be and longer
// ones, beside ranks without rows; what is wrong in the rows between pieces is named.
TEST_F(MultifrontalPivot, NoneOnRanksThatCouple)
{
  const auto hermitian = Values::hermitian, dominant = Values::dominant;
  const std::tuple<PetscInt, PetscInt, bool, Values, PetscInt> kinds[] = {
    {1, 1, false, dominant, 0},  {1, 1, true, dominant, 0},  {2, 1, false, dominant, 5},
    {0, 3, true, dominant, 0},   {3, 0, false, dominant, 0}, {5, 2, true, dominant, 9},
    {4, 4, false, hermitian, 0}, {12, 20, true, dominant, 0}};
  for (const auto &[kl, ku, ring, values, leaf] : kinds)
    for (bool empty : {false, true}) {
      const PetscInt w   = std::max(kl, ku),
                     own = empty && rank == 1 && ranks > 2
                             ? 0
                             : 2 * w + (rank == 0 ? 0 : 3 * rank) + (rank == ranks - 1 ? 40 : 0);
      PetscInt n         = own;
      OK(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      const RandomChain chain{n, static_cast<int>(kl), static_cast<int>(ku), ring, 1, values};
      SCOPED_TRACE(name(chain) + ", leaf " + std::to_string(leaf) + (empty ? ", a rank without rows" : ""));
      Mat    A = chain.matrix(own), B = dense(A, 70, 1), X = dense(A, 70, 0);
      Vec    b       = random_vector(A), x;
      double log_det = 0;
      OK(VecDuplicate(b, &x));
      for (const char *pivot : {"qr", "none"}) {
        SCOPED_TRACE(pivot);
        const Option elimination("-mat_multifrontal_pivot", pivot),
          size("-mat_multifrontal_leaf_size", std::to_string(leaf).c_str());
        Factored f(A, values == hermitian ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU);
        OK(f.symbolic(A));
        for (int round = 0; round < 2; ++round) {
          if (round > 0) {
            OK(MatScale(A, pivot == std::string("qr") ? 2 : 0.5));
          }
          OK(f.numeric(A));
          expect_solves(f.F, A, b, x);
          OK(MatMatSolve(f.F, B, X));
          expect_solved(A, B, X, 70, false);
          OK(MatMatSolveTranspose(f.F, B, X));
          expect_solved(A, B, X, 70, true);
        }
        if (pivot == std::string("qr")) {
          log_det = log_abs_det(f.F);
          continue;
        }
        EXPECT_NEAR(log_abs_det(f.F), log_det - static_cast<double>(n) * std::log(2.0),
                    1e-6 * (1 + std::abs(log_det)) * (PETSC_MACHINE_EPSILON > 1e-10 ? 1e4 : 1));
        if (values == hermitian) {
          PetscInt negative, zero, positive;
          OK(MatGetInertia(f.F, &negative, &zero, &positive));
          EXPECT_EQ(positive, n);
        }
        if (ranks == 1) continue;
        // the last row of the first rank, then one inside of the last rank, too
        for (const auto &[bad, is_nan] :
             {std::pair(2 * w - 1, false), std::pair(2 * w - 1, true), std::pair(n - w - 10, true)}) {
          PetscInt       column;
          MatFactorError error;
          PetscReal      value;
          OK(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
          OK(MatZeroRowsColumns(A, rank == 0 ? 1 : 0, &bad, is_nan ? std::nan("") : 0., nullptr, nullptr));
          OK(f.numeric(A));
          OK(MatFactorGetError(f.F, &error));
          OK(MatFactorGetErrorZeroPivot(f.F, &value, &column));
          EXPECT_EQ(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
          EXPECT_LE(std::abs(column - bad), is_nan ? 2 * w : 0) << (is_nan ? "NaN" : "zeros");
        }
      }
      for (Mat *M : {&A, &B, &X}) OK(MatDestroy(M));
      for (Vec *v : {&b, &x}) OK(VecDestroy(v));
    }
}

// A ring of one rank beside a few rows of the others, which altogether look like one ring, of more
// corners than the first has.
TEST_F(MultifrontalPivot, ARingBesideAFewRows)
{
  for (PetscInt few : {1, 3, 12, 31, 40})
    for (const char *pivot : {"qr", "none"}) {
      SCOPED_TRACE(std::to_string(few) + " rows, " + pivot);
      const Option   elimination("-mat_multifrontal_pivot", pivot);
      const PetscInt n = 100, rows = rank == 0 ? n : few;
      Mat            A;
      PetscInt       begin, end;
      OK(MatCreate(PETSC_COMM_WORLD, &A));
      OK(MatSetSizes(A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
      OK(MatSetFromOptions(A));
      OK(MatSetUp(A));
      OK(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt i = begin; i < end; ++i) {
        OK(MatSetValue(A, i, i, 4, INSERT_VALUES));
        for (PetscInt away : {PetscInt(1), n - 1})
          if (rank == 0) {
            OK(MatSetValue(A, i, (i + away) % n, -1, INSERT_VALUES));
          }
      }
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      Vec b = random_vector(A), x;
      OK(VecDuplicate(b, &x));
      {
        Factored f(A);
        OK(f.symbolic(A));
        OK(f.numeric(A));
        expect_solves(f.F, A, b, x);
      }
      for (Vec *v : {&b, &x}) OK(VecDestroy(v));
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
