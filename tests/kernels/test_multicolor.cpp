// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over colours, compared with plain relaxations of one unknown after another.
#include "multicolor_matrix.hpp"
#include "scalars.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using ribbon::real_t;
using test::Exec;
using test::Memory;
using test::Scalars;
using Colors = ribbon::ColorArray<Exec>;

template <class Scalar>
std::vector<Scalar> random_vector(std::mt19937_64 &g, std::int64_t n)
{
  std::vector<Scalar> v(static_cast<std::size_t>(n));
  for (Scalar &a : v) a = test::random_scalar<Scalar>(g);
  return v;
}

template <class Scalar>
std::vector<Scalar> on_host(const Kokkos::View<Scalar *, Memory> &from)
{
  const auto          host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  std::vector<Scalar> v(host.size());
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = host(k);
  return v;
}

/// A matrix with colours, of which some ghosts have none.
template <class Scalar>
struct System {
  test::BlockMatrix<Scalar> A;
  test::DeviceRows<Scalar>  rows;
  std::vector<std::int32_t> color;
  int                       colors;

  System(std::mt19937_64 &g, std::int64_t n, std::int64_t ghosts, int block, int couplings)
      : A(test::BlockMatrix<Scalar>::random(g, n, ghosts, block, couplings, true)), rows(A)
  {
    Colors found("colors", static_cast<std::size_t>(n + ghosts));
    colors          = ribbon::color_greedily(Exec(), ribbon::unknown_graph(Exec(), rows.rows), found);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
    for (std::int64_t i = 0; i < n + ghosts; ++i) color.push_back(host(static_cast<std::size_t>(i)));
    for (std::int64_t i = n; i < n + ghosts; ++i) color[static_cast<std::size_t>(i)] = -1;
  }
  Colors on_device() const { return ribbon::upload(Exec(), "colors", color); }
};

template <class Scalar>
class Multicolor : public testing::Test {
};
TYPED_TEST_SUITE(Multicolor, Scalars);

/// Every sequence, block size, guess, omega and shift.
TYPED_TEST(Multicolor, SweepsAsPlainRelaxationsDo)
{
  using Scalar = TypeParam;
  using Real   = real_t<Scalar>;
  const Exec exec;
  for (std::uint64_t seed = 1; seed <= 48; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64      g(seed);
    const auto           pick  = [&](int n) { return static_cast<int>(g() % static_cast<std::uint64_t>(n)); };
    const int            block = seed <= 8 ? static_cast<int>(seed) : 1 + pick(8);
    const System<Scalar> s(g, 1 + pick(120), pick(2) * pick(9), block, pick(7));
    const bool           forward = pick(3) != 0, backward = !forward || pick(2) == 0, zero = pick(2) == 0;
    const int            sweeps = 1 + pick(3);
    const Real           omega  = pick(2) ? Real(1) : static_cast<Real>(0.3 + 0.1 * pick(15));
    const Scalar         shift  = pick(2) ? Scalar(0) : Scalar(static_cast<Real>(0.5));
    const auto           n = s.A.own * block, all = (s.A.own + s.A.ghosts) * block;
    const auto           b = random_vector<Scalar>(g, n);
    auto                 x = random_vector<Scalar>(g, all);
    if (zero) x.assign(x.size(), Scalar(0));
    const std::vector<Scalar> ghosts(x.begin() + static_cast<std::ptrdiff_t>(n), x.end());
    const Colors              colors         = s.on_device();
    const int                 threads_of_row = pick(2) ? 0 : 8;
    const ribbon::MulticolorRelaxation<Scalar, Exec> matrix(exec, s.rows.rows, colors, s.colors, shift,
                                                            threads_of_row);
    ASSERT_TRUE(matrix.report().ok());
    const auto db = ribbon::upload(exec, "b", b), dg = ribbon::upload(exec, "ghosts", ghosts);
    auto       start = std::vector<Scalar>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    if (zero) start.assign(start.size(), Scalar(std::numeric_limits<Real>::quiet_NaN())); // is not read
    const auto dx    = ribbon::upload(exec, "x", start);
    const auto steps = ribbon::color_sequence(s.colors, forward, backward, sweeps, zero);
    ribbon::sweep_colors(exec, matrix, steps, omega, {db.data(), dx.data(), dg.data()});
    exec.fence();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (int c = 0; forward && c < s.colors; ++c)
        test::reference_relax(s.A, s.color, c, Scalar(omega), shift, b, x);
      for (int c = s.colors; backward && c-- > 0;)
        test::reference_relax(s.A, s.color, c, Scalar(omega), shift, b, x);
    }
    const auto found = on_host(dx);
    for (std::size_t k = 0; k < found.size(); ++k)
      ASSERT_LT(ribbon::magnitude(found[k] - x[k]), 500 * ribbon::unit_roundoff<Scalar>()) << "entry " << k;
  }
}

/// b - A x after forward and backward sweeps: zero in the last colour, as computed elsewhere.
TYPED_TEST(Multicolor, ComputesResidualsOfTheOtherColors)
{
  using Scalar = TypeParam;
  const Exec exec;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64      g(seed);
    const bool           forward = g() % 2 == 0;
    const System<Scalar> s(g, 1 + static_cast<int>(g() % 300), 0, 1, static_cast<int>(g() % 6));
    const Colors         colors = s.on_device();
    const ribbon::MulticolorRelaxation<Scalar, Exec> matrix(exec, s.rows.rows, colors, s.colors, Scalar(0));
    const auto b = random_vector<Scalar>(g, s.A.own), start = random_vector<Scalar>(g, s.A.own);
    const auto db = ribbon::upload(exec, "b", b), dx = ribbon::upload(exec, "x", start),
               dr    = ribbon::upload(exec, "r", start);
    const auto steps = ribbon::color_sequence(s.colors, forward, !forward, 1, false);
    ribbon::sweep_colors(exec, matrix, steps, real_t<Scalar>(1), {db.data(), dx.data()});
    matrix.residual(exec, steps.back().color, {db.data(), dx.data()}, dr.data());
    exec.fence();
    const auto x = on_host(dx), r = on_host(dr);
    for (std::size_t i = 0; i < x.size(); ++i) {
      Scalar sum = b[i];
      for (const auto &[j, a] : s.A.rows[i]) sum -= a[0][0] * x[static_cast<std::size_t>(j)];
      ASSERT_LT(ribbon::magnitude(r[i] - sum), 200 * ribbon::unit_roundoff<Scalar>()) << "row " << i;
      const bool last = s.color[i] == steps.back().color;
      ASSERT_TRUE(!last || r[i] == Scalar(0));
    }
  }
}

TYPED_TEST(Multicolor, TakesNewValuesInPlace)
{
  using Scalar = TypeParam;
  const Exec      exec;
  std::mt19937_64 g(7);
  for (int block : {1, 3}) {
    System<Scalar>                             s(g, 90, 4, block, 4);
    const Colors                               colors = s.on_device();
    ribbon::MulticolorRelaxation<Scalar, Exec> matrix(exec, s.rows.rows, colors, s.colors, Scalar(0));
    for (std::int64_t i = 0; i < s.A.own; ++i) // other values; one of them becomes zero
      for (auto &[j, a] : s.A.rows[static_cast<std::size_t>(i)])
        s.A.set(g, i, j, i % 7 == 0 && j != i ? 0 : 0.1);
    const test::DeviceRows<Scalar> rows(s.A);
    ASSERT_TRUE(matrix.refresh(exec, rows.rows, colors, Scalar(0)));
    const ribbon::MulticolorRelaxation<Scalar, Exec> fresh(exec, rows.rows, colors, s.colors, Scalar(0));
    const auto b      = ribbon::upload(exec, "b", random_vector<Scalar>(g, 90 * block)),
               ghosts = ribbon::upload(exec, "ghosts", random_vector<Scalar>(g, 4 * block)),
               start  = ribbon::upload(exec, "x", random_vector<Scalar>(g, 90 * block));
    std::vector<Scalar> found[2];
    for (int k = 0; k < 2; ++k) {
      Kokkos::View<Scalar *, Memory> x("x", static_cast<std::size_t>(90 * block));
      Kokkos::deep_copy(x, start);
      ribbon::sweep_colors<Scalar, Exec>(exec, k ? fresh : matrix,
                                         ribbon::color_sequence(s.colors, true, true, 2, false),
                                         real_t<Scalar>(1), {b.data(), x.data(), ghosts.data()});
      exec.fence();
      found[k] = on_host(x);
    }
    for (std::size_t k = 0; k < found[0].size(); ++k)
      ASSERT_LT(ribbon::magnitude(found[0][k] - found[1][k]), 200 * ribbon::unit_roundoff<Scalar>());
    // an entry that was zero in the set-up
    s.A.at(0, s.A.own - 1) = s.A.diagonal(0);
    s.A.at(s.A.own - 1, 0) = s.A.diagonal(0);
    s.A.at(0, 1) = s.A.diagonal(0), s.A.at(0, 2) = s.A.diagonal(0), s.A.at(0, 3) = s.A.diagonal(0);
    for (std::int64_t j = 1; j < 40; ++j) s.A.at(0, j) = s.A.diagonal(0);
    const test::DeviceRows<Scalar> wider(s.A);
    EXPECT_FALSE(matrix.refresh(exec, wider.rows, colors, Scalar(0)));
  }
}

TYPED_TEST(Multicolor, ReportsTheFirstUnknownAtFault)
{
  using Scalar = TypeParam;
  using Real   = real_t<Scalar>;
  const Exec exec;
  for (int block : {1, 4})
    for (int fault = 0; fault < 4; ++fault) {
      SCOPED_TRACE("block " + std::to_string(block) + ", fault " + std::to_string(fault));
      std::mt19937_64 g(11);
      System<Scalar>  s(g, 50, 0, block, 3);
      for (std::int64_t i : {41, 17, 23}) {
        auto      &D = s.A.at(i, i);
        const auto B = static_cast<std::size_t>(block);
        if (fault == 0) s.A.rows[static_cast<std::size_t>(i)].erase(i);
        if (fault == 1)
          for (auto &v : D[B - 1]) v = Scalar(0);
        if (fault == 1 && block == 1) D[0][0] = Scalar(0), s.A.at(i, i) = D;
        if (fault == 2) D[0][B - 1] = Scalar(std::numeric_limits<Real>::quiet_NaN());
        if (fault == 3 && block > 1) D[1] = D[0]; // singular, with no zero in it
        if (fault == 3 && block == 1) D[0][0] = Scalar(std::numeric_limits<Real>::infinity());
      }
      const test::DeviceRows<Scalar>                   rows(s.A);
      const Colors                                     colors = s.on_device();
      const ribbon::MulticolorRelaxation<Scalar, Exec> matrix(exec, rows.rows, colors, s.colors, Scalar(0));
      EXPECT_EQ(matrix.report().unknown, 17);
      EXPECT_EQ(matrix.report().status, fault == 2 || (fault == 3 && block == 1)
                                          ? ribbon::FactorStatus::not_finite
                                          : ribbon::FactorStatus::zero_pivot);
    }
}

TYPED_TEST(Multicolor, RefusesColorsThatCouple)
{
  using Scalar = TypeParam;
  const Exec      exec;
  std::mt19937_64 g(3);
  System<Scalar>  s(g, 20, 0, 1, 3);
  s.color.assign(20, 0);
  const Colors colors = s.on_device();
  EXPECT_THROW((ribbon::MulticolorRelaxation<Scalar, Exec>(exec, s.rows.rows, colors, 1, Scalar(0))),
               std::invalid_argument);
  s.rows.rows.block = 9;
  EXPECT_THROW((ribbon::MulticolorRelaxation<Scalar, Exec>(exec, s.rows.rows, colors, 1, Scalar(0))),
               std::invalid_argument);
}

/// Constant coefficients on a grid, with other values at some points, or random ones everywhere.
test::BlockMatrix<double> plane(std::int64_t n, double (*value)(std::int64_t i, std::int64_t j))
{
  test::BlockMatrix<double> A(n * n, 0, 1);
  for (std::int64_t i = 0; i < n * n; ++i) {
    A.at(i, i) = {{6 + value(i, i)}};
    for (std::int64_t d : {-n, std::int64_t(-1), std::int64_t(1), n}) {
      const std::int64_t j = i + d;
      if (j >= 0 && j < n * n && (std::abs(d) > 1 || i / n == j / n)) A.at(i, j) = {{-1 + value(i, j)}};
    }
  }
  return A;
}
double constant(std::int64_t, std::int64_t)
{
  return 0;
}
double constant_but_some(std::int64_t i, std::int64_t)
{
  return i % 1009 == 0 ? 0.25 : 0;
}
double different(std::int64_t i, std::int64_t j)
{
  return 0.1 * std::sin(static_cast<double>(3 * i + 7 * j));
}

/// Equal slices are stored once, and new values may be equal or not.
TEST(MulticolorMemory, StoresConstantCoefficientsOnce)
{
  const std::int64_t   n = 101;
  const Exec           exec;
  const Colors         colors("colors", static_cast<std::size_t>(n * n));
  ribbon::GridColoring grid;
  grid.size[0] = grid.size[1] = n;
  ribbon::color_grid(exec, grid, n * n, colors);
  const auto                      host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), colors);
  const std::vector<std::int32_t> color(host.data(), host.data() + n * n);
  ribbon::MulticolorRelaxation<double, Exec> matrix;
  for (auto value : {constant, different, constant_but_some, constant}) {
    const auto                     A = plane(n, value);
    const test::DeviceRows<double> rows(A);
    if (matrix.colors() == 0) matrix = {exec, rows.rows, colors, 2, 0.};
    else ASSERT_TRUE(matrix.refresh(exec, rows.rows, colors, 0.));
    const double bytes = static_cast<double>(matrix.bytes()) / static_cast<double>(n * n);
    if (value == different) EXPECT_GT(bytes, 40);
    else EXPECT_LT(bytes, 25);
    std::mt19937_64 g(2);
    const auto      b = random_vector<double>(g, n * n), start = random_vector<double>(g, n * n);
    auto            x  = start;
    const auto      db = ribbon::upload(exec, "b", b), dx = ribbon::upload(exec, "x", start);
    ribbon::sweep_colors(exec, matrix, ribbon::color_sequence(2, true, true, 1, false), 1.2,
                         {db.data(), dx.data()});
    exec.fence();
    for (int c : {0, 1, 1, 0}) test::reference_relax(A, color, c, 1.2, 0., b, x);
    const auto found = on_host(dx);
    for (std::size_t k = 0; k < found.size(); ++k)
      ASSERT_LT(std::abs(found[k] - x[k]), 1e-13) << "entry " << k;
  }
}

/// A symmetric sweep from zero reads every block once. Slices fill up with at most a few blocks here.
TEST(MulticolorWork, SymmetricSweepsFromZeroReadTheMatrixOnce)
{
  std::mt19937_64                                  g(5);
  System<double>                                   s(g, 400, 0, 2, 3);
  const Colors                                     colors = s.on_device();
  const ribbon::MulticolorRelaxation<double, Exec> matrix(Exec(), s.rows.rows, colors, s.colors, 0.);
  std::int64_t                                     blocks[2] = {0, 0};
  for (int zero = 0; zero < 2; ++zero)
    for (const auto &step : ribbon::color_sequence(s.colors, true, true, 1, zero))
      blocks[zero] += matrix.blocks_of(step);
  EXPECT_EQ(blocks[1], matrix.stored_blocks());
  EXPECT_GT(blocks[0], blocks[1]);
  EXPECT_LT(blocks[0], 2 * blocks[1]);
}

TEST(ColorSequence, LeavesOutWork)
{
  const auto red_black = ribbon::color_sequence(2, true, true, 1, true);
  ASSERT_EQ(red_black.size(), 3u); // red, black twice, red
  EXPECT_EQ(red_black[1].repeats, 2);
  EXPECT_TRUE(red_black[0].set && !red_black[0].earlier && !red_black[0].later);
  EXPECT_TRUE(red_black[1].set && red_black[1].earlier && !red_black[1].later);
  EXPECT_TRUE(!red_black[2].set && !red_black[2].earlier && red_black[2].later);
  // four colours forward and backward read each entry once: every backward step reuses b - L x
  const auto four = ribbon::color_sequence(4, true, true, 1, true);
  ASSERT_EQ(four.size(), 7u);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(four[k].keep, k == 1 || k == 2) << k;
    EXPECT_EQ(four[k].reuse, k == 4 || k == 5) << k;
  }
  // from a nonzero guess nothing is left out in the first sweep
  for (const auto &step : ribbon::color_sequence(3, true, false, 2, false))
    EXPECT_TRUE(step.earlier && step.later && !step.set && !step.keep && !step.reuse);
  EXPECT_TRUE(ribbon::color_sequence(0, true, true, 2, true).empty());
}

} // namespace
