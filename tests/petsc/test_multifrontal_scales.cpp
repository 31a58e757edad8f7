// SPDX-License-Identifier: BSD-2-Clause
// Unknowns in different units, matrices that are singular to working precision, inverses that overflow and
// zeros that a matrix stores, by the solver type multifrontal.
#include "chain_fixture.hpp"

#include <cmath>
#include <cstdlib>

using namespace test;

namespace {

class MultifrontalScales : public Petsc { };

/// 10^x of a row or column, x random in [-s, s].
PetscReal power(std::uint64_t seed, PetscInt i, PetscReal s)
{
  return std::pow(PetscReal(10), s * static_cast<PetscReal>(Draw::noise(seed, i, 7)));
}
constexpr bool is_double = sizeof(PetscReal) == 8; ///< with the range of exponents that these tests take

// Strictly dominant A times diag(10^(+-s)): every component to rounding, by every elimination, leaf and
// number of ranks, of A and of its transpose, one column and many, refined and not.
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
            OK(MatMultTranspose(A, y, b)); // of 10^(+-s) sizes
            OK(KSPSolveTranspose(by.ksp, b, x));
            EXPECT_LE(componentwise(x, y), 1e-13) << "transposed";
            OK(MatScale(A, 2)); // and factored again
            OK(MatMult(A, unscaled, b));
            OK(KSPSolve(by.ksp, b, x));
            EXPECT_LE(componentwise(x, unscaled), 1e-13) << "again";
            for (Vec *v : {&c, &y, &unscaled, &b, &x}) OK(VecDestroy(v));
            OK(MatDestroy(&A));
          }
}

// On ranks without rows, with few and with all of them.
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

// Columns of a dense matrix, as one by one.
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

// Columns are scaled where they need it: the view says so, log|det|, sign and columns refer to the matrix.
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

/// diag(0, ..., 0, 1, 1) + D^T D with D third differences: integers, of rank n - 1.
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

// No pivot of it is zero; its condition tells.
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
      OK(MatShift(A, 1)); // and the next matrix is solved
      EXPECT_LE(by.error(A), rounding);
      OK(MatShift(A, -1));
      OK(PCFactorSetZeroPivot(pc, is_double ? 1e-30 : 1e-20)); // who asks for it gets an answer of any size
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

// Boundary rows of 1 next to rows of 10^8: pivots are small in their columns, not in their rows, so that no
// condition is estimated and no scale of columns is looked for more than once.
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

// Of entries so small that the inverse overflows no solution is handed out.
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
        OK(MatShift(A, 8)); // and the next matrix is solved
        EXPECT_GT(by.reason(A), 0);
      }
      OK(VecDestroy(&r));
      OK(VecDestroy(&c));
      OK(MatDestroy(&A));
    }
}

/// A tridiagonal matrix, and zeros stored all along row 7.
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

// Zeros that are stored do not make a band wider than it is; values that take their places are noticed.
TEST_F(MultifrontalScales, StoredZeros)
{
  const PetscInt  n = 1000;
  Mat             A = with_row_of_zeros(n);
  const ByOptions by(A);
  const auto      put = [&](PetscInt j, PetscScalar a, PetscInt last = 0) { // in columns j to last
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
  put(7, 4.2); // a new value of an entry that counts
  EXPECT_LE(by.error(A), rounding);
  put(12, 0.5); // and one in place of a zero
  EXPECT_LE(by.error(A), rounding);
  put(12, 0);
  EXPECT_LE(by.error(A), rounding);
  put(700, 0.5); // reverse Cuthill-McKee finds a band
  EXPECT_LE(by.error(A), rounding);
  put(12, 0.5, 700); // and none of these
  OK(KSPSetOperators(by.ksp, A, A));
  const std::string refusal = error_of([&] { return KSPSetUp(by.ksp); });
  EXPECT_TRUE(
    contains(refusal, "multifrontal: the matrix is no chain: half-bandwidth 693 in its own order") &&
    contains(refusal, "(zeros that the matrix stores left out)"))
    << refusal;
  OK(MatDestroy(&A));
}

// The same for blocks, of which a copy as AIJ is kept, and zeros that make a band of 20 from one of 2.
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

#if !defined(PETSC_USE_COMPLEX)
/// Scales of a dense matrix, by rows, as it is factored: rows by their largest entries, and where the largest
/// entry of a column is below 1/16 then, rows and columns by Ruiz's rounds.
struct DenseScales {
  std::size_t              n;
  std::vector<long double> r, c;

  explicit DenseScales(const std::vector<PetscScalar> &A, PetscInt rows)
      : n(static_cast<std::size_t>(rows)), r(n, 1), c(n, 1)
  {
    std::vector<long double> of_rows(n), of_columns(n);
    const auto               largest = [&] {
      std::fill(of_rows.begin(), of_rows.end(), 0), std::fill(of_columns.begin(), of_columns.end(), 0);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          const long double a = std::fabs(static_cast<long double>(A[i * n + j])) * r[i] * c[j];
          of_rows[i] = std::max(of_rows[i], a), of_columns[j] = std::max(of_columns[j], a);
        }
    };
    largest();
    for (std::size_t i = 0; i < n; ++i) {
      int e = 0;
      std::frexp(of_rows[i], &e);
      r[i] = std::ldexp(1.L, -e);
    }
    largest();
    if (*std::min_element(of_columns.begin(), of_columns.end()) >= 1 / 16.L) return;
    std::fill(r.begin(), r.end(), 1);
    for (int k = 0; k < 30; ++k) {
      largest();
      for (std::size_t i = 0; i < n; ++i) {
        if (of_rows[i] > 0) r[i] /= std::sqrt(of_rows[i]);
        if (of_columns[i] > 0) c[i] /= std::sqrt(of_columns[i]);
      }
    }
  }
  /// ||b - A x|| / (||A|| ||x|| + ||b||) of the scaled system, of A or of its transpose.
  PetscReal error(const std::vector<PetscScalar> &A, bool transposed, const std::vector<PetscScalar> &x,
                  const std::vector<PetscScalar> &b) const
  {
    const auto &row = transposed ? c : r, &column = transposed ? r : c;
    long double as = 0, xs = 0, bs = 0, rs = 0;
    for (std::size_t i = 0; i < n; ++i) {
      long double residual = b[i], sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const long double a = A[transposed ? j * n + i : i * n + j];
        residual -= a * x[j], sum += std::fabs(a) * row[i] * column[j];
      }
      as = std::max(as, sum), xs = std::max(xs, std::fabs(x[i] / column[i])),
      bs = std::max(bs, std::fabs(b[i] * row[i]));
      if (!(std::fabs(residual * row[i]) <= rs)) rs = std::fabs(residual * row[i]); // NaN, too
    }
    return static_cast<PetscReal>(rs == 0 ? 0 : rs / (as * xs + bs));
  }
  /// 1 / (||A|| ||A^-1||) of the scaled matrix, maximum norms, by elimination in long
  /// double; 0 where a pivot is zero.
  PetscReal rcond(const std::vector<PetscScalar> &A) const
  {
    const std::size_t        m = 2 * n;
    std::vector<long double> a(n * m, 0);
    long double              size = 0, inverse = 0;
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = 0;
      for (std::size_t j = 0; j < n; ++j)
        a[i * m + j] = A[i * n + j] * r[i] * c[j], sum += std::fabs(a[i * m + j]);
      a[i * m + n + i] = 1, size = std::max(size, sum);
    }
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t p = k;
      for (std::size_t i = k; i < n; ++i)
        if (std::fabs(a[i * m + k]) > std::fabs(a[p * m + k])) p = i;
      if (a[p * m + k] == 0) return 0;
      std::swap_ranges(&a[k * m], &a[k * m] + m, &a[p * m]);
      for (std::size_t j = m; j-- > k;) a[k * m + j] /= a[k * m + k];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = m; i != k && a[i * m + k] != 0 && j-- > k;)
          a[i * m + j] -= a[i * m + k] * a[k * m + j];
    }
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::fabs(a[i * m + n + j]);
      inverse = std::max(inverse, sum);
    }
    return static_cast<PetscReal>(1 / (size * inverse));
  }
};

// Random bands with random scales of rows and columns, singular ones among them, beside LAPACK's getrf and
// getrs: nothing is accepted with errors above 1e-13 where LAPACK has less than 1e-15.
TEST_F(MultifrontalScales, NothingIsAcceptedThatLapackSolvesBetter) // one rank
{
  if (!is_double) GTEST_SKIP() << "the bounds are those of double precision";
  const char *cases    = std::getenv("RIBBON_MULTIFRONTAL_FUZZ");
  int         accepted = 0, singular_ones = 0;
  for (int number = 0; number < (cases ? std::atoi(cases) : 1500); ++number) {
    Draw           draw(static_cast<std::uint64_t>(number) + 17);
    const PetscInt n  = draw.of({1, 2, 3, 5, 8, 13, 20, 40, 80}),
                   kl = std::min<PetscInt>(draw.below(5), n - 1),
                   ku = std::min<PetscInt>(draw.below(5), n - 1), kind = draw.below(4);
    const auto               s = draw.of({0., 0., 2., 6., 8., 12.}), t = draw.of({0., 0., 2., 6., 8., 12.});
    const auto               N = static_cast<std::size_t>(n);
    std::vector<PetscScalar> a(N * N), x(N), y(N), b(N);
    for (std::size_t i = 0; i < N; ++i) { // random, dominant, integers, integers with sums of zero
      PetscScalar sum = 0;
      for (std::size_t j = i < static_cast<std::size_t>(kl) ? 0 : i - static_cast<std::size_t>(kl);
           j <= std::min(i + static_cast<std::size_t>(ku), N - 1); ++j)
        sum += a[i * N + j] =
          kind < 2 ? draw.real(-1, 1) + (kind == 1 && i == j ? static_cast<PetscReal>(kl + ku + 1) : 0)
                   : static_cast<PetscReal>(draw.between(-3, 3));
      if (kind == 3) a[i * N + i] -= sum;
      b[i] = draw.real(-1, 1);
    }
    std::vector<PetscReal> row(N), column(N);
    for (std::size_t i = 0; i < N; ++i)
      row[i]    = std::ldexp(1., static_cast<int>(3.3 * draw.real(-s, s))),
      column[i] = std::ldexp(1., static_cast<int>(3.3 * draw.real(-t, t))); // integers stay singular
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) a[i * N + j] *= row[i] * column[j];
    const bool        transposed = draw.one_in(2);
    const std::string leaf       = std::to_string(draw.of({0, 0, 1, 4, 6, 16}));
    const Option      size("-chain_mat_multifrontal_leaf_size", leaf);
    SCOPED_TRACE("case " + std::to_string(number) + ": n " + std::to_string(n) + " kl " + std::to_string(kl) +
                 " ku " + std::to_string(ku) + " kind " + std::to_string(kind) + " s " + std::to_string(s) +
                 " t " + std::to_string(t) + " leaf " + leaf);
    Mat A, D;
    OK(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, kl + ku + 1, nullptr, &A));
    for (PetscInt i = 0; i < n; ++i)
      for (PetscInt j = std::max<PetscInt>(0, i - kl); j <= std::min(i + ku, n - 1); ++j)
        OK(MatSetValue(A, i, j, a[static_cast<std::size_t>(i) * N + static_cast<std::size_t>(j)],
                       INSERT_VALUES));
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    OK(MatConvert(A, MATSEQDENSE, MAT_INITIAL_MATRIX, &D));
    Vec vb, vx, vy;
    OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, b.data(), &vb));
    OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, x.data(), &vx));
    OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, y.data(), &vy));
    {
      const ByOptions    by(A);
      KSPConvergedReason reason;
      OK(transposed ? KSPSolveTranspose(by.ksp, vb, vx) : KSPSolve(by.ksp, vb, vx));
      OK(KSPGetConvergedReason(by.ksp, &reason));
      // an error where a pivot is exactly zero
      const bool has_factors = MatLUFactor(D, nullptr, nullptr, nullptr) == 0;
      if (has_factors) {
        OK(transposed ? MatSolveTranspose(D, vb, vy) : MatSolve(D, vb, vy));
      }
      const DenseScales scales(a, n);
      const PetscReal   lapack = has_factors ? scales.error(a, transposed, y, b) : PETSC_INFINITY;
      singular_ones += kind == 3, accepted += reason > 0;
      if (kind == 3) {
        EXPECT_LT(reason, 0) << view_of(by.factor());
      }
      if (reason > 0 && lapack < 1e-15) {
        EXPECT_LE(scales.error(a, transposed, x, b), 1e-13) << "LAPACK has " << lapack << "\n"
                                                            << view_of(by.factor());
      }
      if (kind == 1 && (s == 0 || t == 0)) { // units make no matrix singular
        EXPECT_GT(reason, 0) << view_of(by.factor());
      }
      if (reason < 0 && kind != 3) { // scales are not unique
        EXPECT_LE(scales.rcond(a), 10 * static_cast<PetscReal>(n) * PETSC_MACHINE_EPSILON)
          << view_of(by.factor());
      }
    }
    for (Vec *v : {&vb, &vx, &vy}) OK(VecDestroy(v));
    OK(MatDestroy(&A));
    OK(MatDestroy(&D));
  }
  EXPECT_GE(accepted, 400);
  EXPECT_GE(singular_ones, 200);
}
#endif

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
          if (kind == 3 && s > 0) continue; // powers of ten round entries, and zero is not zero
          const Option size("-chain_mat_multifrontal_leaf_size", leaf),
            how("-chain_mat_multifrontal_pivot", pivot);
          RandomChain chain{n, 1, 1, false, 1, Values::wave};
          Mat         A = chain.matrix();
          PetscInt    first, end;
          OK(MatGetOwnershipRange(A, &first, &end));
          // tridiag(.4, 1, .4); diagonal of alternating signs; pairs [[0, 1], [1, 0]] that couple with
          // nothing; neighbours that the same unknown is
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
