// SPDX-License-Identifier: BSD-2-Clause
// What an elimination proves of its accuracy and of the condition (certificate.hpp), next to solves and
// inverses in extended precision. RIBBON_CERTIFICATES names the number of matrices.
#include "batch.hpp"

#include <ribbon/algorithm/whole_lines/block_thomas.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace {

using namespace test;
template <class Scalar>
using HostBands = ribbon::Bands<Scalar, Kokkos::HostSpace>;
using HostExec  = Kokkos::DefaultHostExecutionSpace;
template <class Scalar>
using Wide = std::conditional_t<std::is_floating_point_v<Scalar>, long double, std::complex<long double>>;

template <class Scalar>
Wide<Scalar> widen(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return static_cast<long double>(a);
  else return {static_cast<long double>(a.real()), static_cast<long double>(a.imag())};
}

/// A batch of matrices of one kind that is hard to judge: dominant, nearly singular, growing pivots, graded,
/// symmetric, singular rows, entries that vanish, are huge, or are none.
template <class Scalar>
HostBands<Scalar> hard_bands(std::mt19937_64 &g, std::size_t matrices, std::size_t n, int kl, int ku)
{
  HostBands<Scalar> bands;
  bands.lhs = ribbon::Lhs::per_line, bands.lower = kl, bands.upper = ku;
  bands.values = decltype(bands.values)("test::bands", matrices, n, static_cast<std::size_t>(kl + ku + 1));
  using Real   = ribbon::real_t<Scalar>;
  const auto below = [&](int k) { return static_cast<int>(g() % static_cast<std::uint64_t>(k)); };
  for (std::size_t c = 0; c < matrices; ++c) {
    const int  kind   = below(10);
    const Real weight = static_cast<Real>(std::pow(10., below(9) - 8)),
               ratio  = static_cast<Real>(std::pow(10., below(7) - 3));
    Real size         = 1;
    for (std::size_t i = 0; i < n; ++i) {
      Real sum = 0;
      for (int d = -kl; d <= ku; ++d) {
        Scalar &v = bands.values(c, i, static_cast<std::size_t>(d + kl));
        v         = random_scalar<Scalar>(g);
        if (kind == 3 && d != 0) v *= ratio;
        if (kind == 4) v *= static_cast<Real>(std::pow(ratio, below(3) - 1));
        if (kind == 5) v = Scalar(static_cast<Real>(below(5) - 2));
        if (kind == 6 && below(3) == 0) v = Scalar(0);
        if (d != 0 && static_cast<std::int64_t>(i) + d >= 0 &&
            static_cast<std::size_t>(static_cast<std::int64_t>(i) + d) < n)
          sum += ribbon::magnitude(v);
      }
      Scalar &diagonal = bands.values(c, i, static_cast<std::size_t>(kl));
      if (kind <= 1) diagonal = Scalar(sum + (kind == 0 ? Real(0.1) : sum * weight));
      if (kind == 2) diagonal = Scalar(sum * (1 - weight));
      if (kind == 7) diagonal = Scalar(sum), size *= ratio;
      if (kind == 8 && below(static_cast<int>(n)) == 0)
        diagonal = Scalar(std::numeric_limits<Real>::quiet_NaN());
      if (kind == 9) diagonal *= Real(3);
      for (int d = -kl; d <= ku && kind == 7; ++d)
        bands.values(c, i, static_cast<std::size_t>(d + kl)) *=
          size > 0 && ribbon::is_finite(size) ? size : Real(1);
    }
  }
  return bands;
}

template <class Scalar, int P>
struct Factored {
  Kokkos::View<Scalar *, Kokkos::HostSpace>                 words;
  Kokkos::View<ribbon::real_t<Scalar> *, Kokkos::HostSpace> rcond;
};

template <class Scalar, int P>
Factored<Scalar, P> factor(const HostBands<Scalar> &bands)
{
  using Kernel              = ribbon::CertifiedFactorKernel<Scalar, P, Kokkos::HostSpace>;
  const auto          count = bands.values.extent(0), rows = bands.values.extent(1);
  Factored<Scalar, P> f;
  f.words = decltype(f.words)("test::words", count * rows * static_cast<std::size_t>(Kernel::width));
  f.rcond = decltype(f.rcond)("test::rcond", count);
  const ribbon::CertifiedFactorTiles<Scalar, P, Kokkos::HostSpace> tiles{
    Kernel{ribbon::BandEntries<Scalar, Kokkos::HostSpace>(bands), f.words.data(),
           static_cast<std::int64_t>(count), f.rcond.data(), nullptr, ribbon::real_t<Scalar>(0)}};
  auto smallest = Kernel::Watch::start(-1);
  for (std::int64_t t = 0; t < tiles.tiles(); ++t) tiles(t, smallest);
  return f;
}

/// x = A^-1 b with the factors of line c, in the arithmetic of Scalar.
template <class Scalar, int P>
std::vector<Scalar> solve(const Factored<Scalar, P> &f, std::size_t c, std::size_t n,
                          const std::vector<Scalar> &b)
{
  const std::size_t count = f.rcond.extent(0), width = 1 + 2 * P;
  const auto        word = [&](std::size_t i, std::size_t j) { return f.words((i * width + j) * count + c); };
  std::vector<Scalar> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = word(i, 0) * b[i];
    for (std::size_t q = 0; q < P && q < i; ++q) x[i] += word(i, 1 + q) * x[i - 1 - q];
  }
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t q = 0; q < P && i + 1 + q < n; ++q) x[i] += word(i, 1 + P + q) * x[i + 1 + q];
  return x;
}

/// Largest residual in units of the sums of its row, relative to the solution.
template <class Scalar>
long double backward_error(const HostBands<Scalar> &bands, std::size_t c, const std::vector<Scalar> &x,
                           const std::vector<Scalar> &b)
{
  const auto  n    = static_cast<std::int64_t>(x.size());
  long double most = 0, size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    auto        r   = widen(b[static_cast<std::size_t>(i)]);
    long double sum = 0;
    for (int d = -bands.lower; d <= bands.upper; ++d) {
      if (i + d < 0 || i + d >= n) continue;
      const auto a =
        widen(bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + bands.lower)));
      r -= a * widen(x[static_cast<std::size_t>(i + d)]);
      sum += std::abs(a);
    }
    most = std::max(most, std::abs(r) / sum),
    size = std::max(size, std::abs(widen(x[static_cast<std::size_t>(i)])));
  }
  return size > 0 ? most / size : most;
}

/// ||A^-1 D||, D the row sums of |A|, by elimination with exchanges of rows in extended precision; infinity
/// for singular ones.
template <class Scalar>
long double inverse_norm(const HostBands<Scalar> &bands, std::size_t c)
{
  const std::size_t                      n = bands.values.extent(1);
  std::vector<std::vector<Wide<Scalar>>> A(n, std::vector<Wide<Scalar>>(2 * n));
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (int d = -bands.lower; d <= bands.upper; ++d) {
      const auto j = static_cast<std::int64_t>(i) + d;
      if (j < 0 || j >= static_cast<std::int64_t>(n)) continue;
      A[i][static_cast<std::size_t>(j)] =
        widen(bands.values(c, i, static_cast<std::size_t>(d + bands.lower)));
      sum += std::abs(A[i][static_cast<std::size_t>(j)]);
    }
    for (std::size_t j = 0; j < n; ++j) A[i][j] /= sum;
    A[i][n + i] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[p][k])) p = i;
    std::swap(A[k], A[p]);
    if (!(std::abs(A[k][k]) > 0)) return std::numeric_limits<long double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      const auto m = A[i][k] / A[k][k];
      if (i == k || m == Wide<Scalar>(0)) continue;
      for (std::size_t j = k; j < 2 * n; ++j) A[i][j] -= m * A[k][j];
    }
  }
  long double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (std::size_t j = n; j < 2 * n; ++j) sum += std::abs(A[i][j] / A[i][i]);
    norm = std::max(norm, sum);
  }
  return norm;
}

/// Of one matrix: what its certificate says is true of its inverse, and of three solves.
template <class Scalar, class Solve>
void expect_truth(const HostBands<Scalar> &bands, std::size_t c, double rcond, int P, std::mt19937_64 &g,
                  const Solve &solve)
{
  ASSERT_LE(static_cast<long double>(rcond), 1.001L / inverse_norm(bands, c)) << "matrix " << c;
  std::vector<Scalar> b(bands.values.extent(1));
  for (int k = 0; k < 3; ++k) {
    for (Scalar &v : b) v = random_scalar<Scalar>(g);
    ASSERT_LE(backward_error(bands, c, solve(b), b),
              static_cast<long double>(ribbon::Certificate::error_of(P) *
                                       static_cast<double>(ribbon::unit_roundoff<Scalar>())))
      << "matrix " << c;
  }
}

template <class Scalar, int P>
void expect_no_lies(std::uint64_t seed, std::size_t count)
{
  constexpr std::size_t matrices = 53; // three tiles and some lines
  std::mt19937_64       g(seed);
  std::size_t           certified = 0;
  for (std::size_t done = 0; done < count; done += matrices) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", P " << P << ", " << sizeof(Scalar)
                                    << " bytes, after " << done);
    const int         kl = static_cast<int>(g() % (P + 1)), ku = static_cast<int>(g() % (P + 1));
    const std::size_t n     = 1 + g() % 24;
    const auto        bands = hard_bands<Scalar>(g, matrices, n, kl, ku);
    const auto        f     = factor<Scalar, P>(bands);
    for (std::size_t c = 0; c < matrices; ++c) {
      if (!(f.rcond(c) > 100 * ribbon::unit_roundoff<Scalar>())) continue; // as LineSolver asks
      ++certified;
      expect_truth(bands, c, static_cast<double>(f.rcond(c)), P, g,
                   [&](const std::vector<Scalar> &b) { return solve<Scalar, P>(f, c, n, b); });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(certified, count / 10);
  testing::Test::RecordProperty("certified", static_cast<int>(certified));
}

TEST(Certificates, NeverLie)
{
  const char *const text  = std::getenv("RIBBON_CERTIFICATES");
  const std::size_t count = text ? static_cast<std::size_t>(std::atoll(text)) : 6000;
  expect_no_lies<double, 1>(1, count), expect_no_lies<double, 2>(2, count);
  expect_no_lies<float, 1>(3, count / 4), expect_no_lies<float, 2>(4, count / 4);
  expect_no_lies<Kokkos::complex<double>, 1>(5, count / 4),
    expect_no_lies<Kokkos::complex<double>, 2>(6, count / 4);
  expect_no_lies<double, 3>(10, count / 2), expect_no_lies<double, 4>(11, count / 2);
  expect_no_lies<float, 3>(12, count / 8), expect_no_lies<Kokkos::complex<double>, 4>(13, count / 8);
}

struct OneTeam {
  std::int64_t number;
  char        *memory;
  std::int64_t league_rank() const { return number; }
  char        *scratch() const { return memory; }
};

/// Block tridiagonal matrices, and the same ones as bands.
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

  /// Multiplies every component by a random unit; large diagonals ensure that units exist.
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

/// A vorticity next to velocities: its row at a wall has the entries 1 and 1 / h.
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

/// One matrix for all lines: proved, solved for any number of lines, and its determinant is that
/// of elimination on the host.
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

/// Solves of blocks in every layout, of a part of the lines and of more lines than matrices, next
/// to orthogonal elimination.
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
        auto some   = set; // 20 lines from the 11th on, of three tiles
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

TEST(Certificates, TilesAndSingleLinesAgree)
{
  std::mt19937_64 g(7);
  const auto      bands = hard_bands<double>(g, 35, 40, 2, 2);
  const auto      all   = factor<double, 2>(bands);
  for (std::size_t c = 0; c < 35; ++c) {
    HostBands<double> one = bands;
    one.values            = decltype(one.values)("test::bands", 1, 40, 5);
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t d = 0; d < 5; ++d) one.values(0, i, d) = bands.values(c, i, d);
    const auto alone = factor<double, 2>(one);
    EXPECT_NEAR(all.rcond(c), alone.rcond(0), 1e-6 * std::abs(alone.rcond(0))) << c;
  }
}

/// Certified lines are not probed, others are; the reports say what is known of either.
TEST(Certificates, AReportOfCertifiedLines)
{
  std::mt19937_64   g(8);
  const std::size_t lines = 37, n = 30;
  auto              bands = random_bands<double>(g, lines, n, 1, false, Kind::dominant);
  bands.lhs               = ribbon::Lhs::per_line;
  const auto set          = ribbon::LineSet::interleaved(n, lines);
  for (bool weak : {false, true}) {
    if (weak) bands.values(20, 11, 1) = 1e-3 * bands.values(20, 11, 2); // needs rows exchanged
    const ribbon::LineSolver<double, HostExec> solver(HostExec(), set, bands);
    ASSERT_TRUE(solver.report().ok());
    EXPECT_LT(solver.report().probe_error, 1e-14);
    EXPECT_EQ(solver.report().probe_error ==
                ribbon::Certificate::error_of(1) * ribbon::unit_roundoff<double>(),
              !weak);
    EXPECT_GT(solver.report().rcond, 1e-6);
    EXPECT_LE(solver.report().rcond, 1);
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
    auto weak = batch(); // needs rows exchanged
    for (int b = 0; b < B; ++b) weak.values(5, 7, static_cast<std::size_t>((B + 1) * B + b)) = b == 0 ? 1 : 0;
    EXPECT_FALSE(solver.refactor(HostExec(), weak));
    const ribbon::LineSolver<double, HostExec> other(HostExec(), set, weak);
    EXPECT_TRUE(other.report().ok()) << "exchanges within blocks";
    EXPECT_LT(other.report().rcond_line, lines);
  }
}

TEST(Certificates, NewValuesInTheRoomOfOldFactors)
{
  std::mt19937_64   g(9);
  const std::size_t lines = 37, n = 30;
  const auto        set   = ribbon::LineSet::interleaved(n, lines);
  const auto        batch = [&](int h, bool periodic) {
    auto bands = random_bands<double>(g, lines, n, h, periodic, Kind::dominant);
    bands.lhs  = ribbon::Lhs::per_line;
    return bands;
  };
  const auto differ = [&](const ribbon::LineSolver<double, HostExec> &solver,
                          const HostBands<double>                    &bands) {
    const ribbon::LineSolver<double, HostExec> anew(HostExec(), set, bands);
    std::vector<double>                        x(lines * n), y(x.size());
    for (double &v : x) v = random_scalar<double>(g);
    y = x;
    solver.solve(HostExec(), x.data(), x.data());
    anew.solve(HostExec(), y.data(), y.data());
    EXPECT_EQ(solver.report().rcond, anew.report().rcond);
    EXPECT_EQ(solver.report().smallest_pivot, anew.report().smallest_pivot);
    EXPECT_EQ(solver.report().line, anew.report().line);
    EXPECT_EQ(solver.report().row, anew.report().row);
    EXPECT_EQ(solver.report().reason, anew.report().reason);
    return x != y;
  };
  for (int h : {1, 2, 3, 4}) {
    ribbon::LineSolver<double, HostExec> solver(HostExec(), set, batch(h, false));
    for (int k = 0; k < 3; ++k) {
      const auto bands = batch(h, false);
      ASSERT_TRUE(solver.refactor(HostExec(), bands));
      EXPECT_FALSE(differ(solver, bands));
    }
    auto weak            = batch(h, false);
    weak.values(5, 7, h) = 0;
    EXPECT_FALSE(solver.refactor(HostExec(), weak)) << "not certified";
    EXPECT_FALSE(solver.report().ok()) << "nobody judged these factors";
    EXPECT_FALSE(solver.refactor(HostExec(), batch(h, false))) << "they are lost";
  }
  ribbon::LineSolver<double, HostExec> ring(HostExec(), set, batch(1, true));
  EXPECT_FALSE(ring.refactor(HostExec(), batch(1, true))) << "rings have no certificate";
  EXPECT_TRUE(ring.report().ok()) << "and keep their factors";
}

} // namespace
