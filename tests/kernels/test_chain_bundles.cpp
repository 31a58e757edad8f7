// SPDX-License-Identifier: BSD-2-Clause
// Leaves that hosts process side by side in vectors: rings with all numbers of leaves, and failures in only
// one of the leaves. A device uses other kernels for the same rings.
#include "chains.hpp"
#include "scalars.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

template <class Scalar>
class ChainBundles : public testing::Test {
};
TYPED_TEST_SUITE(ChainBundles, Scalars, );

/// Random rings or chains with large diagonals.
template <class Scalar>
ChainSystem<Scalar> ring_of(std::int64_t rows, std::int64_t chains, int kl, int ku, std::mt19937_64 &g,
                            bool permuted = false, bool ring = true)
{
  ChainSystem<Scalar> s{{rows, chains, kl, ku, ring}};
  if (permuted) s.shuffle(g);
  s.fill([&](std::int64_t, int d) {
    return random_scalar<Scalar>(g) + Scalar(static_cast<ribbon::real_t<Scalar>>(d == 0 ? kl + ku + 1 : 0));
  });
  return s;
}

template <class Scalar>
std::vector<Scalar> random_columns(const ChainSystem<Scalar> &s, std::int64_t columns, std::mt19937_64 &g)
{
  std::vector<Scalar> b(static_cast<std::size_t>(s.rows() * columns));
  for (auto &a : b) a = random_scalar<Scalar>(g);
  return b;
}

// Numbers of leaves that do or do not fill vectors, and leaves that are longer than others by a row. Bands
// with specialized code, other bands, and too wide bands. Lengths from the smallest rings on.
TYPED_TEST(ChainBundles, RingsOfAllLengths)
{
  bool differ = false, part = false;
  for (const auto &[kl, ku] :
       {std::pair(1, 1), std::pair(1, 0), std::pair(0, 2), std::pair(1, 2), std::pair(2, 2), std::pair(4, 3),
        std::pair(5, 5), std::pair(5, 6), std::pair(8, 8), std::pair(8, 9)}) {
    const int W = kl + ku;
    for (std::int64_t rows : {W + 1, W + 2, 2 * W + 3, 13 * W + 20, 50 * W + 77, 98 * W + 129})
      for (std::int64_t chains : {1, 3}) {
        if (chains * rows > 1800) continue;
        const auto seed = static_cast<std::uint64_t>(rows * 100 + W);
        SCOPED_TRACE(testing::Message() << "rows " << rows << " chains " << chains << " kl " << kl << " ku "
                                        << ku << " seed " << seed);
        std::mt19937_64                      g(seed);
        const auto                           s = ring_of<TypeParam>(rows, chains, kl, ku, g, rows % 2 == 0);
        const ChainOnDevice<TypeParam>       device(s);
        ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain);
        differ = differ || solver.tree().longer > 0,
        part   = part || (solver.tree().leaves > 1 && solver.tree().leaves * chains % 8 != 0);
        check_solves(solver, s, device, rows < 200 ? 9 : 1, s.row_of.empty(), g);
      }
  }
  EXPECT_TRUE(differ && part) << "the lengths do not try what they should";
}

// Hosts with several threads split chains into bundles, which begin and end with the chain. Bands that are
// too wide for bundles are processed leaf by leaf.
TYPED_TEST(ChainBundles, ChainsForManyThreads)
{
  for (const auto &[kl, ku, threads] : {std::tuple(1, 1, 4), std::tuple(1, 0, 16), std::tuple(0, 2, 5),
                                        std::tuple(2, 2, 16), std::tuple(4, 3, 6), std::tuple(5, 5, 4),
                                        std::tuple(6, 5, 17), std::tuple(0, 9, 16), std::tuple(9, 9, 46)})
    for (const auto &[rows, chains] : {std::pair(8192, 1), std::pair(8209, 2)}) {
      SCOPED_TRACE(testing::Message() << "rows " << rows << " chains " << chains << " kl " << kl << " ku "
                                      << ku << " threads " << threads);
      std::mt19937_64                g(static_cast<std::uint64_t>(rows + kl));
      const auto                     s = ring_of<TypeParam>(rows, chains, kl, ku, g, chains == 2, false);
      const ChainOnDevice<TypeParam> device(s);
      ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain, {0, 0, threads * chains});
      EXPECT_GT(solver.tree().leaves, 1);
      EXPECT_STREQ(solver.method(), "QR");
      check_solves(solver, s, device, kl == 2 ? 9 : 1, s.row_of.empty(), g);
    }
}

// Results are bitwise reproducible, and equal for a single column and for a column among others.
TYPED_TEST(ChainBundles, TheSameBitsAgain)
{
  std::mt19937_64                      g(5);
  const auto                           s = ring_of<TypeParam>(777, 1, 2, 2, g);
  const ChainOnDevice<TypeParam>       device(s);
  const auto                           b = random_columns(s, 9, g);
  ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain), other(Exec(), s.chain);
  solver.factor(Exec(), device.matrix()), other.factor(Exec(), device.matrix());
  for (bool transposed : {false, true}) {
    const auto x = solve(solver, b, 9, transposed);
    EXPECT_EQ(x, solve(other, b, 9, transposed));
    if (ribbon::is_device_space<Exec>) continue; // devices have special kernels for one column
    for (std::ptrdiff_t c : {0, 8})
      EXPECT_EQ(
        std::vector<TypeParam>(x.begin() + c * 777, x.begin() + (c + 1) * 777),
        solve(solver, std::vector<TypeParam>(b.begin() + c * 777, b.begin() + (c + 1) * 777), 1, transposed));
  }
}

// Rows of all sizes, for which products of pivots and exponents overflow. The determinant equals that for
// another number of leaves.
TYPED_TEST(ChainBundles, Determinants)
{
  const int most = std::is_same_v<ribbon::real_t<TypeParam>, float> ? 20 : 150;
  for (int half : {1, 3, 6}) {
    std::mt19937_64 g(static_cast<std::uint64_t>(half));
    auto            s = ring_of<TypeParam>(901, 1, half, half, g);
    for (std::size_t i = 0; i < 901; ++i) {
      const auto size = static_cast<ribbon::real_t<TypeParam>>(
        std::pow(10.0, std::uniform_int_distribution<int>(-most, most)(g)));
      for (auto e = static_cast<std::size_t>(s.row_begin[i]);
           e < static_cast<std::size_t>(s.row_begin[i + 1]); ++e)
        s.value[e] *= size;
    }
    const ChainOnDevice<TypeParam>       device(s);
    ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain), other(Exec(), s.chain, {31, 0});
    solver.factor(Exec(), device.matrix()), other.factor(Exec(), device.matrix());
    ASSERT_TRUE(solver.report().ok() && other.report().ok());
    EXPECT_NEAR(solver.report().log_abs_det, other.report().log_abs_det,
                1e-6 * std::abs(other.report().log_abs_det) +
                  (std::is_same_v<TypeParam, float> ? 1e-2 : 1e-9));
    // Leaves of another length have other pivots.
    EXPECT_NEAR(solver.report().smallest_pivot, other.report().smallest_pivot,
                0.9 * other.report().smallest_pivot);
  }
}

// A column of zeros, a row of zeros, or a NaN in any leaf of a ring is named. It does not affect the next
// factorization.
TYPED_TEST(ChainBundles, WhatIsWrongInOneLeafIsNamed)
{
  const std::int64_t n = 500;
  for (int half : {1, 2, 6}) {
    ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), {n, 1, half, half, true});
    for (std::int64_t at = 20; at < n; at += 61) {
      SCOPED_TRACE(testing::Message() << "half-bandwidth " << half << " row " << at);
      std::mt19937_64 g(3);
      const auto      good     = ring_of<TypeParam>(n, 1, half, half, g);
      const auto      factored = [&](const auto &change) {
        auto s = good;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
          for (auto e = static_cast<std::size_t>(s.row_begin[i]);
               e < static_cast<std::size_t>(s.row_begin[i + 1]); ++e)
            change(static_cast<std::int64_t>(i), s.column[e], s.value[e]);
        solver.factor(Exec(), ChainOnDevice<TypeParam>(s).matrix());
        return solver.report();
      };
      const auto column =
        factored([&](std::int64_t, int j, TypeParam &a) { a = j == at ? TypeParam(0) : a; });
      EXPECT_EQ(column.status, ribbon::FactorStatus::zero_pivot);
      EXPECT_EQ(column.row, at);
      const auto row = factored([&](std::int64_t i, int, TypeParam &a) { a = i == at ? TypeParam(0) : a; });
      EXPECT_EQ(row.status, ribbon::FactorStatus::zero_pivot);
      EXPECT_EQ(row.row, at);
      const auto none = factored([&](std::int64_t i, int j, TypeParam &a) {
        a = i == at && j == at ? a * std::numeric_limits<ribbon::real_t<TypeParam>>::quiet_NaN() : a;
      });
      EXPECT_EQ(none.status, ribbon::FactorStatus::not_finite);
      EXPECT_LE(std::abs(none.row - at), 2 * half);
      EXPECT_TRUE(factored([](std::int64_t, int, TypeParam &) {}).ok());
    }
  }
}

// A NaN in a column of zeros does not spread. The report names it, not a later pivot of the same leaf that
// is nearly zero.
TYPED_TEST(ChainBundles, ANumberThatIsNoneIsNamedBeforeSmallPivots)
{
  using Real           = ribbon::real_t<TypeParam>;
  const std::int64_t n = 500, at = 101;
  for (std::int64_t leaf : {0, 31}) {
    std::mt19937_64 g(7);
    auto            s = ring_of<TypeParam>(n, 1, 1, 1, g);
    for (std::int64_t i = 0; i < n; ++i)
      for (auto e = static_cast<std::size_t>(s.row_begin[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(s.row_begin[static_cast<std::size_t>(i + 1)]); ++e) {
        const std::int64_t j = s.column[e];
        if (j == at - 1)
          s.value[e] = i == at ? TypeParam(std::numeric_limits<Real>::quiet_NaN()) : TypeParam(0);
        if ((i == at + 5 || i == at + 6) && (j < at + 5 || j > at + 6)) s.value[e] = TypeParam(0);
        if ((i == at + 5 || i == at + 6) && (j == at + 5 || j == at + 6))
          s.value[e] = TypeParam(static_cast<Real>(i == at + 6 && j == at + 6 ? 1.001 : 1));
      }
    ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain, {leaf, 0});
    solver.factor(Exec(), ChainOnDevice<TypeParam>(s).matrix());
    EXPECT_EQ(solver.report().status, ribbon::FactorStatus::not_finite);
    EXPECT_LE(std::abs(solver.report().row - at), 2);
    EXPECT_EQ(solver.report().smallest_pivot, 0);
  }
}

// Adjacent rings, one of them with a NaN or a column of zeros. The report names it, and the other rings are
// solved as without it.
TYPED_TEST(ChainBundles, OtherRingsAreSolved)
{
  const std::int64_t n = 30, chains = 13;
  for (const bool is_nan : {false, true})
    for (std::int64_t bad : {0, 6, 12}) {
      SCOPED_TRACE(testing::Message() << "ring " << bad << (is_nan ? " NaN" : " zeros"));
      std::mt19937_64                      g(11);
      const auto                           good = ring_of<TypeParam>(n, chains, 1, 1, g);
      auto                                 s    = good;
      const auto                           b    = random_columns(s, 1, g);
      ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain);
      solver.factor(Exec(), ChainOnDevice<TypeParam>(s).matrix());
      const auto all = solve(solver, b, 1, false), all_transposed = solve(solver, b, 1, true);
      for (std::size_t e = 0; e < s.value.size(); ++e)
        if (s.column[e] == bad * n + 17)
          s.value[e] =
            is_nan ? s.value[e] * std::numeric_limits<ribbon::real_t<TypeParam>>::quiet_NaN() : TypeParam(0);
      solver.factor(Exec(), ChainOnDevice<TypeParam>(s).matrix());
      EXPECT_EQ(solver.report().status,
                is_nan ? ribbon::FactorStatus::not_finite : ribbon::FactorStatus::zero_pivot);
      EXPECT_EQ(solver.report().row / n, bad);
      for (bool transposed : {false, true}) {
        const auto  x        = solve(solver, b, 1, transposed);
        const auto &expected = transposed ? all_transposed : all;
        for (std::int64_t i = 0; i < n * chains; ++i)
          if (i / n != bad) {
            ASSERT_EQ(x[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(i)]) << i;
          }
      }
    }
}

} // namespace
