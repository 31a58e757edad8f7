// SPDX-License-Identifier: BSD-2-Clause
// Chains that are singular to rounding or have small pivots, compared with LAPACK's gbsv, and what the probe of
// trees without pivots accepts.
#include "chain_lapack.hpp"

using namespace test;
using namespace test::chain_lapack;

extern "C" {
void dsyev_(const char *job, const char *part, const int *n, double *a, const int *lda, double *w,
            double *work, const int *size, int *info, std::size_t, std::size_t);
}

namespace {

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
