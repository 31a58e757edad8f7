// SPDX-License-Identifier: BSD-2-Clause
// `auto` beside LAPACK's elimination of bands with exchanges of rows: never more than 100 times its backward error.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace test;
using ribbon::Lhs;

#define RIBBON_LAPACK_BANDS(scalar, trf, trs)                                                                                                                                                                              \
  void trf(const int *m, const int *n, const int *kl, const int *ku, scalar *ab, const int *ldab, int *pivots, int *info);                                                                                                 \
  void trs(const char *transposed, const int *n, const int *kl, const int *ku, const int *columns, const scalar *ab, const int *ldab, const int *pivots, scalar *b, const int *ldb, int *info, std::size_t);
extern "C" {
RIBBON_LAPACK_BANDS(float, sgbtrf_, sgbtrs_)
RIBBON_LAPACK_BANDS(double, dgbtrf_, dgbtrs_)
RIBBON_LAPACK_BANDS(Kokkos::complex<double>, zgbtrf_, zgbtrs_)
}

namespace {

template <class Scalar>
using HostBands = ribbon::Bands<Scalar, Kokkos::HostSpace>;

/// x = A^-1 b for matrix 0 of open bands or blocks, which are bands of scalars, too; empty where a pivot is zero.
template <class Scalar>
std::vector<Scalar> by_lapack(const HostBands<Scalar> &bands, std::vector<Scalar> b)
{
  const int           rows = static_cast<int>(bands.rows()), B = bands.block, n = rows * B, kl = bands.kl() * B + B - 1, ku = bands.ku() * B + B - 1, ldab = 2 * kl + ku + 1, one = 1;
  int                 info = 0;
  std::vector<int>    pivots(static_cast<std::size_t>(n));
  std::vector<Scalar> ab(static_cast<std::size_t>(ldab) * static_cast<std::size_t>(n));
  for (int i = 0; i < rows; ++i)
    for (int d = -bands.kl(); d <= bands.ku(); ++d)
      for (int p = 0; p < B && i + d >= 0 && i + d < rows; ++p)
        for (int q = 0; q < B; ++q) {
          const int row = i * B + p, column = (i + d) * B + q;
          ab[static_cast<std::size_t>(kl + ku + row - column + column * ldab)] = bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(((d + bands.kl()) * B + p) * B + q));
        }
  const auto run = [&](auto trf, auto trs) {
    trf(&n, &n, &kl, &ku, ab.data(), &ldab, pivots.data(), &info);
    if (info == 0) trs("N", &n, &kl, &ku, &one, ab.data(), &ldab, pivots.data(), b.data(), &n, &info, 1);
  };
  if constexpr (std::is_same_v<Scalar, float>) run(sgbtrf_, sgbtrs_);
  else if constexpr (std::is_same_v<Scalar, double>) run(dgbtrf_, dgbtrs_);
  else run(zgbtrf_, zgbtrs_);
  return info == 0 ? b : std::vector<Scalar>();
}

enum class Values { dominant, random, graded_rows, graded_columns, stiff, next_to_singular };

/// One matrix; nothing but `dominant` is so.
template <class Scalar>
HostBands<Scalar> matrix_of_kind(std::mt19937_64 &g, Values kind, std::int64_t n, int kl, int ku, int block)
{
  using Real       = ribbon::real_t<Scalar>;
  auto       bands = random_system<Scalar>(g, 1, n, kl, ku, block, false);
  const bool small = sizeof(Real) < 8;
  for (std::size_t i = 0; i < bands.values.extent(1); ++i)
    for (std::size_t e = 0; e < bands.values.extent(2); ++e) {
      Scalar    &a = bands.values(0, i, e);
      const int  B = block, d = static_cast<int>(e) / (B * B) - kl, p = static_cast<int>(e) / B % B, q = static_cast<int>(e) % B;
      const bool diagonal = d == 0 && p == q;
      const auto size     = [&](std::int64_t unknown) { return static_cast<Real>(std::pow(10.0, static_cast<double>(unknown * 7 % 13 - 6) * (small ? 0.4 : 1))); };
      if (kind == Values::random || kind == Values::graded_rows || kind == Values::graded_columns) {
        if (diagonal) a = random_scalar<Scalar>(g);
        if (kind == Values::graded_rows) a *= size(static_cast<std::int64_t>(i) * B + p);
        if (kind == Values::graded_columns) a *= size((static_cast<std::int64_t>(i) + d) * B + q + 13 * B);
      }
      if (kind == Values::stiff) a = diagonal ? Scalar(static_cast<Real>(kl + ku + 2 * (B - 1) + (small ? 1e-4 : 1e-9))) : Scalar(-1); // next to singular with the ones, but for the ends
      if (kind == Values::next_to_singular && i == bands.values.extent(1) / 2) a *= static_cast<Real>(small ? 1e-5 : 1e-12);
    }
  return bands;
}

template <class Scalar>
void expect_lapacks_digits(Values kind, std::int64_t n, int kl, int ku, int block, bool contiguous, int &solved, const std::string &algorithm = "auto")
{
  const std::uint64_t seed = static_cast<std::uint64_t>(n * 1000 + kl * 100 + ku * 10 + block);
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", n " << n << ", kl " << kl << ", ku " << ku << ", block " << block << (contiguous ? ", contiguous, " : ", interleaved, ") << sizeof(Scalar)
                                  << " bytes, seed " << seed);
  std::mt19937_64 g(seed);
  const auto      bands = matrix_of_kind<Scalar>(g, kind, n, kl, ku, block);
  const auto      set   = (contiguous ? ribbon::LineSet::contiguous(n, 3) : ribbon::LineSet::interleaved(n, 3)).with_components(block);
  auto            given = bands;
  if (algorithm == "one_pass") { // the same matrix for every line
    given.lhs    = Lhs::per_line;
    given.values = decltype(given.values)("test::bands", 3, bands.values.extent(1), bands.values.extent(2));
    for (std::size_t l = 0; l < 3; ++l) Kokkos::deep_copy(Kokkos::subview(given.values, l, Kokkos::ALL, Kokkos::ALL), Kokkos::subview(bands.values, 0, Kokkos::ALL, Kokkos::ALL));
  }
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(given), {algorithm});
  const auto                            &report = solver.report();
  const double                           unit   = static_cast<double>(ribbon::unit_roundoff<Scalar>()) / std::numeric_limits<double>::epsilon();
  if (!report.ok()) {
    EXPECT_LT(std::min(report.rcond, report.smallest_pivot), 1e-12 * unit) << report.algorithm << ", " << report.reason;
    return;
  }
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto x = solve(solver, b);
  for (std::int64_t l = 0; l < 3; ++l) {
    std::vector<Scalar> mine, right;
    for (std::int64_t i = 0; i < n; ++i)
      for (int a = 0; a < block; ++a) mine.push_back(x[static_cast<std::size_t>(set(l, i) + a)]), right.push_back(b[static_cast<std::size_t>(set(l, i) + a)]);
    const auto line   = ribbon::LineSet::contiguous(n, 1).with_components(block);
    const auto theirs = by_lapack(bands, right);
    if (theirs.empty()) continue;
    const double reference = backward_error(bands, line, theirs, right);
    EXPECT_LE(backward_error(bands, line, mine, right), 100 * std::max(reference, 1e-16 * unit)) << report.algorithm << ", LAPACK " << reference << ", probe " << report.probe_error << ", rcond " << report.rcond;
    ++solved;
  }
}

TEST(Lapack, AutoIsNeverAHundredTimesWorse)
{
  const int systems[][3] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {1, 3, 1}, {4, 4, 1}, {8, 2, 1}, {8, 8, 1}, {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 1, 8}};
  int       solved = 0, cases = 0;
  for (const auto &s : systems)
    for (Values kind : {Values::dominant, Values::random, Values::graded_rows, Values::graded_columns, Values::stiff, Values::next_to_singular})
      for (std::int64_t n : {10, 65, 200, 1000}) {
        if (n == 1000 && s[0] * s[2] > 2) continue; // wide systems take their time to set up
        expect_lapacks_digits<double>(kind, n, s[0], s[1], s[2], n % 2 == static_cast<int>(kind) % 2, solved), cases += 3;
        if (n == 200) expect_lapacks_digits<float>(kind, n, s[0], s[1], s[2], false, solved), expect_lapacks_digits<Kokkos::complex<double>>(kind, n, s[0], s[1], s[2], true, solved), cases += 6;
      }
  EXPECT_GT(10 * solved, 8 * cases);
}

/// What is eliminated in flight, without exchanges of rows of a band, where that is sound.
TEST(Lapack, DominantMatricesInFlightAreAsGood)
{
  const int systems[][3] = {{1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 1}, {4, 1, 1}, {1, 1, 2}, {1, 1, 4}};
  int       solved = 0, cases = 0;
  for (const auto &s : systems)
    for (std::int64_t n : {10, 65, 200}) {
      expect_lapacks_digits<double>(Values::dominant, n, s[0], s[1], s[2], n == 65, solved, "one_pass"), cases += 3;
      expect_lapacks_digits<Kokkos::complex<double>>(Values::dominant, n, s[0], s[1], s[2], n != 65, solved, "one_pass"), cases += 3;
    }
  EXPECT_EQ(solved, cases);
}

} // namespace
