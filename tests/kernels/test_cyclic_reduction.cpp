// SPDX-License-Identifier: BSD-2-Clause
// The cyclic reductions with all sources of coefficients, rings, layouts, blocks, scalars, sizes, and the
// row count where they switch. Also their refusals and reports, and the memory of toeplitz_cr.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace test;
using ribbon::FactorStatus;
using ribbon::Lhs;

namespace {

const std::vector<std::int64_t> sizes = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 100, 127, 129, 257, 512};

template <class Scalar>
double limit()
{
  return std::is_same_v<ribbon::real_t<Scalar>, float> ? 1e-14 / 2.2e-16 * 1.2e-7 : 1e-14;
}

template <class Scalar>
void expect_solved(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, const ribbon::LineSet &set,
                   const ribbon::LineSolverOptions &options, std::mt19937_64 &g)
{
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
  ASSERT_TRUE(solver.report().ok()) << "status " << static_cast<int>(solver.report().status) << ", probe "
                                    << solver.report().probe_error << ", pivot "
                                    << solver.report().smallest_pivot;
  EXPECT_EQ(solver.report().algorithm, options.algorithm);
  std::vector<Scalar> b(static_cast<std::size_t>(set.begin(set.lines() - 1) +
                                                 (set.rows - 1) * set.row_stride +
                                                 (set.components - 1) * set.component_stride + 1));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto x = solve(solver, b), y = solve(solver, b, true);
  EXPECT_LE(backward_error(expanded(bands), set, x, b), limit<Scalar>());
  bool same = true;
  for (std::int64_t l = 0; l < set.lines(); ++l)
    for (std::int64_t i = 0; i < set.rows; ++i)
      for (int a = 0; a < set.components; ++a) {
        const auto k = static_cast<std::size_t>(set(l, i) + a * set.component_stride);
        same         = same && x[k] == y[k];
      }
  EXPECT_TRUE(same) << "in place differs from out of place";
}

// (algorithm, source, periodic, contiguous, block)
using Setting = std::tuple<std::string, Lhs, bool, bool, int>;

std::string name(const testing::TestParamInfo<Setting> &info)
{
  const auto &[algorithm, lhs, periodic, contiguous, block] = info.param;
  return algorithm + "_" + ribbon::to_string(lhs) + (periodic ? "_ring" : "_open") +
         (contiguous ? "_contiguous" : "_interleaved") + "_block" + std::to_string(block);
}

class CyclicReduction : public testing::TestWithParam<Setting> {
protected:
  template <class Scalar>
  void check(std::int64_t n, std::int64_t lines, int switch_rows = 0, int lanes = 0)
  {
    const auto &[algorithm, lhs, periodic, contiguous, block] = GetParam();
    SCOPED_TRACE("n = " + std::to_string(n) + ", lines = " + std::to_string(lines) +
                 ", switch_rows = " + std::to_string(switch_rows) + ", lanes = " + std::to_string(lanes));
    std::mt19937_64 g(static_cast<std::uint64_t>(n * 1000 + lines));
    auto            bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, 1, 1, block, periodic);
    assign(g, bands, lhs, lines);
    ribbon::LineSolverOptions options;
    options.algorithm = algorithm, options.switch_rows = switch_rows, options.lines_per_team = lanes;
    try {
      expect_solved(bands,
                    (contiguous ? ribbon::LineSet::contiguous(n, lines, n + n % 3)
                                : ribbon::LineSet::interleaved(n, lines))
                      .with_components(block),
                    options, g);
    } catch (const std::invalid_argument &e) { // too many lines per team, on a device
      EXPECT_GT(lanes, 1) << e.what();
      EXPECT_NE(std::string(e.what()).find("do not fit the scratch of a team"), std::string::npos)
        << e.what();
    }
  }
};

TEST_P(CyclicReduction, SolvesEverySize)
{
  const auto &[algorithm, lhs, periodic, contiguous, block] = GetParam();
  for (std::int64_t n : sizes) {
    if (block > 2 && n > 33 && n != 100) continue; // dense blocks take long
    check<double>(n, n > 64 || block == 8 ? 3 : n % 2 ? 1 : 37);
  }
  if (block <= 2) check<double>(17, 260);
  for (std::int64_t n : {4, 33}) check<float>(n, 9), check<Kokkos::complex<double>>(n, 9);
}

TEST_P(CyclicReduction, EveryShape)
{
  const auto &[algorithm, lhs, periodic, contiguous, block] = GetParam();
  for (std::int64_t n : {1, 5, 31, 100}) {
    if (block == 8 && n > 31) continue;
    // Shapes do not depend on the source of coefficients.
    if (lhs == Lhs::classes || lhs == Lhs::shifted) continue;
    for (int lanes : {1, 8, 32}) check<double>(n, block == 8 ? 3 : 35, 0, lanes);
    if (algorithm == "cr_pcr")
      for (int rows : {1, 2, 7, 16, 1000}) check<double>(n, 3, rows);
  }
}

std::vector<Setting> settings()
{
  std::vector<Setting> all;
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr"})
    for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (bool periodic : {false, true})
        for (bool contiguous : {false, true})
          for (int block : {1, 2, 3, 8}) all.emplace_back(algorithm, lhs, periodic, contiguous, block);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CyclicReduction, testing::ValuesIn(settings()), name);

/// Rows with one stencil, except for `first` and `last` rows at the ends. All rows are dominant.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> near_toeplitz(std::mt19937_64 &g, std::int64_t n, std::int64_t first,
                                                       std::int64_t last, bool periodic, bool symmetric)
{
  auto       bands   = random_system<Scalar>(g, 1, n, 1, 1, 1, periodic);
  const auto stencil = random_system<Scalar>(g, 1, 1, 1, 1, 1, periodic);
  for (std::int64_t i = first; i < n - last; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      bands.values(0, static_cast<std::size_t>(i), d) = stencil.values(0, 0, symmetric && d == 2 ? 0 : d) *
                                                        ribbon::real_t<Scalar>(symmetric && d == 1 ? 2 : 1);
  return bands;
}

template <class Scalar>
void check_toeplitz(std::int64_t n, std::int64_t lines)
{
  for (bool contiguous : {false, true})
    for (bool periodic : {false, true})
      for (bool symmetric : {false, true})
        for (std::int64_t first : {0, 1, 2, 4})
          for (std::int64_t last : {0, 1, 3, 4}) {
            SCOPED_TRACE("n = " + std::to_string(n) + ", lines = " + std::to_string(lines) + ", ends " +
                         std::to_string(first) + " " + std::to_string(last) + (periodic ? ", ring" : "") +
                         (contiguous ? ", contiguous" : ""));
            std::mt19937_64           g(static_cast<std::uint64_t>(n + lines));
            const auto                bands = near_toeplitz<Scalar>(g, n, first, last, periodic, symmetric);
            ribbon::LineSolverOptions options;
            options.algorithm = "toeplitz_cr";
            expect_solved(bands,
                          contiguous ? ribbon::LineSet::contiguous(n, lines)
                                     : ribbon::LineSet::interleaved(n, lines),
                          options, g);
          }
}

TEST(ToeplitzReduction, SolvesEverySize)
{
  for (std::int64_t n : sizes) check_toeplitz<double>(n, 1), check_toeplitz<double>(n, 11);
  check_toeplitz<double>(1000, 40);
  for (std::int64_t n : {3, 33, 100})
    check_toeplitz<float>(n, 9), check_toeplitz<Kokkos::complex<double>>(n, 9);
}

HostBands<double> stencil(std::int64_t n, double a, double d, double c, bool periodic)
{
  HostBands<double> bands;
  bands.periodic = periodic;
  bands.values   = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(n), 3);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    bands.values(0, i, 0) = a, bands.values(0, i, 1) = d, bands.values(0, i, 2) = c;
  return bands;
}

ribbon::FactorReport report(const HostBands<double> &bands, const std::string &algorithm,
                            std::int64_t lines = 4)
{
  return ribbon::LineSolver<double, Exec>(
           Exec(),
           ribbon::LineSet::interleaved(
             static_cast<std::int64_t>(bands.values.extent(1)),
             bands.lhs == Lhs::per_line ? static_cast<std::int64_t>(bands.values.extent(0)) : lines),
           to_device(bands), {algorithm})
    .report();
}

TEST(ToeplitzReduction, KeepsAFewNumbersPerLevel)
{
  for (int k = 4; k < 14; ++k) { // the formula of the paper: 8 (log2 n - 1) + 2
    EXPECT_EQ(report(stencil(1 << k, -1, 2.5, -1, false), "toeplitz_cr").bytes,
              sizeof(double) * static_cast<std::size_t>(7 * (k - 1) + 5))
      << k;
    EXPECT_EQ(report(stencil((1 << k) - 1, -1, 2.5, -1, false), "toeplitz_cr").bytes,
              sizeof(double) * static_cast<std::size_t>(7 * (k - 1) + 1))
      << k;
    EXPECT_LE(7 * (k - 1) + 5, 8 * (k - 1) + 2);
    EXPECT_LE(report(stencil((1 << k) + 5, -1, 2.5, -0.5, true), "toeplitz_cr").bytes,
              sizeof(double) * static_cast<std::size_t>(11 * (k + 1)))
      << k;
  }
}

TEST(ToeplitzReduction, KnowsTheDeterminant)
{
  for (bool periodic : {false, true})
    for (std::int64_t n : {1, 2, 3, 6, 13, 64, 100}) {
      const auto bands = stencil(n, -1, 2.5, -0.75, periodic);
      const auto found = report(bands, "toeplitz_cr"), pivoted = report(bands, "pivoted");
      EXPECT_NEAR(found.log_abs_det, pivoted.log_abs_det, 1e-11 * static_cast<double>(n))
        << n << (periodic ? " ring" : "");
    }
}

TEST(ReductionReport, ASingularMatrixIsReported)
{
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr"})
    for (std::int64_t n : {2, 3, 16, 60, 63}) {
      SCOPED_TRACE(std::string(algorithm) + " n = " + std::to_string(n));
      const auto ring = report(stencil(n, -1, 2, -1, true), algorithm); // the constants are its null space
      EXPECT_EQ(ring.status, FactorStatus::zero_pivot) << ring.smallest_pivot << " " << ring.rcond;
      EXPECT_EQ(ring.row, n - 1);
      auto       open        = stencil(n, -1, 2, -1, false);
      const auto end         = static_cast<std::size_t>(n - 1);
      open.values(0, 0, 1)   = 1;
      open.values(0, end, 1) = 1;
      EXPECT_EQ(report(open, algorithm).status, FactorStatus::zero_pivot);
    }
}

TEST(ReductionReport, NamesTheZeroPivotAndTheLine)
{
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr"})
    for (int row : {0, 17, 18, 39})
      for (bool periodic : {false, true}) {
        SCOPED_TRACE(std::string(algorithm) + " row " + std::to_string(row) + (periodic ? " ring" : ""));
        std::mt19937_64 g(5);
        auto            bands = random_system<double>(g, 6, 40, 1, 1, 1, periodic);
        bands.lhs             = Lhs::per_line;
        for (std::size_t d = 0; d < 3; ++d) bands.values(4, static_cast<std::size_t>(row), d) = 0;
        auto found = report(bands, algorithm);
        EXPECT_EQ(found.status, FactorStatus::zero_pivot);
        EXPECT_EQ(found.line, 4);
        EXPECT_EQ(found.row, row);
        EXPECT_EQ(found.smallest_pivot, 0);
        for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
          for (std::size_t d = 0; d < 3; ++d) {
            // Outside of the matrix.
            if (!periodic && ((row == 0 && d == 0) || (row == 39 && d == 2))) continue;
            auto spoilt = random_system<double>(g, 6, 40, 1, 1, 1, periodic);
            spoilt.lhs  = Lhs::per_line;
            spoilt.values(3, static_cast<std::size_t>(row), d) = bad;
            found                                              = report(spoilt, algorithm);
            EXPECT_EQ(found.status, FactorStatus::not_finite);
            EXPECT_EQ(found.line, 3);
            EXPECT_EQ(found.row, row) << bad << " on diagonal " << d;
          }
      }
}

TEST(ReductionReport, MatricesThatNeedPivotingAreNeverSilentlyWrong)
{
  std::vector<HostBands<double>> all = {
    stencil(256, -1e4, 1, 1e4, false),    stencil(256, -1.5, 1, 0, false),
    stencil(256, -1.5, 1, 0, true),       stencil(1024, 1, 0, 1, false),
    stencil(300, -1, 1, 1, false),        stencil(400, -1, 2 + 1e-10, -1, true),
    stencil(400, -1, 2 + 1e-14, -1, true)};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 g(seed);
    all.push_back(random_system<double>(g, 1, 90, 1, 1, 1, seed % 2 == 0));
    for (std::size_t i = 0; i < 90; ++i) all.back().values(0, i, 1) *= 0.3;
  }
  for (const auto &bands : all)
    for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr"}) {
      if (&bands - all.data() > 6 && std::string(algorithm) == "toeplitz_cr") continue;
      const auto set = ribbon::LineSet::interleaved(static_cast<std::int64_t>(bands.values.extent(1)), 3);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {algorithm});
      if (!solver.report().ok()) continue;
      std::mt19937_64     g(11);
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-12)
        << algorithm << " " << &bands - all.data();
    }
}

TEST(ReductionRefuses, WhatItCannotTake)
{
  std::mt19937_64 g(1);
  const auto      set = ribbon::LineSet::interleaved(30, 4);
  for (const std::string algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr"}) {
    EXPECT_EQ(refusal(set, random_system<double>(g, 1, 30, 2, 1, 1, false), {algorithm}),
              "ribbon: algorithm " + algorithm + ": takes tridiagonal and block tridiagonal matrices");
    EXPECT_EQ(refusal(set, random_system<double>(g, 1, 30, 1, 0, 1, false), {algorithm}), "");
    EXPECT_EQ(refusal(set, random_system<double>(g, 1, 30, 0, 0, 1, true), {algorithm}), "");
  }
  const std::string one = "ribbon: algorithm toeplitz_cr: takes one tridiagonal matrix for all lines";
  EXPECT_EQ(refusal(set, random_system<double>(g, 1, 30, 2, 2, 1, false), {"toeplitz_cr"}), one);
  EXPECT_EQ(refusal(set.with_components(2), random_system<double>(g, 1, 30, 1, 1, 2, false), {"toeplitz_cr"}),
            one);
  auto many = random_system<double>(g, 4, 30, 1, 1, 1, false);
  many.lhs  = Lhs::per_line;
  EXPECT_EQ(refusal(set, many, {"toeplitz_cr"}), one);
  const std::string rows =
    "ribbon: algorithm toeplitz_cr takes rows that agree but for the first and the last 4: row ";
  for (bool periodic : {false, true})
    for (std::size_t row : {4, 14, 24}) {
      auto bands = stencil(30, -1, 3, -1, periodic);
      bands.values(0, row, 2) += 1e-15;
      EXPECT_EQ(refusal(set, bands, {"toeplitz_cr"}),
                rows + (periodic && row == 14
                          ? "4 differs from row 14"
                          : std::to_string(row) + " differs from row " + (periodic ? "14" : "15")));
    }
  ribbon::LineSolverOptions options;
  options.switch_rows = -1;
  EXPECT_EQ(refusal(set, stencil(30, -1, 3, -1, false), options), "ribbon::LineSolver: switch_rows -1");
}

TEST(ReductionRefuses, LinesThatDoNotFitATeam)
{
  const std::int64_t n = ribbon::is_device_space<Exec> ? 100000 : 12000000;
  HostBands<double>  bands;
  bands.values = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(n), 1);
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(n, 1), bands, {"cyclic_reduction"}),
            "ribbon: algorithm cyclic_reduction: lines of " + std::to_string(n) +
              " rows do not fit the scratch of a team");
}

TEST(CyclicReductionShapes, KeepsTheBandsThatTheCallerDrops)
{
  std::mt19937_64                  g(1);
  const auto                       set  = ribbon::LineSet::interleaved(50, 6);
  const auto                       host = random_system<double>(g, 1, 50, 1, 1, 1, false);
  ribbon::LineSolver<double, Exec> solver;
  {
    decltype(to_device(host)) bands;
    bands.values = decltype(bands.values)("test::bands of the caller", 1, 50, 3);
    Kokkos::deep_copy(bands.values, host.values);
    solver = ribbon::LineSolver<double, Exec>(Exec(), set, bands, {"cr_pcr"});
  }
  EXPECT_EQ(solver.report().bytes, 150 * sizeof(double));
  std::vector<double> b(300);
  for (auto &v : b) v = random_scalar<double>(g);
  EXPECT_LE(backward_error(host, set, solve(solver, b), b), 1e-14);
}

TEST(CyclicReductionShapes, SeveralRightHandSidesPerMatrix)
{
  std::mt19937_64 g(4);
  for (bool periodic : {false, true}) {
    auto bands      = random_system<double>(g, 3, 20, 1, 1, 1, periodic);
    bands.lhs       = Lhs::per_line;
    const auto many = ribbon::LineSet::interleaved(20, 12), three = ribbon::LineSet::interleaved(20, 3);
    const ribbon::LineSolver<double, Exec> solver(Exec(), three, to_device(bands), {"cr_pcr"});
    Kokkos::View<double *, Memory>         b("b", 240), x("x", 240);
    std::vector<double>                    host(240);
    const auto                             mirror = Kokkos::create_mirror_view(b);
    for (std::size_t k = 0; k < 240; ++k) mirror(k) = host[k] = random_scalar<double>(g);
    Kokkos::deep_copy(b, mirror);
    solver.solve(Exec(), b.data(), many, x.data(), many);
    Kokkos::fence();
    const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
    for (std::int64_t r = 0; r < 4; ++r) { // right-hand side r of all matrices
      std::vector<double> mine, right;
      for (std::int64_t i = 0; i < 20; ++i)
        for (std::int64_t c = 0; c < 3; ++c)
          mine.push_back(result(static_cast<std::size_t>(many(r * 3 + c, i)))),
            right.push_back(host[static_cast<std::size_t>(many(r * 3 + c, i))]);
      EXPECT_LE(backward_error(bands, three, mine, right), 1e-14);
    }
  }
}

} // namespace
