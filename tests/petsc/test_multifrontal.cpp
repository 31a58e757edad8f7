// SPDX-License-Identifier: BSD-2-Clause
// The solver type multifrontal for every kind of chain, matrix and partition. Solutions have the accuracy
// of a stable method in all uses.
#include "chain_fixture.hpp"

using namespace test;

namespace {

std::vector<RandomChain> chains_of_all_kinds()
{
  return {
    {101, 1, 1},
    {101, 2, 3},
    {97, 0, 4},
    {60, 3, 0},
    {50, 0, 0},
    {100, 1, 1, false, 1, Values::wave},
    {83, 2, 2, false, 1, Values::random},
    {100, 1, 1, true, 1, Values::wave},
    {90, 3, 1, true},
    {180, 12, 20},
    {130, 6, 6},
    {130, 7, 7},
    {130, 8, 8},
    {130, 9, 9},
    {130, 10, 10},
    {200, 32, 32},
    {15, 1, 2, true, 7},
    {15, 2, 2, false, 7},
    {40, 1, 2, true, 4}, // shorter rings fit in a band of 32
    RandomChain{120, 2, 2}.shuffle(),
    RandomChain{99, 1, 1, true}.shuffle(),
    RandomChain{99, 1, 0, false, 1, Values::random}.shuffle(),
    RandomChain{40, 2, 1, false, 3}.shuffle(),
  };
}

TEST_F(Multifrontal, SolvesChainsOfAllKindsByOptions)
{
  for (const char *leaf : {"0", "7"}) {
    // Random rows are nearly singular.
    const Option size("-chain_mat_multifrontal_leaf_size", leaf), tiny("-chain_pc_factor_zeropivot", "1e-30");
    for (const RandomChain &chain : chains_of_all_kinds()) {
      SCOPED_TRACE(name(chain) + ", leaf size " + leaf);
      Mat A = chain.matrix();
      {
        const ByOptions by(A);
        EXPECT_LE(by.error(A), rounding);
        EXPECT_LE(by.error(A, true), rounding) << "transposed";
      }
      OK(MatDestroy(&A));
    }
  }
}

TEST_F(Multifrontal, FactorsAnswerEveryKindOfSolve)
{
  for (const RandomChain &chain : {RandomChain{90, 2, 1}, RandomChain{90, 2, 3, true},
                                   RandomChain{80, 1, 2}.shuffle(), RandomChain{36, 1, 1, true, 3}}) {
    SCOPED_TRACE(name(chain));
    Mat     A = chain.matrix();
    Vec     b = random_vector(A), y = random_vector(A), x, from;
    MatInfo info;
    OK(VecScale(y, 3));
    Vec          holes = random_vector(A); // zeros in every third row
    PetscScalar *hole;
    OK(VecGetArray(holes, &hole));
    for (PetscInt i = 0; i < local_rows(A); i += 3) hole[i] = 0;
    OK(VecRestoreArray(holes, &hole));
    OK(VecDuplicate(b, &x));
    OK(VecDuplicate(b, &from));
    {
      Factored f(A);
      OK(MatMultifrontalSetLeafSize(f.F, 8));
      OK(f.symbolic(A));
      OK(f.numeric(A));
      expect_solves(f.F, A, b, x);
      for (bool transposed : {false, true})
        for (bool in_place : {false, true}) { // x = y + A^-1 b, y = y + A^-1 b
          OK(VecCopy(y, x));
          OK(transposed ? MatSolveTransposeAdd(f.F, b, in_place ? x : y, x)
                        : MatSolveAdd(f.F, b, in_place ? x : y, x));
          OK(VecAXPY(x, -1, y));
          PetscReal size, left;
          OK(VecNorm(b, NORM_2, &size));
          OK(transposed ? MatMultTranspose(A, x, from) : MatMult(A, x, from));
          OK(VecAXPY(from, -1, b));
          OK(VecNorm(from, NORM_2, &left));
          EXPECT_LE(left, 1e4 * PETSC_MACHINE_EPSILON * size);
        }
      for (const auto &[columns, gap] : std::vector<std::pair<PetscInt, PetscInt>>{{1, 0}, {3, 5}, {70, 1}}) {
        Mat B = dense(A, columns, gap), X = dense(A, columns, gap == 5 ? 2 : 0), rows, sparse;
        OK(MatMatSolve(f.F, B, X));
        expect_solved(A, B, X, columns, false);
        OK(MatMatSolveTranspose(f.F, B, X));
        expect_solved(A, B, X, columns, true);
        OK(MatTranspose(B, MAT_INITIAL_MATRIX, &rows));
        OK(MatMatTransposeSolve(f.F, rows, X));
        expect_solved(A, B, X, columns, false);
        OK(MatDiagonalScale(B, holes, nullptr));
        OK(MatDiagonalScale(rows, nullptr, holes));
        OK(MatConvert(rows, MATAIJ, MAT_INITIAL_MATRIX, &sparse));
        OK(MatZeroEntries(X));
        OK(MatMatTransposeSolve(f.F, sparse, X));
        expect_solved(A, B, X, columns, false);
        for (Mat *M : {&B, &X, &rows, &sparse}) OK(MatDestroy(M));
      }
      OK(MatMultifrontalSetRefine(f.F, 1)); // for the next factorization
      OK(MatSolve(f.F, b, x));
      EXPECT_LE(backward_error(A, x, b), rounding);
      OK(MatGetInfo(f.F, MAT_GLOBAL_SUM, &info));
      EXPECT_GE(info.memory,
                static_cast<double>(chain.rows() * (chain.kl + chain.ku + 1)) * sizeof(PetscScalar));
      EXPECT_EQ(info.nz_used * sizeof(PetscScalar), info.memory);
      const PetscLogDouble all = info.memory;
      OK(MatGetInfo(f.F, MAT_LOCAL, &info));
      double sum = info.memory;
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
      EXPECT_EQ(sum, all);
      OK(MatGetInfo(f.F, MAT_GLOBAL_MAX, &info));
      EXPECT_GE(info.memory * ranks, all);
    }
    for (Vec *v : {&b, &y, &x, &from, &holes}) OK(VecDestroy(v));
    OK(MatDestroy(&A));
  }
}

// A sum of 10^4 columns with random weights detects a wrong or misplaced column.
TEST_F(Multifrontal, ManyColumns)
{
  for (const RandomChain &chain : {RandomChain{40, 2, 1}, RandomChain{48, 1, 2, true}})
    for (const char *pivot : {"qr", "none"}) {
      SCOPED_TRACE(name(chain) + ", pivot " + pivot);
      const Option elimination("-mat_multifrontal_pivot", pivot);
      Mat          A = chain.matrix(), B = dense(A, 10000, 3), X = dense(A, 10000, 0), rows;
      Vec          weights, sum, b, x;
      OK(MatTranspose(B, MAT_INITIAL_MATRIX, &rows));
      OK(MatCreateVecs(B, &weights, &sum));
      OK(MatCreateVecs(A, &x, &b));
      OK(VecSetRandom(weights, nullptr));
      {
        Factored f(A);
        OK(MatMultifrontalSetLeafSize(f.F, 8));
        OK(f.symbolic(A));
        OK(f.numeric(A));
        const std::function<PetscErrorCode()> kinds[] = {[&] { return MatMatSolve(f.F, B, X); },
                                                         [&] { return MatMatTransposeSolve(f.F, rows, X); },
                                                         [&] { return MatMatSolveTranspose(f.F, B, X); }};
        for (int k = 0; k < 3; ++k) {
          OK(MatZeroEntries(X));
          OK(kinds[k]());
          OK(MatMult(B, weights, sum));
          OK(VecCopy(sum, b));
          OK(MatMult(X, weights, sum));
          OK(VecCopy(sum, x));
          EXPECT_LE(backward_error(A, x, b, k == 2), rounding) << k;
        }
      }
      for (Mat *M : {&A, &B, &X, &rows}) OK(MatDestroy(M));
      for (Vec *v : {&weights, &sum, &b, &x}) OK(VecDestroy(v));
    }
}

TEST_F(Multifrontal, TakesEveryTypeAndBothFactorizations)
{
  for (const auto &[block, leaf_size] : std::vector<std::pair<PetscInt, const char *>>{
         {1, "3"}, {2, "0"}, {3, "3"}, {4, "0"}, {5, "3"}, {8, "0"}})
    for (const char *type : {MATAIJ, MATBAIJ, MATSBAIJ})
      for (const char *factorization : {"lu", "cholesky"}) {
        const bool symmetric = std::string(type) == MATSBAIJ;
        if (symmetric && std::string(factorization) == "lu") continue; // PETSc has no such solver either
        SCOPED_TRACE(std::string(type) + " block " + std::to_string(block) + " " + factorization);
        const PetscInt    local = block * (6 + rank);
        const PetscInt    n     = block * (6 * ranks + ranks * (ranks - 1) / 2);
        const RandomChain chain{
          n,
          block,
          block,
          false,
          1,
          symmetric || std::string(factorization) == "cholesky" ? Values::symmetric : Values::dominant};
        Mat          A = chain.matrix(local, type, block), twin = chain.matrix(local);
        const Option leaf("-chain_mat_multifrontal_leaf_size", leaf_size);
        for (const char *pivot : {"qr", "none"}) {
          SCOPED_TRACE(pivot);
          const Option    pivots("-chain_mat_multifrontal_pivot", pivot);
          const ByOptions by(A, factorization);
          EXPECT_LE(by.error(twin), rounding);
          OK(MatScale(A, 2)); // converted again
          OK(MatScale(twin, 2));
          EXPECT_LE(by.error(twin), rounding);
          EXPECT_LE(by.error(twin, true), rounding);
        }
        OK(MatDestroy(&A));
        OK(MatDestroy(&twin));
      }
}

TEST_F(Multifrontal, RingsAndOtherOrdersOfBlocks)
{
  for (const auto &[block, leaf] : std::vector<std::pair<PetscInt, const char *>>{{2, "0"}, {3, "3"}}) {
    const PetscInt    n       = block * 9 * ranks;
    const RandomChain kinds[] = {{n, block, block, true},
                                 RandomChain{n, block, block}.shuffle(block),
                                 RandomChain{n, block, block, true}.shuffle(block),
                                 {36, 1, 1, true, ranks}};
    const Option      size("-chain_mat_multifrontal_leaf_size", leaf);
    for (const RandomChain &chain : kinds) {
      SCOPED_TRACE("blocks of " + std::to_string(block) + ", " + name(chain));
      const PetscInt local = chain.rows() / ranks;
      Mat            A = chain.matrix(local, MATBAIJ, block), twin = chain.matrix(local);
      {
        const ByOptions by(A);
        for (int again = 0; again < 2; ++again) {
          EXPECT_LE(by.error(twin), rounding);
          OK(MatMultifrontalSetRefine(by.factor(), 1)); // for the next factorization
          EXPECT_LE(by.error(twin, true), rounding);
          OK(MatShift(A, 1)); // the copy gets new values
          OK(MatShift(twin, 1));
        }
      }
      OK(MatDestroy(&A));
      OK(MatDestroy(&twin));
    }
  }
}

TEST_F(Multifrontal, PartitionsOfAllKinds)
{
  Draw draw(static_cast<std::uint64_t>(ranks));
  for (int round = 0; round < 12; ++round) { // at most three ranks have rows
    RandomChain chain{draw.between(1, 60), draw.between(0, 3), draw.between(0, 3), false, 1,
                      Values::dominant,    draw.next()};
    chain.ring = chain.n > 2 * (chain.kl + chain.ku) && draw.one_in(2);
    auto rows  = draw.split(chain.n, ranks, true);
    if (round < 2) rows.assign(rows.size(), 0), (round == 0 ? rows.front() : rows.back()) = chain.n;
    std::string text = name(chain) + ", rows";
    if (draw.one_in(3)) chain.shuffle();
    for (PetscInt r : rows) text += " " + std::to_string(r);
    SCOPED_TRACE(text);
    Mat          A = chain.matrix(rows[static_cast<std::size_t>(rank)]);
    const Option leaf("-chain_mat_multifrontal_leaf_size", std::to_string(draw.between(0, 9)));
    {
      const ByOptions by(A);
      EXPECT_LE(by.error(A), rounding);
      EXPECT_LE(by.error(A, true), rounding);
    }
    OK(MatDestroy(&A));
  }
}

// Random rows with kl != ku are nearly singular. They are solved as accurately as others, or reported.
TEST_F(Multifrontal, SolutionsThatGrowFromEndToEnd)
{
  Draw draw(40 + static_cast<std::uint64_t>(ranks));
  int  solved = 0, all = 0;
  for (int round = 0; round < 24; ++round) {
    RandomChain       chain{draw.between(40, 90), draw.between(0, 3), draw.between(0, 3), false, 1,
                      Values::random,       draw.next()};
    const auto        rows = draw.split(chain.n, ranks, false);
    const std::string leaf = std::to_string(draw.between(0, 9));
    SCOPED_TRACE(name(chain) + ", leaf " + leaf);
    Mat          A = chain.matrix(rows[static_cast<std::size_t>(rank)]);
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    {
      const ByOptions by(A);
      const auto      reason = by.reason(A);
      ++all;
      if (reason > 0) {
        ++solved;
        EXPECT_LE(by.error(A), rounding);
        EXPECT_LE(by.error(A, true), rounding);
      } else EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
    }
    OK(MatDestroy(&A));
  }
  EXPECT_GE(solved, all / 2);
}

TEST_F(Multifrontal, SmallMatrices)
{
  for (PetscInt n = 0; n <= 7; ++n)
    for (PetscInt kl = 0; kl <= 4; kl += 2)
      for (PetscInt ku = 0; ku <= 3; ++ku) { // includes n < kl + ku
        const RandomChain chain{n, std::min(kl, std::max<PetscInt>(n - 1, 0)),
                                std::min(ku, std::max<PetscInt>(n - 1, 0))};
        SCOPED_TRACE(name(chain));
        Mat A = chain.matrix();
        {
          const ByOptions by(A);
          EXPECT_LE(by.error(A), rounding);
          EXPECT_LE(by.error(A, true), rounding);
        }
        OK(MatDestroy(&A));
      }
}

// MatMatSolve(F, B, B): whole blocks of columns, or one column at a time. The latter holds for permuted
// rows, refinement, and chains that one rank solves.
TEST_F(Multifrontal, SolvesColumnsInPlace)
{
  for (PetscInt refine : {0, 1})
    for (const RandomChain &chain :
         {RandomChain{90, 2, 1}, RandomChain{80, 1, 2}.shuffle(), RandomChain{ranks + 1, 1, 1}}) {
      SCOPED_TRACE(name(chain) + (refine ? ", refined" : ""));
      Mat A = chain.matrix(), B = dense(A, 5, 1), X;
      OK(MatDuplicate(B, MAT_COPY_VALUES, &X));
      {
        Factored f(A);
        OK(MatMultifrontalSetRefine(f.F, refine));
        OK(f.symbolic(A));
        OK(f.numeric(A));
        OK(MatMatSolve(f.F, X, X));
        expect_solved(A, B, X, 5, false);
      }
      for (Mat *M : {&A, &B, &X}) OK(MatDestroy(M));
    }
}

} // namespace
