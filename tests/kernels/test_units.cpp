// SPDX-License-Identifier: BSD-2-Clause
// Equations and unknowns in different units. Scaling rows and columns by powers of ten changes neither
// refusals nor the accuracy of solutions, compared with LAPACK.
#include "units.hpp"

#include <gtest/gtest.h>

using namespace test;
using ribbon::Lhs;

namespace {

/// Dominant matrices in other units by every algorithm. Each unknown is as accurate as in the original
/// units.
template <class Scalar>
void expect_digits_in_any_units(int kl, int ku, int block, bool periodic, Lhs lhs,
                                const std::string &algorithm, double exponent)
{
  constexpr std::int64_t lines = 4, n = 60;
  const std::uint64_t    seed =
    static_cast<std::uint64_t>(1000 * kl + 100 * ku + 10 * block) + (periodic ? 1 : 0);
  SCOPED_TRACE(testing::Message() << algorithm << ", kl " << kl << ", ku " << ku << ", block " << block
                                  << (periodic ? ", ring, " : ", ") << to_string(lhs) << ", 10^+-" << exponent
                                  << ", " << sizeof(Scalar) << " bytes, seed " << seed);
  std::mt19937_64 g(seed);
  auto            bands    = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic);
  const auto      unknowns = static_cast<std::size_t>(n * block), matrices = bands.values.extent(0);
  assign(g, bands, lhs, lines);
  // the same units for both shifted matrices
  std::vector<std::vector<double>> columns(matrices, units(g, unknowns, exponent, true));
  for (std::size_t c = 0; c < matrices; ++c) {
    if (lhs != Lhs::shifted) columns[c] = units(g, unknowns, exponent, true);
    multiply(bands, c, units(g, unknowns, lhs == Lhs::shifted ? 0 : exponent, true), columns[c]);
  }
  const auto set = ribbon::LineSet::interleaved(n, lines).with_components(block);
  const auto own = expanded(bands);
  // b = A x with x = y / columns, y of size 1
  std::vector<Scalar> y(static_cast<std::size_t>(set.unknowns())), b(y.size(), Scalar(0));
  for (auto &v : y) v = random_scalar<Scalar>(g);
  const auto at = [&](std::int64_t l, std::int64_t i, int a) {
    return static_cast<std::size_t>(set(l, (i + n) % n) + a * set.component_stride);
  };
  const auto unit = [&](std::int64_t l, std::int64_t i, int a) {
    return columns[static_cast<std::size_t>(lhs == Lhs::shifted ? 0 : matrix_of(own, l))]
                  [static_cast<std::size_t>((i + n) % n * block + a)];
  };
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < n; ++i)
      for (int d = -kl; d <= ku; ++d)
        for (int a = 0; a < block; ++a)
          for (int q = 0; q < block && (periodic || (i + d >= 0 && i + d < n)); ++q) {
            const Scalar e =
              own.values(static_cast<std::size_t>(matrix_of(own, l)), static_cast<std::size_t>(i),
                         static_cast<std::size_t>(((d + kl) * block + a) * block + q));
            b[at(l, i, a)] +=
              e * (y[at(l, i + d, q)] / static_cast<ribbon::real_t<Scalar>>(unit(l, i + d, q)));
          }
  ribbon::LineSolver<Scalar, Exec> solver;
  ASSERT_NO_THROW(solver = (ribbon::LineSolver<Scalar, Exec>(Exec(), set, to_device(bands), {algorithm})));
  ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << ", " << solver.report().reason
                                    << ", pivot " << solver.report().smallest_pivot << ", rcond "
                                    << solver.report().rcond;
  const auto x     = solve(solver, b);
  double     worst = 0;
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < n; ++i)
      for (int a = 0; a < block; ++a) {
        const auto k = at(l, i, a);
        worst        = std::max(worst, static_cast<double>(ribbon::magnitude(
                                         x[k] * static_cast<ribbon::real_t<Scalar>>(unit(l, i, a)) - y[k])));
      }
  // Scaling reduces 10^24 to a factor of 100 between neighbours (column_scale.hpp). Dominant matrices have
  // condition numbers of about 100.
  const double roundoff = static_cast<double>(ribbon::unit_roundoff<Scalar>());
  EXPECT_LE(worst, (algorithm == "pivoted" ? 2e5 : 2e3) * roundoff) << solver.report().algorithm;
}

TEST(Units, DominantMatricesKeepEveryDigit)
{
  const int systems[][3] = {{1, 1, 1}, {2, 2, 1}, {2, 1, 1}, {4, 4, 1}, {1, 1, 2}, {1, 1, 3}};
  for (const auto &[kl, ku, block] : systems)
    for (bool periodic : {false, true})
      for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
        for (const std::string algorithm : {"auto", "thomas", "one_pass", "pivoted"}) {
          const bool in_flight = lhs == Lhs::per_line || lhs == Lhs::shifted;
          // There is no kernel, or units of equations differ.
          if (algorithm == "one_pass" && (block == 3 || (block == 2 && in_flight))) continue;
          for (double exponent : {3.0, 8.0, 12.0})
            expect_digits_in_any_units<double>(kl, ku, block, periodic, lhs, algorithm, exponent);
          expect_digits_in_any_units<Kokkos::complex<double>>(kl, ku, block, periodic, lhs, algorithm, 8);
          expect_digits_in_any_units<float>(kl, ku, block, periodic, lhs, algorithm, 3);
        }
}

/// [[2e-16, -1], [-1e-16, 2]] is well-conditioned except for units.
TEST(Units, TwoByTwo)
{
  HostBands<double> bands;
  bands.values          = decltype(bands.values)("test::bands", 1, 2, 3);
  bands.values(0, 0, 1) = 2e-16, bands.values(0, 0, 2) = -1, bands.values(0, 1, 0) = -1e-16,
                     bands.values(0, 1, 1) = 2;
  for (const char *algorithm : {"auto", "thomas", "pivoted"}) {
    const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(2, 1),
                                                  to_device(bands), {algorithm});
    ASSERT_TRUE(solver.report().ok()) << algorithm;
    const auto x = solve(solver, {1.0, 1.0});
    EXPECT_NEAR(x[0] * 1e-16, 1, 1e-14) << algorithm;
    EXPECT_NEAR(x[1], 1, 1e-14) << algorithm;
    EXPECT_NEAR(solver.report().log_abs_det, std::log(3e-16), 1e-12) << algorithm;
    EXPECT_GT(solver.report().rcond, 0.05) << algorithm;
  }
}

/// Entries that are tiny in their rows and in their columns are not units, although scales that weigh all
/// entries treat them as such. The solution is that in the given units, with condition numbers of 64 and
/// 10^3.
TEST(Units, TinyEntriesAreNone)
{
  const double matrices[][3][3] = {
    {{0, 2, 5.802306177859959e-19}, {0.06448876455234769, 2, -1.1604612355719919e-18}, {0, 0, 1}},
    {{0, 1e-20, 1}, {0, 1, 0}, {1e-3, 1e-20, 1}},
    {{0, 1e-30, 1}, {0, 1, 0}, {1e-3, 1e-30, 1}}};
  for (const auto &A : matrices)
    for (const char *algorithm : {"auto", "pivoted"}) {
      HostBands<double>   bands;
      std::vector<double> b(3, 0);
      bands.values = decltype(bands.values)("test::bands", 1, 3, 5);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          bands.values(0, static_cast<std::size_t>(i),
                       static_cast<std::size_t>(j - i + 2)) = A[i][j],
                                                        b[static_cast<std::size_t>(i)] += A[i][j];
      const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(3, 1),
                                                    to_device(bands), {algorithm});
      ASSERT_TRUE(solver.report().ok()) << algorithm << ", " << solver.report().reason;
      const auto x = solve(solver, b);
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(x[static_cast<std::size_t>(i)], 1, 1e-11)
          << algorithm << ", unknown " << i << " of " << A[2][0];
    }
}

/// The units of another line do not change a line that needs no scale.
TEST(Units, LinesAreScaledByThemselves)
{
  const double p       = std::ldexp(1, -21);
  const double a[3][3] = {{0, p, 0}, {-std::ldexp(1, 22), -p / 2, 0}, {0, -p, -std::ldexp(1, 20)}};
  const double c[3][3] = {{p / 8, 2, 0}, {-p / 4, -4, std::ldexp(1, -12)}, {0, -4, std::ldexp(1, -13)}};
  const double b[3]    = {-1.064e-08, 5.657e+06, 5.540e+05};
  const auto   solved  = [&](bool together, const char *algorithm) {
    const std::size_t   lines = together ? 2 : 1;
    HostBands<double>   bands;
    std::vector<double> right(3 * lines, 1);
    bands.lhs = Lhs::per_line, bands.values = decltype(bands.values)("test::bands", lines, 3, 3);
    for (int i = 0; i < 3; ++i) {
      for (int d = -1; d <= 1; ++d) {
        if (i + d < 0 || i + d > 2) continue;
        bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(d + 1)) = a[i][i + d];
        if (together)
          bands.values(1, static_cast<std::size_t>(i), static_cast<std::size_t>(d + 1)) = c[i][i + d];
      }
      right[static_cast<std::size_t>(i) * lines] = b[i];
    }
    const ribbon::LineSolver<double, Exec> solver(
         Exec(), ribbon::LineSet::interleaved(3, static_cast<std::int64_t>(lines)), to_device(bands),
         {algorithm});
    EXPECT_TRUE(solver.report().ok()) << algorithm;
    const auto x = solve(solver, right);
    return std::vector<double>{x[0], x[lines], x[2 * lines]};
  };
  for (const char *algorithm : {"auto", "pivoted"}) {
    const auto alone = solved(false, algorithm), together = solved(true, algorithm);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(together[i], alone[i], 1e-13 * std::abs(alone[i])) << algorithm << ", unknown " << i;
  }
}

/// No single column shows units that change along a line. Every algorithm is as accurate as the condition
/// number allows.
TEST(Units, ThatChangeAlongALine)
{
  for (const bool laplacian : {true, false})
    for (const std::int64_t n : {8, 32, 100})
      for (const int step : {-8, -3, -1, 1, 2, 8})
        for (const std::string algorithm : {"auto", "thomas", "pivoted"}) {
          SCOPED_TRACE(testing::Message() << (laplacian ? "Laplacian" : "dominant") << ", n " << n
                                          << ", columns times 2^(" << step << " i), " << algorithm);
          std::mt19937_64 g(static_cast<std::uint64_t>(n));
          auto bands = random_system<double>(g, 1, n, laplacian ? 1 : 2, laplacian ? 1 : 2, 1, false);
          for (std::size_t i = 0; laplacian && i < static_cast<std::size_t>(n); ++i)
            for (std::size_t d = 0; d < 3; ++d) bands.values(0, i, d) = d == 1 ? 2 : -1;
          std::vector<double> columns, y, b(static_cast<std::size_t>(n), 0);
          for (std::int64_t i = 0; i < n; ++i)
            columns.push_back(std::ldexp(1.0, static_cast<int>(step * i))),
              y.push_back(random_scalar<double>(g));
          const auto B = ribbon::reference::dense(bands, 0);
          for (std::size_t i = 0; i < b.size(); ++i)
            for (std::size_t j = 0; j < b.size(); ++j) b[i] += B[i * b.size() + j] * y[j];
          multiply(bands, 0, std::vector<double>(b.size(), 1.0), columns);
          const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(n, 1),
                                                        to_device(bands), {algorithm});
          ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << ", " << solver.report().reason;
          const auto x     = solve(solver, b);
          double     worst = 0;
          for (std::size_t i = 0; i < b.size(); ++i)
            worst = std::max(worst, std::abs(x[i] * columns[i] - y[i]));
          // Errors within chunks are relative to the largest unknown.
          const double tolerance = solver.report().algorithm == "one_pass" ? 1e-13 : 1e-15;
          EXPECT_LE(worst, tolerance * static_cast<double>(laplacian ? n * n : 100))
            << solver.report().algorithm;
        }
}

/// A matrix that is refused in the given units and regular in others is solved, also next to a singular
/// line.
TEST(Units, SaveMatricesThatAreRefusedWithout)
{
  const int exponents[][3] = {{30, -23, -26}, {0, -53, -56}, {40, 0, -40}};
  for (const auto &e : exponents)
    for (const bool next_to_singular : {false, true})
      for (const char *algorithm : {"auto", "thomas", "pivoted"}) {
        SCOPED_TRACE(testing::Message()
                     << "columns times 2^" << e[0] << ", 2^" << e[1] << ", 2^" << e[2] << ", " << algorithm
                     << (next_to_singular ? ", next to a singular line" : ""));
        const std::size_t   lines = next_to_singular ? 2 : 1;
        HostBands<double>   bands;
        std::vector<double> b(3 * lines, 1);
        bands.lhs = Lhs::per_line, bands.values = decltype(bands.values)("test::bands", lines, 3, 3);
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t d = 0; d < 3; ++d) {
            if (i + d < 1 || i + d > 3) continue;
            bands.values(0, i, d) = std::ldexp(d == 1 ? 2.0 : -1.0, e[i + d - 1]);
            // rows sum to zero
            if (next_to_singular) bands.values(1, i, d) = d == 1 && i != 1 ? 1 : d == 1 ? 2 : -1;
          }
        const ribbon::LineSolver<double, Exec> solver(
          Exec(), ribbon::LineSet::interleaved(3, static_cast<std::int64_t>(lines)), to_device(bands),
          {algorithm});
        EXPECT_EQ(solver.report().ok(), !next_to_singular) << solver.report().reason;
        const auto   x   = solve(solver, b);
        const double y[] = {1.5, 2, 1.5};
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_NEAR(std::ldexp(x[i * lines], e[i]), y[i], 1e-14) << i;
          EXPECT_EQ(std::isnan(x[i * lines + lines - 1]), next_to_singular) << i;
        }
      }
}

/// If no column is small, no scales are stored and the factors do not change.
TEST(Units, DominantRowsHaveNoScales)
{
  std::mt19937_64 g(5);
  auto            bands = random_system<double>(g, 1, 50, 2, 2, 1, false);
  const auto      set   = ribbon::LineSet::interleaved(50, 3);
  const auto before = ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), {"thomas"}).report();
  multiply(bands, 0, units(g, 50, 8, true), std::vector<double>(50, 1.0));
  const auto rows = ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), {"thomas"}).report();
  EXPECT_EQ(rows.bytes, before.bytes);
  multiply(bands, 0, std::vector<double>(50, 1.0), units(g, 50, 8, true));
  const auto columns = ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), {"thomas"}).report();
  EXPECT_GT(columns.bytes, before.bytes);
}

} // namespace
