// SPDX-License-Identifier: BSD-2-Clause
// Multifrontal elimination of chains: backward errors for every shape of tree and all kinds of values.
#include "chain_values.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

#include <limits>

using namespace test;

namespace {

template <class Scalar>
void check(const ribbon::Chain &chain, std::int64_t leaf_size, std::int64_t columns, Values values,
           bool permuted, std::uint64_t seed)
{
  std::mt19937_64     g(seed);
  ChainSystem<Scalar> s{chain};
  if (permuted) s.shuffle(g);
  fill(s, g, values);
  const ChainOnDevice<Scalar> device(s);
  ribbon::ChainSolverOptions  options;
  options.leaf_size = leaf_size;
  if (values != Values::dominant) options.zero_pivot = 1e-300; // the test is about the backward error
  ribbon::ChainSolver<Scalar, Exec> solver(Exec(), chain, options);
  check_solves(solver, s, device, columns, !permuted, g);
}

TYPED_TEST_SUITE(Chains, Scalars, );

TYPED_TEST(Chains, BandsOfAllWidths)
{
  for (int kl = 0; kl <= 5; ++kl)
    for (int ku = 0; ku <= 5; ++ku)
      for (std::int64_t leaf : {0, 1, 17}) {
        SCOPED_TRACE(testing::Message() << "kl " << kl << " ku " << ku << " leaf " << leaf);
        check<TypeParam>({201, 1, kl, ku}, leaf, 1, Values::dominant, false, 1);
        if (kl + ku > 0) check<TypeParam>({201, 1, kl, ku, true}, leaf, 1, Values::dominant, false, 2);
      }
  check<TypeParam>({1500, 1, 32, 32}, 0, 2, Values::dominant, false, 3);
  check<TypeParam>({1500, 1, 32, 32}, 100, 2, Values::dominant, false, 3);
  check<TypeParam>({1500, 1, 7, 12, true}, 20, 2, Values::dominant, false, 3);
}

TYPED_TEST(Chains, SizesThatDegenerate)
{
  for (int kl = 0; kl <= 3; ++kl)
    for (int ku = 0; ku <= 3; ++ku)
      for (std::int64_t n = 0; n <= 24; ++n)
        for (std::int64_t leaf : {0, 1, 5}) {
          SCOPED_TRACE(testing::Message() << "n " << n << " kl " << kl << " ku " << ku << " leaf " << leaf);
          check<TypeParam>({n, 1, kl, ku}, leaf, 1, Values::dominant, false, 1);
          if (n > kl + ku && kl + ku > 0)
            check<TypeParam>({n, 1, kl, ku, true}, leaf, 1, Values::dominant, false, 2);
        }
}

TYPED_TEST(Chains, ManyRightHandSidesAndChains)
{
  for (std::int64_t columns : {1, 7, 33, 150})
    check<TypeParam>({700, 1, 2, 2}, 20, columns, Values::random, false, 1);
  for (bool ring : {false, true}) {
    check<TypeParam>({90, 13, 1, 2, ring}, 0, 3, Values::dominant, false, 2);
    check<TypeParam>({90, 13, 1, 2, ring}, 9, 3, Values::dominant, false, 2);
    check<TypeParam>({90, 1, 1, 2, ring}, 9, 3, Values::dominant, true, 2);
    check<TypeParam>({90, 3, 1, 2, ring}, 0, 3, Values::dominant, true, 2);
    // Widths with specialized kernels: tiles with many leaves, several chains, leaves at the ends of other
    // tiles.
    for (bool permuted : {false, true}) {
      check<TypeParam>({1501, 1, 1, 3, ring}, 5, 35, Values::dominant, permuted, 4);
      check<TypeParam>({90, 13, 3, 1, ring}, 9, 5, Values::dominant, permuted, 5);
      check<TypeParam>({90, 13, 2, 0, ring}, 40, 17, Values::dominant, permuted, 6);
      check<TypeParam>({50, 70, 1, 1, ring}, 64, 3, Values::dominant, permuted, 7);
      check<TypeParam>({700, 2, 5, 5, ring}, 11, 9, Values::dominant, permuted, 8);
    }
  }
}

// The first and the last width of each kernel whose lanes process one column each, and wider bands. Leaves
// have one or two steps, or many.
TYPED_TEST(Chains, ManyRightHandSidesOfEveryWidth)
{
  for (const auto &[kl, ku] : {std::pair(1, 0), std::pair(0, 8), std::pair(5, 4), std::pair(8, 8),
                               std::pair(7, 10), std::pair(16, 16), std::pair(18, 15)})
    for (bool ring : {false, true})
      for (std::int64_t leaf : {kl + ku + 1, 3 * (kl + ku) + 20})
        for (std::int64_t columns : {2, 35})
          check<TypeParam>({9 * leaf + 5, columns == 2 ? 3 : 1, kl, ku, ring}, leaf, columns,
                           Values::dominant, ring, 9);
}

// The scratch contents of a solve must not affect the next one: after right-hand sides of NaN, others are
// solved as before.
TYPED_TEST(Chains, RightHandSidesThatAreNoneAreForgotten)
{
  const auto nan = std::numeric_limits<ribbon::real_t<TypeParam>>::quiet_NaN();
  for (const auto &[kl, ku] : {std::pair(1, 2), std::pair(3, 3), std::pair(7, 5), std::pair(9, 9)})
    for (int shape :
         {0, 1,
          2}) { // Leaves and joins, a ring, one leaf whose window ends with the place that is found first.
      const bool         ring = shape == 1;
      const std::int64_t n    = shape == 2 ? 2 * (kl + ku + 1) * (std::max(kl, ku) + 1) : 203,
                         leaf = shape == 2 ? n : 30;
      SCOPED_TRACE(testing::Message() << n << " rows, kl " << kl << " ku " << ku << (ring ? " ring" : ""));
      std::mt19937_64        g(1);
      ChainSystem<TypeParam> s{{n, 1, kl, ku, ring}};
      fill(s, g, Values::dominant);
      const ChainOnDevice<TypeParam> device(s);
      const auto                     check_again = [&](auto &&solver) {
        solver.factor(Exec(), device.matrix());
        ASSERT_TRUE(solver.report().ok());
        for (std::int64_t columns : {1, 5, 40})
          for (bool transposed : {false, true}) {
            std::vector<TypeParam> b(static_cast<std::size_t>(s.rows() * columns));
            for (auto &a : b) a = random_scalar<TypeParam>(g);
            solve(solver, std::vector<TypeParam>(b.size(), TypeParam(nan)), columns, transposed);
            EXPECT_LE(backward_error(s, solve(solver, b, columns, transposed), b, columns, transposed),
                                          chain_limit<TypeParam>())
              << solver.report().algorithm << ", " << columns << " columns"
              << (transposed ? ", transposed" : "");
          }
      };
      check_again(ribbon::ChainSolver<TypeParam, Exec>(Exec(), s.chain, {leaf, 0}));
      check_again(ribbon::SchurSolver<TypeParam, Exec>(Exec(), s.chain, {leaf, 0}));
    }
}

// Values for which elimination without pivoting is inaccurate: random rows, resonance, rows of all sizes.
TYPED_TEST(Chains, ValuesThatNeedPivots)
{
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (Values values : {Values::random, Values::wave, Values::graded})
      for (bool ring : {false, true})
        for (std::int64_t leaf : {0, 1, 40}) {
          SCOPED_TRACE(testing::Message() << "seed " << seed << " values " << static_cast<int>(values)
                                          << " ring " << ring << " leaf " << leaf);
          const int half = 1 + static_cast<int>(seed) % 3;
          check<TypeParam>({997, 1, half, half, ring}, leaf, 1, values, false, seed);
        }
}

// Random rows with kl != ku are singular to rounding: solutions grow from one end to the other. Rows that
// are added at the ends of a chain must not become equations then. Some chains have a zero pivot, which is
// reported.
TYPED_TEST(Chains, SolutionsThatGrowFromEndToEnd)
{
  // limited, so that solutions do not overflow
  const std::int64_t n      = ribbon::unit_roundoff<TypeParam>() > 1e-10 ? 90 : 400;
  int                solved = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const auto &[kl, ku] :
         {std::pair(0, 2), std::pair(2, 0), std::pair(3, 1), std::pair(1, 4), std::pair(0, 1)})
      for (std::int64_t leaf : {0, 1, 5, 49}) {
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << " kl " << kl << " ku " << ku << " leaf " << leaf);
        std::mt19937_64        g(seed);
        ChainSystem<TypeParam> s{{n, 1, kl, ku}};
        fill(s, g, Values::random);
        const ChainOnDevice<TypeParam>       device(s);
        ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain, {leaf, 1e-300});
        solver.factor(Exec(), device.matrix());
        ++all;
        if (solver.report().ok()) ++solved, check_solves(solver, s, device, seed % 2 == 0 ? 1 : 3, true, g);
        else EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot);
      }
  EXPECT_GE(solved, all / 2);
}

/// Matrices with indices of 64 and of 32 bits give the same solutions.
template <class Solver>
void expect_any_indices(const ribbon::Chain &chain, std::int64_t leaf_size, bool permuted)
{
  std::mt19937_64     g(11);
  ChainSystem<double> s{chain};
  if (permuted) s.shuffle(g);
  fill(s, g, Values::dominant);
  const ChainOnDevice<double> device(s);
  const auto                  row_begin = ribbon::upload(Exec(), "test::row_begin",
                                                         std::vector<std::int64_t>(s.row_begin.begin(), s.row_begin.end()));
  const auto                  column =
    ribbon::upload(Exec(), "test::column", std::vector<std::int64_t>(s.column.begin(), s.column.end()));
  const auto                narrow = device.matrix();
  const std::vector<double> b(static_cast<std::size_t>(s.rows()), 1.0);
  Solver                    by_narrow(Exec(), chain, {leaf_size, 0}), by_wide(Exec(), chain, {leaf_size, 0});
  ribbon::ChainMatrix<double, std::int64_t> wide{
    {s.rows(), row_begin.data(), column.data(), device.value.data()}};
  wide.row_of = narrow.row_of, wide.place_of = narrow.place_of;
  by_narrow.factor(Exec(), narrow), by_wide.factor(Exec(), wide);
  ASSERT_TRUE(by_wide.report().ok());
  EXPECT_EQ(solve(by_wide, b, 1, false), solve(by_narrow, b, 1, false))
    << chain.rows << " rows, kl " << chain.kl << " ku " << chain.ku << " ring " << chain.ring << " leaf "
    << leaf_size << " permuted " << permuted;
}

TEST(ChainIndices, OfEitherWidth)
{
  for (bool ring : {false, true})
    for (bool permuted : {false, true})
      for (std::int64_t leaf : {0, 20})
        for (int p : {1, 2, 7}) {
          expect_any_indices<ribbon::ChainSolver<double, Exec>>({300, 3, p, p, ring}, leaf, permuted);
          expect_any_indices<ribbon::SchurSolver<double, Exec>>({300, 3, p, p, ring}, leaf, permuted);
        }
}

// Multiple shooting for a two-point boundary value problem: x_i - exp(h S) x_(i-1) = f_i and x_0 + x_n =
// f_0. Gaussian elimination with partial pivoting grows like exp(n h) (Wright, SIAM J. Sci. Comput. 14,
// 1993); reflections do not.
TEST(ChainKillers, BoundaryValueProblemOfWright)
{
  const std::int64_t n = 4000;
  const double       h = 0.3, c = std::exp(-h / 6) * std::cosh(h), q = std::exp(-h / 6) * std::sinh(h);
  for (int ku : {0, 1}) { // the given band, and a band with stored zeros
    ChainSystem<double> s{{n, 1, 3, ku, true}};
    s.fill([&](std::int64_t i, int d) {
      const bool   first = i < 2, odd = i % 2 == 1;
      const double same = first ? -1 : c, other = first ? 0 : q; // entries of exp(h S)
      return d == 0 ? 1.0 : d == -2 ? -same : (odd && d == -3) || (!odd && d == -1) ? -other : 0.0;
    });
    const ChainOnDevice<double> device(s);
    std::vector<double>         b(static_cast<std::size_t>(n));
    std::mt19937_64             g(1);
    for (auto &a : b) a = random_scalar<double>(g);
    for (std::int64_t leaf : {0, 1, 16, 300}) {
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
      solver.factor(Exec(), device.matrix());
      ASSERT_TRUE(solver.report().ok());
      for (bool transposed : {false, true})
        EXPECT_LE(backward_error(s, solve(solver, b, 1, transposed), b, 1, transposed), 1e-14) << ku << leaf;
    }
  }
}

// Matrices for which band LU with partial pivoting, which hosts try first, is inaccurate. Pivots grow by
// 2^kl (blocks of Wilkinson's matrix), or near resonance one row is exchanged in every step.
TEST(ChainKillers, GrowthAndRowsThatStay)
{
  const auto check = [](std::int64_t n, int kl, int ku, const auto &entry) {
    ChainSystem<double> s{{n, 1, kl, ku}};
    s.fill(entry);
    const ChainOnDevice<double> device(s);
    std::vector<double>         b(static_cast<std::size_t>(n));
    std::mt19937_64             g(1);
    for (auto &a : b) a = random_scalar<double>(g);
    ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain);
    for (int again : {0, 1}) { // the second factorization has the same values
      solver.factor(Exec(), device.matrix());
      ASSERT_TRUE(solver.report().ok()) << again;
      EXPECT_EQ(solver.report().algorithm, "QR");
      for (bool transposed : {false, true})
        EXPECT_LE(backward_error(s, solve(solver, b, 1, transposed), b, 1, transposed), 1e-14)
          << n << " rows, kl " << kl << (transposed ? ", transposed" : "");
    }
  };
  for (int p : {12, 24, 32})
    for (std::int64_t n : {3 * p + 1, 200})
      check(n, p, p, [p](std::int64_t i, int d) {
        return d == 0 || (d > 0 && i / (p + 1) * (p + 1) + p == i + d) ? 1.0 : d < 0 ? -1.0 : 0.0;
      });
  for (double diagonal : {1.9, 0.3, -0.1})
    check(100000, 1, 1, [diagonal](std::int64_t, int d) { return d == 0 ? diagonal : -1.0; });
}

} // namespace
