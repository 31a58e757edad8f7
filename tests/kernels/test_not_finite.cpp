// SPDX-License-Identifier: BSD-2-Clause
// NaN and Inf in one line, in its right-hand side or its matrix. The solutions of other lines are bitwise
// the same as without it.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

using namespace test;
using ribbon::Lhs;

namespace {

constexpr double nan        = std::numeric_limits<double>::quiet_NaN(),
                 infinity   = std::numeric_limits<double>::infinity();
constexpr std::int64_t many = 37; // lines: a full tile and a partial one

struct System {
  int kl, ku, block;
};

/// Systems and sources of coefficients for which an algorithm has kernels.
bool takes(const std::string &algorithm, const System &s, Lhs lhs, bool is_double)
{
  const int K = std::max(s.kl, s.ku);
  if (algorithm == "one_pass") return K <= 4 && (s.block == 1 || s.block == 2 || s.block == 4);
  if (s.block == 4) return false; // only by one_pass, to save time
  if (algorithm == "factored_reduction")
    return (lhs == Lhs::per_line || lhs == Lhs::shifted) && K * s.block <= 8;
  if (algorithm == "tile_products") return is_double && lhs == Lhs::shared;
  if (algorithm == "toeplitz_cr") return lhs == Lhs::shared && K == 1 && s.block == 1;
  if (algorithm.find("c") == 0) return K == 1; // cyclic_reduction, cr_pcr
  if (algorithm == "parallel_cyclic_reduction") return K == 1;
  return true;
}

/// Calls check(algorithm, system, source, layout, ring) for all combinations.
template <class Scalar, class Check>
void for_each_algorithm(const std::vector<Lhs> &sources, const Check &check)
{
  for (const std::string algorithm :
       {"auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction", "parallel_cyclic_reduction",
        "cr_pcr", "toeplitz_cr", "tile_products", "factored_reduction"})
    for (const System &s : {System{1, 1, 1}, System{2, 2, 1}, System{4, 3, 1}, System{6, 1, 1},
                            System{1, 1, 2}, System{1, 1, 3}, System{1, 1, 4}})
      for (Lhs lhs : sources)
        for (bool contiguous : {false, true})
          for (bool periodic : {false, true}) {
            if (algorithm == "factored_reduction" && periodic) continue;
            if (!takes(algorithm, s, lhs, std::is_same_v<Scalar, double>) ||
                (sizeof(Scalar) > 8 && s.kl + s.block > 3))
              continue;
            // Half of the cases.
            if (s.kl + s.block > 2 &&
                (static_cast<int>(lhs) + s.kl + s.block) % 2 == static_cast<int>(contiguous == periodic))
              continue;
            SCOPED_TRACE(testing::Message()
                         << algorithm << ", kl " << s.kl << ", ku " << s.ku << ", block " << s.block << ", "
                         << to_string(lhs) << (contiguous ? ", contiguous" : ", interleaved")
                         << (periodic ? ", ring" : ", open") << ", " << sizeof(Scalar) << " bytes");
            check(algorithm, s, lhs, contiguous, periodic);
          }
}

template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> dominant(std::mt19937_64 &g, const std::string &algorithm,
                                                  const System &s, Lhs lhs, bool periodic, std::int64_t n)
{
  auto bands = random_system<Scalar>(g, matrices_for(lhs, many), n, s.kl, s.ku, s.block, periodic);
  if (algorithm == "toeplitz_cr")
    for (std::size_t i = 1; i < bands.values.extent(1); ++i)
      for (std::size_t d = 0; d < bands.values.extent(2); ++d) bands.values(0, i, d) = bands.values(0, 0, d);
  assign(g, bands, lhs, many);
  return bands;
}

template <class Scalar>
ribbon::LineSolver<Scalar, Exec> solver_of(const std::string &algorithm, const ribbon::LineSet &set,
                                           const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands)
{
  ribbon::LineSolverOptions options;
  options.algorithm = algorithm;
  if (algorithm == "partition") options.rows_per_piece = 48;
  return ribbon::LineSolver<Scalar, Exec>(Exec(), set, to_device(bands), options);
}

/// Whether the solutions of line l are bitwise equal.
template <class Scalar>
bool same_bits(const ribbon::LineSet &set, std::int64_t l, const std::vector<Scalar> &x,
               const std::vector<Scalar> &y)
{
  for (std::int64_t i = 0; i < set.rows; ++i) {
    const auto k = static_cast<std::size_t>(set(l, i));
    if (std::memcmp(&x[k], &y[k], sizeof(Scalar) * static_cast<std::size_t>(set.components)) != 0)
      return false;
  }
  return true;
}

template <class Scalar>
bool is_finite(const ribbon::LineSet &set, std::int64_t l, const std::vector<Scalar> &x)
{
  bool finite = true;
  for (std::int64_t i = 0; i < set.rows; ++i)
    for (int a = 0; a < set.components; ++a)
      finite = finite && ribbon::is_finite(ribbon::magnitude(
                           x[static_cast<std::size_t>(set(l, i)) + static_cast<std::size_t>(a)]));
  return finite;
}

template <class Scalar>
void expect_right_hand_sides_apart()
{
  for_each_algorithm<Scalar>(
    {Lhs::shared, Lhs::per_line, Lhs::shifted},
    [](const std::string &algorithm, const System &s, Lhs lhs, bool contiguous, bool periodic) {
      const std::int64_t n         = algorithm == "partition" ? 112 : 40,
                         separator = algorithm == "partition" ? 47 : 31;
      std::mt19937_64 g(1);
      const auto      bands = dominant<Scalar>(g, algorithm, s, lhs, periodic, n);
      const auto      set =
        (contiguous ? ribbon::LineSet::contiguous(n, many) : ribbon::LineSet::interleaved(n, many))
          .with_components(s.block);
      const auto          solver = solver_of(algorithm, set, bands);
      std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<Scalar>(g);
      ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
      const auto clean = solve(solver, b);
      auto       bad   = b;
      const auto spoil = [&](std::int64_t l, std::int64_t i, double value) {
        bad[static_cast<std::size_t>(set(l, i))] = Scalar(value);
      };
      spoil(5, 0, nan), spoil(20, n / 2, infinity), spoil(31, separator, nan), spoil(36, n - 1, -infinity);
      for (bool in_place : {false, true}) {
        const auto x = solve(solver, bad, in_place);
        for (std::int64_t l = 0; l < many; ++l) {
          const bool spoilt = l == 5 || l == 20 || l == 31 || l == 36;
          EXPECT_TRUE(spoilt ? !is_finite(set, l, x) : same_bits(set, l, x, clean))
            << "line " << l << (in_place ? ", in place" : "");
        }
      }
    });
}

TEST(NotFinite, ARightHandSideLeavesTheOtherLinesAlone)
{
  expect_right_hand_sides_apart<double>(), expect_right_hand_sides_apart<Kokkos::complex<double>>();
}

template <class Scalar>
void expect_matrices_apart()
{
  for_each_algorithm<Scalar>(
    {Lhs::classes, Lhs::per_line, Lhs::shifted},
    [](const std::string &algorithm, const System &s, Lhs lhs, bool contiguous, bool periodic) {
      const std::int64_t n         = algorithm == "partition" ? 112 : 40,
                         separator = algorithm == "partition" ? 47 : 31;
      std::mt19937_64 g(2);
      const auto      bands = dominant<Scalar>(g, algorithm, s, lhs, periodic, n);
      const auto      set =
        (contiguous ? ribbon::LineSet::contiguous(n, many) : ribbon::LineSet::interleaved(n, many))
          .with_components(s.block);
      std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<Scalar>(g);
      const auto        good     = solver_of(algorithm, set, bands);
      const auto        clean    = solve(good, b);
      const auto        own      = expanded(bands);
      const std::size_t c        = lhs == Lhs::classes ? 1 : 20,
                        diagonal = static_cast<std::size_t>(s.kl * s.block * s.block),
                        last     = static_cast<std::size_t>(n - 1);
      for (std::size_t row : {std::size_t(0), static_cast<std::size_t>(separator), last})
        for (double value : {nan, infinity}) {
          if ((row == last) != (value == infinity)) continue;
          auto spoilt = bands;
          if (lhs == Lhs::shifted) {
            if (row == static_cast<std::size_t>(separator)) continue; // only one value of a line
            spoilt.alpha = decltype(spoilt.alpha)("test::alpha", many);
            Kokkos::deep_copy(spoilt.alpha, bands.alpha);
            spoilt.alpha(c) = Scalar(value);
          } else {
            spoilt.values = decltype(spoilt.values)("test::spoilt", bands.values.extent(0),
                                                    bands.values.extent(1), bands.values.extent(2));
            Kokkos::deep_copy(spoilt.values, bands.values);
            spoilt.values(c, row, diagonal) = Scalar(value);
          }
          const auto solver = solver_of(algorithm, set, spoilt);
          EXPECT_EQ(solver.report().status, ribbon::FactorStatus::not_finite)
            << solver.report().algorithm << ", " << solver.report().reason;
          EXPECT_EQ(solver.report().line, static_cast<std::int64_t>(c));
          auto x = solve(solver, b), rest = b;
          // partition may reduce in another way. Blocks are eliminated unknown by unknown only if that is
          // certified for all lines.
          const bool certified = s.block > 1 && lhs != Lhs::classes && solver.report().algorithm == "thomas";
          const bool same =
            solver.report().algorithm == good.report().algorithm && algorithm != "partition" && !certified;
          for (std::int64_t l = 0; l < many; ++l) {
            const bool others = matrix_of(own, l) != static_cast<std::int64_t>(c);
            EXPECT_TRUE(!same || !others || same_bits(set, l, x, clean))
              << "row " << row << ", line " << l << ", " << value;
            for (std::int64_t i = 0; i < n && !others; ++i)
              for (int a = 0; a < s.block; ++a)
                x[static_cast<std::size_t>(set(l, i) + a)] = rest[static_cast<std::size_t>(set(l, i) + a)] =
                  Scalar(0);
          }
          EXPECT_LE(backward_error(own, set, x, rest), 1e-14)
            << solver.report().algorithm << ", row " << row << ", " << value;
        }
    });
}

TEST(NotFinite, AMatrixLeavesTheOtherLinesAlone)
{
  expect_matrices_apart<double>(), expect_matrices_apart<Kokkos::complex<double>>();
}

/// Lines without a probe are eliminated as whole lines: a matrix with small pivots next to a matrix with
/// NaN.
TEST(NotFinite, AMatrixBesideItIsSolvedAsSoundlyAsAlone)
{
  for (int B : {1, 2})
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (std::int64_t n : {30, 300}) {
          SCOPED_TRACE("blocks of " + std::to_string(B) + ", " + std::to_string(n) + " rows" +
                       (periodic ? ", ring" : "") + (contiguous ? ", contiguous" : ""));
          ribbon::Bands<double, Kokkos::HostSpace> bands;
          bands.lhs = Lhs::classes, bands.block = B, bands.periodic = periodic;
          bands.values           = decltype(bands.values)("test::bands", 2, static_cast<std::size_t>(n),
                                                static_cast<std::size_t>(3 * B * B));
          bands.class_of_line    = decltype(bands.class_of_line)("test::classes", 2);
          bands.class_of_line(1) = 1;
          for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
            for (int a = 0; a < B; ++a) {
              const auto entry = [&](std::size_t c, int d) -> double & {
                return bands.values(c, i, static_cast<std::size_t>((d * B + a) * B + a));
              };
              entry(0, 0) = entry(0, 2) = entry(1, 0) = 1, entry(0, 1) = 4;
              entry(1, 1) = i % 2 ? 0.5 : 1e-8, entry(1, 2) = i % 2 ? 0.3 : 1;
            }
          bands.values(0, static_cast<std::size_t>(n / 2), static_cast<std::size_t>(B * B)) = nan;
          const auto set =
            (contiguous ? ribbon::LineSet::contiguous(n, 2) : ribbon::LineSet::interleaved(n, 2))
              .with_components(B);
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
          EXPECT_EQ(solver.report().status, ribbon::FactorStatus::not_finite);
          EXPECT_TRUE(solver.report().line == 0 && solver.report().row == n / 2)
            << solver.report().line << ", " << solver.report().row;
          std::mt19937_64     g(3);
          std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
          for (auto &v : b) v = random_scalar<double>(g);
          auto x = solve(solver, b);
          for (std::int64_t i = 0; i < n; ++i)
            for (int a = 0; a < B; ++a)
              x[static_cast<std::size_t>(set(0, i) + a)] = b[static_cast<std::size_t>(set(0, i) + a)] = 0;
          bands.values(0, static_cast<std::size_t>(n / 2), static_cast<std::size_t>(B * B)) = 4;
          EXPECT_LE(backward_error(bands, set, x, b), 1e-14) << solver.report().algorithm;
        }
}

/// Segments that compute adjacent separators wait until these are no longer a special NaN. A right-hand
/// side with that NaN does not make them wait forever, and the next solve is correct.
TEST(NotFinite, PiecesThatWaitForOthersTakeEveryNaN)
{
  double sentinel;
  std::memcpy(&sentinel, &ribbon::JoinedPieces<double>::none, sizeof sentinel);
  for (int h : {1, 2})
    for (double sigma : {0.4, 5000.0})
      for (std::int64_t n : {546 * 7, 546 * 9 + 100})
        for (double value : {nan, infinity, sentinel}) {
          SCOPED_TRACE(testing::Message()
                       << "sigma " << sigma << " h " << h << " rows " << n << " value " << value);
          const auto bands =
            toeplitz(n,
                     h == 1 ? std::vector<double>{-sigma, 1 + 2 * sigma, -sigma}
                            : std::vector<double>{sigma, -4 * sigma, 1 + 6 * sigma, -4 * sigma, sigma},
                     false);
          const auto                set = ribbon::LineSet::contiguous(n, 5, n + n % 2);
          ribbon::LineSolverOptions options;
          options.algorithm = "partition", options.rows_per_piece = 544;
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
          ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
          std::mt19937_64     g(1);
          std::vector<double> b(static_cast<std::size_t>(set.begin(4) + n));
          for (auto &v : b) v = random_scalar<double>(g);
          const auto clean = solve(solver, b);
          for (bool everywhere : {false, true}) {
            auto bad = b;
            for (std::int64_t i = 0; i < n; ++i)
              if (everywhere || (i > 1000 && i < 1100))
                bad[static_cast<std::size_t>(set(2, i))] = value; // includes separators
            for (bool in_place : {false, true}) {
              const auto x = solve(solver, bad, in_place);
              EXPECT_FALSE(is_finite(set, 2, x));
              for (std::int64_t l : {0, 1, 3, 4}) EXPECT_TRUE(same_bits(set, l, x, clean)) << "line " << l;
              const auto again = solve(solver, b, in_place);
              for (std::int64_t l = 0; l < 5; ++l)
                EXPECT_TRUE(same_bits(set, l, again, clean)) << "line " << l << " of the next solve";
            }
          }
        }
}

} // namespace
