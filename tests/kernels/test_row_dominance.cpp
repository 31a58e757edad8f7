// SPDX-License-Identifier: BSD-2-Clause
// Certificates from row dominance for lines that are eliminated in flight (row_dominance.hpp): pivots,
// condition and accuracy. They are compared with elimination and residuals in extended precision.
// RIBBON_CERTIFICATES sets the number of matrices.
#include "extended.hpp"

#include <ribbon/matrix/row_dominance.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

using namespace test;

namespace {

/// With a given theta, rows have at most that theta, and most have exactly it. Signs are random, equal, or
/// such that elimination grows. Rows are multiplied by random powers of ten.
template <class Scalar>
HostBands<Scalar> dominant_bands(std::mt19937_64 &g, std::size_t matrices, std::size_t n, int kl, int ku,
                                 bool periodic, double theta)
{
  using Real = ribbon::real_t<Scalar>;
  HostBands<Scalar> bands;
  bands.lhs = ribbon::Lhs::per_line, bands.lower = kl, bands.upper = ku, bands.periodic = periodic;
  bands.values = decltype(bands.values)("test::bands", matrices, n, static_cast<std::size_t>(kl + ku + 1));
  const auto range = static_cast<std::uint64_t>(sizeof(Real) == 4 ? 10 : 100);
  for (std::size_t c = 0; c < matrices; ++c) {
    const auto kind = g() % 4;
    for (std::size_t i = 0; i < n; ++i) {
      const Real size =
        static_cast<Real>(std::pow(10., static_cast<int>(g() % range) - static_cast<int>(range / 2)));
      Real       sum = 0;
      const auto at = [&](int d) -> Scalar & { return bands.values(c, i, static_cast<std::size_t>(d + kl)); };
      for (int d = -kl; d <= ku; ++d) {
        at(d) = kind == 0 ? Scalar(-1) : kind == 1 ? Scalar(d < 0 ? -1 : 1) : random_scalar<Scalar>(g);
        if (kind == 3 && g() % 2) at(d) = Scalar(0);
        if (d != 0) sum += ribbon::magnitude(at(d));
      }
      at(0) = sum > 0 ? Scalar(sum / static_cast<Real>(theta)) : Scalar(1);
      for (int d = -kl; d <= ku; ++d) at(d) *= size;
    }
  }
  return bands;
}

/// A right-hand side of the batch. Its sizes are those of the rows of the matrix.
template <class Scalar>
std::vector<Scalar> right_hand_side(std::mt19937_64 &g, const HostBands<Scalar> &bands,
                                    const ribbon::LineSet &set)
{
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (std::int64_t l = 0; l < set.lines(); ++l)
    for (std::int64_t i = 0; i < set.rows; ++i) {
      const auto size                        = ribbon::magnitude(bands.values(
                               static_cast<std::size_t>(l), static_cast<std::size_t>(i), static_cast<std::size_t>(bands.lower)));
      b[static_cast<std::size_t>(set(l, i))] = random_scalar<Scalar>(g) * size;
    }
  return b;
}

constexpr double most_theta = ribbon::RowDominance::most_certified * (1 - 1e-6);

template <class Scalar>
long double largest_error(std::uint64_t seed, std::size_t count)
{
  constexpr std::int64_t lines = 37;
  std::mt19937_64        g(seed);
  long double            largest = 0;
  for (std::size_t done = 0; done < count; done += lines) {
    const int          kl = static_cast<int>(g() % 2), ku = static_cast<int>(g() % 2);
    const std::int64_t n        = 3 + static_cast<std::int64_t>(g() % 300);
    const bool         periodic = g() % 3 == 0 && kl + ku > 0;
    const auto         bands =
      dominant_bands<Scalar>(g, lines, static_cast<std::size_t>(n), kl, ku, periodic, most_theta);
    const auto set = g() % 2 ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
    ribbon::LineSolverOptions options;
    options.algorithm = "one_pass";
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << sizeof(Scalar) << " bytes, after " << done
                                    << ", " << n << " rows, " << kl << " and " << ku
                                    << (periodic ? ", ring" : ""));
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
    EXPECT_TRUE(solver.report().ok());
    EXPECT_EQ(solver.report().probe_error,
              ribbon::Certificate::most * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
    EXPECT_NEAR(solver.report().rcond, kl + ku == 0 ? 1 : (1 - most_theta) / (1 + most_theta), 1e-5);
    const auto b = right_hand_side(g, bands, set), x = solve(solver, b);
    for (std::int64_t l = 0; l < lines; ++l)
      largest = std::max(largest, backward_error_of(bands, static_cast<std::size_t>(l), set, l, x, b));
    if (testing::Test::HasFailure()) break;
  }
  return largest / static_cast<long double>(ribbon::unit_roundoff<Scalar>());
}

TEST(RowDominance, NeverLies)
{
  const char *const text  = std::getenv("RIBBON_CERTIFICATES");
  const std::size_t count = text ? static_cast<std::size_t>(std::atoll(text)) : 6000;
  for (const long double error : {largest_error<double>(31, count), largest_error<float>(32, count / 4),
                                  largest_error<Kokkos::complex<double>>(33, count / 4)}) {
    RecordProperty("units", std::to_string(static_cast<double>(error)));
    EXPECT_LE(error, 10) << "a fraction of what is certified";
  }
}

/// Pivots of elimination in extended precision are no smaller than their bound.
TEST(RowDominance, BoundsPivots)
{
  std::mt19937_64 g(34);
  for (int k = 0; k < 400; ++k) {
    const int          P     = 1 + static_cast<int>(g() % 4);
    const std::int64_t n     = 1 + static_cast<std::int64_t>(g() % 40);
    const double       theta = k % 2 ? 1 : 0.9;
    const auto         bands = dominant_bands<double>(g, 1, static_cast<std::size_t>(n), P, P, false, theta);
    const auto         found = ribbon::row_dominance<double>(Exec(), to_device(bands));
    std::vector<std::vector<long double>> A(static_cast<std::size_t>(n),
                                            std::vector<long double>(static_cast<std::size_t>(n)));
    const auto                            at = [&](std::int64_t i, std::int64_t j) -> long double                            &{
      return A[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    };
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = std::max<std::int64_t>(0, i - P); j < std::min(n, i + P + 1); ++j)
        at(i, j) = bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(j - i + P));
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_GE(std::abs(at(i, i)) /
                  std::abs(bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(P))),
                found.pivot_bound * (1 - 1e-9))
        << "row " << i << " of system " << k;
      for (std::int64_t r = i + 1; r < n; ++r) {
        const long double m = at(i, i) != 0 ? at(r, i) / at(i, i) : 0;
        for (std::int64_t j = i; j < n; ++j) at(r, j) -= m * at(i, j);
      }
    }
  }
}

/// Lines without a certificate are probed.
TEST(RowDominance, OthersAreProbed)
{
  std::mt19937_64           g(35);
  const std::int64_t        n = 40, lines = 9;
  const auto                set = ribbon::LineSet::interleaved(n, lines);
  ribbon::LineSolverOptions options;
  options.algorithm      = "one_pass";
  const double certified = ribbon::Certificate::most * ribbon::unit_roundoff<double>();
  auto         bands     = dominant_bands<double>(g, lines, n, 1, 1, false, 0.5);
  const auto   report    = [&] {
    return ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), options).report();
  };
  EXPECT_EQ(report().probe_error, certified);
  options.probe = "always";
  EXPECT_LT(report().probe_error, certified / 10);
  options.probe = "auto";
  bands.values(3, 7, 1) *= 0.8; // theta 0.625
  EXPECT_TRUE(report().ok());
  EXPECT_LT(report().probe_error, certified / 10);
  EXPECT_GT(report().rcond, 0.1);
  bands.values(3, 7, 1) = 0;
  EXPECT_TRUE(report().ok()) << "regular, with pivots that are not small";
  bands.values(3, 0, 1) = 0;
  EXPECT_EQ(report().status, ribbon::FactorStatus::zero_pivot);
  EXPECT_EQ(report().line, 3);
  EXPECT_EQ(report().row, 0);
  bands.values(3, 0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(report().status, ribbon::FactorStatus::not_finite);
  bands              = dominant_bands<double>(g, lines, n, 1, 1, false, 0.5);
  options.zero_pivot = 0.9; // above the bound for pivots
  EXPECT_EQ(report().status, ribbon::FactorStatus::zero_pivot);
}

TEST(RowDominance, NewValuesInFlight)
{
  std::mt19937_64           g(36);
  const std::int64_t        n = 50, lines = 21;
  ribbon::LineSolverOptions options;
  options.algorithm = "one_pass";
  for (bool contiguous : {false, true})
    for (bool periodic : {false, true}) {
      const auto set =
        contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
      const auto batch = [&](double theta) {
        return dominant_bands<double>(g, lines, n, 1, 1, periodic, theta);
      };
      ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(batch(0.3)), options);
      for (int k = 0; k < 3; ++k) {
        const auto                             bands = batch(0.1 + 0.1 * k);
        const ribbon::LineSolver<double, Exec> anew(Exec(), set, to_device(bands), options);
        ASSERT_TRUE(solver.refactor(Exec(), to_device(bands)));
        const auto b = right_hand_side(g, bands, set);
        EXPECT_EQ(solve(solver, b), solve(anew, b));
        EXPECT_EQ(solver.report().rcond, anew.report().rcond);
        EXPECT_EQ(solver.report().smallest_pivot, anew.report().smallest_pivot);
        EXPECT_EQ(solver.report().row, anew.report().row);
      }
      EXPECT_FALSE(solver.refactor(Exec(), to_device(batch(0.99)))) << "not certified";
      EXPECT_TRUE(solver.report().ok()) << "the old factors stay";
      EXPECT_FALSE(
        solver.refactor(Exec(), to_device(dominant_bands<double>(g, lines, n, 2, 2, periodic, 0.1))))
        << "another shape";
    }
}

} // namespace
