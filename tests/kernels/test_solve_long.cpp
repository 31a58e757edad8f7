// SPDX-License-Identifier: BSD-2-Clause
// Long lines: orthogonal elimination for any length, and `partition` with segments of every length and
// decay.
#include "solve_limit.hpp"

#include <gtest/gtest.h>

#include <tuple>

using namespace test;

namespace {

/// Orthogonal elimination is accurate for lines of any length: dominant and indefinite matrices, and
/// matrices with a slowly decaying inverse.
TEST(SolveLong, PivotedWhateverTheLength)
{
  using Case               = std::tuple<int, ribbon::Lhs, std::int64_t>;
  const std::int64_t lines = 3;
  for (auto [h, lhs, n] : {Case{1, ribbon::Lhs::shared, 10000},
                           {3, ribbon::Lhs::shared, 10000},
                           {1, ribbon::Lhs::per_line, 10000},
                           {2, ribbon::Lhs::per_line, 10000},
                           {3, ribbon::Lhs::per_line, 10000},
                           {1, ribbon::Lhs::shared, 300000},
                           {2, ribbon::Lhs::per_line, 100000},
                           {8, ribbon::Lhs::shared, 20000}})
    for (const std::string kind : {"dominant", "indefinite", "stiff"}) {
      const bool periodic = kind == "indefinite", contiguous = h == 2;
      SCOPED_TRACE(kind + ", half-bandwidth " + std::to_string(h) + ", " + ribbon::to_string(lhs) + ", " +
                   std::to_string(n) + " rows, seed 5");
      std::mt19937_64 g(5);
      auto            bands = random_system<double>(g, matrices_for(lhs, lines), n, h, h, 1, periodic);
      for (std::size_t c = 0; c < bands.values.extent(0); ++c)
        for (std::size_t i = 0; i < bands.values.extent(1); ++i)
          for (std::size_t d = 0; d < bands.values.extent(2); ++d) {
            const bool diagonal = d == static_cast<std::size_t>(h);
            if (kind == "indefinite" && diagonal) bands.values(c, i, d) *= 0.3;
            if (kind == "stiff") bands.values(c, i, d) = diagonal ? 2.0 * h + 1e-7 : -1;
          }
      assign(g, bands, lhs, lines);
      const auto set =
        contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"pivoted"});
      ASSERT_TRUE(solver.report().ok()) << solver.report().probe_error;
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(bands, set, solve(solver, b), b), limit<double>("pivoted"))
        << solver.report().algorithm;
    }
}

// (half-bandwidth, block, periodic, contiguous, per line)
using LongSetting = std::tuple<int, int, bool, bool, bool>;

class SolveLong : public testing::TestWithParam<LongSetting> { };

TEST_P(SolveLong, PiecesOfEveryLength)
{
  const auto &[h, block, periodic, contiguous, per_line] = GetParam();
  for (std::int64_t lines : {1, 3, 33})
    for (std::int64_t n : {200, 999, 1021})
      for (std::int64_t piece : {0, 50, 64, 333}) {
        SCOPED_TRACE(std::to_string(lines) + " lines of " + std::to_string(n) + " rows, pieces of " +
                     std::to_string(piece));
        std::mt19937_64 g(static_cast<std::uint64_t>(n + lines));
        auto            bands = random_system<double>(g, per_line ? lines : 1, n, h, h, block, periodic);
        if (per_line) bands.lhs = ribbon::Lhs::per_line;
        const auto set =
          (contiguous ? ribbon::LineSet::contiguous(n, lines, n + 3) : ribbon::LineSet::interleaved(n, lines))
            .with_components(block);
        ribbon::LineSolverOptions options;
        options.algorithm = "partition", options.rows_per_piece = piece;
        if (2 * piece > n) continue;
        const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
        ASSERT_TRUE(solver.report().ok()) << solver.report().reason << solver.report().probe_error;
        std::vector<double> b(
          static_cast<std::size_t>(set.begin(lines - 1) + n * set.row_stride + block * set.component_stride));
        for (auto &v : b) v = random_scalar<double>(g);
        const auto x = solve(solver, b);
        EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
        const auto in_place = solve(solver, b, true);
        for (std::int64_t l = 0; l < lines; ++l)
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_EQ(in_place[static_cast<std::size_t>(set(l, i))], x[static_cast<std::size_t>(set(l, i))]);
      }
}

INSTANTIATE_TEST_SUITE_P(
  All, SolveLong,
  testing::Values(LongSetting{1, 1, false, false, false}, LongSetting{1, 1, true, false, true},
                  LongSetting{1, 1, false, true, true}, LongSetting{1, 1, true, true, false},
                  LongSetting{2, 1, false, false, true}, LongSetting{2, 1, true, true, false},
                  LongSetting{3, 1, false, true, true}, LongSetting{1, 2, true, false, false},
                  LongSetting{1, 4, false, false, true}));

// Stencils whose inverse decays rapidly, over several segments, and hardly. Covers segments of one matrix,
// two lengths, rings, many lines and few segments.
TEST(SolveLong, AStencilOfAnyDecay)
{
  for (double sigma : {0.4, 100.0, 5000.0})
    for (int h : {1, 2})
      for (bool periodic : {false, true})
        for (std::int64_t lines : {1, 5, 40})
          for (std::int64_t n : {700, 1024, 4099}) {
            if (lines > 5 && n > 1024) continue;
            const auto bands =
              toeplitz(n,
                       h == 1 ? std::vector<double>{-sigma, 1 + 2 * sigma, -sigma}
                              : std::vector<double>{sigma, -4 * sigma, 1 + 6 * sigma, -4 * sigma, sigma},
                       periodic);
            for (bool contiguous : {false, true})
              for (std::int64_t piece : {64, 350, 512}) {
                if (2 * piece > n) continue;
                SCOPED_TRACE(testing::Message()
                             << "sigma " << sigma << " h " << h << " ring " << periodic << " lines " << lines
                             << " rows " << n << " contiguous " << contiguous << " pieces of " << piece);
                const auto set =
                  contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
                ribbon::LineSolverOptions options;
                options.algorithm = "partition", options.rows_per_piece = piece;
                const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
                ASSERT_TRUE(solver.report().ok()) << solver.report().reason << solver.report().probe_error;
                EXPECT_TRUE(solver.report().algorithm.find("corrected") == std::string::npos ||
                            (h == 2 && !contiguous))
                  << solver.report().algorithm;
                std::mt19937_64     g(static_cast<std::uint64_t>(n + lines));
                std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
                for (auto &v : b) v = random_scalar<double>(g);
                const auto x = solve(solver, b);
                EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
                EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
              }
          }
}

// Segments of whole chunks of contiguous lines compute the adjacent separators in one launch. Inverses
// reach no other separators, or those one or several segments away, with and without a tail.
TEST(SolveLong, PiecesFindTheSeparatorsBesideThem)
{
  for (int h : {1, 2})
    for (double sigma : {0.4, 100.0, 5000.0, 1e5})
      for (std::int64_t lines : {1, 3, 40})
        for (std::int64_t n : {546 * 2, 546 * 7, 546 * 30 + 100, 546 * 60 + 3}) {
          if (lines > 3 && n > 4000) continue;
          SCOPED_TRACE(testing::Message()
                       << "sigma " << sigma << " h " << h << " lines " << lines << " rows " << n);
          const auto bands =
            toeplitz(n,
                     h == 1 ? std::vector<double>{-sigma, 1 + 2 * sigma, -sigma}
                            : std::vector<double>{sigma, -4 * sigma, 1 + 6 * sigma, -4 * sigma, sigma},
                     false);
          const auto                set = ribbon::LineSet::contiguous(n, lines, n + n % 2);
          ribbon::LineSolverOptions options;
          options.algorithm = "partition", options.rows_per_piece = 544;
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
          ASSERT_TRUE(solver.report().ok()) << solver.report().reason << solver.report().probe_error;
          EXPECT_EQ(solver.report().algorithm.find("corrected"), std::string::npos)
            << solver.report().algorithm;
          std::mt19937_64     g(static_cast<std::uint64_t>(n + lines));
          std::vector<double> b(static_cast<std::size_t>(set.begin(lines - 1) + n));
          for (auto &v : b) v = random_scalar<double>(g);
          const auto x = solve(solver, b);
          EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
          EXPECT_TRUE(solve(solver, b) == x) << "a second solve differs";
          const auto in_place = solve(solver, b, true);
          for (std::int64_t l = 0; l < lines; ++l)
            for (std::int64_t i = 0; i < n; ++i)
              ASSERT_EQ(in_place[static_cast<std::size_t>(set(l, i))],
                        x[static_cast<std::size_t>(set(l, i))]);
        }
}

TEST(SolveLong, AStencilThatDecaysCorrectsTheEndsOfPiecesOnly)
{
  for (bool periodic : {false, true})
    for (int h : {1, 2}) {
      std::mt19937_64           g(1);
      const std::int64_t        n     = 10007;
      const auto                bands = random_bands<double>(g, 1, n, h, periodic, Kind::poisson);
      const auto                set   = ribbon::LineSet::contiguous(n, 2);
      ribbon::LineSolverOptions options;
      options.algorithm = "partition", options.rows_per_piece = 2000;
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
      ASSERT_TRUE(solver.report().ok());
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-15);
    }
}

} // namespace
