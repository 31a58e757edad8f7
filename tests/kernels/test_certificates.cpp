// SPDX-License-Identifier: BSD-2-Clause
// Certificates of accuracy and condition (certificate.hpp), compared with solves and inverses in extended
// precision. RIBBON_CERTIFICATES sets the number of matrices.
#include "certificates.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace test;

namespace {

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

template <class Scalar, int P>
void expect_no_lies(std::uint64_t seed, std::size_t count)
{
  constexpr std::size_t matrices = 53; // three full tiles and some lines
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
      // the condition under which LineSolver accepts a certificate
      if (!(f.rcond(c) > 100 * ribbon::unit_roundoff<Scalar>())) continue;
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

/// Certified lines are not probed, others are. The reports contain the known values of both.
TEST(Certificates, AReportOfCertifiedLines)
{
  std::mt19937_64   g(8);
  const std::size_t lines = 37, n = 30;
  auto              bands = random_bands<double>(g, lines, n, 1, false, Kind::dominant);
  bands.lhs               = ribbon::Lhs::per_line;
  const auto set          = ribbon::LineSet::interleaved(n, lines);
  for (bool weak : {false, true}) {
    if (weak) bands.values(20, 11, 1) = 1e-3 * bands.values(20, 11, 2); // needs row exchanges
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
  const auto                           bands = batch(1, true);
  EXPECT_TRUE(ring.refactor(HostExec(), bands)) << "rings have no certificate: they are probed";
  EXPECT_FALSE(differ(ring, bands));
}

} // namespace
