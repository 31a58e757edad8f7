// SPDX-License-Identifier: BSD-2-Clause
// Multifrontal elimination of chains: every shape of tree against the residual, whatever the values.
#include "chains.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

#include <limits>

using namespace test;

namespace {

enum class Values { dominant, random, wave, graded };

template <class Scalar>
void fill(ChainSystem<Scalar> &s, std::mt19937_64 &g, Values values)
{
  using Real         = ribbon::real_t<Scalar>;
  std::int64_t row   = -1;
  Real         scale = 1;
  s.fill([&](std::int64_t i, int d) {
    if (i != row)
      row = i, scale = values == Values::graded
                         ? static_cast<Real>(std::pow(10.0, std::uniform_int_distribution<int>(-4, 4)(g)))
                         : Real(1);
    // -u'' - k^2 u
    if (values == Values::wave)
      return Scalar(d == 0 ? static_cast<Real>(2 - 0.81) : d == 1 || d == -1 ? Real(-1) : Real(0));
    const Scalar a = random_scalar<Scalar>(g) * scale;
    return values == Values::dominant && d == 0 ? a + Scalar(static_cast<Real>(s.chain.width() + 1)) : a;
  });
}

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
  if (values != Values::dominant) options.zero_pivot = 1e-300; // what is asked is the backward error
  ribbon::ChainSolver<Scalar, Exec> solver(Exec(), chain, options);
  check_solves(solver, s, device, columns, !permuted, g);
}

template <class Scalar>
class Chains : public testing::Test {
};
using Scalars = testing::Types<double, float, Kokkos::complex<double>>;
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
    // widths with kernels of their own: tiles with many leaves, several chains, leaves on other tiles' ends
    for (bool permuted : {false, true}) {
      check<TypeParam>({1501, 1, 1, 3, ring}, 5, 35, Values::dominant, permuted, 4);
      check<TypeParam>({90, 13, 3, 1, ring}, 9, 5, Values::dominant, permuted, 5);
      check<TypeParam>({90, 13, 2, 0, ring}, 40, 17, Values::dominant, permuted, 6);
      check<TypeParam>({50, 70, 1, 1, ring}, 64, 3, Values::dominant, permuted, 7);
      check<TypeParam>({700, 2, 5, 5, ring}, 11, 9, Values::dominant, permuted, 8);
    }
  }
}

// The first and the last width of each kernel whose lanes have a column each, and wider; leaves of a
// step or two, and of many.
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

// What a solve leaves in scratch is nothing to the next one: after right-hand sides that are none,
// others are solved as before.
TYPED_TEST(Chains, RightHandSidesThatAreNoneAreForgotten)
{
  const auto nan = std::numeric_limits<ribbon::real_t<TypeParam>>::quiet_NaN();
  for (const auto &[kl, ku] : {std::pair(1, 2), std::pair(3, 3), std::pair(7, 5), std::pair(9, 9)})
    for (int shape :
         {0, 1,
          2}) { // leaves and joins, a ring, one leaf whose window ends with the place that is found first
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

// What elimination without pivoting loses: random rows, resonance, rows of all sizes.
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

// Random rows with kl != ku are singular to all digits: solutions grow from one end to the other until the
// smallest singular value is rounding. Rows that are added to the ends of a chain must not become equations
// then. Some have a pivot that is zero, which is said.
TYPED_TEST(Chains, SolutionsThatGrowFromEndToEnd)
{
  const std::int64_t n      = ribbon::unit_roundoff<TypeParam>() > 1e-10 ? 90 : 400; // not to infinity
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

/// Solutions by a matrix with indices of 64 bits are those by one with 32.
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
  for (int ku : {0, 1}) { // as it is, and with zeros stored
    ChainSystem<double> s{{n, 1, 3, ku, true}};
    s.fill([&](std::int64_t i, int d) {
      const bool   first = i < 2, odd = i % 2 == 1;
      const double same = first ? -1 : c, other = first ? 0 : q; // of exp(h S)
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

// What band LU with partial pivoting, which hosts begin with, loses digits of: pivots that grow by 2^kl
// (blocks of Wilkinson's matrix), and next to resonance one row that is exchanged all the way.
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
    for (int again : {0, 1}) { // with the same numbers
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

// Pieces on several ranks, here one after another: what they pass makes a tree of its own.
template <class Scalar>
void check_pieces(int kl, int ku, bool ring, const std::vector<std::int64_t> &sizes, std::int64_t leaf,
                  std::int64_t columns, Values values)
{
  SCOPED_TRACE(testing::Message() << "values " << static_cast<int>(values) << " kl " << kl << " ku " << ku
                                  << " ring " << ring << " pieces " << sizes.size() << " leaf " << leaf);
  using Solver         = ribbon::ChainSolver<Scalar, Exec>;
  const std::int64_t n = std::accumulate(sizes.begin(), sizes.end(), std::int64_t(0)), W = kl + ku,
                     P = static_cast<std::int64_t>(sizes.size());
  std::mt19937_64     g(7);
  ChainSystem<Scalar> s{{n, 1, kl, ku, ring}};
  fill(s, g, values);
  std::vector<Solver>            pieces;
  const auto                     front = static_cast<std::size_t>(2 * W * (W + 1));
  Kokkos::View<Scalar *, Memory> passed("test::passed", front * sizes.size());
  std::vector<std::int64_t>      starts{0};
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    const std::int64_t start = starts.back(), end = start + sizes[p];
    starts.push_back(end);
    std::vector<int>          row_begin{0}, column, far_begin{0}, far;
    std::vector<Scalar>       value, far_value;
    std::vector<std::int64_t> distance;
    for (std::int64_t i = start; i < end; ++i) {
      for (int e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_begin[static_cast<std::size_t>(i) + 1];
           ++e) {
        std::int64_t j = s.column[static_cast<std::size_t>(e)];
        if (j - i > ku) j -= n; // around the ring
        if (j - i < -kl) j += n;
        if (j >= start && j < end)
          column.push_back(static_cast<int>(j - start)),
            value.push_back(s.value[static_cast<std::size_t>(e)]);
        else
          far.push_back(static_cast<int>(distance.size())), distance.push_back(j - start),
            far_value.push_back(s.value[static_cast<std::size_t>(e)]);
      }
      row_begin.push_back(static_cast<int>(column.size())), far_begin.push_back(static_cast<int>(far.size()));
    }
    const auto up      = [](const auto &v) { return ribbon::upload(Exec(), "test::piece", v); };
    const auto d_begin = up(row_begin), d_column = up(column), d_far_begin = up(far_begin), d_far = up(far);
    const auto d_value = up(value), d_far_value = up(far_value);
    const auto d_distance = up(distance);
    ribbon::ChainMatrix<Scalar, int> A{{end - start, d_begin.data(), d_column.data(), d_value.data()}};
    A.outside        = {end - start, d_far_begin.data(), d_far.data(), d_far_value.data()};
    A.outside_column = d_distance.data();
    pieces.emplace_back(
      Exec(), ribbon::Chain{end - start, 1, kl, ku, false, ring || p > 0, ring || p + 1 < sizes.size()},
      ribbon::ChainSolverOptions{leaf, 0});
    pieces.back().factor(Exec(), A);
    ASSERT_EQ(pieces.back().passed_size(), front);
    Kokkos::deep_copy(Kokkos::subview(passed, std::make_pair(p * front, (p + 1) * front)),
                      Kokkos::View<const Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        pieces.back().passed(), front));
  }
  Solver root(Exec(), {P * W, 1, kl, ku, ring}, {W, values == Values::dominant ? 0 : 1e-300});
  root.factor_passed(Exec(), passed.data());
  ASSERT_TRUE(root.report().ok());
  std::vector<Scalar> b(static_cast<std::size_t>(n * columns));
  for (auto &a : b) a = random_scalar<Scalar>(g);
  for (bool transposed : {false, true}) {
    const std::int64_t             pass = transposed ? 2 * W : W;
    const auto                     db   = ribbon::upload(Exec(), "test::b", b);
    Kokkos::View<Scalar *, Memory> dx("test::x", b.size()),
      ends("test::ends", static_cast<std::size_t>(pass * columns * P)),
      cuts("test::cuts", static_cast<std::size_t>(P * W * columns)),
      both("test::both", static_cast<std::size_t>(2 * W * columns));
    Kokkos::View<Scalar *, Memory> cut_b("test::cut_b", cuts.extent(0));
    for (std::size_t p = 0; p < sizes.size(); ++p)
      pieces[p].up(Exec(), db.data() + starts[p], n, dx.data() + starts[p], n, columns, transposed,
                   ends.data() + static_cast<std::int64_t>(p) * pass * columns);
    const auto h_cut_b = Kokkos::create_mirror_view(cut_b);
    for (std::int64_t p = 0; p < P; ++p)
      for (std::int64_t k = 0; k < W; ++k)
        for (std::int64_t c = 0; c < columns; ++c) { // unknown k of the cut before piece p
          const std::int64_t in_cuts = (p * W - kl + k + P * W) % (P * W),
                             in_b    = (starts[static_cast<std::size_t>(p)] - kl + k + n) % n;
          h_cut_b(static_cast<std::size_t>(in_cuts + c * P * W)) = b[static_cast<std::size_t>(in_b + c * n)];
        }
    Kokkos::deep_copy(cut_b, h_cut_b);
    root.solve_passed(Exec(), cut_b.data(), cuts.data(), columns, transposed, ends.data());
    const auto h_cuts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cuts);
    for (std::int64_t p = 0; p < P; ++p) {
      const auto to = static_cast<std::size_t>(p);
      if (transposed) {
        pieces[to].down(Exec(), dx.data() + starts[to], n, columns, true, ends.data() + p * pass * columns);
        continue;
      }
      const auto h_both = Kokkos::create_mirror_view(both);
      for (std::int64_t side = 0; side < 2; ++side)
        for (std::int64_t k = 0; k < W; ++k)
          for (std::int64_t c = 0; c < columns; ++c)
            h_both(static_cast<std::size_t>((side * W + k) * columns + c)) =
              h_cuts(static_cast<std::size_t>(((p + side) * W - kl + k + P * W) % (P * W) + c * P * W));
      Kokkos::deep_copy(both, h_both);
      pieces[to].down(Exec(), dx.data() + starts[to], n, columns, false, both.data());
      Kokkos::fence();
    }
    const auto          result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dx);
    std::vector<Scalar> x(result.data(), result.data() + b.size());
    EXPECT_LE(backward_error(s, x, b, columns, transposed), chain_limit<Scalar>())
      << (transposed ? "transposed" : "");
  }
}

TYPED_TEST(Chains, InPieces)
{
  for (bool ring : {false, true})
    for (std::int64_t leaf : {0, 4})
      for (std::int64_t columns : {1, 3}) {
        check_pieces<TypeParam>(1, 1, ring, {40, 3, 17}, leaf, columns, Values::dominant);
        check_pieces<TypeParam>(2, 1, ring, {40, 3, 17, 90, 4}, leaf, columns, Values::dominant);
        check_pieces<TypeParam>(0, 2, ring, {20, 30}, leaf, columns, Values::dominant);
        check_pieces<TypeParam>(5, 3, ring, {8, 400, 33}, leaf, columns, Values::dominant);
      }
  for (bool ring : {false, true}) { // leaves side by side, of closed ends and open ones
    check_pieces<TypeParam>(1, 1, ring, {203, 3, 170}, 0, 3, Values::dominant);
    check_pieces<TypeParam>(1, 3, ring, {405, 8, 230}, 0, 9, Values::dominant);
    check_pieces<TypeParam>(5, 2, ring, {430, 391}, 0, 1, Values::dominant);
  }
  for (std::int64_t leaf : {0, 1000}) // wide bands, in pieces as short as they may be
    for (std::int64_t columns : {1, 3, 35}) {
      check_pieces<TypeParam>(12, 20, true, {40, 43, 46, 89}, leaf, columns, Values::dominant);
      check_pieces<TypeParam>(12, 20, false, {32, 43, 86}, leaf, columns, Values::dominant);
      // as what is left over of others is
      if (leaf == 0 || !ribbon::is_device_space<Exec>)
        check_pieces<TypeParam>(39, 40, true, {80, 90, 100, 110}, leaf, columns, Values::dominant);
    }
  for (std::int64_t leaf : {0, 4})
    for (const auto &[kl, ku] : {std::pair(0, 2), std::pair(2, 0), std::pair(3, 1), std::pair(1, 3)})
      check_pieces<TypeParam>(kl, ku, false, {20, 5, 30, 25}, leaf, 2, Values::random);
}

} // namespace
