// SPDX-License-Identifier: BSD-2-Clause
// Unknowns in different units with the solver type multifrontal: solutions, reports, inertia.
#include "chain_fixture.hpp"

#include <cmath>

using namespace test;

namespace {

/// 10^x for a row or column, x random in [-s, s].
PetscReal power(std::uint64_t seed, PetscInt i, PetscReal s)
{
  return std::pow(PetscReal(10), s * static_cast<PetscReal>(Draw::noise(seed, i, 7)));
}

// Strictly dominant A times diag(10^(+-s)). Every component is accurate to rounding, for every elimination,
// leaf size and number of ranks. Covers A and its transpose, one and many columns, with and without
// refinement.
TEST_F(MultifrontalScales, ColumnsInAnyUnits)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 10^12";
  for (PetscReal s : {6., 8., 12., 100.})
    for (const char *leaf : {"0", "6"})
      for (const char *pivot : {"qr", "none"})
        for (const char *refine : {"0", "1"})
          for (RandomChain chain :
               {RandomChain{400, 1, 1}, RandomChain{90, 2, 2, true}, RandomChain{90, 2, 1}.shuffle()}) {
            SCOPED_TRACE(name(chain) + " s " + std::to_string(s) + " leaf " + leaf + " pivot " + pivot +
                         " refine " + refine);
            const Option size("-chain_mat_multifrontal_leaf_size", leaf),
              how("-chain_mat_multifrontal_pivot", pivot), steps("-chain_mat_multifrontal_refine", refine);
            Mat A = chain.matrix();
            Vec c = vector_of(A, [&](PetscInt i) { return power(3, i, s); }),
                y = vector_of(A, [](PetscInt i) { return 1 + 0.5 * Draw::noise(5, i, 1); }), unscaled, b, x;
            OK(VecDuplicate(y, &unscaled));
            OK(VecDuplicate(y, &x));
            OK(VecDuplicate(y, &b));
            OK(MatMult(A, y, b)); // A c (y / c) = A y
            OK(VecPointwiseDivide(unscaled, y, c));
            OK(MatDiagonalScale(A, nullptr, c));
            const ByOptions    by(A);
            KSPConvergedReason reason;
            OK(KSPSolve(by.ksp, b, x));
            OK(KSPGetConvergedReason(by.ksp, &reason));
            EXPECT_GT(reason, 0);
            EXPECT_LE(componentwise(x, unscaled), 1e-13);
            OK(MatMultTranspose(A, y, b)); // sizes 10^(+-s)
            OK(KSPSolveTranspose(by.ksp, b, x));
            EXPECT_LE(componentwise(x, y), 1e-13) << "transposed";
            OK(MatScale(A, 2)); // a second factorization
            OK(MatMult(A, unscaled, b));
            OK(KSPSolve(by.ksp, b, x));
            EXPECT_LE(componentwise(x, unscaled), 1e-13) << "again";
            for (Vec *v : {&c, &y, &unscaled, &b, &x}) OK(VecDestroy(v));
            OK(MatDestroy(&A));
          }
}

// Units change from factorization to factorization, by little, by much, and in rows: scales of earlier values
// are kept or replaced.
TEST_F(MultifrontalScales, NewValuesInOtherUnits)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 10^12";
  for (const char *leaf : {"0", "6"})
    for (RandomChain chain :
         {RandomChain{400, 1, 1}, RandomChain{90, 2, 2, true}, RandomChain{90, 2, 1}.shuffle()}) {
      SCOPED_TRACE(name(chain) + " leaf " + leaf);
      const Option    size("-chain_mat_multifrontal_leaf_size", leaf);
      Mat             A = chain.matrix();
      const ByOptions by(A);
      Vec             units = vector_of(A, [](PetscInt) { return PetscReal(1); }), b, x;
      OK(VecDuplicate(units, &x));
      OK(VecDuplicate(units, &b));
      const struct {
        std::uint64_t seed;
        PetscReal     columns, rows; // powers of ten
      } changes[] = {{0, 0, 0}, {3, 12, 0}, {4, 0.3, 0.3}, {5, 12, 0}, {6, 0, 12}, {7, 6, 6}, {8, 0.3, 0}};
      for (const auto &change : changes) {
        SCOPED_TRACE("seed " + std::to_string(change.seed));
        Vec c = vector_of(A, [&](PetscInt i) { return power(change.seed, i, change.columns); }),
            r = vector_of(A, [&](PetscInt i) { return power(change.seed + 50, i, change.rows); }),
            y = vector_of(A, [](PetscInt i) { return 1 + 0.5 * Draw::noise(5, i, 1); });
        OK(MatDiagonalScale(A, r, c));
        OK(VecPointwiseMult(units, units, c));
        OK(VecPointwiseDivide(y, y, units)); // then every entry of A y is a sum of entries of one size
        OK(MatMult(A, y, b));
        OK(KSPSetOperators(by.ksp, A, A));
        OK(KSPSolve(by.ksp, b, x));
        EXPECT_LE(componentwise(x, y), 1e-13);
        for (Vec *v : {&c, &r, &y}) OK(VecDestroy(v));
      }
      for (Vec *v : {&units, &b, &x}) OK(VecDestroy(v));
      OK(MatDestroy(&A));
    }
}

// Ranks without rows, with few rows and with all rows.
TEST_F(MultifrontalScales, PartitionsOfAllKinds)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 10^16";
  for (const char *pivot : {"qr", "none"})
    for (MatType type : {MATAIJ, MATBAIJ})
      for (int kind : {0, 1, 2}) {
        SCOPED_TRACE(std::string(pivot) + " " + type + " kind " + std::to_string(kind));
        const RandomChain chain{96, 2, 1};
        const PetscInt    rows = kind == 0   ? (rank == ranks - 1 ? 96 : 0)
                                 : kind == 1 ? (rank == 0 ? 96 - 2 * (ranks - 1) : 2)
                                             : 96 / ranks;
        const Option      how("-chain_mat_multifrontal_pivot", pivot);
        Mat               A = chain.matrix(rows, type, 2);
        Vec c = vector_of(A, [&](PetscInt i) { return power(3, i, 8); }), b = random_vector(A), x;
        OK(VecDuplicate(b, &x));
        OK(MatDiagonalScale(A, nullptr, c));
        const ByOptions by(A);
        for (bool transposed : {false, true}) {
          Vec y = vector_of(A, [&](PetscInt i) {
            return (1 + 0.5 * Draw::noise(5, i, 1)) / (transposed ? 1 : power(3, i, 8));
          });
          OK(transposed ? MatMultTranspose(A, y, b) : MatMult(A, y, b));
          OK(transposed ? KSPSolveTranspose(by.ksp, b, x) : KSPSolve(by.ksp, b, x));
          EXPECT_LE(componentwise(x, y), 1e-13) << (transposed ? "transposed" : "");
          OK(VecDestroy(&y));
        }
        for (Vec *v : {&b, &c, &x}) OK(VecDestroy(v));
        OK(MatDestroy(&A));
      }
}

// Columns of a dense matrix are as accurate as single columns.
TEST_F(MultifrontalScales, ManyColumns)
{
  const RandomChain chain{90, 2, 2};
  Mat               A = chain.matrix();
  Vec               c = vector_of(A, [&](PetscInt i) { return power(3, i, 4); });
  OK(MatDiagonalScale(A, nullptr, c));
  {
    Factored f(A);
    OK(MatMultifrontalSetLeafSize(f.F, 6));
    OK(f.symbolic(A));
    OK(f.numeric(A));
    for (bool transposed : {false, true}) {
      Mat B = dense(A, 5, 1), X = dense(A, 5, 0);
      Vec b, x, one;
      OK(transposed ? MatMatSolveTranspose(f.F, B, X) : MatMatSolve(f.F, B, X));
      OK(MatCreateVecs(A, &x, &b));
      OK(VecDuplicate(x, &one));
      for (PetscInt k = 0; k < 5; ++k) {
        OK(MatGetColumnVector(B, b, k));
        OK(MatGetColumnVector(X, x, k));
        OK(transposed ? MatSolveTranspose(f.F, b, one) : MatSolve(f.F, b, one));
        EXPECT_LE(componentwise(x, one), 100 * PETSC_MACHINE_EPSILON);
      }
      for (Vec *v : {&b, &x, &one}) OK(VecDestroy(v));
      OK(MatDestroy(&B));
      OK(MatDestroy(&X));
    }
  }
  OK(VecDestroy(&c));
  OK(MatDestroy(&A));
}

// [[2e-16, -1], [-1e-16, 2]]: elimination is exact.
TEST_F(MultifrontalScales, TwoUnknowns) // one rank
{
  Mat               A;
  Vec               b, x;
  const PetscInt    at[] = {0, 1};
  const PetscScalar a[]  = {2e-16, -1, -1e-16, 2};
  OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, nullptr, &A));
  OK(MatSetValues(A, 2, at, 2, at, a, INSERT_VALUES));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  OK(MatCreateVecs(A, &x, &b));
  OK(VecSet(b, 1));
  for (const char *pivot : {"qr", "none"}) {
    const Option    how("-chain_mat_multifrontal_pivot", pivot);
    const ByOptions by(A);
    PetscScalar     found[2];
    OK(KSPSolve(by.ksp, b, x));
    OK(VecGetValues(x, 2, at, found));
    EXPECT_LE(PetscAbsScalar(found[0] / 1e16 - PetscScalar(1)), 45 * PETSC_MACHINE_EPSILON) << pivot;
    EXPECT_LE(PetscAbsScalar(found[1] - PetscScalar(1)), 45 * PETSC_MACHINE_EPSILON) << pivot;
  }
  OK(VecDestroy(&b));
  OK(VecDestroy(&x));
  OK(MatDestroy(&A));
}

// Columns are scaled if they need it. The view reports it. log|det|, sign and columns refer to the original
// matrix.
TEST_F(MultifrontalScales, WhatIsReportedIsOfTheMatrix)
{
  for (const char *leaf : {"0", "6"}) {
    const Option      size("-chain_mat_multifrontal_leaf_size", leaf);
    const RandomChain chain{80, 1, 1};
    Mat               A = chain.matrix();
    Vec               c = vector_of(A, [](PetscInt i) {
      return i % 3 == 0 ? 0x1p-30 : i % 3 == 1 ? 0x1p-10 : 1.;
    }); // 27 of 2^-30 and 27 of 2^-10
    const ByOptions   plain(A);
    OK(KSPSetUp(plain.ksp));
    const std::string before = view_of(plain.factor());
    EXPECT_FALSE(contains(before, "scaled by powers of two")) << before;
    OK(MatDiagonalScale(A, nullptr, c));
    const ByOptions by(A);
    OK(KSPSetUp(by.ksp));
    const std::string after = view_of(by.factor());
    if (ranks > 1 || leaf[0] == '6') {
      EXPECT_TRUE(contains(after, "scaled by powers of two")) << after;
    }
    const auto number = [](const std::string &text, const std::string &word) {
      return std::stod(text.substr(text.find(word) + word.size()));
    };
    EXPECT_NEAR(number(after, "log|det| "), number(before, "log|det| ") - 27 * 40 * std::log(2.),
                1e-6 * std::abs(number(before, "log|det| ")) + (is_double ? 1e-6 : 1e-2))
      << before << after;
    const bool is_lu = leaf[0] == '0' && ranks == 1 &&
                       !contains(before, "on the device"); // the diagonal is positive and dominant
    for (const std::string &text : {before, after})
      EXPECT_EQ(contains(text, PetscDefined(USE_COMPLEX) ? ", growth " : ", sign +1, growth "), is_lu)
        << text;
    OK(VecDestroy(&c));
    OK(MatDestroy(&A));
  }
}

struct Signs {
  PetscInt negative = -1, zero = -1, positive = -1;
  bool     operator==(const Signs &o) const
  {
    return negative == o.negative && zero == o.zero && positive == o.positive;
  }
};
std::ostream &operator<<(std::ostream &to, const Signs &c)
{
  return to << c.negative << " negative, " << c.zero << " zero, " << c.positive << " positive";
}

// S T S has the inertia of T, for S = 10^(+-s): definite, indefinite, with a zero among the eigenvalues.
TEST_F(MultifrontalScales, InertiaOfAnyUnits)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 10^20";
  const PetscInt n = 60;
  for (PetscReal s : {0., 6., 8., 10., 60.})
    for (int kind : {0, 1, 2, 3})
      for (const char *leaf : {"0", "7"})
        for (const char *pivot : {"qr", "none"}) {
          SCOPED_TRACE("s " + std::to_string(s) + " kind " + std::to_string(kind) + " leaf " + leaf +
                       " pivot " + pivot);
          // powers of ten round the entries, so that zero eigenvalues do not stay zero
          if (kind == 3 && s > 0) continue;
          const Option size("-chain_mat_multifrontal_leaf_size", leaf),
            how("-chain_mat_multifrontal_pivot", pivot);
          RandomChain chain{n, 1, 1, false, 1, Values::wave};
          Mat         A = chain.matrix();
          PetscInt    first, end;
          OK(MatGetOwnershipRange(A, &first, &end));
          // tridiag(.4, 1, .4); a diagonal of alternating signs; uncoupled pairs [[0, 1], [1, 0]];
          // neighbours that are the same unknown.
          for (PetscInt i = first; i < end; ++i)
            for (PetscInt j = std::max<PetscInt>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
              const bool pair = i / 2 == j / 2;
              const auto a    = kind == 0   ? (i == j ? 1. : 0.4)
                                : kind == 1 ? (i == j ? (i % 3 == 0 ? -1. : 1.) : 0.3)
                                : kind == 2 ? (i != j && pair ? 1. : 0.)
                                : pair      ? 1.
                                            : 0.;
              OK(MatSetValue(A, i, j, a, INSERT_VALUES));
            }
          OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          Vec S = vector_of(A, [&](PetscInt i) { return power(1, i, s); });
          OK(MatDiagonalScale(A, S, S));
          OK(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
          const ByOptions by(A, "cholesky");
          Signs           found;
          OK(KSPSetUp(by.ksp));
          OK(MatGetInertia(by.factor(), &found.negative, &found.zero, &found.positive));
          EXPECT_EQ(found, (kind == 0   ? Signs{0, 0, n}
                            : kind == 1 ? Signs{n / 3, 0, n - n / 3}
                            : kind == 2 ? Signs{n / 2, 0, n / 2}
                                        : Signs{0, n / 2, n / 2}));
          OK(VecDestroy(&S));
          OK(MatDestroy(&A));
        }
}

} // namespace
