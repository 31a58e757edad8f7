// SPDX-License-Identifier: BSD-2-Clause
// The fields of a report that every algorithm fills. The named line is the first bad line, not the worst
// one.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace test;
using ribbon::FactorStatus;
using ribbon::Lhs;

namespace {

constexpr std::int64_t n = 60, lines = 12;

/// Tridiagonal matrices, with one stencil if there is one matrix. Classes are 0, 2, 1, 0, ...
ribbon::Bands<double, Kokkos::HostSpace> tridiagonal(Lhs lhs)
{
  std::mt19937_64 g(3);
  auto            bands = lhs == Lhs::shared
                            ? toeplitz(n, {-1, 3, -1}, false)
                            : random_bands<double>(g, matrices_for(lhs, lines), n, 1, false, Kind::dominant);
  assign(g, bands, lhs, lines);
  return bands;
}

ribbon::FactorReport report_of(const ribbon::Bands<double, Kokkos::HostSpace> &bands,
                               const std::string                              &algorithm)
{
  return ribbon::LineSolver<double, Exec>(Exec(), ribbon::LineSet::interleaved(bands.rows(), lines),
                                          to_device(bands), {algorithm})
    .report();
}

TEST(ReportFields, AreFilledOrNotANumber)
{
  for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
    for (const std::string algorithm :
         {"one_pass", "thomas", "pivoted", "cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr",
          "toeplitz_cr", "tile_products", "partition"}) {
      if (lhs != Lhs::shared && (algorithm == "toeplitz_cr" || algorithm == "tile_products")) continue;
      SCOPED_TRACE(algorithm + ", " + ribbon::to_string(lhs));
      const auto bands   = tridiagonal(lhs);
      const auto r       = report_of(bands, algorithm);
      const bool on_host = lhs == Lhs::shared || lhs == Lhs::classes;
      EXPECT_EQ(r.status, FactorStatus::ok);
      EXPECT_NE(r.algorithm.find(algorithm), std::string::npos) << r.algorithm;
      EXPECT_EQ(r.reason.rfind("asked for", 0), 0u) << r.reason;
      const bool bounded = algorithm == "one_pass" && !on_host; // smallest_pivot may be a lower bound
      EXPECT_TRUE(r.smallest_pivot > (bounded ? 0.01 : 0.1) && r.smallest_pivot < 2) << r.smallest_pivot;
      EXPECT_TRUE(r.line >= 0 && r.line < expanded(bands).values.extent_int(0)) << r.line;
      EXPECT_TRUE(r.row >= 0 && r.row < n) << r.row;
      EXPECT_TRUE(r.rcond > 1e-4 && r.rcond < 1) << r.rcond;
      EXPECT_TRUE(r.probe_error > 0 && r.probe_error < 1e-14) << r.probe_error;
      const bool reduction  = algorithm.find("cyclic") != std::string::npos || algorithm == "cr_pcr";
      const bool has_det    = on_host && !reduction && algorithm != "partition",
                 has_growth = has_det && algorithm != "pivoted" && algorithm != "toeplitz_cr";
      EXPECT_EQ(std::isnan(r.log_abs_det), !has_det) << r.log_abs_det;
      EXPECT_EQ(std::isnan(r.det_sign.real()), !has_det);
      EXPECT_EQ(std::isnan(r.growth), !has_growth) << r.growth;
      if (has_growth) {
        EXPECT_TRUE(r.growth >= 1 && r.growth < 2) << r.growth;
      }
      if (has_det && lhs == Lhs::shared) {
        EXPECT_NEAR(r.log_abs_det, std::log(std::abs(determinant(bands, 0))), 1e-10);
      }
      if (!on_host && (algorithm == "thomas" || (algorithm == "one_pass" && lhs == Lhs::per_line))) {
        // Certificates of every line, and room for them.
        const std::int64_t proved =
          algorithm == "thomas" ? (ribbon::is_device_space<Exec> ? 1 + n : 1) * lines : 0;
        // docs/methods/kernels.md states this size.
        EXPECT_EQ(r.bytes, static_cast<std::size_t>(8 * (3 * n * lines + proved)));
      }
      EXPECT_GT(r.bytes, 8u);
    }
}

// Matrix 9 (or class 2) has a row of zeros, an earlier one two rows that are equal to rounding: the smaller
// pivot is not the first. The same with NaN in the later one.
TEST(ReportFields, NameTheFirstBadLine)
{
  for (auto lhs : {Lhs::classes, Lhs::per_line})
    for (const std::string algorithm : {"one_pass", "thomas", "cyclic_reduction", "pivoted", "auto"})
      for (const bool nan : {false, true}) {
        SCOPED_TRACE(algorithm + ", " + ribbon::to_string(lhs) + ", NaN " + std::to_string(nan));
        const std::size_t first = lhs == Lhs::classes ? 1 : 5, later = lhs == Lhs::classes ? 2 : 9;
        auto              bands   = tridiagonal(lhs);
        bands.values(first, 0, 1) = 0.1, bands.values(first, 0, 2) = 0.3, bands.values(first, 1, 0) = 0.1 * 3,
                               bands.values(first, 1, 1) = 0.3 * 3 * (1 + 1e-16),
                               bands.values(first, 1, 2) = 0;
        for (std::size_t d = 0; d < 3; ++d)
          bands.values(later, 40, d) = nan ? std::numeric_limits<double>::quiet_NaN() : 0;
        const auto r = report_of(bands, algorithm);
        EXPECT_EQ(r.status, FactorStatus::zero_pivot);
        EXPECT_EQ(r.line, static_cast<std::int64_t>(first));
        EXPECT_TRUE(r.row == 0 || r.row == 1) << r.row;
        EXPECT_LT(r.smallest_pivot, 1e-14);
      }
}

// Other kernels factor wide bands and blocks. They solve the lines next to the bad ones.
TEST(ReportFields, NameTheFirstBadLineOfWideBandsAndBlocks)
{
  for (const auto &[algorithm, K, block] : {std::tuple{"thomas", 4, 1},
                                            {"thomas", 1, 3},
                                            {"one_pass", 3, 1},
                                            {"one_pass", 4, 1},
                                            {"one_pass", 1, 2},
                                            {"one_pass", 1, 4}})
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(testing::Message() << algorithm << ", half-bandwidth " << K << ", blocks of " << block
                                      << (periodic ? ", ring" : "") << ", seed 3");
      std::mt19937_64 g(3);
      auto            bands = random_system<double>(g, lines, n, K, K, block, periodic);
      bands.lhs             = Lhs::per_line;
      const auto set        = ribbon::LineSet::interleaved(n, lines).with_components(block);
      const auto good = ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), {algorithm}).report();
      EXPECT_TRUE(good.ok() && good.smallest_pivot > 1e-3 && good.smallest_pivot < 2) << good.smallest_pivot;
      if (algorithm == std::string("one_pass")) {
        // docs/methods/kernels.md states this size.
        EXPECT_EQ(good.bytes, bands.values.size() * sizeof(double));
      }
      for (std::size_t d = 0; d < bands.values.extent(2); ++d)
        bands.values(9, 3, d) = std::numeric_limits<double>::infinity(), bands.values(5, 40, d) = 0;
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {algorithm});
      const auto                            &r = solver.report();
      EXPECT_EQ(r.status, FactorStatus::zero_pivot);
      EXPECT_EQ(r.line, 5);
      EXPECT_EQ(r.row, 40);
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      auto x = solve(solver, b);
      for (std::int64_t l : {5, 9})
        for (std::int64_t i = 0; i < n; ++i)
          for (int a = 0; a < block; ++a)
            x[static_cast<std::size_t>(set(l, i) + a)] = b[static_cast<std::size_t>(set(l, i) + a)] = 0;
      for (std::size_t d = 0; d < bands.values.extent(2); ++d) bands.values(9, 3, d) = 0;
      EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
    }
}

// Lines with fewer unknowns than separators are folded to scalar bands. Reported rows still are rows of
// blocks.
TEST(ReportFields, RowsOfShortLinesOfBlocks)
{
  for (auto lhs : {Lhs::shared, Lhs::per_line})
    for (std::int64_t rows : {1, 2, 3, 4, 7})
      for (const char *algorithm : {"auto", "pivoted"})
        for (const bool nan : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << to_string(lhs) << ", " << rows << " rows, " << algorithm << ", NaN " << nan);
          ribbon::Bands<double, Kokkos::HostSpace> bands;
          bands.lhs = lhs, bands.block = 4;
          bands.values = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(rows), 48);
          for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
            for (std::size_t a = 0; a < 4; ++a) bands.values(0, i, 16 + 5 * a) = 1;
          // Component 2 of the last row.
          bands.values(0, static_cast<std::size_t>(rows - 1), 26) =
            nan ? std::numeric_limits<double>::quiet_NaN() : 0;
          const auto r =
            ribbon::LineSolver<double, Exec>(Exec(), ribbon::LineSet::contiguous(rows, 1).with_components(4),
                                             to_device(bands), {algorithm})
              .report();
          EXPECT_EQ(r.status, nan ? FactorStatus::not_finite : FactorStatus::zero_pivot);
          EXPECT_EQ(r.row, rows - 1);
        }
}

} // namespace
