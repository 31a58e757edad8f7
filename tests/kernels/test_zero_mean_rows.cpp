// SPDX-License-Identifier: BSD-2-Clause
// singular = "zero_mean": lines whose left null vector spans many powers of ten, because of rows of
// different sizes or because of drift.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace test;

namespace {

/// Rows with coefficients of 1 to 10^j, whose left null vector spans many more powers of ten. Consistent
/// right-hand sides are solved to rounding, or the lines are reported.
TEST(ZeroMean, RowsInAnyUnits)
{
  constexpr std::int64_t n        = 150;
  int                    accepted = 0, cases = 0;
  for (int j : {2, 4, 6})
    for (std::uint64_t seed = 0; seed < 60; ++seed)
      for (const char *algorithm : {"auto", "thomas", "pivoted"}) {
        std::mt19937_64                          g(seed);
        std::uniform_real_distribution<double>   u(0, j);
        ribbon::Bands<double, Kokkos::HostSpace> bands;
        bands.periodic = seed % 2 == 1, bands.values = decltype(bands.values)("test::bands", 1, n, 3);
        for (std::size_t i = 0; i < n; ++i) {
          double &lower = bands.values(0, i, 0), &upper = bands.values(0, i, 2);
          lower                 = bands.periodic || i > 0 ? -std::pow(10.0, u(g)) : 0,
          upper                 = bands.periodic || i + 1 < n ? -std::pow(10.0, u(g)) : 0;
          bands.values(0, i, 1) = -(lower + upper);
        }
        ribbon::LineSolverOptions options;
        options.algorithm = algorithm, options.singular = "zero_mean";
        const auto                             set = ribbon::LineSet::interleaved(n, 1);
        const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
        ++cases;
        if (!solver.report().ok()) continue;
        ++accepted;
        std::vector<double> y(n), b(n, 0);
        for (double &v : y) v = random_scalar<double>(g);
        for (std::int64_t i = 0; i < n; ++i)
          for (int d = -1; d <= 1; ++d)
            b[static_cast<std::size_t>(i)] +=
              bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(d + 1)) *
              y[static_cast<std::size_t>((i + d + n) % n)];
        EXPECT_LE(line_error(bands, set, 0, solve(solver, b), b), 1e-13)
          << algorithm << ", 10^" << j << ", seed " << seed;
      }
  EXPECT_GT(accepted, cases / 2);
}

/// Rows in different units. The least squares solution is accurate for an inconsistent b, although the
/// solution of the matrix with a replaced row is larger by the ratio of the rows.
template <class Scalar>
void check_rows_of_different_sizes(int apart, double tolerance)
{
  constexpr std::size_t n = 12, lines = 3;
  SCOPED_TRACE(testing::Message() << sizeof(Scalar) << " bytes, one row times 2^-" << apart);
  ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
  bands.lhs = ribbon::Lhs::per_line, bands.values = decltype(bands.values)("test::bands", lines, n, 3);
  std::mt19937_64     g(3);
  std::vector<Scalar> b;
  std::vector<double> expected(n * lines), left(lines);
  for (std::size_t k = 0; k < n * lines; ++k) b.push_back(random_scalar<Scalar>(g));
  for (std::size_t line = 0; line < lines; ++line) {
    long double product = 0, norm = 0, flux = 0, mean = 0, value = 0;
    const auto  size = [&](std::size_t i) { return i == 5 * line ? std::ldexp(1.0L, -apart) : 1.0L; };
    for (std::size_t i = 0; i < n; ++i) { // l_i = 1 / size(i)
      bands.values(line, i, 0)                       = i > 0 ? Scalar(-size(i)) : Scalar(0),
                            bands.values(line, i, 2) = i + 1 < n ? Scalar(-size(i)) : Scalar(0);
      bands.values(line, i, 1)                       = -bands.values(line, i, 0) - bands.values(line, i, 2);
      product += b[i * lines + line] / size(i), norm += 1 / (size(i) * size(i));
    }
    std::vector<long double> f(n); // A x for rows of size 1; these sum to zero
    for (std::size_t i = 0; i < n; ++i) f[i] = (b[i * lines + line] - product / norm / size(i)) / size(i);
    f[5 * line] -= std::accumulate(f.begin(), f.end(), 0.0L); // corrects the rounding
    for (std::size_t i = 0; i < n; ++i) {
      expected[i * lines + line] = static_cast<double>(value), mean += value / n;
      flux += f[i], value -= flux;
    }
    for (std::size_t i = 0; i < n; ++i) expected[i * lines + line] -= static_cast<double>(mean);
    left[line] = static_cast<double>(std::abs(product) / std::sqrt(norm));
  }
  for (const char *algorithm : {"auto", "thomas", "pivoted"}) {
    ribbon::LineSolverOptions options;
    options.algorithm = algorithm, options.singular = "zero_mean";
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), ribbon::LineSet::interleaved(n, lines),
                                                  to_device(bands), options);
    ASSERT_TRUE(solver.report().ok()) << algorithm << ", " << solver.report().reason;
    for (const bool in_place : {false, true}) {
      const auto x = solve(solver, b, in_place);
      for (std::size_t line = 0; line < lines; ++line) {
        double largest = 0, error = 0;
        for (std::size_t i = 0; i < n; ++i)
          largest = std::max(largest, std::abs(expected[i * lines + line])),
          error   = std::max(error, std::abs(x[i * lines + line] - expected[i * lines + line]));
        EXPECT_LE(error, tolerance * largest) << algorithm << ", line " << line;
      }
      EXPECT_NEAR(solver.inconsistency(Exec()), *std::max_element(left.begin(), left.end()), tolerance);
    }
  }
}
TEST(ZeroMean, RowsOfDifferentSizes)
{
  check_rows_of_different_sizes<double>(0, 1e-13);
  check_rows_of_different_sizes<double>(30, 1e-12);
  check_rows_of_different_sizes<float>(14, 1e-3);
}

// Neumann lines with drift. The left null vector grows from one end, or to the middle, so that the choice
// of the replaced row matters. In exact arithmetic any row would do.
TEST(ZeroMean, DriftInEveryDirection)
{
  for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line})
    for (double drift : {0.125, 0.5, 2., 8.}) // ratio of upper to lower entries
      for (std::int64_t n : {10, 40, 100, 300, 1000})
        for (bool to_middle : {false, true}) {
          // The two ends hardly couple: singular to rounding for any replaced row.
          if (to_middle && drift < 1) continue;
          SCOPED_TRACE(testing::Message() << ribbon::to_string(lhs) << ", drift " << drift << ", n " << n
                                          << (to_middle ? ", to the middle" : ""));
          const std::int64_t lines = 2;
          auto               bands = toeplitz(n, {0, 0, 0}, false);
          bands.lhs                = lhs;
          bands.values             = decltype(bands.values)("values", lhs == ribbon::Lhs::shared ? 1 : 2,
                                                static_cast<std::size_t>(n), 3);
          for (std::size_t c = 0; c < bands.values.extent(0); ++c)
            for (std::int64_t i = 0; i < n; ++i) {
              const auto   k        = static_cast<std::size_t>(i);
              const double ratio    = to_middle && i > n / 2 ? 1 / drift : drift;
              bands.values(c, k, 0) = i > 0 ? -1 : 0, bands.values(c, k, 2) = i + 1 < n ? -ratio : 0;
              bands.values(c, k, 1) = -bands.values(c, k, 0) - bands.values(c, k, 2);
            }
          const auto                set = ribbon::LineSet::interleaved(n, lines);
          ribbon::LineSolverOptions options;
          options.singular = "zero_mean";
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
          ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
          ASSERT_EQ(solver.report().singular_lines, lines);
          std::mt19937_64     g(1);
          std::vector<double> y(static_cast<std::size_t>(set.unknowns())), b(y.size());
          for (std::int64_t l = 0; l < lines; ++l) {
            double mean = 0;
            for (std::int64_t i = 0; i < n; ++i)
              mean +=
                (y[static_cast<std::size_t>(set(l, i))] = random_scalar<double>(g)) / static_cast<double>(n);
            for (std::int64_t i = 0; i < n; ++i) y[static_cast<std::size_t>(set(l, i))] -= mean;
            for (std::int64_t i = 0; i < n; ++i)
              for (int d = -1; d <= 1; ++d)
                if (i + d >= 0 && i + d < n)
                  b[static_cast<std::size_t>(set(l, i))] +=
                    bands.values(static_cast<std::size_t>(matrix_of(bands, l)), static_cast<std::size_t>(i),
                                 static_cast<std::size_t>(d + 1)) *
                    y[static_cast<std::size_t>(set(l, i + d))];
          }
          const auto x = solve(solver, b);
          for (std::int64_t l = 0; l < lines; ++l) EXPECT_LE(line_error(bands, set, l, x, b), 1e-14);
          EXPECT_LE(solver.inconsistency(Exec()), 1e-12 * std::max(drift, 1 / drift));
        }
}

} // namespace
