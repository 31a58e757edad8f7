// SPDX-License-Identifier: BSD-2-Clause
// Factors of ranks that do not couple, which work independently, and of coupled ranks, with and without
// pivots.
#include "chain_fixture.hpp"

using namespace test;

namespace {

/// Number of PETSc's messages so far.
PetscLogDouble messages()
{
#ifdef PETSC_USE_LOG
  return petsc_isend_ct + petsc_send_ct + petsc_irecv_ct + petsc_recv_ct + petsc_allreduce_ct +
         petsc_gather_ct + petsc_scatter_ct;
#else
  return 0;
#endif
}

// Chains and rings that begin and end at rank boundaries. Each rank factors its chains by either
// elimination, and solves without a message. Rings that span ranks are gathered.
TEST_F(MultifrontalPivot, RanksThatDoNotCouple)
{
  const auto        hermitian = Values::hermitian;
  const RandomChain kinds[]   = {{40, 1, 2, true}, {45, 3, 3, true, 1, hermitian},
                                 {37, 2, 1},       {50, 2, 2, false, 1, hermitian},
                                 {9, 0, 0},        {60, 6, 6, true, 1, hermitian}};
  for (const char *pivot : {"qr", "none"})
    for (RandomChain chain : kinds)
      for (bool cut : {false, true}) {
        // Rank r has r + 1 chains, the last rank one more. With more than two ranks the second has no
        // chain, and the first has those of both.
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

/// The value that MatView() prints after log|det|.
double log_abs_det(Mat F)
{
  const std::string said = printed([&](PetscViewer viewer) {
    OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
    OK(MatView(F, viewer));
  });
  EXPECT_FALSE(contains(said, "gathered")) << said;
  return contains(said, "log|det| ") ? std::stod(said.substr(said.find("log|det| ") + 9)) : std::nan("");
}

// Coupled ranks factor their rows without pivots, too. Sub-lines have the minimum length and more, next to
// ranks without rows. Reports name invalid values in the rows between sub-lines.
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
        // The last row of the first rank, then also a row inside of the last rank.
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

// A ring of one rank next to a few rows of the others. All together they look like one ring with more
// corner entries than that of the first rank.
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

} // namespace
