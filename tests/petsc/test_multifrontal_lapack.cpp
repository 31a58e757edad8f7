// SPDX-License-Identifier: BSD-2-Clause
// The solver type multifrontal compared with LAPACK for random bands with random scales of rows and
// columns, some of them singular. RIBBON_MULTIFRONTAL_FUZZ sets their number.
#include "chain_fixture.hpp"

#include <cmath>
#include <cstdlib>

using namespace test;

namespace {

#if !defined(PETSC_USE_COMPLEX)
/// Scales of a dense matrix, by rows, as the solver computes them. Rows are scaled by their largest
/// entries. If the largest entry of a column is below 1/16 then, Ruiz's iteration scales rows and columns.
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
      // The negation includes NaN.
      if (!(std::fabs(residual * row[i]) <= rs)) rs = std::fabs(residual * row[i]);
    }
    return static_cast<PetscReal>(rs == 0 ? 0 : rs / (as * xs + bs));
  }
  /// 1 / (||A|| ||A^-1||) of the scaled matrix in maximum norms, by elimination in long double. 0 if a
  /// pivot is zero.
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

// Random bands with random scales of rows and columns, some of them singular, compared with LAPACK's getrf
// and getrs. The solver accepts no error above 1e-13 where LAPACK has less than 1e-15.
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
    for (std::size_t i = 0; i < N; ++i) { // random, dominant, integers, integers with row sums of zero
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
      // LAPACK returns an error if a pivot is exactly zero.
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

} // namespace
