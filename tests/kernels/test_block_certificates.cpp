// SPDX-License-Identifier: BSD-2-Clause
// Certificates of accuracy and condition by the elimination of blocks, in any units of components. They are
// compared with solves and inverses in extended precision. RIBBON_CERTIFICATES sets the number of matrices.
#include "certificates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

using namespace test;

namespace {

struct OneTeam {
  std::int64_t number;
  char        *memory;
  std::int64_t league_rank() const { return number; }
  char        *scratch() const { return memory; }
};

/// Block tridiagonal matrices, and the same matrices as scalar bands.
template <class Scalar>
struct Blocks {
  using Real = ribbon::real_t<Scalar>;
  HostBands<Scalar> bands, blocks;

  Blocks(std::mt19937_64 &g, std::size_t matrices, std::size_t n, int B)
  {
    const int  reach = 2 * B - 1;
    const auto size  = static_cast<std::size_t>(B);
    bands            = hard_bands<Scalar>(g, matrices, n * size, reach, reach);
    blocks.lhs = ribbon::Lhs::per_line, blocks.block = B;
    blocks.values = decltype(blocks.values)("test::blocks", matrices, n, 3 * size * size);
    for (std::size_t c = 0; c < matrices; ++c)
      for (std::size_t r = 0; r < n * size; ++r)
        for (int d = -reach; d <= reach; ++d) {
          const int a = static_cast<int>(r % size), q = (a + d + 2 * B) / B - 2;
          Scalar   &v = bands.values(c, r, static_cast<std::size_t>(d + reach));
          if (q < -1 || q > 1) v = Scalar(0);
          else
            blocks.values(c, r / size, static_cast<std::size_t>(((q + 1) * B + a) * B + a + d - q * B)) = v;
        }
  }

  /// Multiplies every component by a random unit. Large diagonals ensure that such units exist.
  void change_units(std::mt19937_64 &g)
  {
    std::vector<Real> unit(static_cast<std::size_t>(blocks.block));
    for (Real &u : unit) u = std::ldexp(Real(1), static_cast<int>(g() % 11));
    for (std::size_t c = 0; c < bands.values.extent(0); ++c)
      for (std::size_t r = 0; r < bands.values.extent(1); ++r) {
        Real largest = 0;
        for (int d = -bands.lower; d <= bands.upper; ++d)
          largest = std::max(
            largest, ribbon::magnitude(bands.values(c, r, static_cast<std::size_t>(d + bands.lower))));
        Scalar &diagonal = bands.values(c, r, static_cast<std::size_t>(bands.lower));
        if (ribbon::magnitude(diagonal) < largest / 2) diagonal = Scalar(largest / 2);
      }
    multiply([&](int b) { return unit[static_cast<std::size_t>(b)]; });
  }
  void take_units(const ribbon::ComponentUnits<Real> &units)
  {
    multiply([&](int b) { return units[b]; });
  }

private:
  template <class Factor>
  void multiply(const Factor &factor)
  {
    const int B = blocks.block;
    for (std::size_t c = 0; c < bands.values.extent(0); ++c)
      for (std::size_t r = 0; r < bands.values.extent(1); ++r)
        for (int d = -bands.lower; d <= bands.upper; ++d) {
          const int a = static_cast<int>(r % static_cast<std::size_t>(B)), b = (a + d + 2 * B) % B,
                    q = (a + d + 2 * B) / B - 2;
          Scalar &v   = bands.values(c, r, static_cast<std::size_t>(d + bands.lower));
          v *= factor(b);
          if (q >= -1 && q <= 1)
            blocks.values(c, r / static_cast<std::size_t>(B),
                          static_cast<std::size_t>(((q + 1) * B + a) * B + b)) = v;
        }
  }
};

template <class Scalar>
ribbon::ComponentUnits<ribbon::real_t<Scalar>> units_of(const HostBands<Scalar> &blocks)
{
  using Ratios = ribbon::ComponentRatios<Scalar>;
  const auto tiles =
               static_cast<std::size_t>(Ratios::tiles(static_cast<std::int64_t>(blocks.values.extent(0)))),
             BB = static_cast<std::size_t>(blocks.block * blocks.block);
  std::vector<ribbon::real_t<Scalar>> ratio(tiles * BB, 0);
  const Ratios ratios{ribbon::BandEntries<Scalar, Kokkos::HostSpace>(blocks), ratio.data()};
  for (std::size_t t = 0; t < tiles; ++t) ratios(static_cast<std::int64_t>(t));
  for (std::size_t e = BB; e < ratio.size(); ++e) ratio[e % BB] = std::max(ratio[e % BB], ratio[e]);
  return ribbon::ComponentUnits<ribbon::real_t<Scalar>>::solve(ratio, blocks.block);
}

template <class Scalar>
void expect_no_lies_of_blocks(std::uint64_t seed, std::size_t count)
{
  using Real                     = ribbon::real_t<Scalar>;
  constexpr std::size_t matrices = 53;
  std::mt19937_64       g(seed);
  std::size_t           certified = 0, changed = 0, found = 0;
  for (std::size_t done = 0; done < count; done += matrices) {
    const int         B = static_cast<int>(2 + g() % 5);
    const std::size_t n = 1 + g() % 6;
    Blocks<Scalar>    both(g, matrices, n, B);
    if (done / matrices % 2) both.change_units(g);
    const auto units = units_of(both.blocks);
    if (done / matrices % 2) ++changed, found += units[0] != units[1];
    ribbon::BlockTiles<Scalar> factors{nullptr, static_cast<std::int64_t>(n), matrices, B};
    std::vector<Scalar>        words(factors.size());
    std::vector<Real>          rcond(matrices);
    factors.words = words.data();
    const ribbon::BlockFactorTiles<Scalar> tiles{ribbon::BandEntries<Scalar, Kokkos::HostSpace>(both.blocks),
                                                 factors, rcond.data(), Real(0), units};
    auto                                   smallest = ribbon::SmallestPivot<Real>::start(-1);
    for (std::int64_t t = 0; t < factors.tiles(); ++t) tiles(t, smallest);
    both.take_units(units); // powers of two: no rounding
    for (std::size_t c = 0; c < matrices; ++c) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << B << ", " << sizeof(Scalar)
                                      << " bytes, after " << done);
      if (!(rcond[c] > 100 * ribbon::unit_roundoff<Scalar>())) continue;
      ++certified;
      expect_truth(
        both.bands, c, static_cast<double>(rcond[c]), 2 * B - 1, g, [&](const std::vector<Scalar> &b) {
          std::vector<Scalar> x(b.size());
          const auto set = ribbon::LineSet::contiguous(static_cast<std::int64_t>(n), 1).with_components(B);
          const ribbon::BlockSolveTiles<Scalar> solve{
            factors, static_cast<std::int64_t>(c), 1, b.data(), x.data(), set, set};
          std::vector<char> scratch(solve.scratch());
          solve(OneTeam{0, scratch.data()});
          for (std::size_t k = 0; k < x.size(); ++k) x[k] *= Real(1) / units[static_cast<int>(k) % B];
          return x;
        });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(certified, count / 20);
  EXPECT_GT(found, changed / 4);
  testing::Test::RecordProperty("certified", static_cast<int>(certified));
}

TEST(Certificates, NeverLieOfBlocks)
{
  const char *const text  = std::getenv("RIBBON_CERTIFICATES");
  const std::size_t count = text ? static_cast<std::size_t>(std::atoll(text)) : 6000;
  expect_no_lies_of_blocks<double>(20, count), expect_no_lies_of_blocks<float>(21, count / 4),
    expect_no_lies_of_blocks<Kokkos::complex<double>>(22, count / 4);
}

/// A vorticity next to velocities. Its row at a wall has the entries 1 and 1 / h.
TEST(Certificates, ComponentsMayHaveUnits)
{
  const std::size_t n = 50, lines = 20;
  for (double h : {1e-1, 1e-3, 1e-5}) {
    HostBands<double> bands;
    bands.lhs = ribbon::Lhs::per_line, bands.lower = bands.upper = 1, bands.block = 2;
    bands.values = decltype(bands.values)("test::bands", lines, n, 12);
    for (std::size_t c = 0; c < lines; ++c)
      for (std::size_t i = 0; i < n; ++i) {
        const auto entry = [&](int d, int a, int b) -> double & {
          return bands.values(c, i, static_cast<std::size_t>(((d + 1) * 2 + a) * 2 + b));
        };
        const bool wall = i == 0 || i == n - 1;
        entry(0, 0, 0) = wall ? 1 : 4, entry(0, 1, 1) = wall ? 1 : 4 + 0.01 * static_cast<double>(c);
        if (i == 0) entry(1, 1, 0) = 1 / h;
        if (i == n - 1) entry(-1, 1, 0) = 1 / h;
        for (int d : {-1, 1})
          if (!wall) entry(d, 0, 0) = entry(d, 1, 1) = -1, entry(d, 0, 1) = d * h / 2;
      }
    const auto set =
      ribbon::LineSet::contiguous(static_cast<std::int64_t>(n), static_cast<std::int64_t>(lines))
        .with_components(2);
    const ribbon::LineSolver<double, HostExec> solver(HostExec(), set, bands);
    EXPECT_EQ(solver.report().probe_error, ribbon::Certificate::error_of(3) * ribbon::unit_roundoff<double>())
      << h;
    EXPECT_GT(solver.report().rcond, 0.01) << h;
    std::mt19937_64     g(24);
    std::vector<double> x(2 * n * lines), b(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = random_scalar<double>(g) / (k % 2 ? h : 1);
    for (std::size_t c = 0; c < lines; ++c)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < 2; ++a) {
          long double sum = 0;
          for (std::size_t e = 0; e < 6; ++e) // d and component
            if (i + e / 2 >= 1 && i + e / 2 <= n)
              sum += static_cast<long double>(bands.values(c, i, (e / 2 * 2 + a) * 2 + e % 2)) *
                     x[(c * n + i + e / 2 - 1) * 2 + e % 2];
          b[(c * n + i) * 2 + a] = static_cast<double>(sum);
        }
    solver.solve(HostExec(), b.data(), set, b.data(), set);
    for (std::size_t k = 0; k < x.size(); ++k)
      ASSERT_NEAR(b[k], x[k], 1e-13 / (k % 2 ? h : 1)) << k << " " << h;
  }
}

/// One matrix for all lines is certified and solved for any number of lines. Its determinant equals that of
/// elimination on the host.
TEST(Certificates, OneMatrixOfBlocksForAllLines)
{
  std::mt19937_64 g(25);
  for (int B : {2, 3, 5})
    for (std::int64_t lines : {1, 15, 16, 33}) {
      const std::int64_t n     = 20;
      auto               bands = random_system<double>(g, 1, n, 1, 1, B, false);
      for (const auto &set : {ribbon::LineSet::contiguous(n, lines).with_components(B),
                              ribbon::LineSet::interleaved(n, lines).with_components(B)}) {
        SCOPED_TRACE(testing::Message()
                     << "blocks of " << B << ", " << lines << " lines, stride " << set.row_stride);
        ribbon::LineSolver<double, HostExec>       solver(HostExec(), set, bands);
        const ribbon::LineSolver<double, HostExec> other(HostExec(), set, bands, {"pivoted"});
        ASSERT_EQ(solver.report().probe_error,
                  ribbon::Certificate::error_of(2 * B - 1) * ribbon::unit_roundoff<double>());
        EXPECT_NEAR(solver.report().log_abs_det, other.report().log_abs_det, 1e-10);
        std::vector<double> b(static_cast<std::size_t>(n * lines * B)), x(b.size()), y(b.size());
        for (double &v : b) v = random_scalar<double>(g);
        const auto expect_same = [&](double scale) {
          solver.solve(HostExec(), b.data(), set, x.data(), set),
            other.solve(HostExec(), b.data(), set, y.data(), set);
          for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(scale * x[k], y[k], 1e-12) << k;
        };
        expect_same(1);
        auto twice = bands;
        twice.values =
          decltype(twice.values)("test::twice", 1, bands.values.extent(1), bands.values.extent(2));
        for (std::size_t i = 0; i < twice.values.extent(1); ++i)
          for (std::size_t e = 0; e < twice.values.extent(2); ++e)
            twice.values(0, i, e) = 2 * bands.values(0, i, e);
        ASSERT_TRUE(solver.refactor(HostExec(), twice));
        expect_same(2);
      }
    }
}

/// Solves with blocks in every layout, for a part of the lines and for more lines than matrices, compared
/// with orthogonal elimination.
TEST(Certificates, BlocksAreSolvedWhereverTheyLie)
{
  std::mt19937_64 g(23);
  for (int B : {2, 3, 5, 8})
    for (std::int64_t lines : {1, 16, 37}) {
      const std::int64_t n     = 12;
      auto               bands = random_system<double>(g, lines, n, 1, 1, B, false);
      bands.lhs                = ribbon::Lhs::per_line;
      std::vector<ribbon::LineSet> sets{ribbon::LineSet::contiguous(n, lines).with_components(B),
                                        ribbon::LineSet::interleaved(n, lines).with_components(B),
                                        ribbon::LineSet::contiguous(n, lines, n + 3).with_components(B)};
      sets.push_back(sets[0]);
      sets.back().row_stride = 1, sets.back().stride0 = n, sets.back().component_stride = n * lines;
      for (const auto &set : sets) {
        SCOPED_TRACE(testing::Message()
                     << "blocks of " << B << ", " << lines << " lines, strides " << set.row_stride << " "
                     << set.stride0 << " " << set.component_stride);
        const ribbon::LineSolver<double, HostExec> solver(HostExec(), set, bands),
          other(HostExec(), set, bands, {"pivoted"});
        ASSERT_EQ(solver.report().probe_error,
                  ribbon::Certificate::error_of(2 * B - 1) * ribbon::unit_roundoff<double>());
        std::vector<double> b(static_cast<std::size_t>(3 * (n + 3) * lines * B)), x(b.size(), -7),
          y(b.size(), -7);
        for (double &v : b) v = random_scalar<double>(g);
        auto many   = set;
        many.count1 = 2, many.stride1 = (n + 3) * lines * B;
        solver.solve(HostExec(), b.data(), many, x.data(), many),
          other.solve(HostExec(), b.data(), many, y.data(), many);
        for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(x[k], y[k], 1e-12) << k;
        if (lines < 37) continue;
        ribbon::BlockTiles<double> factors{nullptr, n, lines, B};
        std::vector<double>        words(factors.size()), rcond(37), z(b.size(), -7);
        factors.words = words.data();
        const ribbon::BlockFactorTiles<double> tiles{ribbon::BandEntries<double, Kokkos::HostSpace>(bands),
                                                     factors, rcond.data(), 0};
        auto                                   smallest = ribbon::SmallestPivot<double>::start(-1);
        for (std::int64_t t = 0; t < factors.tiles(); ++t) tiles(t, smallest);
        auto some   = set; // 20 lines from the 11th on, in three tiles
        some.count0 = 20, some.offset += 11 * set.stride0;
        const ribbon::BlockSolveTiles<double> solve{factors, 11, 20, b.data(), z.data(), some, some};
        std::vector<char>                     scratch(solve.scratch());
        for (std::int64_t t = 0; t < solve.teams(); ++t) solve(OneTeam{t, scratch.data()});
        for (std::int64_t l = 0; l < 20; ++l)
          for (std::int64_t i = 0; i < n; ++i)
            for (int a = 0; a < B; ++a) {
              const auto k = static_cast<std::size_t>(some(l, i) + a * some.component_stride);
              ASSERT_NEAR(z[k], x[k], 1e-12) << k;
            }
      }
    }
}

TEST(Certificates, NewValuesInTheRoomOfOldFactorsOfBlocks)
{
  std::mt19937_64    g(24);
  const std::int64_t lines = 37, n = 12;
  for (int B : {2, 5}) {
    const auto set   = ribbon::LineSet::contiguous(n, lines).with_components(B);
    const auto batch = [&] {
      auto bands = random_system<double>(g, lines, n, 1, 1, B, false);
      bands.lhs  = ribbon::Lhs::per_line;
      return bands;
    };
    ribbon::LineSolver<double, HostExec> solver(HostExec(), set, batch());
    for (int k = 0; k < 3; ++k) {
      const auto                                 bands = batch();
      const ribbon::LineSolver<double, HostExec> anew(HostExec(), set, bands);
      std::vector<double>                        x(static_cast<std::size_t>(set.unknowns())), y(x.size());
      for (double &v : x) v = random_scalar<double>(g);
      y = x;
      ASSERT_TRUE(solver.refactor(HostExec(), bands));
      solver.solve(HostExec(), x.data(), x.data()), anew.solve(HostExec(), y.data(), y.data());
      EXPECT_EQ(x, y);
      EXPECT_EQ(solver.report().rcond, anew.report().rcond);
      EXPECT_EQ(solver.report().row, anew.report().row);
    }
    auto weak = batch(); // needs row exchanges
    for (int b = 0; b < B; ++b) weak.values(5, 7, static_cast<std::size_t>((B + 1) * B + b)) = b == 0 ? 1 : 0;
    EXPECT_FALSE(solver.refactor(HostExec(), weak));
    const ribbon::LineSolver<double, HostExec> other(HostExec(), set, weak);
    EXPECT_TRUE(other.report().ok()) << "exchanges within blocks";
    EXPECT_LT(other.report().rcond_line, lines);
  }
}

} // namespace
