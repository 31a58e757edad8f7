// SPDX-License-Identifier: BSD-2-Clause
// Chains compared with LAPACK's gbsv: backward errors are at most 1e-14, and at most 100 times those of
// gbsv, for all values and shapes.
#include "chains.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

using namespace test;

extern "C" {
void dgbsv_(const int *n, const int *kl, const int *ku, const int *nrhs, void *ab, const int *ldab, int *ipiv,
            void *b, const int *ldb, int *info);
void zgbsv_(const int *n, const int *kl, const int *ku, const int *nrhs, void *ab, const int *ldab, int *ipiv,
            void *b, const int *ldb, int *info);
void dsyev_(const char *job, const char *part, const int *n, double *a, const int *lda, double *w,
            double *work, const int *size, int *info, std::size_t, std::size_t);
}

namespace {

/// Solutions by gbsv. A ring is folded: with its rows in the order 0, n - 1, 1, n - 2, ... it is a band of
/// twice the width.
template <class Scalar>
std::vector<Scalar> gbsv(const ChainSystem<Scalar> &s, const std::vector<Scalar> &b, std::int64_t columns,
                         bool transposed)
{
  const auto       n    = static_cast<std::size_t>(s.rows());
  const auto       rows = s.chain.rows;
  std::vector<int> place(n), pivots(n);
  int              kl = 0, ku = 0, info = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t at = s.place_of.empty() ? static_cast<std::int64_t>(r) : s.place_of[r], i = at % rows;
    place[r] = static_cast<int>(!s.chain.ring ? at : at - i + (2 * i < rows ? 2 * i : 2 * (rows - i) - 1));
  }
  const auto for_each = [&](const auto &body) {
    for (std::size_t r = 0; r < n; ++r)
      for (int e = s.row_begin[r]; e < s.row_begin[r + 1]; ++e) {
        const auto k = static_cast<std::size_t>(e);
        const int  i = place[r], j = place[static_cast<std::size_t>(s.column[k])];
        if (transposed) body(j, i, s.value[k]);
        else body(i, j, s.value[k]);
      }
  };
  for_each([&](int i, int j, const Scalar &) { kl = std::max(kl, i - j), ku = std::max(ku, j - i); });
  const int           ld = 2 * kl + ku + 1, size = static_cast<int>(n), m = static_cast<int>(columns);
  std::vector<Scalar> ab(n * static_cast<std::size_t>(ld)), y(b.size()), x(b.size());
  for_each([&](int i, int j, const Scalar &a) {
    ab[static_cast<std::size_t>(kl + ku + i - j) +
       static_cast<std::size_t>(j) * static_cast<std::size_t>(ld)] += a;
  });
  for (std::size_t k = 0; k < b.size(); ++k) y[k - k % n + static_cast<std::size_t>(place[k % n])] = b[k];
  (std::is_same_v<Scalar, double> ? dgbsv_ : zgbsv_)(&size, &kl, &ku, &m, ab.data(), &ld, pivots.data(),
                                                     y.data(), &size, &info);
  EXPECT_EQ(info, 0);
  for (std::size_t k = 0; k < b.size(); ++k) x[k] = y[k - k % n + static_cast<std::size_t>(place[k % n])];
  return x;
}

/// Right-hand sides, and backward errors of gbsv for A and its transpose.
template <class Scalar>
struct Wanted {
  std::int64_t        columns;
  std::vector<Scalar> b;
  double              error[2];
  Wanted(const ChainSystem<Scalar> &s, std::int64_t m, std::mt19937_64 &g) : columns(m)
  {
    for (std::int64_t k = 0; k < s.rows() * m; ++k) b.push_back(random_scalar<Scalar>(g));
    for (bool transposed : {false, true})
      error[transposed] = backward_error(s, gbsv(s, b, m, transposed), b, m, transposed);
  }
};

/// Factors and solves with leaves of `leaf` rows.
template <template <class, class> class Solver = ribbon::ChainSolver, class Scalar>
void expect_as_gbsv(const ChainSystem<Scalar> &s, const ChainOnDevice<Scalar> &device, std::int64_t leaf,
                    const Wanted<Scalar> &wanted)
{
  SCOPED_TRACE(testing::Message() << s.chain.chains << " of " << s.chain.rows << " rows, kl " << s.chain.kl
                                  << " ku " << s.chain.ku << (s.chain.ring ? " ring" : "") << " leaf " << leaf
                                  << " columns " << wanted.columns);
  Solver<Scalar, Exec> solver(Exec(), s.chain, {leaf, 1e-300}); // the test is about the backward error
  solver.factor(Exec(), device.matrix());
  ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << solver.report().smallest_pivot;
  for (bool transposed : {false, true}) {
    const double error = backward_error(s, solve(solver, wanted.b, wanted.columns, transposed), wanted.b,
                                        wanted.columns, transposed);
    EXPECT_LE(error, 1e-14) << solver.report().algorithm << (transposed ? ", transposed" : "");
    EXPECT_LE(error, 100 * std::max(wanted.error[transposed], 1e-17))
      << solver.report().algorithm << (transposed ? ", transposed" : "");
  }
}

enum class Values { dominant, random, symmetric };

template <class Scalar>
ChainSystem<Scalar> filled(const ribbon::Chain &chain, Values values, bool permuted, std::mt19937_64 &g)
{
  ChainSystem<Scalar> s{chain};
  if (permuted) s.shuffle(g);
  const std::int64_t  ku = chain.ku, n = chain.rows;
  std::vector<Scalar> upper; // upper triangles of symmetric matrices
  for (std::int64_t k = 0; values == Values::symmetric && k < s.rows() * (ku + 1); ++k)
    upper.push_back(random_scalar<Scalar>(g));
  s.fill([&](std::int64_t i, int d) {
    if (values == Values::symmetric)
      return upper[static_cast<std::size_t>((d >= 0 ? i : i - i % n + (i % n + d + n) % n) * (ku + 1) +
                                            std::abs(d))];
    return random_scalar<Scalar>(g) + (values == Values::dominant && d == 0
                                         ? Scalar(static_cast<double>(chain.width() + 1))
                                         : Scalar(0));
  });
  return s;
}

template <class Scalar>
void check(const ribbon::Chain &chain, Values values, const std::vector<std::int64_t> &leaves,
           std::int64_t columns, bool permuted, std::uint64_t seed)
{
  SCOPED_TRACE(testing::Message() << "seed " << seed << " values " << static_cast<int>(values)
                                  << (permuted ? " permuted" : ""));
  std::mt19937_64             g(seed);
  const auto                  s = filled<Scalar>(chain, values, permuted, g);
  const ChainOnDevice<Scalar> device(s);
  const Wanted<Scalar>        wanted(s, columns, g);
  for (std::int64_t leaf : leaves) {
    expect_as_gbsv(s, device, leaf, wanted);
    if (values == Values::dominant) expect_as_gbsv<ribbon::SchurSolver>(s, device, leaf, wanted);
  }
}

TEST(ChainLapack, BandsAndRings)
{
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (bool ring : {false, true}) {
      for (int p = 1; p <= 5; ++p)
        for (Values values : {Values::dominant, Values::random, Values::symmetric}) {
          check<double>({301 + 100 * p, 1, p, p, ring}, values, {0, 8, 64}, 2, seed % 2 == 0, seed);
          if (p < 4)
            check<Kokkos::complex<double>>({401, 1, p, p, ring}, values, {0, 8, 64}, 1, seed % 2 == 0, seed);
        }
      for (const auto &[kl, ku] :
           {std::pair(0, 1), std::pair(2, 0), std::pair(3, 1), std::pair(1, 4), std::pair(5, 2)})
        for (Values values : {Values::dominant, Values::random})
          check<double>({60, 2, kl, ku, ring}, values, {0, 8, 20}, 2, seed % 2 == 0, seed);
    }
}

// Sizes near one leaf, near full tiles of 32 leaves, and primes.
TEST(ChainLapack, SizesAroundTilesAndPrimes)
{
  for (int p : {1, 2, 3, 5})
    for (bool ring : {false, true}) {
      for (std::int64_t leaf : {64, 65})
        for (std::int64_t n :
             {leaf - 1, leaf, leaf + 1, 2 * leaf + 1, 32 * leaf - 1, 32 * leaf, 32 * leaf + 1})
          check<double>({n, 1, p, p, ring}, p == 2 ? Values::random : Values::dominant, {leaf},
                        n % 2 == 0 ? 5 : 1, false, static_cast<std::uint64_t>(n));
      for (std::int64_t n : {1009, 2003, 10007})
        check<double>({n, 1, p, p, ring}, p == 2 ? Values::dominant : Values::random, {0, 8, 64}, 1, false,
                      static_cast<std::uint64_t>(n));
    }
}

TEST(ChainLapack, AMillionRows)
{
  for (int p = 1; p <= 5; ++p)
    check<double>({1000000, 1, p, p}, Values::random,
                  p % 2 == 1 ? std::vector<std::int64_t>{0, 64} : std::vector<std::int64_t>{0}, 1, false, 5);
  check<double>({1000000, 1, 1, 1, true}, Values::dominant, {0}, 1, false, 5);
}

// Half-bandwidths whose loops no other test runs, in band LU and in tiles, from a few rows on.
TEST(ChainLapack, WideBands)
{
  for (int p = 6; p <= 10; ++p)
    for (Values values : {Values::dominant, Values::symmetric, Values::random})
      for (std::int64_t n : {1, p - 1, p, p + 1, 2 * p, 2 * p + 1, 3 * p + 2, 211})
        for (std::int64_t columns : {1, 4}) {
          check<double>({n, 2, p, p}, values, {0, 20}, columns, n > 100, static_cast<std::uint64_t>(n + p));
          if (n > 2 * p)
            check<double>({n, 1, p, p, true}, values, {0, 20}, columns, n > 100,
                          static_cast<std::uint64_t>(n + p));
        }
  for (const auto &[kl, ku] : {std::pair(10, 0), std::pair(0, 10), std::pair(9, 1), std::pair(2, 8),
                               std::pair(7, 3), std::pair(4, 6), std::pair(7, 1), std::pair(2, 6),
                               std::pair(0, 8), std::pair(6, 0), std::pair(10, 3), std::pair(8, 10)})
    for (bool ring : {false, true})
      for (Values values : {Values::dominant, Values::random})
        check<double>({690, 1, kl, ku, ring}, values, {0, 17, 64}, ring ? 1 : 3, ring,
                      static_cast<std::uint64_t>(kl));
}

// Widths without specialized loops.
TEST(ChainLapack, BandsToTheWidest)
{
  for (const auto &[kl, ku] : {std::pair(11, 11), std::pair(12, 20), std::pair(16, 16), std::pair(0, 32),
                               std::pair(25, 3), std::pair(32, 32)})
    for (bool ring : {false, true})
      for (Values values : {Values::dominant, Values::random}) {
        check<double>({3 * (kl + ku) + 5, 1, kl, ku, ring}, values, {0}, 2, ring,
                      static_cast<std::uint64_t>(kl + ku));
        check<double>({411, 1, kl, ku, ring}, values, {0, 70}, 2, !ring, static_cast<std::uint64_t>(kl + ku));
      }
}

/// Differences of order 2 p for -u'' with step 1: sum_k c_k T^k with T = (-1, 2, -1). An eigenvalue is
/// sum_k c_k t^k, where t is an eigenvalue of T.
struct Differences {
  int          p;
  std::int64_t n;
  bool         ring;

  static double coefficient(int k) // 2 (k - 1)!^2 / (2 k)!
  {
    double c = 1;
    for (int m = 2; m <= k; ++m) c *= (m - 1.0) * (m - 1.0) / (2 * m * (2 * m - 1));
    return c;
  }
  double operator()(std::int64_t i, int d) const
  {
    const auto power = [](int k, std::int64_t m) { // entry m of a row of T^k, far from the ends
      double c = m % 2 == 0 ? 1 : -1;
      for (std::int64_t q = 0; q < k + std::abs(m); ++q)
        c *= static_cast<double>(2 * k - q) / static_cast<double>(q + 1);
      return c;
    };
    double sum = 0;
    for (int k = 1; k <= p; ++k)
      sum +=
        coefficient(k) * (power(k, d) - (ring ? 0 : power(k, 2 * i + d + 2) + power(k, 2 * n - 2 * i - d)));
    return sum;
  }
  double eigenvalue(std::int64_t m) const
  {
    const double sine = std::sin(std::acos(-1.0) * static_cast<double>(m) /
                                 static_cast<double>(ring ? n : 2 * (n + 1))),
                 of_t = 4 * sine * sine;
    double sum = 0, power = 1;
    for (int k = 1; k <= p; ++k) sum += coefficient(k) * (power *= of_t);
    return sum;
  }
};

// -u'' - k^2 u with k^2 at or near an eigenvalue: singular to rounding. The backward error still is that of
// rounding A and b.
TEST(ChainLapack, Resonance)
{
  std::mt19937_64 g(3);
  for (int p = 1; p <= 5; ++p)
    for (bool ring : {false, true})
      for (std::int64_t mode : {3, 133})
        for (double off : {0.0, 1e-15, 1e-12, 1e-8, 1e-4}) {
          const Differences   A{p, 400, ring};
          const double        k2 = A.eigenvalue(mode) * (1 + off);
          ChainSystem<double> s{{A.n, 1, p, p, ring}};
          s.fill([&](std::int64_t i, int d) { return A(i, d) - (d == 0 ? k2 : 0); });
          SCOPED_TRACE(testing::Message() << "mode " << mode << " off by " << off);
          const ChainOnDevice<double> device(s);
          const Wanted<double>        wanted(s, 1, g);
          double                      largest = 0;
          for (double x : gbsv(s, wanted.b, 1, false)) largest = std::max(largest, std::abs(x));
          EXPECT_TRUE(off > 1e-12 || largest > 1e8) << largest;
          for (std::int64_t leaf : {0, 8, 64}) expect_as_gbsv(s, device, leaf, wanted);
        }
}

/// The backward error that -mat_multifrontal_pivot none accepts for its probe: 1e4 units of roundoff.
constexpr double probe_limit = 2.2e-12;

/// Gaussian elimination that exchanges rows only inside blocks of p.
std::vector<double> by_blocks(const ChainSystem<double> &s, std::size_t p, std::vector<double> b)
{
  const auto          n = b.size();
  std::vector<double> a(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (auto e = static_cast<std::size_t>(s.row_begin[i]); e < static_cast<std::size_t>(s.row_begin[i + 1]);
         ++e)
      a[i * n + static_cast<std::size_t>(s.column[e])] = s.value[e];
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t pivot = j;
    for (std::size_t i = j; i < std::min(n, j - j % p + p); ++i)
      if (std::abs(a[i * n + j]) > std::abs(a[pivot * n + j])) pivot = i;
    for (std::size_t k = 0; k < n; ++k) std::swap(a[j * n + k], a[pivot * n + k]);
    std::swap(b[j], b[pivot]);
    for (std::size_t i = j + 1; i < std::min(n, j + 2 * p); ++i) {
      const double factor = a[i * n + j] / a[j * n + j];
      for (std::size_t k = j; k < n; ++k) a[i * n + k] -= factor * a[j * n + k];
      b[i] -= factor * b[j];
    }
  }
  for (std::size_t j = n; j-- > 0;) {
    for (std::size_t k = j + 1; k < n; ++k) b[j] -= a[j * n + k] * b[k];
    b[j] /= a[j * n + j];
  }
  return b;
}

// -u'' - k^2 u with k^2 an eigenvalue of the first 3 p unknowns. Trees without pivots and exchanges inside
// blocks of p are both inaccurate here. The matrix is regular.
TEST(ChainLapack, KillersOfTreesWithoutPivotsAndOfPivotsInBlocks)
{
  std::mt19937_64 g(4);
  for (int p = 1; p <= 5; ++p)
    for (double off : {0.0, 1e-11}) { // a check of pivots does not detect the second case
      SCOPED_TRACE(testing::Message() << "p " << p << " off by " << off);
      const Differences   A{p, 60 * p, false};
      const int           m = 3 * p, size = 4 * m;
      int                 info = 0;
      std::vector<double> part(static_cast<std::size_t>(m * m)), eigenvalues(static_cast<std::size_t>(m)),
        work(static_cast<std::size_t>(size));
      for (int i = 0; i < m; ++i)
        for (int j = std::max(0, i - p); j < std::min(m, i + p + 1); ++j)
          part[static_cast<std::size_t>(i * m + j)] = A(i, j - i);
      dsyev_("N", "U", &m, part.data(), &m, eigenvalues.data(), work.data(), &size, &info, 1, 1);
      ASSERT_EQ(info, 0);
      ChainSystem<double> s{{A.n, 1, p, p}};
      s.fill([&](std::int64_t i, int d) { return A(i, d) - (d == 0 ? eigenvalues[0] + off : 0); });
      const ChainOnDevice<double> device(s);
      const Wanted<double>        wanted(s, 1, g);
      for (std::int64_t leaf : {0, 8, 20, 64}) expect_as_gbsv(s, device, leaf, wanted);
      EXPECT_TRUE(off > 0 || !(backward_error(s, by_blocks(s, static_cast<std::size_t>(p), wanted.b),
                                              wanted.b, 1, false) <= 1e-6));
      for (std::int64_t leaf : {20, 64}) {
        ribbon::SchurSolver<double, Exec> none(Exec(), s.chain, {leaf, 0});
        none.factor(Exec(), device.matrix());
        const double error = backward_error(s, solve(none, wanted.b, 1, false), wanted.b, 1, false);
        EXPECT_TRUE(!none.report().ok() || !(error <= probe_limit))
          << "leaf " << leaf << " smallest pivot " << none.report().smallest_pivot << " error " << error;
      }
    }
}

/// The probe of -mat_multifrontal_pivot none. It computes backward errors of a known solution and of the
/// first random right-hand side, or of five of them if a pivot is small.
bool accepted(const ChainSystem<double> &s, const ribbon::SchurSolver<double, Exec> &none,
              const std::vector<double> &random)
{
  const auto          n = static_cast<std::size_t>(s.rows());
  std::vector<double> known(n, 0);
  const auto          solves = [&](const std::vector<double> &b) {
    return backward_error(s, solve(none, b, 1, false), b, 1, false) <= probe_limit;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (auto e = static_cast<std::size_t>(s.row_begin[i]); e < static_cast<std::size_t>(s.row_begin[i + 1]);
         ++e)
      known[i] += s.value[e] * (1 + static_cast<double>(s.column[e]) / static_cast<double>(n));
  if (!none.report().ok() || !solves(known)) return false;
  for (std::size_t k = 0; k < (none.report().smallest_pivot < 1e-5 ? 5 : 1); ++k)
    if (!solves({random.data() + k * n, random.data() + (k + 1) * n})) return false;
  return true;
}

// One small pivot in a well-conditioned matrix: refused, or solved.
TEST(ChainLapack, WhatAProbeAcceptsWithOneSmallPivot)
{
  std::mt19937_64                  g(9);
  std::uniform_real_distribution<> exponent(-12, -5);
  int                              refused = 0;
  for (int k = 0; k < 3000; ++k) {
    const int    n = 40 + k % 7, at = k % 3 == 0 ? 0 : k % n;
    const double small = std::pow(10.0, exponent(g));
    double       pivot = 0; // of row at - 1, if rows are eliminated in order
    for (int i = 0; i < at; ++i) pivot = i == 0 ? 4 : 4 - 1 / pivot;
    ChainSystem<double> s{{n, 1, 1, 1}};
    s.fill([&](std::int64_t i, int d) {
      return d != 0 ? -1 : i == at ? small + (at > 0 ? 1 / pivot : 0) : 4.0;
    });
    const ChainOnDevice<double>       device(s);
    const Wanted<double>              wanted(s, 20, g);
    ribbon::SchurSolver<double, Exec> none(Exec(), s.chain, {k % 2 == 0 ? 64 : 8, 0});
    none.factor(Exec(), device.matrix());
    const bool accepts = accepted(s, none, wanted.b);
    refused += !accepts;
    for (bool transposed : {false, true}) {
      const double error = backward_error(s, solve(none, wanted.b, 20, transposed), wanted.b, 20, transposed);
      EXPECT_TRUE(!accepts || error <= 10 * probe_limit)
        << error << " of number " << k << ", a pivot of " << small << " in row " << at
        << (transposed ? ", transposed" : "");
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 2900);
}

// Random indefinite rows: if the probe accepts, errors for other right-hand sides are of the same size.
TEST(ChainLapack, WhatAProbeAcceptsWithoutPivots)
{
  std::mt19937_64 g(6);
  int             taken = 0, refused = 0;
  for (int k = 0; k < 150; ++k) {
    const int  p = 1 + k % 5;
    const auto s =
      filled<double>({60, 1, p, p, k % 2 == 0}, k % 3 == 0 ? Values::random : Values::symmetric, false, g);
    const ChainOnDevice<double>       device(s);
    const Wanted<double>              wanted(s, 5, g);
    ribbon::SchurSolver<double, Exec> none(Exec(), s.chain, {k % 4 < 2 ? 16 : 0, 0});
    none.factor(Exec(), device.matrix());
    const bool accepts = accepted(s, none, wanted.b);
    ++(accepts ? taken : refused);
    for (bool transposed : {false, true}) {
      const double error = backward_error(s, solve(none, wanted.b, 5, transposed), wanted.b, 5, transposed);
      EXPECT_TRUE(!accepts || error <= 10 * probe_limit)
        << error << " of number " << k << (transposed ? ", transposed" : "");
    }
  }
  EXPECT_GT(taken, 50);
  RecordProperty("refused", refused);
}

} // namespace
