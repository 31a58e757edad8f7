// SPDX-License-Identifier: BSD-2-Clause
// Matrices of one stencil except for a few rows at their ends. These rows and one of the others are stored.
// Covers solutions, memory, transposes, and refusals.
#include "batch.hpp"

#include <ribbon/distributed/cut_lines.hpp>
#include <ribbon/matrix/shifted_classes.hpp>
#include <ribbon/matrix/transpose.hpp>

#include <gtest/gtest.h>

#include <limits>

using namespace test;
using ribbon::Lhs;
using ribbon::LineSet;

namespace {

/// Matrices whose rows agree except for `ends` rows at either end, stored with all rows.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> all_rows(const ribbon::Bands<Scalar, Kokkos::HostSpace> &stored,
                                                  std::int64_t                                    n)
{
  auto all    = stored;
  all.repeats = 1;
  all.values  = decltype(all.values)("test::all_rows", stored.values.extent(0), static_cast<std::size_t>(n),
                                    stored.values.extent(2));
  const auto ends = static_cast<std::int64_t>(stored.values.extent(1)) / 2;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < all.values.extent(0); ++c)
      for (std::size_t d = 0; d < all.values.extent(2); ++d)
        all.values(c, static_cast<std::size_t>(i), d) =
          stored.values(c,
                        static_cast<std::size_t>(i < ends        ? i
                                                 : i >= n - ends ? 2 * ends + 1 - (n - i)
                                                                 : ends),
                        d);
  return all;
}

struct Case {
  int          kl, ku, block;
  std::int64_t n, lines, ends;
  bool         periodic, contiguous;
  Lhs          lhs;
};

std::string text(const Case &c)
{
  return "kl " + std::to_string(c.kl) + ", ku " + std::to_string(c.ku) + ", block " +
         std::to_string(c.block) + ", n " + std::to_string(c.n) + ", lines " + std::to_string(c.lines) +
         ", ends " + std::to_string(c.ends) + (c.periodic ? ", ring" : ", open") +
         (c.contiguous ? ", contiguous, " : ", interleaved, ") + ribbon::to_string(c.lhs);
}

/// Compares with a solver that gets every row: results are bitwise equal.
template <class Scalar>
void check(const Case &c, const std::string &algorithm, std::int64_t rows_per_piece = 0)
{
  SCOPED_TRACE(text(c) + ", " + algorithm + ", " + std::to_string(sizeof(Scalar)) + " bytes");
  std::mt19937_64 g(static_cast<std::uint64_t>(c.n + 10 * c.kl + c.ends));
  auto            stored =
    random_system<Scalar>(g, matrices_for(c.lhs, c.lines), 2 * c.ends + 1, c.kl, c.ku, c.block, c.periodic);
  stored.repeats = c.n - 2 * c.ends;
  assign(g, stored, c.lhs, c.lines);
  const auto all = all_rows(stored, c.n);
  ASSERT_EQ(stored.rows(), c.n);
  const auto set = (c.contiguous ? LineSet::contiguous(c.n, c.lines) : LineSet::interleaved(c.n, c.lines))
                     .with_components(c.block);
  ribbon::LineSolverOptions options;
  options.algorithm = algorithm, options.rows_per_piece = rows_per_piece;
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(stored), options),
    full(Exec(), set, to_device(all), options);
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  EXPECT_EQ(solver.report().algorithm, full.report().algorithm);
  EXPECT_LE(solver.report().bytes, full.report().bytes);
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto x = solve(solver, b);
  EXPECT_TRUE(x == solve(full, b));
  EXPECT_LE(backward_error(expanded(all), set, x, b),
            1e-13 * static_cast<double>(ribbon::unit_roundoff<Scalar>()) / 1.1e-16);
}

TEST(Toeplitz, RowsAreThoseThatWereGiven)
{
  const std::vector<double> stencil = {-1, 2, -1}, first = {0, 1, 0}, second = {-1, 3, -1}, last = {-4, 5, 0};
  for (std::int64_t n : {0, 3, 4, 5, 6, 7, 100}) {
    if (n < 3) {
      EXPECT_EQ(ribbon::toeplitz_bands<double>(Exec(), n, stencil).rows(), n);
      continue;
    }
    const auto bands = ribbon::toeplitz_bands<double>(Exec(), n, stencil, {first, second}, {last});
    ASSERT_EQ(bands.rows(), n);
    EXPECT_LE(bands.values.extent(1), 5u);
    EXPECT_EQ(bands.kl(), 1);
    const auto host = ribbon::to_host(bands);
    EXPECT_EQ(host.repeats, 1);
    ASSERT_EQ(host.rows(), n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::size_t d = 0; d < 3; ++d)
        EXPECT_EQ(host.values(0, static_cast<std::size_t>(i), d), (i == 0       ? first
                                                                   : i == 1     ? second
                                                                   : i == n - 1 ? last
                                                                                : stencil)[d])
          << "n " << n << ", row " << i;
  }
  EXPECT_THROW(ribbon::toeplitz_bands<double>(Exec(), 2, stencil, {first, second}, {last}),
               std::invalid_argument);
  EXPECT_THROW(ribbon::toeplitz_bands<double>(Exec(), 9, stencil, {{1, 2}}), std::invalid_argument);
}

TEST(Toeplitz, SolvedAsIfEveryRowWereGiven)
{
  for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
    for (bool periodic : {false, true})
      for (std::int64_t n : {9, 64, 101})
        for (std::int64_t ends : {0, 1, 4}) {
          check<double>({1, 1, 1, n, 5, ends, periodic, false, lhs}, "auto");
          check<double>({2, 1, 1, n, 5, ends, periodic, true, lhs}, "auto");
          check<double>({3, 5, 1, n, 5, ends, periodic, false, lhs}, "auto");
          check<double>({1, 1, 2, n, 5, ends, periodic, true, lhs}, "auto");
          check<float>({2, 2, 1, n, 5, ends, periodic, false, lhs}, "auto");
          check<Kokkos::complex<double>>({1, 2, 1, n, 5, ends, periodic, true, lhs}, "auto");
          check<double>({1, 1, 1, n, 5, ends, periodic, true, lhs}, "cr_pcr");
          check<double>({2, 2, 1, n, 5, ends, periodic, true, lhs}, "pivoted");
        }
}

TEST(Toeplitz, LinesThatAreCut)
{
  for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
    for (bool periodic : {false, true})
      for (std::int64_t n : {600, 613})
        for (std::int64_t lines : {1, 3, 9})   // 9: the probe processes tiles of matrices
          for (std::int64_t ends : {0, 2, 70}) // rows of more than one segment
            for (bool contiguous : {false, true}) {
              check<double>({1, 1, 1, n, lines, ends, periodic, contiguous, lhs}, "partition", 64);
              check<double>({2, 2, 1, n, lines, ends, periodic, contiguous, lhs}, "partition", 64);
              check<double>({1, 1, 2, n, lines, ends, periodic, contiguous, lhs}, "partition", 32);
              check<Kokkos::complex<double>>({1, 2, 1, n, lines, ends, periodic, contiguous, lhs},
                                             "partition", 60);
            }
}

TEST(Toeplitz, ManyMatricesOfTheirOwnOnAHost)
{
  using Host = Kokkos::DefaultHostExecutionSpace;
  for (const char *algorithm : {"auto", "thomas", "pivoted", "one_pass", "partition"})
    for (auto lhs : {Lhs::per_line, Lhs::shifted}) {
      std::mt19937_64 g(5);
      auto            bands = random_system<double>(g, lhs == Lhs::shifted ? 2 : 40, 3, 1, 1, 1, false);
      bands.repeats         = 198;
      assign(g, bands, lhs, 40);
      const auto                             set = LineSet::interleaved(200, 40);
      const ribbon::LineSolver<double, Host> solver(Host(), set, bands, {algorithm});
      ASSERT_TRUE(solver.report().ok()) << algorithm << ": " << solver.report().reason;
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      auto x = b;
      solver.solve(Host(), b.data(), x.data());
      Host().fence();
      EXPECT_LE(backward_error(expanded(all_rows(bands, 200)), set, x, b), 1e-13) << algorithm;
    }
}

// Every row has the same rounding errors, which must not accumulate.
TEST(Toeplitz, LongLinesByOrthogonalElimination)
{
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (auto lhs : {Lhs::classes, Lhs::per_line, Lhs::shifted}) {
      std::mt19937_64 g(seed);
      const int       kl = static_cast<int>(seed % 4), ku = static_cast<int>(seed % 3);
      auto            bands = random_system<double>(g, matrices_for(lhs, 3), 3, kl, ku, 1, seed % 2 == 0);
      if (seed % 3 == 0) // indefinite
        for (std::size_t c = 0; c < bands.values.extent(0); ++c)
          for (std::size_t i = 0; i < 3; ++i) bands.values(c, i, static_cast<std::size_t>(kl)) *= 0.3;
      bands.repeats = 700 * static_cast<std::int64_t>(1 + seed % 4);
      assign(g, bands, lhs, 3);
      const auto                             set = LineSet::interleaved(bands.rows(), 3);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"pivoted"});
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + ribbon::to_string(lhs));
      if (solver.report().smallest_pivot < 1e-8) continue; // nearly singular
      ASSERT_TRUE(solver.report().ok())
        << solver.report().reason << ", probe " << solver.report().probe_error;
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(expanded(all_rows(bands, bands.rows())), set, solve(solver, b), b), 1e-14);
    }
}

TEST(Toeplitz, MemoryDoesNotGrowWithTheRows)
{
  const std::int64_t n     = 1 << 20;
  const auto         bands = ribbon::toeplitz_bands<double>(Exec(), n, {-1, 4, -1}, {{0, 1, 0}}, {{0, 1, 0}});
  ribbon::LineSolverOptions options;
  options.algorithm = "partition", options.rows_per_piece = 1024;
  const ribbon::LineSolver<double, Exec> solver(Exec(), LineSet::contiguous(n, 1), bands, options);
  ASSERT_TRUE(solver.report().ok());
  EXPECT_LT(solver.report().bytes, static_cast<std::size_t>(n)); // its bands would take 24 n
}

TEST(Toeplitz, TransposesAreThoseOfAllRows)
{
  for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::shifted})
    for (bool periodic : {false, true})
      for (std::int64_t n : {7, 9, 12, 40})
        for (int block : {1, 2}) {
          const int       kl = 1, ku = block == 2 ? 1 : 3;
          std::mt19937_64 g(static_cast<std::uint64_t>(n));
          auto            stored = random_system<double>(g, matrices_for(lhs, 3), 5, kl, ku, block, periodic);
          stored.repeats         = n - 4;
          assign(g, stored, lhs, 3);
          const auto mine = ribbon::to_host(ribbon::transpose(Exec(), to_device(stored), true)),
                     its  = ribbon::to_host(ribbon::transpose(Exec(), to_device(all_rows(stored, n)), true));
          Kokkos::fence();
          for (std::int64_t c = 0; c < static_cast<std::int64_t>(its.values.extent(0)); ++c)
            EXPECT_TRUE(ribbon::reference::dense(mine, c) == ribbon::reference::dense(its, c))
              << "n " << n << ", block " << block;
          if (n == 40) {
            EXPECT_LT(ribbon::transpose(Exec(), to_device(stored)).values.extent(1), 20u);
          }
        }
}

TEST(Toeplitz, ADiagonalIsAddedToEveryRow)
{
  const std::int64_t             n = 50, lines = 3;
  const auto                     set = LineSet::interleaved(n, lines);
  Kokkos::View<double *, Memory> diagonal("test::diagonal", static_cast<std::size_t>(n * lines));
  const auto                     host = Kokkos::create_mirror_view(diagonal);
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < n; ++i) host(static_cast<std::size_t>(set(l, i))) = static_cast<double>(i);
  Kokkos::deep_copy(diagonal, host);
  ribbon::Bands<double, Memory> sum;
  ASSERT_TRUE(ribbon::add_diagonal(Exec(),
                                   ribbon::toeplitz_bands<double>(Exec(), n, {-1, 2, -1}, {{0, 7, 0}}), set,
                                   diagonal.data(), 0.5, &sum));
  Kokkos::fence();
  const auto found = ribbon::to_host(sum);
  ASSERT_EQ(found.rows(), n);
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_EQ(found.values(0, static_cast<std::size_t>(i), 1),
              (i == 0 ? 7 : 2) + 0.5 * static_cast<double>(i));
    EXPECT_EQ(found.values(0, static_cast<std::size_t>(i), 2), i == 0 ? 0 : -1);
  }
}

TEST(Toeplitz, WhatIsRefused)
{
  std::mt19937_64 g(1);
  const auto      set   = LineSet::interleaved(20, 4);
  auto            bands = random_system<double>(g, 1, 4, 1, 1, 1, false);
  bands.repeats         = 17;
  EXPECT_THROW((ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands))), std::invalid_argument)
    << "an even number of rows has none in the middle";
  bands         = random_system<double>(g, 1, 5, 1, 1, 1, false);
  bands.repeats = 15;
  EXPECT_THROW((ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands))), std::invalid_argument)
    << "19 rows";
  bands.repeats = 0;
  EXPECT_THROW((ribbon::LineSolver<double, Exec>(Exec(), LineSet::interleaved(4, 4), to_device(bands))),
               std::invalid_argument);
  auto own = random_system<double>(g, 4, 5, 1, 1, 1, false);
  own.lhs = Lhs::per_line, own.repeats = 16;
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(own), {"one_pass"});
  const Kokkos::View<double *, Memory>   x("test::x", 80);
  EXPECT_THROW(solver.factor_and_solve(Exec(), to_device(own), x.data(), x.data()), std::invalid_argument);
  EXPECT_THROW((ribbon::CutLines<double, Exec>::right_couplings(Exec(), ribbon::CutPiece(), to_device(own))),
               std::invalid_argument);
}

} // namespace
