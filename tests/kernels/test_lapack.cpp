// SPDX-License-Identifier: BSD-2-Clause
// `auto` compared with LAPACK's band elimination with row exchanges: at most 100 times its backward error.
#include "lapack.hpp"

#include <gtest/gtest.h>

using namespace test;
using ribbon::Lhs;

namespace {

enum class Values { dominant, random, graded_rows, graded_columns, stiff, next_to_singular };

/// One matrix. Only the kind `dominant` is diagonally dominant.
template <class Scalar>
HostBands<Scalar> matrix_of_kind(std::mt19937_64 &g, Values kind, std::int64_t n, int kl, int ku, int block,
                                 bool periodic)
{
  using Real       = ribbon::real_t<Scalar>;
  auto       bands = random_system<Scalar>(g, 1, n, kl, ku, block, periodic);
  const bool small = sizeof(Real) < 8;
  for (std::size_t i = 0; i < bands.values.extent(1); ++i)
    for (std::size_t e = 0; e < bands.values.extent(2); ++e) {
      Scalar   &a = bands.values(0, i, e);
      const int B = block, d = static_cast<int>(e) / (B * B) - kl, p = static_cast<int>(e) / B % B,
                q         = static_cast<int>(e) % B;
      const bool diagonal = d == 0 && p == q;
      const auto size     = [&](std::int64_t unknown) {
        return static_cast<Real>(
          std::pow(10.0, static_cast<double>(unknown * 7 % 13 - 6) * (small ? 0.4 : 1)));
      };
      if (kind == Values::random || kind == Values::graded_rows || kind == Values::graded_columns) {
        if (diagonal) a = random_scalar<Scalar>(g);
        if (kind == Values::graded_rows) a *= size(static_cast<std::int64_t>(i) * B + p);
        if (kind == Values::graded_columns) a *= size((static_cast<std::int64_t>(i) + d + n) % n * B + q);
      }
      // Nearly singular for the constants, except for the ends.
      if (kind == Values::stiff)
        a = diagonal ? Scalar(static_cast<Real>(kl + ku + 2 * (B - 1) + (small ? 1e-4 : 1e-9))) : Scalar(-1);
      if (kind == Values::next_to_singular && i == bands.values.extent(1) / 2)
        a *= static_cast<Real>(small ? 1e-5 : 1e-12);
    }
  return bands;
}

template <class Scalar>
void expect_lapacks_digits(Values kind, std::int64_t n, int kl, int ku, int block, bool periodic, Lhs lhs,
                           bool contiguous, int &solved, const std::string &algorithm = "auto")
{
  const std::uint64_t seed = static_cast<std::uint64_t>(n * 1000 + kl * 100 + ku * 10 + block);
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", n " << n << ", kl " << kl
                                  << ", ku " << ku << ", block " << block << (periodic ? ", ring, " : ", ")
                                  << to_string(lhs) << (contiguous ? ", contiguous, " : ", interleaved, ")
                                  << sizeof(Scalar) << " bytes, seed " << seed);
  std::mt19937_64 g(seed);
  const auto      bands = matrix_of_kind<Scalar>(g, kind, n, kl, ku, block, periodic);
  const auto      set = (contiguous ? ribbon::LineSet::contiguous(n, 3) : ribbon::LineSet::interleaved(n, 3))
                     .with_components(block);
  auto given = bands;
  if (lhs != Lhs::shared) { // the same matrix for every line
    const std::size_t matrices = lhs == Lhs::shifted ? 2 : 3;
    given.values =
      decltype(given.values)("test::bands", matrices, bands.values.extent(1), bands.values.extent(2));
    for (std::size_t l = 0; l < matrices; ++l)
      Kokkos::deep_copy(Kokkos::subview(given.values, l, Kokkos::ALL, Kokkos::ALL),
                        Kokkos::subview(bands.values, 0, Kokkos::ALL, Kokkos::ALL));
    assign(g, given, lhs, 3);
    if (lhs == Lhs::shifted)
      Kokkos::deep_copy(given.alpha, Scalar(0.5)), Kokkos::deep_copy(given.beta, Scalar(0.5));
  }
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(given), {algorithm});
  const auto                            &report = solver.report();
  const double                           unit =
    static_cast<double>(ribbon::unit_roundoff<Scalar>()) / std::numeric_limits<double>::epsilon();
  if (!report.ok()) {
    EXPECT_LT(std::fmin(report.rcond, report.smallest_pivot), 1e-12 * unit)
      << report.algorithm << ", " << report.reason;
    return;
  }
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto x = solve(solver, b);
  for (std::int64_t l = 0; l < 3; ++l) {
    std::vector<Scalar> mine, right;
    for (std::int64_t i = 0; i < n; ++i)
      for (int a = 0; a < block; ++a)
        mine.push_back(x[static_cast<std::size_t>(set(l, i) + a)]),
          right.push_back(b[static_cast<std::size_t>(set(l, i) + a)]);
    const auto line   = ribbon::LineSet::contiguous(n, 1).with_components(block);
    const auto theirs = by_lapack(bands, right);
    if (theirs.empty()) continue;
    const double reference = backward_error(bands, line, theirs, right);
    EXPECT_LE(backward_error(bands, line, mine, right), 100 * std::max(reference, 1e-16 * unit))
      << report.algorithm << ", LAPACK " << reference << ", probe " << report.probe_error << ", rcond "
      << report.rcond;
    ++solved;
  }
}

TEST(Lapack, AutoIsNeverAHundredTimesWorse)
{
  const int systems[][3] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {1, 3, 1}, {4, 4, 1}, {8, 2, 1},
                            {8, 8, 1}, {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 1, 8}};
  int       solved = 0, cases = 0;
  for (const auto &s : systems)
    for (Values kind : {Values::dominant, Values::random, Values::graded_rows, Values::graded_columns,
                        Values::stiff, Values::next_to_singular})
      for (bool periodic : {false, true})
        for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
          for (bool contiguous : {false, true})
            for (std::int64_t n : {10, 65, 200, 1000}) {
              // Set-ups of wide systems take long.
              if (n == 1000 && (s[0] * s[2] > 2 || lhs == Lhs::classes || lhs == Lhs::shifted)) continue;
              // layouts in turn
              if ((contiguous == periodic) != (n == 65 && (lhs == Lhs::classes || lhs == Lhs::shifted)))
                continue;
              expect_lapacks_digits<double>(kind, n, s[0], s[1], s[2], periodic, lhs, contiguous, solved),
                cases += 3;
              if (n != 65) continue;
              expect_lapacks_digits<float>(kind, n, s[0], s[1], s[2], periodic, lhs, contiguous, solved),
                cases += 3;
              expect_lapacks_digits<Kokkos::complex<double>>(kind, n, s[0], s[1], s[2], periodic, lhs,
                                                             contiguous, solved),
                cases += 3;
            }
  EXPECT_GT(10 * solved, 8 * cases);
}

/// Algorithms that eliminate in flight, without row exchanges of a band, if that is stable.
TEST(Lapack, DominantMatricesInFlightAreAsGood)
{
  const int systems[][3] = {{1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 1}, {4, 1, 1}, {1, 1, 2}, {1, 1, 4}};
  int       solved = 0, cases = 0;
  for (const auto &s : systems)
    for (std::int64_t n : {10, 65, 200}) {
      expect_lapacks_digits<double>(Values::dominant, n, s[0], s[1], s[2], false, Lhs::per_line, n == 65,
                                    solved, "one_pass"),
        cases += 3;
      expect_lapacks_digits<Kokkos::complex<double>>(Values::dominant, n, s[0], s[1], s[2], false,
                                                     Lhs::per_line, n != 65, solved, "one_pass"),
        cases += 3;
    }
  EXPECT_EQ(solved, cases);
}

/// Dominant matrices of a batch by every algorithm and source, compared line by line with LAPACK. Sizes are
/// from one row on, near the widths of tiles, and a prime.
template <class Scalar>
void expect_every_algorithm_as_good(int kl, int ku, int block, const std::vector<std::int64_t> &sizes)
{
  constexpr std::int64_t lines = 3;
  const double           unit =
    static_cast<double>(ribbon::unit_roundoff<Scalar>()) / std::numeric_limits<double>::epsilon();
  const int h = std::max({kl, ku, 1});
  for (const std::string algorithm :
       {"auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction", "parallel_cyclic_reduction",
        "cr_pcr", "toeplitz_cr", "tile_products", "factored_reduction"})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (bool periodic : {false, true})
        for (std::int64_t n : sizes) {
          const bool reduction = algorithm.find("cyclic") != std::string::npos || algorithm == "cr_pcr",
                     of_one    = algorithm == "toeplitz_cr" || algorithm == "tile_products";
          if ((of_one && lhs != Lhs::shared) || (algorithm == "tile_products" && sizeof(Scalar) != 8) ||
              (reduction && h > 1) || (algorithm == "toeplitz_cr" && h * block > 1))
            continue;
          if (algorithm == "one_pass" && (h > 4 || block == 3 || block > 4)) continue;
          const bool each = lhs == Lhs::per_line || lhs == Lhs::shifted;
          if (algorithm == "factored_reduction" && (periodic || !each || h * block > 8)) continue;
          const std::uint64_t seed = static_cast<std::uint64_t>(n * 100 + 10 * kl + ku + block);
          SCOPED_TRACE(testing::Message() << algorithm << ", " << to_string(lhs) << (periodic ? ", ring" : "")
                                          << ", n " << n << ", kl " << kl << ", ku " << ku << ", block "
                                          << block << ", " << sizeof(Scalar) << " bytes, seed " << seed);
          std::mt19937_64 g(seed);
          auto bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic);
          for (std::size_t i = 1; algorithm == "toeplitz_cr" && i < bands.values.extent(1); ++i)
            for (std::size_t d = 0; d < bands.values.extent(2); ++d)
              bands.values(0, i, d) = bands.values(0, 0, d);
          assign(g, bands, lhs, lines);
          // Every size occurs in both layouts.
          const bool contiguous = (n + (periodic ? 1 : 0) + static_cast<int>(lhs)) % 2 == 0;
          const auto set =
            (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
              .with_components(block);
          const bool short_lines =
            n < 2 * (h == 3 && (lhs == Lhs::classes || !std::is_same_v<Scalar, double>) ? 4 : h) ||
            (algorithm == "partition" && n < 8 * h) || (algorithm == "tile_products" && n * block < 8);
          ribbon::LineSolver<Scalar, Exec> solver;
          try {
            solver = ribbon::LineSolver<Scalar, Exec>(Exec(), set, to_device(bands), {algorithm});
          } catch (const std::invalid_argument &e) {
            EXPECT_TRUE((short_lines && (algorithm == "one_pass" || algorithm == "partition")) ||
                        (algorithm == "tile_products" && (short_lines || n * block > 300)))
              << e.what();
            continue;
          }
          ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << ", " << solver.report().reason;
          std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
          for (auto &v : b) v = random_scalar<Scalar>(g);
          const auto x   = solve(solver, b);
          const auto own = expanded(bands);
          const auto one = ribbon::LineSet::contiguous(n, 1).with_components(block);
          for (std::int64_t l = 0; l < lines; ++l) {
            const auto        matrix = static_cast<std::size_t>(matrix_of(own, l));
            HostBands<Scalar> line   = own;
            line.lhs = Lhs::shared, line.class_of_line = {};
            line.values = decltype(line.values)("test::line", 1, own.values.extent(1), own.values.extent(2));
            Kokkos::deep_copy(Kokkos::subview(line.values, 0, Kokkos::ALL, Kokkos::ALL),
                              Kokkos::subview(own.values, matrix, Kokkos::ALL, Kokkos::ALL));
            std::vector<Scalar> mine, right;
            for (std::int64_t i = 0; i < n; ++i)
              for (int a = 0; a < block; ++a)
                mine.push_back(x[static_cast<std::size_t>(set(l, i) + a * set.component_stride)]),
                  right.push_back(b[static_cast<std::size_t>(set(l, i) + a * set.component_stride)]);
            const double reference = backward_error(line, one, by_lapack(line, right), right),
                         error     = backward_error(line, one, mine, right);
            EXPECT_LE(error, 100 * std::max(reference, 1e-16 * unit))
              << solver.report().algorithm << ", line " << l << ", LAPACK " << reference;
          }
        }
}

TEST(Lapack, EveryAlgorithmAndSourceOfMatricesIsAsGood)
{
  const int systems[][3] = {{1, 1, 1}, {2, 2, 1}, {1, 0, 1}, {3, 2, 1}, {4, 4, 1}, {8, 8, 1}, {0, 7, 1},
                            {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 1, 5}, {1, 1, 6}, {1, 1, 7}, {1, 1, 8}};
  for (const auto &[kl, ku, block] : systems) {
    const std::int64_t h = std::max(kl, ku), most = block > 4 ? 9 : 33;
    // Factorizations take long on hosts.
    if (ribbon::is_device_space<Exec>)
      expect_every_algorithm_as_good<double>(kl, ku, block, {2 * h + 1, most});
    else if (h * block <= 2)
      expect_every_algorithm_as_good<double>(kl, ku, block, {1, h, 2 * h + 1, 13, 31, 32, 33, 65, 101});
    else expect_every_algorithm_as_good<double>(kl, ku, block, {1, h, 2 * h + 1, block > 4 ? 17 : 64});
    expect_every_algorithm_as_good<float>(kl, ku, block, {1, 2 * h + 1, most});
    expect_every_algorithm_as_good<Kokkos::complex<double>>(kl, ku, block, {1, 2 * h + 1, most});
  }
}

} // namespace
