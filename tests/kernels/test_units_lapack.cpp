// SPDX-License-Identifier: BSD-2-Clause
// `auto` compared with LAPACK for random systems in random units, some of them singular: backward errors
// and refusals. RIBBON_UNITS sets the number of random systems.
#include "units.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

using namespace test;

namespace {

/// A matrix by LAPACK and by auto: backward errors of the matrix with scaled rows and columns, and of the
/// worst row (componentwise). rcond is that of the scaled matrix, only for refused ones.
struct Comparison {
  double mine = 0, theirs = 0, my_worst_row = 0, their_worst_row = 0, rcond = 0;
  bool   accepted = false, solved_by_lapack = false;

  std::string algorithm;
};

/// Scales of rows and columns of a dense matrix.
struct Scales {
  std::vector<double> r, c;
};

/// Scales for which means of fourth roots of rows and columns are 1, as in column_scale.hpp.
Scales scales_of_means(const std::vector<double> &A, std::size_t n)
{
  Scales s{std::vector<double>(n, 1), std::vector<double>(n, 1)};
  for (int half = 0; half < 64; ++half)
    for (std::size_t k = 0; k < n; ++k) {
      double sum = 0, count = 0;
      for (std::size_t e = 0; e < n; ++e) {
        const double a = std::abs(half % 2 == 0 ? A[k * n + e] * s.c[e] : A[e * n + k] * s.r[e]);
        if (a > 0) sum += std::sqrt(std::sqrt(a)), ++count;
      }
      if (count > 0) (half % 2 == 0 ? s.r : s.c)[k] = std::pow(count / sum, 4);
    }
  return s;
}

/// Scales for which the largest entries of rows and columns are 1 (Ruiz, Rutherford Appleton Laboratory
/// report 2001-034).
Scales scales_of_maxima(const std::vector<double> &A, std::size_t n)
{
  Scales s{std::vector<double>(n, 1), std::vector<double>(n, 1)};
  for (int sweep = 0; sweep < 20; ++sweep) {
    std::vector<double> rows(n, 0), columns(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double a = std::abs(A[i * n + j]) * s.r[i] * s.c[j];
        rows[i] = std::max(rows[i], a), columns[j] = std::max(columns[j], a);
      }
    for (std::size_t i = 0; i < n; ++i)
      s.r[i] /= rows[i] > 0 ? std::sqrt(rows[i]) : 1, s.c[i] /= columns[i] > 0 ? std::sqrt(columns[i]) : 1;
  }
  return s;
}

double largest(const std::vector<double> &v)
{
  double m = 0;
  for (double a : v) m = !(std::abs(a) <= m) ? std::abs(a) : m;
  return m;
}

/// Backward error of the scaled matrix, with residuals in extended precision.
double error_on(const Scales &s, const std::vector<double> &A, const std::vector<double> &x,
                const std::vector<double> &b)
{
  const std::size_t   n = x.size();
  std::vector<double> residual(n), scaled_x(n), scaled_b(n), sums(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = b[i];
    for (std::size_t j = 0; j < n; ++j)
      sum -= static_cast<long double>(A[i * n + j]) * x[j],
        sums[i] += std::abs(A[i * n + j]) * s.r[i] * s.c[j];
    residual[i] = static_cast<double>(sum) * s.r[i], scaled_x[i] = x[i] / s.c[i], scaled_b[i] = b[i] * s.r[i];
  }
  return largest(residual) / (largest(sums) * largest(scaled_x) + largest(scaled_b));
}

/// The largest |b - A x|_i / (|A| |x| + |b|)_i, with residuals in extended precision.
double error_of_worst_row(const std::vector<double> &A, const std::vector<double> &x,
                          const std::vector<double> &b)
{
  const std::size_t n     = x.size();
  long double       worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = b[i], size = std::abs(b[i]);
    for (std::size_t j = 0; j < n; ++j) {
      const long double product = static_cast<long double>(A[i * n + j]) * x[j];
      sum -= product, size += std::abs(product);
    }
    if (size > 0) worst = std::max(worst, std::abs(sum) / size);
  }
  return static_cast<double>(worst);
}

/// 1 / (||A|| ||A^-1||) of the scaled matrix in the maximum norm, by Gauss-Jordan elimination in extended
/// precision.
double reciprocal_condition(const Scales &s, const std::vector<double> &A, std::size_t n)
{
  std::vector<long double> a(n * n), inverse(n * n, 0);
  long double              norm = 0, norm_of_inverse = 0;
  const auto               largest_sum = [n](const std::vector<long double> &m) {
    long double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::abs(m[i * n + j]);
      most = std::max(most, sum);
    }
    return most;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      a[i * n + j] = static_cast<long double>(A[i * n + j]) * s.r[i] * s.c[j], inverse[i * n + j] = i == j;
  norm = largest_sum(a);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[p * n + k])) p = i;
    if (a[p * n + k] == 0) return 0;
    for (std::size_t j = 0; j < n; ++j)
      std::swap(a[p * n + j], a[k * n + j]), std::swap(inverse[p * n + j], inverse[k * n + j]);
    const long double pivot = a[k * n + k];
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] /= pivot, inverse[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const long double f = a[i * n + k];
      if (i == k || f == 0) continue;
      for (std::size_t j = 0; j < n; ++j)
        a[i * n + j] -= f * a[k * n + j], inverse[i * n + j] -= f * inverse[k * n + j];
    }
  }
  norm_of_inverse = largest_sum(inverse);
  return static_cast<double>(1 / (norm * norm_of_inverse));
}

Comparison compare(std::mt19937_64 &g, const HostBands<double> &bands)
{
  Comparison          found;
  const std::size_t   n     = static_cast<std::size_t>(bands.rows());
  const auto          A     = ribbon::reference::dense(bands, 0);
  const Scales        means = scales_of_means(A, n), maxima = scales_of_maxima(A, n);
  std::vector<double> b(n, 0), y(n);
  for (double &v : y) v = random_scalar<double>(g);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) b[i] += A[i * n + j] * means.c[j] * y[j];
  const auto theirs      = by_lapack(bands, b);
  found.solved_by_lapack = !theirs.empty();
  if (found.solved_by_lapack)
    found.theirs = error_on(means, A, theirs, b), found.their_worst_row = error_of_worst_row(A, theirs, b);
  const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(bands.rows(), 1),
                                                to_device(bands));
  const auto                            &report = solver.report();
  found.accepted = report.ok(), found.rcond = report.rcond,
  found.algorithm = report.algorithm + ", " + report.reason;
  if (found.accepted) {
    const auto x       = solve(solver, b);
    found.mine         = std::max(error_on(means, A, x, b), error_on(maxima, A, x, b));
    found.my_worst_row = error_of_worst_row(A, x, b);
  } else found.rcond = std::max(reciprocal_condition(means, A, n), reciprocal_condition(maxima, A, n));
  return found;
}

TEST(Units, AutoNextToLapack)
{
  const char *const  text     = std::getenv("RIBBON_UNITS");
  const std::int64_t count    = text ? std::atoll(text) : 1500;
  std::int64_t       accepted = 0, refused = 0, well_conditioned = 0, accepted_singular = 0, worse_rows = 0;
  Comparison         worst;
  for (std::int64_t seed = 0; seed < count; ++seed) {
    std::mt19937_64 g(static_cast<std::uint64_t>(seed) + 77);
    const auto      below = [&](int k) { return static_cast<int>(g() % static_cast<std::uint64_t>(k)); };
    const int       kl = below(4), ku = below(4);
    const auto      n        = static_cast<std::int64_t>(1 + below(80));
    const bool      periodic = below(2) == 1, singular = below(8) == 0;
    auto            bands    = random_system<double>(g, 1, n, kl, ku, 1, periodic);
    const bool      dominant = below(2) == 1;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      auto   at  = [&](int d) -> double    &{
        return bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(d + kl));
      };
      if (!dominant) at(0) = random_scalar<double>(g);
      for (int d = -kl; d <= ku; ++d)
        if (d != 0) {
          if (singular) at(d) = below(7) - 3; // rows of integers, for which every sum is exact
          if (periodic || (i + d >= 0 && i + d < n)) sum += at(d);
        }
      if (singular) at(0) = -sum;
    }
    multiply(bands, 0, units(g, static_cast<std::size_t>(n), below(9), singular),
             units(g, static_cast<std::size_t>(n), below(9), singular));
    const Comparison found = compare(g, bands);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", n " << n << ", kl " << kl << ", ku " << ku
                                    << (periodic ? ", ring" : "")
                                    << (singular   ? ", singular"
                                        : dominant ? ", dominant"
                                                   : ""));
    if (found.accepted) {
      ++accepted, accepted_singular += singular;
      if (singular)
        std::printf("singular, and accepted: seed %lld, n %lld, kl %d, ku %d%s, rcond %.1e, %s\n",
                    static_cast<long long>(seed), static_cast<long long>(n), kl, ku, periodic ? ", ring" : "",
                    found.rcond, found.algorithm.c_str());
      EXPECT_TRUE(found.mine <= 1e-13 || found.theirs > 1e-15)
        << "LAPACK " << found.theirs << ", auto " << found.mine << ", " << found.algorithm << ", rcond "
        << found.rcond;
      if (!found.solved_by_lapack) continue;
      worst.mine = std::max(worst.mine, found.mine), worst.theirs = std::max(worst.theirs, found.theirs);
      worst.my_worst_row    = std::max(worst.my_worst_row, found.my_worst_row),
      worst.their_worst_row = std::max(worst.their_worst_row, found.their_worst_row);
      worse_rows += found.my_worst_row > 1e-13 && found.their_worst_row < 1e-15;
    } else {
      ++refused;
      if (found.rcond < static_cast<double>(n) * std::numeric_limits<double>::epsilon()) continue;
      ++well_conditioned;
      std::printf("refused: seed %lld, n %lld, kl %d, ku %d, rcond %.1e, LAPACK %.1e, %s\n",
                  static_cast<long long>(seed), static_cast<long long>(n), kl, ku, found.rcond, found.theirs,
                  found.algorithm.c_str());
      EXPECT_LE(found.rcond, 1e-12) << "refused without need; LAPACK " << found.theirs << ", "
                                    << found.algorithm;
    }
  }
  const auto number = [](std::int64_t k) { return static_cast<long long>(k); };
  std::printf("%lld systems: %lld accepted (%lld singular by construction), %lld refused, of these %lld with "
              "rcond of at least n epsilon\n",
              number(count), number(accepted), number(accepted_singular), number(refused),
              number(well_conditioned));
  std::printf("largest backward errors of accepted systems: normwise auto %.1e, LAPACK %.1e; componentwise "
              "auto %.1e, LAPACK %.1e\n",
              worst.mine, worst.theirs, worst.my_worst_row, worst.their_worst_row);
  std::printf("componentwise above 1e-13 where LAPACK is below 1e-15: %lld\n", number(worse_rows));
  EXPECT_GT(accepted, count * 3 / 4);
  EXPECT_GT(refused, 0);
}

} // namespace
